"""Questions about a town, answered from its truth, not from pictures; and the town in a few sentences."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, permutations
from typing import Any

import numpy as np

from simtown.assets.entities import with_article
from simtown.core.streams import Stream
from simtown.language.meaning.evaluate import CLOSE, KNOWN, evaluate
from simtown.language.meaning.limits import TOWN_NEARER
from simtown.language.meaning.nouns import NOUNS, plural
from simtown.language.meaning.programs import (
    OVER_TIME,
    Form,
    ProgramError,
    answer_type,
    check,
    encode,
    stored,
)
from simtown.language.meaning.solids import truth
from simtown.language.words.grammar import QuestionError, language, parse, rephrasings
from simtown.language.words.statements import state
from simtown.scenes.placement import MOST_VEHICLES
from simtown.scenes.scene import SceneBatch
from simtown.scenes.street import SLOTS
from simtown.scenes.weather import WEATHER_KINDS, WEATHERS
from simtown.town.checks import TownError, text
from simtown.town.deeds import ABOUT_FILMS
from simtown.town.evaluating import Evaluator
from simtown.town.qualities import Judgement, TooCloseError, View
from simtown.town.relating import MARGINS, measure
from simtown.town.things import Thing, called, label, listed, scene_of, showing, the

#: Words for what may have no colour, lane or group.
_THINGS, _WHAT = re.compile(r"\b(thing|object|item)(?=s?\b)"), re.compile(r"^(What|Which)(?= is| are)")


@dataclass(frozen=True, repr=False)
class TownAnswer:
    """The answer to a question about a town.

    ``bool(answer)`` raises TownError if the truth is too close to say.

    Attributes:
        question: as it was asked.
        truth: yes, no, or None if it is too close to say.
        margin: metres by which the relation holds (negative: by which it fails), -inf if it cannot hold.
        why: one sentence with the distance that was measured and the one that counts.
        value: the answer itself: a bool, a count, metres (float), a word, a thing's name or a list of names;
            None if it is too close to say.
        form: the question's logical form, which prints as a program.
        close: whether data sets call it too close to say, by wider margins, though the town has an answer.
    """

    question: str
    truth: bool | None
    margin: float
    why: str
    value: Any
    form: Form
    close: bool = False

    def __bool__(self) -> bool:
        if self.value is None:
            raise TownError(f"'{self.question}' has no clear answer: {self.why}")
        if self.truth is None:
            raise TownError(f"'{self.question}' is not a yes/no question: use its value, {self.value!r}")
        return self.truth

    def statement(self) -> str:
        """The answer as a sentence, such as "The taxi is to the left of the bus.", or else its reason.

        Raises TownError if the answer is too close to say.
        """
        if self.value is None:
            raise TownError(f"'{self.question}' has no clear answer: {self.why}")
        answer = str(self.value) if self.truth is None else "yes" if self.truth else "no"
        *_, said = (self.why, *state(self.form, answer))
        return f"{said[0].upper()}{said[1:]}."

    def __str__(self) -> str:
        though = ", though within the margin of data sets" if self.close else ""
        if isinstance(self.value, float):
            return f"{self.why}{though}"
        verdicts = {None: "too close to say", True: "yes", False: "no"}
        names = listed(self.value) or "nothing" if isinstance(self.value, list) else str(self.value)
        return f"{verdicts[self.truth] if self.value in (None, self.truth) else names}{though}: {self.why}"

    __repr__ = __str__


class NoAnswerError(TownError):
    """A question has no answer.

    Attributes:
        problem: why.
        offered: up to three questions near it that have an answer.
    """

    def __init__(self, problem: str, offered: list[str]) -> None:
        quoted = ", ".join(f"'{question}'" for question in offered)
        super().__init__(f"{problem}; I can answer {quoted}")
        self.problem, self.offered = problem, offered


def answer(view: View, question: str) -> TownAnswer:
    """The answer to a question; see :meth:`simtown.Town.ask`."""
    text(question, "the question", "Is the taxi left of a building?")
    nearest: Iterator[str] = iter(())
    try:
        return direct_answer(view, question)
    except QuestionError as error:
        nearest, problem = islice(rephrasings(_names(view), question), 20), str(error)
    except TownError as error:
        about_vehicles = _WHAT.sub("Which vehicle", _THINGS.sub("vehicle", question))
        nearest, problem = iter([about_vehicles]), str(error)
    words = {*question.lower().split()}
    others = [a.question for a in islice(examples(view), 8)]
    others.sort(key=lambda other: -len(words & {*other.lower().split()}))
    offered = islice((q for q in chain(nearest, others) if _has_answer(view, q)), 3)
    raise NoAnswerError(problem, list(dict.fromkeys(offered)))


def _has_answer(view: View, question: str) -> bool:
    with suppress(TownError, QuestionError):
        return _own_answer(view, question).value is not None
    return False


def _names(view: View) -> list[str]:
    """The names that things of a town may have."""
    return [name for t in view.things for name in (t.name, f"{t.kind} 1")]


def direct_answer(view: View, question: str) -> TownAnswer:
    """The answer to a question. Raises QuestionError or TownError, without other questions to ask."""
    reply = _own_answer(view, question)
    return reply if reply.value is None else replace(reply, close=_is_close_in_data_sets(view, reply))


def _own_answer(view: View, question: str) -> TownAnswer:
    """The answer of the town alone."""
    reply, words = _only_answer(view, question), question.lower().strip(" ?")
    for pattern, replacement in language().readings:
        other = pattern.sub(replacement, words)
        with suppress(QuestionError):
            if other != words and _only_answer(view, other).value != reply.value:
                raise TownError(f"the question may also mean '{other}?', which has another answer")
    return reply


def _is_close_in_data_sets(view: View, reply: TownAnswer) -> bool:
    """Whether data sets can ask a question about what is seen of a town, and call it too close to say.

    Of a thing that shows a pixel or two the outlines of data sets may find nothing: where that changes a
    number or a yes, the question is too close, too.
    """
    things = [t for t in view.things if t.group != "vehicle"]
    vehicles = [t for t in view.things if t.group == "vehicle"]
    if view.seen is None or len(vehicles) > MOST_VEHICLES or len(things) > SLOTS:
        return False
    if reply.form.words & (ABOUT_FILMS | OVER_TIME.keys()):  # of data sets, sequences alone have these
        return False
    try:
        check(reply.form)
        program = stored([encode(reply.form)])
    except ProgramError:
        return False
    scene = scene_of([*view.counted(vehicles), *things], view.weather, view.camera)
    values, kind = evaluate(SceneBatch.of([scene]), program), answer_type(reply.form)
    if values.state[0] != KNOWN or kind not in ("truth", "count"):
        return bool(values.state[0] == CLOSE)
    return bool(values.answer[0] != reply.value)


def _only_answer(view: View, question: str) -> TownAnswer:
    """The answer to a question that has no other reading."""
    form, notes, negated = parse(_names(view), question)
    deeds = view.deeds
    if deeds and view.seen and form.words & ABOUT_FILMS:
        view = view._replace(seen=lambda: deeds().seen)
    evaluator = Evaluator(view)
    try:
        holds, why, value, margin, _ = evaluator.answer(form)
    except TooCloseError as unclear:
        holds, why, value, margin, _ = Judgement(None, str(unclear))
    if negated and holds is not None:
        notes = [f"so 'it is not so' is {'false' if holds else 'true'}", *notes]
    value = holds if value is None else value
    notes += dict.fromkeys(evaluator.notes)
    return TownAnswer(question, holds, margin, "; ".join([why, *notes]), value, form)


def examples(view: View) -> Iterator[TownAnswer]:
    """Varied questions about a town that have a clear answer, with the town's; its seed draws them."""
    visible = [t for t in view.counted(view.things) if plural(t.kind) != t.kind and " bare" not in t.kind]
    visible = [t for t in visible if t.group != "cloud"]
    kinds = [t.kind for t in view.things]
    names = [the(t if kinds.count(t.kind) == 1 else label(t)) for t in visible]
    vehicles = [name for name, t in zip(names, visible, strict=True) if t.group == "vehicle"]
    nouns = list(dict.fromkeys(noun for t in visible for noun in (t.kind, t.group)))
    nouns = [noun for noun in [*nouns, *NOUNS] if noun != "furniture"]
    templates, slots = language().templates, language().slots
    slots = slots | {
        "a": names,
        "b": names,
        "v": vehicles,
        "noun": list(map(with_article, nouns)),
        "nouns": list(map(plural, nouns)),
    }
    asked: set[str] = set()
    for number in range(100 * len(templates)):
        template = templates[number % len(templates)]
        if not all(words for slot, words in slots.items() if f"{{{slot}}}" in template):
            continue
        draws = Stream(view.seed, "town", "questions").uniform(np.full(4, number), len(slots), np.arange(4))
        for row in draws:
            chosen = {s: w[int(u * len(w))] for (s, w), u in zip(slots.items(), row, strict=True) if w}
            question = template.format(**chosen)
            named = [chosen[slot] for slot in ("a", "b", "v") if f"{{{slot}}}" in template]
            if question in asked or len(set(named)) < len(named):
                continue
            asked.add(question)
            with suppress(TownError):
                reply = _own_answer(view, question)
                if reply.value not in (None, []) and reply.margin != -math.inf:
                    yield reply
                    break


def describe(view: View) -> str:
    """A few sentences about a town; see :meth:`simtown.Town.describe`."""
    vehicles = sorted((t for t in view.things if t.group == "vehicle"), key=lambda t: t.x)
    kinds = [t.kind for t in vehicles]
    names = {t: the(t if kinds.count(t.kind) == 1 else label(t)) for t in vehicles}
    sentences = [WEATHER_KINDS[WEATHERS.index(view.weather.kind)].sentence]
    for t in vehicles:
        named = with_article(t.kind) if t.kind == t.name else f"the {t.name}"
        paint = f", painted {t.paint}," if t.paint else ""
        hidden = "" if view.counted([t]) else ", not in view"
        sentences.append(f"{named}{paint} {_motion(view, t)}{hidden}.")
    neighbours = [*pairwise(vehicles), *((b, a) for a, b in pairwise(vehicles))]
    pairs = [(r, *pair) for r in ("left of", "in front of") for pair in neighbours]
    pairs += [("overtaking", *pair) for pair in permutations(vehicles, 2)]
    for relation, a, b in pairs:
        if truth(measure(relation, view.camera, a.solid(), b.solid()), MARGINS[relation]):
            sentences.append(f"{names[a]} is {relation} {names[b]}.")
    counted = []
    for noun in ("building", "tree", "person", "animal", "mailbox"):
        things = [] if showing(view.things, noun) else called(view.things, noun)[0]
        n, visible = len(things), len(view.counted(things))
        share = f"{n}" if visible == n else f"{visible} of {n}"
        counted += [f"{share} {noun if n == 1 else plural(noun)}"] if n else []
    sentences += [f"in view beside the road: {listed(counted)}."] if counted else []
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)


def _motion(view: View, vehicle: Thing) -> str:
    """The motion of a vehicle, its place, and its heading: "stands in the near lane, heading right"."""
    speed = view.quantity("speed", vehicle)
    lane, _ = view.attribute("lane", vehicle)
    place = {None: "off the road", "parked": "at the kerb"}.get(lane, f"in the {lane} lane")
    place = f"drives {place} at {speed:.0f} m/s" if speed > TOWN_NEARER else f"stands {place}"
    with suppress(TooCloseError):
        heading, _ = view.attribute("direction", vehicle)
        return f"{place}, heading {'to the viewer' if heading == 'viewer' else heading}"
    return place
