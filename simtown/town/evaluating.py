"""The value of a logical form in a town: three-valued, since what is too close to say has no truth."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from operator import eq, ge, gt, le, lt
from typing import NamedTuple

import numpy as np

from simtown.assets.entities import NAMED_BY_COLOUR, with_article
from simtown.language.meaning.nouns import THING
from simtown.language.meaning.programs import Form
from simtown.language.meaning.solids import SURFACES, Solid, betweens, truth
from simtown.language.words import wording
from simtown.town.checks import TownError
from simtown.town.deeds import Deeds
from simtown.town.qualities import ORDERS, QUANTITIES, Judgement, TooCloseError, View
from simtown.town.relating import MARGINS, measure, reason
from simtown.town.things import Thing, called, label, listed, meant, showing, the

#: The most cases of relations that a question may compare.
MOST_CASES = 20_000
#: As many of something a park or a square may show.
_MANY = 30
#: Relations that are another one, seen from the other thing.
_PASSIVE = {"hidden by": "hiding", "faced by": "facing", "overtaken by": "overtaking"}
_RANK = {False: 0, None: 1, True: 2}
_TESTS = {"equal": eq, "more": gt, "fewer": lt, "least": ge, "utmost": le}


class Members(NamedTuple):
    """The things that certainly belong to a set, and those of which it is too close to say, with why."""

    sure: list[Thing]
    unsure: dict[Thing, str]

    def clear(self) -> list[Thing]:
        """The things, if there is no other. Raises TooCloseError otherwise."""
        if self.unsure:
            raise TooCloseError(next(iter(self.unsure.values())))
        return self.sure


class Evaluator:
    """Finds the value of one question's form, and remembers the sets that it meets.

    Its methods raise TownError if something has no value, TooCloseError if that is too close to say.

    Attributes:
        view: the town as its camera sees it.
        strict: 2 if a kind's name means that kind alone, as in data sets; 1 if it means what every reader
            calls so; 0 if what only some call so is too close to say, too.
        picture: of a film, up to which is asked; by default the last.
        notes: what was taken for granted.
    """

    def __init__(self, view: View, strict: int = 0, picture: int = -1) -> None:
        self.view, self.strict, self.picture = view, strict, picture
        self.notes: list[str] = []
        self._known: dict[tuple[Form, bool], Members] = {}
        self._reasons: dict[Form, str] = {}
        self._margins: list[float] = []
        self._cases = 0

    def answer(self, form: Form) -> Judgement:
        """The judgement of a question; without a margin it has the least of its sets."""
        try:
            judgement = self.question(form)
        except TooCloseError:
            same = self._whichever(form)
            if same is None:
                raise
            judgement = same
        closest = min(self._margins, default=math.nan)
        return judgement._replace(margin=closest) if math.isnan(judgement.margin) else judgement

    def _same(self, attribute: str, thing: Thing, other: Thing) -> Judgement:
        """Whether two things have one value of an attribute; what one of them has may be too close to say."""
        try:
            return self.view.same(attribute, thing, other)
        except TooCloseError as unclear:
            return Judgement(None, str(unclear))

    def _whichever(self, form: Form) -> Judgement | None:
        """The judgement that holds whichever thing comes first in an order; None if there is no such."""
        for phrase in form.forms():
            if phrase.name != "the" or phrase.parts[0].name not in ("most", "nth"):
                continue
            members = self.members(phrase.parts[0])
            candidates = [*members.sure, *members.unsure]
            forms = [form.exchange(phrase, Form("one", (thing,))) for thing in candidates]
            with suppress(TooCloseError):
                found = [Evaluator(self.view, self.strict).question(each) for each in forms]
                first, *others = [(judgement.truth, judgement.value) for judgement in found]
                if first != (None, None) and all(other == first for other in others):
                    self.notes.append(f"whichever of {listed([the(t) for t in candidates], 'and')} is meant")
                    return found[0]
        return None

    def question(self, form: Form) -> Judgement:
        """The judgement of a question."""
        weather = self.view.weather
        sky = f"the weather is {weather.kind}, of intensity {weather.intensity:.2f} (from 0 to 1)"
        match form.name, *form.parts:
            case "holds", subject, predicate:
                if predicate.name == "related":
                    return self._related(predicate.parts[0], (subject, *predicate.parts[1:]))
                return self._over(subject, lambda t: self._judge(t, predicate), about_sight(predicate))
            case "not", part:
                return _negated(self.question(part))
            case ("and" | "or") as join, *parts:
                return _both(join, [self.question(part) for part in parts])
            case "weather", *kinds:
                return Judgement(weather.kind in kinds, sky)
            case "choose", *parts:
                return self._choose(parts)
            case "query", "time":
                time = weather.kind if weather.kind in ("dusk", "night") else "day"
                return Judgement(None, sky, time)
            case "query", "weather":
                return Judgement(None, sky, weather.kind)
            case "query", attribute, phrase, *to:
                thing = self.unique(phrase, anywhere=True)
                if attribute not in QUANTITIES:
                    value, why = self.view.attribute(attribute, thing)
                    chosen = self._reasons.get(phrase.parts[0], "")
                    whys = (chosen,) if chosen and attribute == "kind" else (chosen, why)
                    why = "; ".join(dict.fromkeys(filter(None, whys)))
                    return Judgement(None, why, value)
                other = self.unique(to[0], anywhere=True) if to else None
                value = round(self.view.quantity(attribute, thing, other), 2)
                return Judgement(None, self.view.said(attribute, thing, other), value)
            case "count", _:
                low, high, why = self._count(form)
                names = why.partition(": ")[2] if low else why
                return Judgement(None, names, low if low == high else None)
            case "exist", things:
                return self._compared("least", Form("count", (things,)), 1)
            case "which", things:
                return self._which(things)
            case "first", part:
                number, why = self._begins(part)
                if number is None:
                    raise TownError(f"{why}, and in no picture: ask about another")
                return Judgement(None, why, f"picture {number + 1}")
            case "earlier", *parts:
                return self._earlier(parts)
        return self._compared(form.name, *form.parts)

    def _deeds(self) -> Deeds:
        if self.view.deeds is None:
            raise TownError("nothing drives in a film of this town: let it, as in town.drive('taxi', 3.0)")
        return self.view.deeds()

    def _begins(self, part: Form) -> tuple[int | None, str]:
        """The first picture of a film in which something is true, None if none is, and why."""
        why = ""
        for picture in range(self._deeds().count):
            evaluator = Evaluator(self.view, self.strict, picture)
            truth, why, *_ = evaluator.question(part)
            self.notes += evaluator.notes
            if truth is None:
                raise TooCloseError(why)
            if truth:
                return picture, why
        return None, why

    def _earlier(self, parts: list[Form]) -> Judgement:
        """Whether the first of two questions is true earlier than the other."""
        begins, whys = zip(*map(self._begins, parts), strict=True)
        count = self._deeds().count
        first, second = (count if picture is None else picture for picture in begins)
        why = "; ".join(whys)
        if first == second == count:
            raise TownError(f"{why}, so neither happens: ask about others")
        return Judgement(None if first == second else first < second, why)

    def _count(self, count: Form | int) -> tuple[int, int, str]:
        """A number, or the least and the greatest number of members of a set, and which they are."""
        if isinstance(count, int):
            return count, count, ""
        (things,) = count.parts
        sure, unsure = self.members(things, about_sight(count))
        low, high = len(sure), len(sure) + len(unsure)
        why = f"there {'is' if len(sure) == 1 else 'are'} {len(sure)}: {listed(sure)}"
        why = why if sure else self._none(things)
        if unsure:
            why += f"; and whether {listed(unsure, 'or')} counts is too close to say"
        if things.name == "all" and not self.strict and things.parts[0] != THING:
            noun = things.parts[0]
            shows = self.view.counted(showing(self.view.things, noun))
            low += any(noun in t.kind.split() for t in shows)  # a person with dog
            high += len(shows) * _MANY
            why += f"; {listed(map(the, shows))} show{'s' if len(shows) == 1 else ''} some" if shows else ""
        return low, high, why

    def _compared(self, name: str, first: Form | int, second: Form | int) -> Judgement:
        """The comparison of two counts, as far as both are certain."""
        (low, high, why), (other_low, other_high, other_why) = self._count(first), self._count(second)
        pairs = product(range(low, high + 1), range(other_low, other_high + 1))
        outcomes = {_TESTS[name](a, b) for a, b in pairs}
        holds = outcomes.pop() if len(outcomes) == 1 else None
        return Judgement(holds, "; ".join(filter(None, (why, other_why))))

    def _choose(self, parts: list[Form]) -> Judgement:
        """Which of several alternatives is true, in the words that offer it; "neither" if none is."""
        judged = {wording.alternative(part): self.question(part) for part in parts}
        true = [words for words, judgement in judged.items() if judgement.truth]
        for judgement in judged.values():
            if judgement.truth is None and not true:
                raise TooCloseError(judgement.why)
        deciding = judged[true[0]] if true else _both("and", list(judged.values()))
        return deciding._replace(truth=None, value=listed(true) or "neither")

    def _which(self, things: Form) -> Judgement:
        """The names of a set, the nearest to what they are related to first."""
        sure, unsure = self.members(things, about_sight(things))
        inner = things.parts[0] if things.name == "the" else things
        if not sure:
            nothing = self.members(things).clear()
            return Judgement(None, self._none(inner), nothing)
        to: Thing | None = None
        match inner:
            case Form("filter", (_, Form("related", (_, Form("the", (end,)) as phrase)))) if not _ground(end):
                to = self.unique(phrase)
        ordered = sorted(sure, key=lambda t: self.view.quantity("distance", t, to))
        metres = (f"{the(t)} {self.view.quantity('distance', t, to):.2f} m" for t in ordered)
        why = f"from {the(to) if to else 'the viewer'}: {listed(metres)}"
        why = self._reasons.get(inner, why) if inner.name in ("most", "nth") else why
        why += f"; whether {listed(unsure, 'or')} counts is too close to say" if unsure else ""
        single = len(sure) == 1 and (inner.name in ("most", "nth") or things.name == "the")
        return Judgement(None, why, sure[0].name if single else [t.name for t in ordered])

    def _spend(self, cases: int) -> None:
        """Raises TownError once the question has compared too many cases."""
        self._cases += cases
        if self._cases > MOST_CASES:
            raise TownError(f"the question compares more than {MOST_CASES:,} pairs: ask about fewer things")

    def _over(self, phrase: Form, judge: Callable[[Thing], Judgement], anywhere: bool = False) -> Judgement:
        """The judgements of each thing that a phrase means, joined as the phrase says."""
        if phrase.name in ("and", "or"):
            return _both(phrase.name, [self._over(part, judge, anywhere) for part in phrase.parts])
        if phrase.name in ("the", "one"):
            judgement = judge(thing := self.unique(phrase, anywhere))
            _applying({thing: judgement})
            return judgement
        things, unsure = self.members(phrase.parts[0], anywhere)
        self._spend(len(things) + len(unsure))
        decisive = phrase.name != "every"
        judged = {thing: judge(thing) for thing in [*things, *unsure]}
        for thing, unclear in unsure.items():
            if judged[thing].truth is not decisive and judged[thing].truth is not None:
                del judged[thing]  # it decides nothing
            else:
                judged[thing] = Judgement(None, unclear)
        judged = _applying(judged, decisive)
        if not judged:
            why = self._none(phrase.parts[0], "other " if things else "")
            if phrase.name == "every":
                raise TownError(f"{why}: ask about what is there")
            return Judgement(phrase.name == "no", why, margin=-math.inf)
        result = _joined("and" if phrase.name == "every" else "or", list(judged.values()))
        true = [thing for thing, j in judged.items() if j.truth]
        if len(judged) > 1 and phrase.name != "a":
            names = f" ({listed(true)})" if true else ""
            result = result._replace(why=f"true of {len(true)} of {len(judged)}{names}; {result.why}")
        elif len(judged) > 1 and not result.truth and np.isfinite(result.margin):
            result = result._replace(why=f"at best, {result.why.removeprefix('at best, ')}")
        return _negated(result) if phrase.name == "no" else result

    def _judge(self, thing: Thing, predicate: Form) -> Judgement:
        """Whether a predicate is true of a thing."""
        view = self.view
        match predicate.name, *predicate.parts:
            case "not", part:
                judgement = self._judge(thing, part)
                verdict = {True: "is false", False: "is true", None: "is too close to say"}[judgement.truth]
                return _negated(judgement, f"; so 'not {wording.predicate(part)}' {verdict}")
            case ("and" | "or") as join, *parts:
                return _both(join, [self._judge(thing, part) for part in parts])
            case "related", relation, *objects:
                return self._related(relation, (Form("one", (thing,)), *objects))
            case "has", attribute, value:
                return view.has(thing, attribute, value)
            case "same", attribute, phrase:
                return self._over(phrase, lambda other: self._same(attribute, thing, other))
            case ("passes" | "nears") as meeting, phrase:
                deeds = self._deeds()
                return self._over(phrase, lambda other: deeds.meets(meeting, thing, other, self.picture))
            case "compared", order, phrase, *to:
                end = self.unique(to[0]) if to else None
                return self._over(phrase, lambda other: view.more(order, thing, other, end))
        (phrase,) = predicate.parts  # of "among"
        sure, unsure = self.members(phrase.parts[0], anywhere=True)
        if thing in unsure:
            return Judgement(None, unsure[thing])
        best = phrase.parts[0].name == "most" and thing not in sure
        which = f", which is {listed(map(the, sure or unsure), 'or')}" if best else ""
        noun = wording.phrase(phrase)
        why = f"{the(thing)} is {'' if thing in sure else 'not '}{noun}{which}"
        return Judgement(thing in sure, why)

    def _related(self, relation: str, phrases: tuple[Form, ...]) -> Judgement:
        """Whether a relation holds between the things that some phrases mean."""
        if relation in _PASSIVE:
            subject, other = phrases
            return self._related(_PASSIVE[relation], (other, subject))
        if relation == "between" and len(phrases) == 2:
            ends = self.members(phrases[1].parts[0]).clear()
            phrases = (phrases[0], *(Form("one", (end,)) for end in ends))
        kinds = {p.name for p in phrases}
        if relation == "between" and "a" in kinds and kinds <= {"a", "the", "one"}:
            return self._between(phrases)
        open_ = [i for i, p in enumerate(phrases) if p.name not in ("the", "one")]
        if open_:
            before, phrase, after = phrases[: open_[0]], phrases[open_[0]], phrases[open_[0] + 1 :]
            return self._over(phrase, lambda t: self._related(relation, (*before, Form("one", (t,)), *after)))
        ground = _ground(phrases[-1].parts[0]) if relation == "on" else ""
        things = [self.unique(p, relation == "hiding") for p in phrases[: 1 if ground else None]]
        if relation.startswith("driver-") and things[1].group not in ("vehicle", "person"):
            raise TownError(f"{the(things[1])} looks nowhere: ask what a driver or a person sees")
        if len(set(things)) < len(things):
            return Judgement(False, f"{the(things[0])} is the same thing", margin=-math.inf, applies=False)
        if relation == "hiding":
            return self.view.hiding(*things)
        shapes = [(self._solid(t, relation),) for t in things] + ([SURFACES[ground]] if ground else [])
        names, camera = [the(t) for t in [*things, *([ground] if ground else [])]], self.view.camera
        measured = [(measure(relation, camera, *solids), solids) for solids in product(*shapes)]
        margin, solids = max(measured, key=lambda entry: entry[0])
        holds = truth(margin, MARGINS[relation])
        return Judgement(holds, reason(relation, names, solids, camera, margin), margin=margin)

    def _solid(self, thing: Thing, relation: str) -> Solid:
        solid = thing.solid()
        if relation == "overtaking" and self.view.deeds:
            return replace(solid, track=self.view.deeds().track(thing))
        return solid

    def _between(self, phrases: tuple[Form, ...]) -> Judgement:
        """The clearest of all cases that "a" may mean, measured together; alone they would take hours."""
        means = [self.members(p.parts[0]).clear() if p.name == "a" else [self.unique(p)] for p in phrases]
        pairs = list({frozenset((b, c)): (b, c) for b, c in product(*means[1:]) if b is not c}.values())
        self._spend(len(pairs))
        distinct = np.array([[thing not in pair for thing in means[0]] for pair in pairs], dtype=bool)
        if not distinct.any():
            empty = [p for p, things in zip(phrases, means, strict=True) if not things]
            why = self._none((empty or phrases)[-1].parts[0], "" if empty else "other ")
            return Judgement(False, why, margin=-math.inf)
        solids = {thing: thing.solid() for things in means for thing in things}
        margins = betweens([solids[t] for t in means[0]], [(solids[b], solids[c]) for b, c in pairs])
        pair, subject = np.unravel_index(np.where(distinct, margins, -np.inf).argmax(), distinct.shape)
        case = (means[0][subject], *pairs[pair])
        result = self._related("between", tuple(Form("one", (thing,)) for thing in case))
        several = len(list(islice((c for c in product(*means) if len(set(c)) == 3), 2))) > 1
        return result._replace(why=f"at best, {result.why}") if several and not result.truth else result

    def members(self, form: Form, anywhere: bool = False) -> Members:
        """The members of a set; with `anywhere` hidden things count, too."""
        if (form, anywhere) not in self._known:
            self._known[form, anywhere] = self._find(form, anywhere)
        return self._known[form, anywhere]

    def _find(self, form: Form, anywhere: bool) -> Members:
        match form.name, *form.parts:
            case "all", noun if noun in SURFACES:
                raise TownError(f"the {noun} is only stood on: ask as in 'Is a taxi on the {noun}?'")
            case "all", noun:
                return self._all(noun, anywhere)
            case "one", thing:
                return Members([thing], {})
            case "filter", things, predicate:
                members, unsure = self.members(things, anywhere or about_sight(predicate))
                judged = _applying({t: self._judge(t, predicate) for t in members})
                self._margins += [abs(j.margin) for j in judged.values() if math.isfinite(j.margin)]
                unsure = unsure | {t: j.why for t, j in judged.items() if j.truth is None}
                sure = [t for t, j in judged.items() if j.truth]
                if len(sure) == 1:
                    self._reasons[form] = judged[sure[0]].why
                return Members(sure, unsure)
            case "most", order, things, *to:
                to_thing = self.unique(to[0]) if to else None
                return self._nth(form, 1, order, things, to_thing)
            case "nth", number, order, things:
                return self._nth(form, number, order, things)
            case "exactly", number, things:
                found = self.members(things, anywhere)
                if len(found.clear()) != number:
                    raise TownError(f"{self._count(Form('count', (things,)))[2]}: ask about what is there")
                return found
            case "union", *phrases:
                return Members([self.unique(p) for p in phrases], {})
        return self.members(form.parts[0], anywhere)

    def _all(self, noun: str, anywhere: bool) -> Members:
        """The things that a noun means, and those of which readers do not agree."""
        things = [t for t in self.view.things if t.group != "cloud" or noun != THING]
        things = things if anywhere else self.view.counted(things)
        if noun == THING:
            return Members(things, {})
        if self.strict == 2:
            return Members(meant(things, noun), {})
        sure, perhaps = called(things, noun)
        perhaps = [] if self.strict else perhaps
        unsure = {t: f"whether {the(t)} counts as {with_article(noun)} is too close to say" for t in perhaps}
        if noun in NAMED_BY_COLOUR:  # a red fire truck is a red truck
            colour, _, painted = noun.partition(" ")
            of_colour = Form("filter", (Form("all", (painted,)), Form("has", ("colour", colour))))
            others, unsure = self.members(of_colour, anywhere)
            sure = list(dict.fromkeys([*meant(things, noun), *others]))
            unsure = {t: why for t, why in unsure.items() if t not in sure}
        return Members(sure, unsure)

    def _nth(self, form: Form, number: int, order: str, things: Form, to: Thing | None = None) -> Members:
        """The first thing of a set in an order, or the second, and so on; all that it may be if unclear."""
        sure, perhaps = self.members(things)
        found = [t for t in [*sure, *perhaps] if t is not to]
        if not found:
            raise TownError(f"{self._none(things)}: ask about what is there")
        if number > len(found):
            raise TownError(
                f"there are only {len(found)} of what '{wording.noun(things)}' may mean: ask for one of these"
            )
        quantity, sign = ORDERS[order]
        ordered = sorted(found, key=lambda t: -sign * self.view.quantity(quantity, t, to))
        thing = ordered[number - 1]
        pairs = [(thing, other) for other in reversed(ordered[number:])]
        pairs += [(other, thing) for other in ordered[: number - 1]]
        unsure: dict[Thing, str] = {}
        for before, after in pairs:
            judgement = self.view.more(order, before, after, to)
            self._reasons[form] = judgement.why  # the last is about a neighbour
            self._margins.append(abs(judgement.margin))
            if not judgement.truth:
                unsure |= dict.fromkeys((before, after), judgement.why)
        unsure |= perhaps if number > 1 or thing in perhaps else {}
        return Members([], unsure) if unsure else Members([thing], {})

    def unique(self, phrase: Form, anywhere: bool = False) -> Thing:
        """The one thing that a phrase means; with `anywhere` a hidden one if none is visible."""
        (things,) = phrase.parts
        if phrase.name == "one":
            return things
        found, unsure = self.members(things)
        candidates = [*found, *unsure]
        if things.name == "all" and not found and len(unsure) == 1:
            self.notes.append(f"'{things.parts[0]}' is read as {the(*unsure)}")
            return candidates[0]
        for strict in (1, 2) if not self.strict and (anywhere or len(candidates) > 1) else ():
            with suppress(TownError, TooCloseError):  # of a noun in it
                named = Evaluator(self.view, strict).members(things, anywhere).clear()
                if len(named) == 1:
                    others = [the(t) for t in candidates if t is not named[0]]
                    note = (
                        f"'{wording.noun(things)}' is read as {the(named[0])}, not as {listed(others, 'or')}"
                    )
                    self.notes += [note] if others else []
                    return named[0]
        found = self.members(things).clear()
        hidden = [] if found else self.members(things, anywhere=True).sure
        found = hidden if anywhere and not found else found
        if len(found) == 1:
            return found[0]
        noun, kinds = wording.noun(things), [t.kind for t in self.view.things]
        if found:
            names = ", ".join(label(t) if kinds.count(t.kind) > 1 else t.name for t in found[:8])
            problem = f"there are {len(found)} of what '{noun}' may mean ({names})"
            raise TownError(f"{problem}: ask about {with_article(noun)}, or use a name")
        remedy = "move things or the camera, or ask(..., everywhere=True)"
        remedy = remedy if hidden else "place one, or ask about what is there"
        raise TownError(f"{self._none(things)}: {remedy}")

    def _none(self, form: Form, other: str = "") -> str:
        """Why a set is empty, but for things that do not count ("other ")."""
        noun, counted = wording.noun(form), self.members(form).sure
        hidden = [t for t in self.members(form, anywhere=True).sure if t not in counted]
        if hidden:
            none = f"there is no {other}{noun} in the picture, and " if other else ""
            return none + self.view.hidden(noun, hidden)
        alike = [t for t in self.view.counted(self.view.things) if {*noun.split()} & {*t.kind.split()}]
        known = alike and form.name == "all" and not other
        also = f" (there is {with_article(alike[0].name)})" if known else ""
        return f"there is no{'' if noun.startswith(THING) else ' '}{other}{noun} in this town{also}"


def about_sight(form: Form) -> bool:
    """Whether a form asks what is seen, or what the whole town holds, so that hidden things count."""
    return any(part in str(form) for part in ("has(sight", "has(place", "related(hid"))


def _applying(judged: dict[Thing, Judgement], decisive: bool | None = None) -> dict[Thing, Judgement]:
    """The judgements that apply. Raises TownError if others are unknown and none has the decisive truth."""
    applying = {thing: judgement for thing, judgement in judged.items() if judgement.applies}
    unknown = [j.why for j in judged.values() if j.truth is None and not j.applies]
    if unknown and (decisive is None or all(j.truth is not decisive for j in applying.values())):
        raise TownError(f"{unknown[0]}: ask about a vehicle")
    return applying


def _joined(join: str, judgements: list[Judgement]) -> Judgement:
    """All of some judgements ("and"), or any ("or"), by Kleene's strong logic: the one that decides."""
    choose: Callable[..., Judgement] = min if join == "and" else max
    return choose(judgements, key=lambda j: (_RANK[j.truth], 0.0 if math.isnan(j.margin) else j.margin))


def _both(join: str, judgements: list[Judgement]) -> Judgement:
    """The same, with all reasons if they agree."""
    result = _joined(join, judgements)
    agree = all(j.truth is result.truth for j in judgements)
    return result._replace(why="; ".join(dict.fromkeys(j.why for j in judgements))) if agree else result


def _negated(judgement: Judgement, also: str = "") -> Judgement:
    opposite = None if judgement.truth is None else not judgement.truth
    return judgement._replace(truth=opposite, margin=-judgement.margin, why=judgement.why + also)


def _ground(things: Form) -> str:
    """The ground that is meant, or "" if it is something else."""
    return things.parts[0] if things.name == "all" and things.parts[0] in SURFACES else ""
