"""Several questions about one picture.

The first question of a picture makes its street (:mod:`simtown.language.asking`). The others are about the
same street, and yes or no: each has the other answer in a second street, in which the same vehicles stand at
other places. Either case is as likely then, so the words do not hint at the answer. Where too few vehicles
can be told apart, it is asked whether there is one of a kind, and other vehicles stand in the second street.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np

from simtown.core.streams import choose
from simtown.language import wording
from simtown.language.asking import AskedBatch, AskingRecipe, ask_families, rows_of
from simtown.language.composing import kept
from simtown.language.evaluate import KNOWN, Values, evaluate
from simtown.language.families import AskedWorld, Drawer, Draws, Family, NoWordsError
from simtown.language.programs import encode, stored
from simtown.language.sampler import ImpossibleError
from simtown.scenes.crowd import place_crowds
from simtown.scenes.scene import SceneBatch, empty_batch

#: Proposals for a question, and how many of them are judged at once.
PROPOSALS, AT_ONCE = 240, 4
#: So many of them are about where the vehicles stand, the others about which there are.
SPATIAL = 60
#: How often a kind of several vehicles is named, of one vehicle 1.
SEVERAL = 0.25
#: Streets that are drawn anew for a picture about which too few questions are found.
MOST_STREETS = 40
#: Questions of a picture, at most.
MOST_QUESTIONS = 10
#: Uniform numbers for the words of a proposal.
_WORD_DRAWS = 64


class _Proposal(NamedTuple):
    """A question: the places of its family, template and text, its program and its words."""

    family: int
    template: int
    text: int
    program: list[int]
    words: str


def spatial(family: Family) -> bool:
    """Whether a family's answers are yes or no and hang on where given vehicles stand."""
    programs = [template.program for template in family.templates]
    return family.answer == "truth" and all(p.startswith("holds(") and "a(" not in p for p in programs)


def may_follow(family: Family) -> bool:
    """Whether questions of a family may be asked about a street that another question has made."""
    return family.name == "exist" or spatial(family)


def ask_several(recipe: AskingRecipe, index: np.ndarray) -> AskedBatch:
    """The questions with the numbers `index` ((n,) int64), `recipe.each` of which share a picture.

    Raises ImpossibleError if a picture has too few such questions.
    """
    pictures = np.unique(index // recipe.each)
    order = (index % recipe.each) * len(pictures) + np.searchsorted(pictures, index // recipe.each)
    return join(_asked(recipe, pictures, 0), order)


def _asked(recipe: AskingRecipe, pictures: np.ndarray, again: int) -> list[AskedBatch]:
    """The first question about every picture, the second, and so on.

    Where too few are found, the first one gets another street, so that its words hint at nothing.
    """
    first, lost = ask_families(recipe, pictures, again), np.zeros(len(pictures), dtype=bool)
    rows, worlds = [first], _worlds(recipe, first)
    for number in range(1, recipe.each):
        rows.append(_another(recipe, pictures, worlds, rows, number, lost))
    if not lost.any():
        return rows
    if again == MOST_STREETS:
        raise ImpossibleError(
            f"too few questions of yes or no were found about picture {pictures[lost][0]}: add exist to "
            "`questions`, or give more `crowd`, or fewer `questions_per_picture`"
        )
    order = np.where(lost, len(pictures) + np.cumsum(lost) - 1, np.arange(len(pictures)))
    anew = _asked(recipe, pictures[lost], again + 1)
    return [join([*both], order) for both in zip(rows, anew, strict=True)]


def join(parts: list[AskedBatch], order: np.ndarray) -> AskedBatch:
    """Rows of several batches, one behind the other, in an order."""

    def joined(columns: Sequence[Any]) -> Any:
        first = columns[0]
        if isinstance(first, np.ndarray):
            return np.concatenate(columns)[order]
        if isinstance(first, list):
            words = [*chain(*columns)]
            return [words[row] for row in order.tolist()]
        if isinstance(first, tuple):
            return type(first)(*map(joined, zip(*columns, strict=True)))
        if first is None:
            return None
        return replace(
            first, **{f.name: joined([getattr(c, f.name) for c in columns]) for f in fields(first)}
        )

    return cast(AskedBatch, joined(parts))


def _another(
    recipe: AskingRecipe,
    pictures: np.ndarray,
    worlds: list[AskedWorld],
    before: list[AskedBatch],
    number: int,
    lost: np.ndarray,
) -> AskedBatch:
    """One more question about every picture, with other words than those before.

    Those for which none is found become `lost`; what is here in their places means nothing.
    """
    n, every = len(pictures), np.arange(len(pictures))
    result = join(before[:1], every)
    result = replace(result, values=Values.empty(n), tried=np.zeros((n, 2), dtype=np.int64))
    asked, found = [{part.words[row] for part in before} for row in range(n)], np.zeros(n, dtype=bool)
    limits = [row.limits for row in rows_of(recipe, pictures)]
    places = [
        [p for p, family in enumerate(recipe.families) if suits(family)]
        for suits in (lambda family: family.name == "exist", spatial)
    ]
    for begin in range(0, PROPOSALS, AT_ONCE):
        rows = np.repeat(every[~lost & ~found], AT_ONCE)
        attempts = np.resize(np.arange(begin, begin + AT_ONCE), len(rows))
        address = pictures[rows] * MOST_QUESTIONS + number
        numbers = recipe.stream("more words").uniform(address, _WORD_DRAWS, attempts).tolist()
        proposals = {}
        for at, (row, attempt) in enumerate(zip(rows.tolist(), attempts.tolist(), strict=True)):
            own = Draws(numbers[at])
            proposal = _propose(recipe, worlds[row], places[attempt < SPATIAL], attempt, own)
            if proposal and proposal.words not in asked[row]:
                proposals[at] = proposal
        if not proposals:
            continue
        rows, attempts, address = (column[[*proposals]] for column in (rows, attempts, address))
        programs = stored([proposal.program for proposal in proposals.values()])
        here = evaluate(before[0].scene, programs, before[0].visible, recipe.size, rows)
        good = (here.state == KNOWN) & ~here.idle
        others, visible, placed = _elsewhere(recipe, before[0], address[good], rows[good], attempts[good])
        there = evaluate(others, programs[good], visible, recipe.size)
        placed &= (there.state == KNOWN) & (there.answer != here.answer[good])
        if recipe.hold_out:
            placed &= kept([limits[row] for row in rows[good].tolist()], others, programs[good])
        good[good] = placed
        for at, (row, proposal) in enumerate(zip(rows.tolist(), proposals.values(), strict=True)):
            if not found[row]:
                result.tried[row] += 1, good[at]
            if good[at] and not found[row]:
                found[row], result.words[row], result.program[row] = True, proposal.words, programs[at]
                for name in ("family", "template", "text"):
                    getattr(result, name)[row] = getattr(proposal, name)
                result.answer[row], result.values.margin[row] = here.answer[at], here.margin[at]
    lost |= ~found
    return replace(result, values=result.values._replace(answer=result.answer))


def _worlds(recipe: AskingRecipe, first: AskedBatch) -> list[AskedWorld]:
    """For every picture the world of the kinds that stand in it.

    Those that do so more than once are named less often, since "the taxi" means none of two.
    """
    most = len(recipe.world.chances)
    counts = [np.bincount(kinds[kinds >= 0], minlength=most) for kinds in first.scene.entity]
    return [replace(recipe.world, chances=np.where(n > 1, SEVERAL, 1.0 * n)) for n in counts]


def _propose(
    recipe: AskingRecipe, world: AskedWorld, places: list[int], attempt: int, draws: Draws
) -> _Proposal | None:
    """A question of one of the families at `places` about a picture, whose kinds are `world`."""
    if not places:
        return None
    place = draws.choice(places)
    templates = recipe.families[place].templates
    template = draws.below(len(templates)) if attempt < SPATIAL else 0
    text = draws.below(len(templates[template].texts))
    try:
        drawer = Drawer(world if attempt < SPATIAL else recipe.world, draws)
        form, slots = drawer.question(templates[template])
    except (NoWordsError, StopIteration):
        return None
    words = wording.fill(templates[template].texts[text], slots)
    return _Proposal(place, template, text, encode(form), words)


def _elsewhere(
    recipe: AskingRecipe,
    first: AskedBatch,
    address: np.ndarray,
    rows: np.ndarray,
    attempts: np.ndarray,
) -> tuple[SceneBatch, np.ndarray, np.ndarray]:
    """Other streets, the visible shares of their vehicles, and which of them could be placed.

    The first SPATIAL attempts have the vehicles of the pictures `rows`, the others vehicles of their own.
    """
    scene = first.scene
    entity = scene.entity[rows].astype(np.int64)
    weather, hold = scene.weather[rows], recipe.hold_out
    numbers = recipe.stream("other vehicles").uniform(address, entity.shape[1], attempts)
    drawn = entity.copy()
    for sky in np.unique(weather):
        barred = hold.held[0].tables["weather"][:-1, sky] if hold and not hold.alone else False
        chances = np.where(barred, 0.0, recipe.world.chances)
        drawn[weather == sky] = choose(numbers[weather == sky], np.cumsum(chances) / chances.sum())
    entity = np.where((attempts >= SPATIAL)[:, None] & (entity >= 0), drawn, entity)
    pose, visible, placed = place_crowds(
        recipe.stream("elsewhere"), address, attempts, entity, scene.camera[rows]
    )
    others = replace(
        empty_batch(len(rows), scene.entity.shape[1], 1),
        entity=entity.astype(np.int16), pose=pose, paint=scene.paint[rows], weather=scene.weather[rows],
        camera=scene.camera[rows],
    )  # fmt: skip
    return others, visible, placed
