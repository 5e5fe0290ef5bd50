"""Several questions about one picture, or about two.

The first question makes the street (:mod:`simtown.language.asking.search`). The others are yes or no, and
each has the other answer in a second street, so the words do not hint at the answer. With twins the second
street is the other picture. Without, the same vehicles stand in it at other places; where too few of them can
be told apart, it is asked whether there is one of a kind, and other vehicles stand in the second street.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, TypeAlias, cast

import numpy as np

from simtown.core.streams import choose
from simtown.language.asking.families import NARROWED, AskedWorld, Draws, Family, Template
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.search import (
    AskedBatch,
    AskingRecipe,
    Drawn,
    ask_families,
    draw_words,
    rows_of,
    text_of,
)
from simtown.language.asking.streets import Limits, kept
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.programs import encode, stored
from simtown.language.meaning.views import paint_colours
from simtown.scenes.crowd import place_crowds
from simtown.scenes.scene import SceneBatch, empty_batch

#: Words that are proposed for a question, so many of them at once; and in how many turns for twins, of which
#: another street is found sooner.
AT_ONCE, TWIN_TURNS = (3, 5, 10, 18, 24, 60, 120), 4
#: Without twins so many are about where the vehicles stand, the others about which there are.
SPATIAL = 60
#: How often a kind of several vehicles is named, of one vehicle 1.
SEVERAL = 0.25
#: After so many streets, in which the same further words were tried, each street gets words of its own.
SAME_WORDS = 40
#: Questions of a picture, at most.
MOST_QUESTIONS = 10
#: Uniform numbers for the words of a question.
_WORD_DRAWS = 64

#: Places of families, each with some of its templates and their places.
Askable: TypeAlias = list[tuple[int, list[tuple[int, Template]]]]
#: The templates of a question, the world that it is about, what narrows its sets, and its answer in the first
#: picture, -1 for either.
Words: TypeAlias = tuple[Askable, AskedWorld, int | None, int]
#: Scenes, visible shares, the scene of each row, and whether it could be placed.
Second: TypeAlias = tuple[SceneBatch, np.ndarray, np.ndarray, np.ndarray]


@dataclass
class Given:
    """Questions about n pictures, and second pictures in which the next ones have other answers.

    Attributes:
        asked: by question, then by picture, of which twins are two: n questions each.
        asking: (n,) bool, of which pictures more is asked.
        address: (n,) int64, for the draws.
        limits: n compositions that the questions keep to.
        words: by row, number of the question, and attempt, what it is made of.
        second: by (k,) addresses, rows and attempts, the second pictures.
    """

    asked: list[list[AskedBatch]]
    asking: np.ndarray
    address: np.ndarray
    limits: Sequence[Limits | None]
    words: Callable[[int, int, int], Words]
    second: Callable[[np.ndarray, np.ndarray, np.ndarray], Second]


#: Asks the first questions about some pictures; the number counts the other streets for their words.
Begin: TypeAlias = Callable[[AskingRecipe, np.ndarray, int], Given]


def spatial(family: Family) -> bool:
    """Whether a family's answers are yes or no and hang on where given vehicles stand."""
    programs = [template.program for template in family.templates]
    return family.answer == "truth" and all(p.startswith("holds(") and "a(" not in p for p in programs)


def may_follow(family: Family) -> bool:
    """Whether questions of a family may be asked about a street that another question has made."""
    return family.name == "exist" or spatial(family)


def ask_several(recipe: AskingRecipe, index: np.ndarray, begin: Begin | None = None) -> AskedBatch:
    """The questions with the numbers `index` ((n,) int64), `recipe.each` of which share a picture.

    Raises ImpossibleError if a picture has too few such questions.
    """
    own, place = np.divmod(index, recipe.each * (1 + recipe.twins))
    pictures = np.unique(own)
    asked = _asked(recipe, pictures, begin or _elsewhere, 0)
    order = place * len(pictures) + np.searchsorted(pictures, own)
    return join([part for parts in zip(*asked, strict=True) for part in parts], order)


def _asked(recipe: AskingRecipe, pictures: np.ndarray, begin: Begin, again: int) -> list[list[AskedBatch]]:
    """The first questions about every picture, the second ones, and so on.

    Where too few are found, the first one gets another street, so that its words hint at nothing.
    """
    given = begin(recipe, pictures, again)
    if again > SAME_WORDS:
        given.address = given.address + (again << 40)
    for _ in range(1, recipe.each):
        given.asking = further(recipe, given)
    found = given.asking
    if found.all():
        return given.asked
    if again == recipe.streets:
        exist = ", or add exist to `questions`" * (recipe.apart > 0)
        raise ImpossibleError(
            f"too few questions of yes or no were found about picture {pictures[~found][0]}: give more "
            f"`entities` or `crowd`, or fewer `questions_per_picture`{exist}"
        )
    order = np.where(found, np.arange(len(found)), len(found) + np.cumsum(~found) - 1)
    anew = _asked(recipe, pictures[~found], begin, again + 1)
    return [
        [join([*both], order) for both in zip(*parts, strict=True)]
        for parts in zip(given.asked, anew, strict=True)
    ]


def join(parts: Sequence[AskedBatch], order: np.ndarray) -> AskedBatch:
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


def further(recipe: AskingRecipe, given: Given) -> np.ndarray:
    """Ask one more question about pictures; it becomes the last one of `given.asked`.

    Returns (n,) bool, for which of them one is found; of the others it means nothing.
    """
    first, number, n = given.asked[0][0], len(given.asked), len(given.address)
    result = [
        replace(AskedBatch.empty(n, 0), scene=part.scene, visible=part.visible, twins=part.twins)
        for part in given.asked[0]
    ]
    found, begin = np.zeros(n, dtype=bool), 0
    for at_once in AT_ONCE[: TWIN_TURNS if recipe.twins else None]:
        rows = np.repeat(np.flatnonzero(given.asking & ~found), at_once)
        attempts = begin + np.arange(len(rows)) % at_once
        address = given.address[rows] * MOST_QUESTIONS + number
        begin += at_once
        numbers = recipe.stream("more words").uniform(address, _WORD_DRAWS, attempts).tolist()
        proposals: dict[int, tuple[int, int, Drawn]] = {}
        for k, (row, attempt, own) in enumerate(zip(rows.tolist(), attempts.tolist(), numbers, strict=True)):
            (askable, world, narrowed, answer), draws = given.words(row, number, attempt), Draws(own)
            family, templates = draws.choice(askable) if askable else (0, [])
            if templates and (drawn := draw_words(world, templates, draws, narrowed)):
                proposals[k] = answer, family, drawn
        if not proposals:
            continue
        rows, attempts, address = (column[[*proposals]] for column in (rows, attempts, address))
        programs = stored([encode(form) for _, _, (_, _, form, _) in proposals.values()])
        here = evaluate(first.scene, programs, first.visible, recipe.size, rows)
        wanted = np.array([answer for answer, *_ in proposals.values()])
        fits = (here.state == KNOWN) & ~here.idle & ((wanted < 0) | (here.answer == wanted))
        for before, *_ in given.asked:
            fits &= (programs != before.program[rows]).any(axis=1)
        good = np.flatnonzero(fits)
        rows, attempts, programs, here = rows[good], attempts[good], programs[good], here.at(good)
        scenes, visible, at_scene, fits = given.second(address[good], rows, attempts)
        there = evaluate(scenes, programs, visible, recipe.size, at_scene)
        fits &= (there.state == KNOWN) & ~there.idle & (there.answer != here.answer)
        if recipe.hold_out:
            fits &= kept([given.limits[row] for row in rows.tolist()], scenes[at_scene], programs)
        chosen = np.flatnonzero(fits)
        chosen = chosen[np.unique(rows[chosen], return_index=True)[1]]  # the first of each picture
        into, proposed = rows[chosen], [*proposals.values()]
        found[into] = True
        for part, values in zip(result, (here, there), strict=False):
            part.values.keep(into, values.at(chosen))
            part.program[into], part.answer[into] = programs[chosen], values.answer[chosen]
            part.tried[into] = attempts[chosen, None] + 1
            for row, k in zip(into.tolist(), good[chosen].tolist(), strict=True):
                _, family, (template, text, _, slots) = proposed[k]
                part.family[row], part.template[row], part.text[row] = family, template, text
                part.words[row] = text_of(recipe.families[family], template, text, slots)
    given.asked.append(result)
    return found


def seen_world(
    world: AskedWorld, entity: np.ndarray, paint: np.ndarray, its: Sequence[int] = ()
) -> AskedWorld:
    """A world of the kinds and paints in (p, v) pictures, so that words are about what is there.

    Kinds of several vehicles are named less often, since "the taxi" means none of two. The first of `its`
    kinds that is not -1 is as likely as all others together.
    """
    counts = [np.bincount(kinds[kinds >= 0], minlength=len(world.chances)) for kinds in entity]
    most = np.max(counts, axis=0)
    chances = np.where(most > 1, SEVERAL, 1.0 * most)
    for kind in [kind for kind in its if kind >= 0][:1]:
        chances[kind] = max(chances.sum() - chances[kind], 1)
    colours = {*paint_colours()[np.unique(paint[paint >= 0])].tolist()} & {*world.colours}
    return replace(world, chances=chances, colours=tuple(sorted(colours)) or world.colours)


def _elsewhere(recipe: AskingRecipe, pictures: np.ndarray, again: int) -> Given:
    """The first questions, and second streets that have the same vehicles, or in the end other ones."""
    first = ask_families(recipe, pictures, again)
    scene, hold, world = first.scene, recipe.hold_out, recipe.world
    limits = [row.limits for row in rows_of(recipe, pictures)]
    worlds = [seen_world(world, *seen) for seen in zip(scene.entity[:, None], scene.paint, strict=True)]
    places = [*enumerate(recipe.families)]
    where: Askable = [(place, [*enumerate(own.templates)]) for place, own in places if spatial(own)]
    which: Askable = [(place, [(0, own.templates[0])]) for place, own in places if own.name == "exist"]

    coins = recipe.stream("further answers").uniform(pictures, MOST_QUESTIONS) < 0.5

    def words(row: int, number: int, attempt: int) -> Words:
        if attempt < SPATIAL:
            return where, worlds[row], None, -1
        # both pictures have kinds of their own, so the answer is drawn; sets stay whole, since a narrowed one
        # needs two vehicles of a kind, which the first question may have put into its own picture
        return which, world, len(NARROWED), int(coins[row, number])

    def second(address: np.ndarray, rows: np.ndarray, attempts: np.ndarray) -> Second:
        entity, weather = scene.entity[rows].astype(np.int64), scene.weather[rows]
        numbers = recipe.stream("other vehicles").uniform(address, entity.shape[1], attempts)
        drawn = entity.copy()
        for sky in np.unique(weather):
            barred = hold.held[0].tables["weather"][:-1, sky] if hold and not hold.alone else False
            chances = np.where(barred, 0.0, world.chances)
            drawn[weather == sky] = choose(numbers[weather == sky], np.cumsum(chances) / chances.sum())
        others = attempts >= SPATIAL
        entity = np.where(others[:, None] & (entity >= 0), drawn, entity)
        street = empty_batch(len(rows), entity.shape[1], 1)
        street.entity[:], street.paint[:], street.weather[:] = entity, scene.paint[rows], weather
        street.camera[:] = scene.camera[rows]
        street.pose[:], visible, placed = place_crowds(
            recipe.stream("elsewhere"), address, attempts, entity, street.camera
        )
        return street, visible, np.arange(len(rows)), placed

    return Given([[first]], np.ones(len(pictures), dtype=bool), pictures, limits, words, second)
