"""What a referee asks a model beside the question: conditions that tell seeing, reading and relating apart.

Every control has an exact answer of its own: the program of a changed question is evaluated in the scene, and
where the value is too close to say the control is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.datasets.asked import asked as families_of
from simtown.language import wording
from simtown.language.evaluate import KNOWN, THIRDS, evaluate
from simtown.language.families import ANSWERS, Family, FamilyError, Template, families, slots_of
from simtown.language.forms import Form
from simtown.language.instructions import prompt
from simtown.language.nouns import NOUNS
from simtown.language.programs import encode, parse, stored
from simtown.language.questions import PHRASINGS, text
from simtown.language.replies import Gold
from simtown.scenes.scene import SceneBatch
from simtown.vlm.conditions import AskedExample, Condition, Query
from simtown.vlm.statements import statements

#: What a mirror makes of words in programs, and of answers.
_TURNED = {
    "left of": "right of", "leftmost": "rightmost", "driver-left": "driver-right", "left": "right",
    THIRDS[0]: THIRDS[2],
}  # fmt: skip
MIRROR = _TURNED | {other: word for word, other in _TURNED.items()}
#: Kinds that are not there, of which one is asked for.
_STEP = 37


def no_picture(asked: AskedExample) -> list[Query]:
    """The question alone: what can be guessed."""
    return [asked.changed("none", picture=None)]


def other_picture(asked: AskedExample) -> list[Query]:
    """The question about the picture of another scene, half a split away: whether the model looks at all."""
    n = len(asked.asked)
    other = asked.asked.examples[(asked.number + n // 2) % n]
    return [asked.changed("other", picture=other.image)] if n > 1 else []


def mirrored(asked: AskedExample) -> list[Query]:
    """The question about the picture in a mirror, where left is right."""
    gold = _gold(asked, turned(form_of(asked)))
    if gold is None:
        return []
    gold = replace(gold, answer=MIRROR.get(gold.answer, gold.answer))
    return [asked.changed("mirror", picture=np.ascontiguousarray(asked.example.image[:, ::-1]), gold=gold)]


def exchanged(asked: AskedExample) -> list[Query]:
    """The question with its two vehicles exchanged: whether the model reads which one is meant."""
    form = form_of(asked)
    match form.name, *form.parts:
        case "holds", Form(first) as subject, Form("related", (relation, Form(second) as obj)) if (
            first == second
        ):
            other = Form("holds", (obj, Form("related", (relation, subject))))
        case _:
            return []
    template, _ = _template(asked, form)
    try:
        words = wording.fill(template.texts[0], slots_of(template, other))
    except FamilyError:  # the slots of two vehicles differ
        return []
    return _reworded(asked, "exchanged", words, _gold(asked, other))


def exist(asked: AskedExample) -> list[Query]:
    """Whether each vehicle that the question names is there, and one that is not: whether the model sees."""
    family, out = families()["exist"], []
    here = {vehicle.entity for vehicle in asked.example.scene.vehicles}
    kinds = [ENTITIES[kind] for kind in asked.asked.dataset.settings.kinds]
    absent = [kind for kind in kinds if kind not in here]
    named = [noun for noun in dict.fromkeys(_nouns(form_of(asked))) if here & {noun, *NOUNS.get(noun, ())}]
    named = [noun for noun in named if noun != "vehicle"]
    wanted = named + [absent[asked.number * _STEP % len(absent)]] * bool(absent and named)
    for noun in wanted:
        form = Form("exist", (Form("all", (noun,)),))
        words = wording.fill(family.templates[0].texts[0], [Form("all", (noun,))])
        out += _reworded(asked, f"{'there' if noun in named else 'absent'}-{noun}", words, _gold(asked, form))
    return out


def phrasings(asked: AskedExample) -> list[Query]:
    """The same question in all its other phrasings: whether the model reads what they have in common."""
    example, form = asked.example, form_of(asked)
    if example.subject:
        every = [text(example.subject, example.relation, example.object, p) for p in range(len(PHRASINGS))]
    else:
        every = _texts(*_template(asked, form))
    gold = asked.gold()
    others = enumerate(words for words in every if words != example.question)
    return [query for place, words in others for query in _reworded(asked, f"{place}", words, gold)]


#: The controls by name, in the order in which a model is asked.
CONTROLS: dict[str, Condition] = {
    "no-picture": no_picture,
    "other-picture": other_picture,
    "exist": exist,
    "exchanged": exchanged,
    "mirrored": mirrored,
    "phrasings": phrasings,
}


def form_of(asked: AskedExample) -> Form:
    """The program of an example's question, of the paper's as well."""
    example = asked.example
    if example.program:
        return parse(example.program)
    subject, obj = (Form("the", (Form("all", (kind,)),)) for kind in (example.subject, example.object))
    return Form("holds", (subject, Form("related", (example.relation, obj))))


def turned(form: Any) -> Any:
    """A program as it is in a mirror."""
    if isinstance(form, Form):
        return Form(form.name, tuple(map(turned, form.parts)))
    return MIRROR.get(form, form)


def _gold(asked: AskedExample, form: Form) -> Gold | None:
    """The value of a program in an example's scene, None if it is too close to say."""
    example, scene = asked.example, SceneBatch.of([asked.example.scene])
    height, width, _ = example.image.shape
    shares = np.zeros((1, scene.entity.shape[1]), np.float32)
    shares[0, : len(example.scene.vehicles)] = example.visible[: len(example.scene.vehicles)]
    values = evaluate(scene, stored([encode(form)]), shares, (width, height))
    if values.state[0] != KNOWN:
        return None
    answer_type = "truth" if form.name in ("exist", "holds") else asked.kind
    choices = asked.asked.choices(answer_type)
    answer = ANSWERS[answer_type][values.answer[0]]
    if answer_type == "metres":
        return replace(asked.gold(), answer=answer, number=float(values.number[0]))
    return Gold(answer_type, answer, choices)


def _reworded(asked: AskedExample, suffix: str, words: str, gold: Gold | None) -> list[Query]:
    """Another question about the picture."""
    if gold is None:
        return []
    said = statements(words, gold.type, gold.choices)
    asks = prompt(words, gold.type, gold.choices)
    return [asked.changed(suffix, text=asks, gold=gold, statements=said)]


def _template(asked: AskedExample, form: Form) -> tuple[Template, list[Any]]:
    """The template of an example's question, and what fills its slots."""
    settings = asked.asked.dataset.settings
    own = families_of(settings) if settings.asks else (families()["paper"],)
    family: Family = next(family for family in own if family.name == asked.example.family)
    for template in family.templates:
        try:
            slots = slots_of(template, form)
        except FamilyError:
            continue
        if not asked.example.program or asked.example.question in _texts(template, slots):
            return template, slots
    raise FamilyError(f"{form} is of no template of {family.name}")


def _texts(template: Template, slots: list[Any]) -> list[str]:
    return [wording.fill(words, slots) for words in template.texts]


def _nouns(form: Any) -> Iterator[str]:
    """The nouns of a program."""
    if isinstance(form, Form):
        if form.name == "all":
            yield form.parts[0]
        else:
            for part in form.parts:
                yield from _nouns(part)
