"""Streets that show no held-out composition, or one of them; and questions that fit in with that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simtown.assets.palette import PAINTS
from simtown.language.colours import colour_of
from simtown.language.families import AskedWorld, Draws
from simtown.language.forms import Form
from simtown.language.holdout import NO_LIMIT, HeldOut
from simtown.language.planting import Filled, Plan, Want, kinds_of, of_colour, paint_of, plan
from simtown.language.programs import COLOURS, decode
from simtown.language.views import paint_colours
from simtown.scenes.paint import may_change
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS


@dataclass(frozen=True)
class Limits:
    """Compositions that a street must not show, or with `alone`, of which it must show one.

    `weather` is that of the street, unless the question or a composition needs another one.
    """

    held: HeldOut
    alone: bool
    weather: int


def fill_within(world: AskedWorld, form: Form, answer: int, draws: Draws, limits: Limits) -> Filled | None:
    """As :func:`simtown.language.planting.fill_street`, for pictures that have limits."""
    wanted = plan(form, answer, draws)
    number = world.least + draws.below(world.most - world.least + 1)
    if len(wanted.wants) > world.most:
        return None
    street = _Street(world, wanted, draws, limits)
    if not all(street.add(want) for want in wanted.wants) or (
        limits.alone and not street.compose(limits.held)
    ):
        return None
    while street.filled < number and street.add(None):
        pass
    order = np.argsort([draws.below(1 << 30) for _ in range(world.most)], kind="stable")
    return street.entity[order], street.paint[order], street.weather, wanted.things


class _Street:
    """The vehicles of a street that is being filled."""

    def __init__(self, world: AskedWorld, wanted: Plan, draws: Draws, limits: Limits) -> None:
        self.world, self.wanted, self.draws, self.filled = world, wanted, draws, 0
        self.entity, self.paint = np.full(world.most, -1), np.full(world.most, -1, dtype=np.int8)
        self.weather = wanted.weather if wanted.weather >= 0 else limits.weather
        self.clear = None if limits.alone else limits.held
        self.others = world.chances
        self.barred: dict[str, np.ndarray] = {}
        for ban in wanted.bans:
            if not ban.colour or not world.painted:
                self.others = np.where(kinds_of(world, ban) > 0, 0.0, self.others)
            else:
                self.barred[ban.colour] = world.kinds(ban.noun) > 0

    def add(self, want: Want | None) -> bool:
        """Add what is wanted, or any other vehicle; False if there is none."""
        chances, paints = self.others if want is None else kinds_of(self.world, want), self.world.paint
        if self.clear:
            chances = chances * ~self.clear.tables["kind"][:-1, self.entity[: self.filled]].any(axis=1)
            barred = self.clear.tables["weather"][:-1]
            if (
                want is not None
                and self.wanted.weather < 0
                and not (chances * ~barred[:, self.weather]).any()
            ):
                before = barred[self.entity[: self.filled]].any(axis=0)
                fits = [w for w in self.world.weathers if not before[w] and (chances * ~barred[:, w]).any()]
                self.weather = self.draws.choice(fits) if fits else self.weather
            chances = chances * ~barred[:, self.weather]
        if not chances.any():
            return False
        kind = self.draws.weighted(chances)
        if self.world.painted and may_change()[kind]:
            if self.clear:
                paints = paints * ~self.clear.tables["colour"][kind, colour_of()[: len(PAINTS)]]
            paint = paint_of(paints, want, kind, self.barred, self.draws) if paints.any() else -1
            wrong = want and want.colour and of_colour(want.colour)[paint] == want.apart
            if self.clear and (paint < 0 or wrong):
                return False
            self.paint[self.filled] = paint
        self.entity[self.filled] = kind
        self.filled += 1
        return True

    def compose(self, held: HeldOut) -> bool:
        """Make the street show a composition that fits beside what is wanted; False if none does."""
        what = next(name for name in held.SEEN if held.tables[name].any())
        table, room = held.tables[what][:-1, :-1], self.world.most - self.filled
        slots = list(range(self.filled))
        if what == "colour":  # of a vehicle whose colour nothing decides yet, or of another one
            slots = [slot for slot in slots if not self.wanted.wants[slot].colour]
        present = np.isin(np.arange(len(table)), self.entity[slots])
        weights = np.where(present, 1.0, self.others * (room > 0))
        pairs = table * weights[:, None]
        if what == "kind":
            pairs = pairs * weights * (present[:, None] | present | (room > 1))
        elif what == "weather":
            here = pairs * (np.arange(pairs.shape[1]) == self.weather)
            pairs = here if self.wanted.weather >= 0 or here.any() else pairs
        else:
            pairs = pairs * np.bincount(paint_colours() + 1, self.world.paint, len(COLOURS) + 1)[1:]
            for colour, kinds in self.barred.items():
                pairs[kinds & ~present, COLOURS.index(colour)] = 0
        if not pairs.any():
            return False
        kind, other = divmod(self.draws.weighted(pairs.reshape(-1)), pairs.shape[1])
        for new in (kind, other) if what == "kind" else (kind,):
            if not present[new]:
                slots.append(self.filled)
                self.entity[self.filled] = new
                if self.world.painted and may_change()[new]:
                    self.paint[self.filled] = paint_of(self.world.paint, None, new, self.barred, self.draws)
                self.filled += 1
        if what == "weather":
            self.weather = other
        elif what == "colour":
            slot = next(slot for slot in slots if self.entity[slot] == kind)
            self.paint[slot] = self.draws.weighted(self.world.paint * (paint_colours() == other))
        return True


def keeps(
    world: AskedWorld,
    form: Form,
    answers: Sequence[int],
    limits: Limits,
    tries: Sequence[list[float]],
) -> bool:
    """Whether a split may ask a question, whatever the answer is: so its words do not hint at the answer.

    Words of training name no composition that is held out, and no answer to them makes one. Words of the
    split of compositions ask for one, or any answer to them may be true where a picture shows one. `tries`
    are uniform numbers for some streets.
    """
    held = limits.held
    if limits.alone and not held.pictured:
        return (held.count < NO_LIMIT and form.name == "count") or held.asks(form)
    if not limits.alone:
        if held.asks(form) or held.names(form, WEATHERS[limits.weather]):
            return False
        if form.name != "query" or not held.pictured:
            return True
    return all(
        any(fill_within(world, form, answer, Draws(own), limits) is not None for own in tries)
        for answer in answers
    )


def kept(
    limits: Sequence[Limits | None], scenes: SceneBatch, programs: np.ndarray | None = None
) -> np.ndarray:
    """(n,) bool: which streets show a composition or none, as they must, and which further questions about
    such streets, (n, LENGTH), fit in with that.
    """
    result = np.ones(len(limits), dtype=bool)
    for held, alone in {(own.held, own.alone) for own in limits if own}:
        rows = np.array([own is not None and own.held is held for own in limits])
        if held.pictured:
            result[rows] = held.shown(scenes[rows]) == alone
        if programs is not None and not (alone and held.pictured):
            forms = map(decode, programs[rows])
            result[rows] &= [held.asks(f) if alone else not (held.asks(f) or held.names(f)) for f in forms]
    return result
