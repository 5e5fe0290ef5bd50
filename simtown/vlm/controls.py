"""Controls: conditions that tell seeing, reading and relating apart.

Every control has an exact answer of its own: the program of a changed question is evaluated in the scene, and
where the value is too close to say the control is not asked.
"""

from dataclasses import replace

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.datasets.family_questions import choices, families_of
from simtown.language.asking.families import families
from simtown.language.asking.templates import FamilyError, Template, slots_of
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.nouns import confused_with, kinds_meant
from simtown.language.meaning.programs import Form, encode, stored
from simtown.language.meaning.views import THIRDS
from simtown.language.words import wording
from simtown.language.words.instructions import prompt
from simtown.language.words.questions import PHRASINGS, text
from simtown.language.words.replies import Gold
from simtown.vlm.conditions import AskedExample, Condition
from simtown.vlm.vision_model import Query

#: What a mirror makes of words in programs, and of answers.
_TURNED = {
    "left of": "right of", "leftmost": "rightmost", "driver-left": "driver-right", "left": "right",
    THIRDS[0]: THIRDS[2],
}  # fmt: skip
MIRROR = _TURNED | {other: word for word, other in _TURNED.items()}
#: Kinds that are not there, of which one is asked for.
_STEP = 37


def no_picture(one: AskedExample) -> list[Query]:
    """The question alone: what can be guessed."""
    return [one.changed("none", pictures=())]


def other_picture(one: AskedExample) -> list[Query]:
    """The question about the picture of another scene, half a split away: whether the model looks at all."""
    n = len(one.asked)
    other = one.asked.examples[(one.number + n // 2) % n]
    return [one.changed("other", pictures=(other.image,))] if n > 1 else []


def mirrored(one: AskedExample) -> list[Query]:
    """The question about the picture in a mirror, where left is right."""
    gold = _gold(one, turned(one.form))
    if gold is None:
        return []
    gold = replace(gold, answer=MIRROR.get(gold.answer, gold.answer))
    return [one.changed("mirror", pictures=(np.ascontiguousarray(one.example.image[:, ::-1]),), gold=gold)]


def exchanged(one: AskedExample) -> list[Query]:
    """The question with its two vehicles exchanged: whether the model reads which one is meant."""
    form = one.form
    match form.name, *form.parts:
        case "holds", Form(first) as subject, Form("related", (relation, Form(second) as obj)) if (
            first == second
        ):
            other = Form("holds", (obj, Form("related", (relation, subject))))
        case _:
            return []
    template = _template(one)
    try:
        words = wording.fill(template.texts[0], slots_of(template, other))
    except FamilyError:  # the slots of two vehicles differ
        return []
    return _reworded(one, "exchanged", words, _gold(one, other))


def exist(one: AskedExample) -> list[Query]:
    """Whether each vehicle that the question names is there, and one that is not: whether the model sees."""
    family, out = families()["exist"], []
    here = {vehicle.entity for vehicle in one.example.scene.vehicles}
    kinds = [ENTITIES[kind] for kind in one.asked.dataset.settings.kinds]
    absent = [kind for kind in kinds if here.isdisjoint(confused_with(kind))]
    nouns = dict.fromkeys(one.form.nouns())
    named = [noun for noun in nouns if noun != "vehicle" and not here.isdisjoint(kinds_meant(noun))]
    wanted = named + ([absent[one.number * _STEP % len(absent)]] if absent and named else [])
    for noun in wanted:
        form = Form("exist", (Form("all", (noun,)),))
        words = wording.fill(family.templates[0].texts[0], [Form("all", (noun,))])
        out += _reworded(one, f"{'there' if noun in named else 'absent'}-{noun}", words, _gold(one, form))
    return out


def phrasings(one: AskedExample) -> list[Query]:
    """The same question in all its other phrasings: whether the model reads what they have in common."""
    example, form = one.example, one.form
    if example.subject:
        every = [text(example.subject, example.relation, example.object, p) for p in range(len(PHRASINGS))]
    else:
        template = _template(one)
        every = [wording.fill(words, slots_of(template, form)) for words in template.texts]
    gold = one.gold()
    others = enumerate(words for words in every if words != example.question)
    return [query for place, words in others for query in _reworded(one, f"{place}", words, gold)]


#: The controls by name, in the order in which a model is asked.
CONTROLS: dict[str, Condition] = {
    "no-picture": no_picture,
    "other-picture": other_picture,
    "exist": exist,
    "exchanged": exchanged,
    "mirrored": mirrored,
    "phrasings": phrasings,
}


def turned(form: Form) -> Form:
    """A program as it is in a mirror."""
    return form.map(lambda word: MIRROR.get(word, word))


def _gold(one: AskedExample, form: Form) -> Gold | None:
    """The value of a program in an example's scene, None if it is too close to say."""
    height, width, _ = one.example.image.shape
    settings = one.asked.dataset.settings
    by_name = settings.hand_made or not settings.has_families
    values = evaluate(one.scenes, stored([encode(form)]), one.shares, (width, height), by_name=by_name)
    if values.state[0] != KNOWN:
        return None
    answer_type = "truth" if form.name in ("exist", "holds") else one.kind
    possible = choices(settings, answer_type)
    answer = ANSWERS[answer_type][values.answer[0]]
    if answer_type == "metres":
        return replace(one.gold(), answer=answer, number=float(values.number[0]))
    return Gold(answer_type, answer, possible)


def _reworded(one: AskedExample, suffix: str, words: str, gold: Gold | None) -> list[Query]:
    """Another question about the picture."""
    if gold is None:
        return []
    asks = prompt(words, gold.type, gold.choices)
    return [one.changed(suffix, text=asks, gold=gold, question=words)]


def _template(one: AskedExample) -> Template:
    """The template of an example's question."""
    settings = one.asked.dataset.settings
    if not settings.has_families:
        return families()["paper"].templates[0]
    columns = (one.asked.examples.column(name) for name in ("family", "template"))
    family, template = (int(column[one.number]) for column in columns)
    return families_of(settings)[family].templates[template]
