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
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from simtown.core.streams import Draws, choose
from simtown.language.asking.hold_out import Limits, streets_obey
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.question import (
    WORD_DRAWS,
    AskingRecipe,
    DrawnWords,
    Questions,
    draw_questions,
    draw_words,
)
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.search import ask_families
from simtown.language.asking.templates import NARROWED, Family, Template
from simtown.language.meaning.evaluate import evaluate
from simtown.language.meaning.programs import encode, stored
from simtown.language.meaning.views import paint_colours
from simtown.language.words import wording
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

#: Places of families, each with some of its templates and their places.
Askable: TypeAlias = list[tuple[int, list[tuple[int, Template]]]]


class WordsToDraw(NamedTuple):
    """The source of the words of a further question.

    Attributes:
        askable: the templates.
        world: the kinds and colours that they may name.
        narrowed: place in NARROWED of what narrows sets; None for any.
        answer: the answer in the first picture, -1 for either.
    """

    askable: Askable
    world: AskedWorld
    narrowed: int | None
    answer: int


class Proposal(NamedTuple):
    """Words that were drawn for a further question: the wanted answer, the family's place, the words."""

    answer: int
    family: int
    drawn: DrawnWords


class Placed(NamedTuple):
    """Second pictures: scenes, visible shares, the scene of each row, and (k,) whether it could be placed."""

    scenes: SceneBatch
    visible: np.ndarray
    at: np.ndarray
    placed: np.ndarray


class SecondPictures(Protocol):
    """Pictures in which further questions have other answers than in the first ones."""

    def words(self, row: int, number: int, attempt: int) -> WordsToDraw:
        """The source of the words of question `number` about picture `row`, by attempt."""

    def scenes(self, address: np.ndarray, rows: np.ndarray, attempts: np.ndarray) -> Placed:
        """The second pictures of (k,) rows, by addresses and attempts."""


@dataclass
class Given:
    """Questions about n pictures, and second pictures in which the next ones have other answers.

    Attributes:
        asked: by question, then by picture, of which twins are two: n questions each.
        asking: (n,) bool, of which pictures more is asked.
        address: (n,) int64, for the draws.
        limits: n compositions that the questions keep to.
        second: the second pictures.
    """

    asked: list[list[Questions]]
    asking: np.ndarray
    address: np.ndarray
    limits: Sequence[Limits | None]
    second: SecondPictures


#: Asks the first questions about some pictures; the number counts the other streets for their words.
Begin: TypeAlias = Callable[[AskingRecipe, np.ndarray, int], Given]


def spatial(family: Family) -> bool:
    """Whether a family's answers are yes or no and hang on where given vehicles stand."""
    programs = [template.form for template in family.templates]
    return family.answer == "truth" and all(p.name == "holds" and not p.has("a") for p in programs)


def may_follow(family: Family) -> bool:
    """Whether questions of a family may be asked about a street that another question has made."""
    return family.name == "exist" or spatial(family)


def ask_several(recipe: AskingRecipe, index: np.ndarray, begin: Begin | None = None) -> Questions:
    """The questions with the numbers `index` ((n,) int64), of which several share a picture.

    Raises ImpossibleError if a picture has too few such questions.
    """
    own, place = np.divmod(index, recipe.questions_per_picture * (1 + recipe.twins))
    pictures = np.unique(own)
    asked = _ask_pictures(recipe, pictures, begin or _elsewhere, 0)
    order = place * len(pictures) + np.searchsorted(pictures, own)
    return join([part for parts in zip(*asked, strict=True) for part in parts], order)


def _ask_pictures(
    recipe: AskingRecipe, pictures: np.ndarray, begin: Begin, again: int
) -> list[list[Questions]]:
    """The first questions about every picture, the second ones, and so on.

    Where too few are found, the first one gets another street, so that its words hint at nothing.
    """
    given = begin(recipe, pictures, again)
    if again > SAME_WORDS:
        given.address = given.address + (again << 40)
    for _ in range(1, recipe.questions_per_picture):
        given.asking = ask_another_question(recipe, given)
    found = given.asking
    if found.all():
        return given.asked
    if again == recipe.streets:
        exist = ", or add exist to `questions`" * (recipe.distinct_kinds > 0)
        raise ImpossibleError(
            f"too few questions of yes or no were found about picture {pictures[~found][0]}: give more "
            f"`entities` or `crowd`, or fewer `questions_per_picture`{exist}"
        )
    order = np.where(found, np.arange(len(found)), len(found) + np.cumsum(~found) - 1)
    anew = _ask_pictures(recipe, pictures[~found], begin, again + 1)
    return [
        [join([*both], order) for both in zip(*parts, strict=True)]
        for parts in zip(given.asked, anew, strict=True)
    ]


def join(parts: Sequence[Questions], order: np.ndarray) -> Questions:
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

    return cast(Questions, joined(parts))


def ask_another_question(recipe: AskingRecipe, given: Given) -> np.ndarray:
    """Ask one more question about pictures; it becomes the last one of `given.asked`.

    Returns (n,) bool, for which of them one is found; of the others it means nothing.
    """
    first, number, n = given.asked[0][0], len(given.asked), len(given.address)
    result = [
        replace(Questions.empty(n, 0), scene=part.scene, visible=part.visible, twins=part.twins)
        for part in given.asked[0]
    ]
    found = np.zeros(n, dtype=bool)
    begin = 0
    for at_once in AT_ONCE[: TWIN_TURNS if recipe.twins else None]:
        rows = np.repeat(np.flatnonzero(given.asking & ~found), at_once)
        attempts = begin + np.arange(len(rows)) % at_once
        begin += at_once
        address = given.address[rows] * MOST_QUESTIONS + number
        proposals = _propose(recipe, given.second, rows, number, address, attempts)
        if not proposals:
            continue
        rows, attempts, address = (column[[*proposals]] for column in (rows, attempts, address))
        proposed = [*proposals.values()]
        programs = stored([encode(proposal.drawn.form) for proposal in proposed])
        wanted = np.array([proposal.answer for proposal in proposed])
        here = evaluate(first.scene, programs, first.visible, recipe.size, rows)
        fits = here.clear() & ((wanted < 0) | (here.answer == wanted))
        for before, *_ in given.asked:
            fits &= (programs != before.program[rows]).any(axis=1)
        good = np.flatnonzero(fits)
        rows, attempts, programs, here = rows[good], attempts[good], programs[good], here.at(good)
        second = given.second.scenes(address[good], rows, attempts)
        there = evaluate(second.scenes, programs, second.visible, recipe.size, second.at)
        fits = second.placed & there.clear() & (there.answer != here.answer)
        if recipe.hold_out:
            limits = [given.limits[row] for row in rows.tolist()]
            fits &= streets_obey(limits, second.scenes[second.at], programs)
        chosen = np.flatnonzero(fits)
        chosen = chosen[np.unique(rows[chosen], return_index=True)[1]]  # the first of each picture
        into = rows[chosen]
        found[into] = True
        for part, values in zip(result, (here, there), strict=False):
            part.values.keep(into, values.at(chosen))
            part.program[into], part.answer[into] = programs[chosen], values.answer[chosen]
            part.tried[into] = attempts[chosen, None] + 1
            for row, k in zip(into.tolist(), good[chosen].tolist(), strict=True):
                family, drawn = proposed[k].family, proposed[k].drawn
                text = recipe.families[family].templates[drawn.template].texts[drawn.text]
                part.family[row], part.template[row], part.text[row] = family, drawn.template, drawn.text
                part.words[row] = wording.fill(text, drawn.slots)
    given.asked.append(result)
    return found


def _propose(
    recipe: AskingRecipe,
    second: SecondPictures,
    rows: np.ndarray,
    number: int,
    address: np.ndarray,
    attempts: np.ndarray,
) -> dict[int, Proposal]:
    """Words for question `number` about pictures, by the place of the row and the attempt."""
    numbers = recipe.stream("more words").uniform(address, WORD_DRAWS, attempts).tolist()
    proposals: dict[int, Proposal] = {}
    for place, (row, attempt, own) in enumerate(zip(rows.tolist(), attempts.tolist(), numbers, strict=True)):
        source = second.words(row, number, attempt)
        draws = Draws(own)
        family, templates = draws.choice(source.askable) if source.askable else (0, [])
        drawn = draw_words(source.world, templates, draws, source.narrowed) if templates else None
        if drawn:
            proposals[place] = Proposal(source.answer, family, drawn)
    return proposals


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


class Elsewhere:
    """Second streets that have the same vehicles at other places, or in the end other vehicles."""

    def __init__(self, recipe: AskingRecipe, pictures: np.ndarray, first: Questions) -> None:
        self._recipe = recipe
        self._scene = first.scene
        entity, paint = first.scene.entity[:, None], first.scene.paint
        self._worlds = [seen_world(recipe.world, *seen) for seen in zip(entity, paint, strict=True)]
        families = [*enumerate(recipe.families)]
        self._where: Askable = [(at, [*enumerate(own.templates)]) for at, own in families if spatial(own)]
        self._which: Askable = [(at, [(0, own.templates[0])]) for at, own in families if own.name == "exist"]
        self._coins = recipe.stream("further answers").uniform(pictures, MOST_QUESTIONS) < 0.5

    def words(self, row: int, number: int, attempt: int) -> WordsToDraw:
        """Templates about where the vehicles stand; in later attempts about which there are."""
        if attempt < SPATIAL:
            return WordsToDraw(self._where, self._worlds[row], None, -1)
        # both pictures have kinds of their own, so the answer is drawn; sets stay whole, since a narrowed one
        # needs two vehicles of a kind, which the first question may have put into its own picture
        return WordsToDraw(self._which, self._recipe.world, len(NARROWED), int(self._coins[row, number]))

    def scenes(self, address: np.ndarray, rows: np.ndarray, attempts: np.ndarray) -> Placed:
        """Streets that are drawn for these questions alone."""
        scene, world, hold = self._scene, self._recipe.world, self._recipe.hold_out
        entity, weather = scene.entity[rows].astype(np.int64), scene.weather[rows]
        numbers = self._recipe.stream("other vehicles").uniform(address, entity.shape[1], attempts)
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
            self._recipe.stream("elsewhere"), address, attempts, entity, street.camera
        )
        return Placed(street, visible, np.arange(len(rows)), placed)


def _elsewhere(recipe: AskingRecipe, pictures: np.ndarray, again: int) -> Given:
    """The first questions, and second streets."""
    first = ask_families(recipe, pictures, again)
    limits = [question.limits for question in draw_questions(recipe, pictures)]
    asking = np.ones(len(pictures), dtype=bool)
    return Given([[first]], asking, pictures, limits, Elsewhere(recipe, pictures, first))
