"""Questions about sequences, in pairs that no order-blind reader, and no picture alone, can answer.

The words and two answers are drawn first, as for all questions; then what the street does. Where the pictures
of one answer, in reverse order, show the other, both questions are about one sequence: the pair has the same
pictures. Otherwise it has two sequences that share a picture, byte for byte, and differ in how one vehicle
drives, in one edit, or in one camera.

Every draw has an address (pair, attempt), so a pair depends on the recipe and its number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.core.streams import Draws
from simtown.language.asking.meeting import Meeting, draw_meeting, place_meeting
from simtown.language.asking.moving import (
    EDIT_DRAWS,
    MOTION_DRAWS,
    Goal,
    draw_places,
    draw_seconds,
    draw_speeds,
    edited,
    keep_apart,
    make_faster,
    may_stand,
)
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.question import (
    VEHICLE_DRAWS,
    AskingRecipe,
    Question,
    QuestionTable,
    draw_questions,
    word_columns,
    word_questions,
)
from simtown.language.asking.search import cameras
from simtown.language.asking.streets import fill_street
from simtown.language.asking.templates import Family
from simtown.language.asking.viewing import (
    CAMERA_DRAWS,
    at_two_moments,
    beside_free,
    draw_cameras,
    draw_corners,
    draw_seats,
    places_agree,
)
from simtown.language.meaning.evaluate import KNOWN, Values
from simtown.language.meaning.limits import TURNED_PIXELS
from simtown.language.meaning.moments import evaluate_shown, show
from simtown.language.meaning.programs import OVER_TIME, stored
from simtown.scenes.crowd import place_crowds, thin_fog
from simtown.scenes.placement import LANES, framed_road
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.sequence import UNEDITED, Sequence, in_order, pictures, travel
from simtown.scenes.street import draw_street
from simtown.scenes.weather import draw_weather

#: What vehicles do to one that stands.
MEETINGS = ("passes", "order", "nears")
#: Words that are drawn for a pair, streets for some words, and streets that are drawn together: these have
#: the same vehicles.
WORDS, STREETS, TOGETHER = 64, 96, 8
#: In the place of the shared picture: the pair is one sequence, shown in both orders.
REVERSED = 255
#: By type of answer, the answers that a reversal of the pictures exchanges.
EXCHANGED: dict[str, dict[str, str]] = {
    "motion": {"right": "left"},
    "drive": {"forwards": "backwards"},
    "pace": {"speeds up": "slows down", "starts": "stops"},
    "change": {"came": "went"},
    "camera": {"left": "right", "nearer": "farther", "higher": "lower"},
}
#: What happened to a vehicle that some picture does not show, and what the second question of a pair says
#: then: other answers would be told by that picture. Of these answers so many are kept; the others are drawn
#: anew, from those of vehicles that both pictures show.
_GONE, _GONE_KEPT = {"came": "went", "went": "exchanged", "exchanged": "went"}, 0.6
#: By answer about a change, the share of questions that have it.
CHANGE_SHARES = dict.fromkeys(OVER_TIME["change"], (7 - 3 * _GONE_KEPT) / 28) | {
    "came": _GONE_KEPT / 14, "went": 3 * _GONE_KEPT / 14, "exchanged": 2 * _GONE_KEPT / 14,
}  # fmt: skip
#: What is asked of streets in which vehicles head along their lane or against it.
_HEADED = ("change", "seat")


@dataclass(frozen=True)
class SequenceRecipe:
    """The recipe from which questions about sequences are drawn.

    Attributes:
        asking: the recipe of the words and the streets.
        mode: one of MODES.
        pictures: of a sequence.
        seconds: from the first picture to the last; 0 if the time between two is drawn.
    """

    asking: AskingRecipe
    mode: str
    pictures: int
    seconds: float = 0.0


@dataclass
class SequenceQuestions(QuestionTable):
    """A table of n questions about sequences.

    Attributes:
        sequence: n latent sequences; of a reversed pair both are the same.
        number: (n,) int64 of the sequence, which is that of the first example that shows it.
        order: (n, P) uint8 its pictures, as they are shown.
        shared: (n,) uint8 the picture that both sequences of a pair share, or REVERSED.
        visible: (n, P, v) float32 in the order in which they are shown.
    """

    sequence: Sequence
    number: np.ndarray
    order: np.ndarray
    shared: np.ndarray
    visible: np.ndarray


class _Pairs(NamedTuple):
    """k pairs of sequences; of those that are reversed both are the same."""

    one: Sequence
    other: Sequence
    shared: np.ndarray


def deed_of(family: Family) -> str:
    """The name of what is drawn so that a question of a family has its answer: of OVER_TIME, "race" (who is
    faster), "order" (who passes first), "passes" or "nears".
    """
    form = family.templates[0].form
    names = {"compared": "race", "earlier": "order", "passes": "passes", "nears": "nears"}
    return next((deed for name, deed in names.items() if form.has(name)), family.answer)


def is_reversed(answer_type: str, one: int, other: int) -> bool:
    """Whether the pictures of one answer show the other in reverse order."""
    names = OVER_TIME.get(answer_type, ())
    exchanged = EXCHANGED.get(answer_type, {})
    return any({names[one], names[other]} == {*both} for both in exchanged.items()) if names else False


def draw_pairs(recipe: AskingRecipe, pairs: np.ndarray) -> list[tuple[Question, int]]:
    """The first question of each pair, and the answer of the second."""
    first, second = draw_questions(recipe, 2 * pairs), draw_questions(recipe, 2 * pairs + 1)
    numbers = recipe.stream("twin answer").uniform(pairs, 2).tolist()
    drawn = []
    for question, twin, own in zip(first, second, numbers, strict=True):
        question.answer, answer = _answers(question, twin.answer, *own)
        if question.family.answer == "picture":
            answer = recipe.world.pictures - 1 - question.answer
        question.wanted_vehicles = max(question.wanted_vehicles, question.family.vehicles)
        drawn.append((question, answer))
    return drawn


def _answers(question: Question, usual: int, which: float, exchange: float) -> tuple[int, int]:
    """The answers of a pair: if it can be, those that a reversal exchanges.

    But for a change, every answer is as often that of a question; `usual` is any other one. The last two are
    uniform numbers.
    """
    answer_type, answers, answer = question.family.answer, question.answers, question.answer
    if answer_type not in EXCHANGED:
        return answer, usual
    names = OVER_TIME[answer_type]
    if answer_type == "change":
        gone = {names.index(one): names.index(other) for one, other in _GONE.items()}
        if answer in gone and exchange < _GONE_KEPT:
            both = answer, gone[answer]
            # none of the others names "came": it is as often the second answer
            return both[::-1] if names[answer] == "came" and which < 0.5 else both
        there = [other for other in answers if other not in gone]
        if answer in gone:
            answer = there[int((exchange - _GONE_KEPT) / (1 - _GONE_KEPT) * len(there))]
        group = [other for other in there if other != answer]
        return answer, group[int(which * len(group))]
    partners: dict[int, int] = {}
    for exchanged in EXCHANGED[answer_type].items():
        one, other = map(names.index, exchanged)
        partners |= {one: other, other: one}
    others = [other for other in answers if other not in partners]
    if answer not in others and exchange >= len(others) / len(partners):
        return answer, partners[answer]
    group = [*partners] if answer in others else others
    return answer, group[int(which * len(group))]


def ask_sequences(recipe: SequenceRecipe, index: np.ndarray) -> SequenceQuestions:
    """The examples with the numbers `index` ((n,) int64). Raises ImpossibleError."""
    pairs = np.unique(index // 2)
    drawn = draw_pairs(recipe.asking, pairs)
    search = _Search(recipe, pairs, [q for q, _ in drawn], np.array([a for _, a in drawn]))
    search.run()
    return search.table(np.searchsorted(pairs, index // 2), index)


class _Search:
    """The search for the sequences of m pairs."""

    def __init__(
        self, recipe: SequenceRecipe, pairs: np.ndarray, questions: list[Question], twin: np.ndarray
    ) -> None:
        self.recipe, self.pairs, self.questions, self.twin = recipe, pairs, questions, twin
        self.answer = np.array([question.answer for question in questions])
        asking, n, count = recipe.asking, len(pairs), recipe.pictures
        deeds = [deed_of(family) for family in asking.families]
        self.deed = np.array([deeds[question.family_place] for question in questions])
        self.raced = self.deed == "race"
        self.reversed = np.isin(self.deed, ("order", "nears")) | [
            is_reversed(q.family.answer, q.answer, a) for q, a in zip(questions, twin.tolist(), strict=True)
        ]
        self.scene = empty_batch(n, asking.world.most, 0)
        self.scene.camera[:] = cameras(asking, pairs)
        for name, column in draw_weather(asking.stream("weather"), pairs, asking.weathers).items():
            getattr(self.scene, name)[:] = column
        self.seconds = np.zeros((n, count), np.float32)
        if recipe.mode == "time":
            self.seconds = draw_seconds(asking.stream("shots"), pairs, count, recipe.seconds)
        self.found = [Sequence.still(empty_batch(n, asking.world.most, 0), count) for _ in range(2)]
        self.shared = np.full(n, REVERSED, np.uint8)
        self.visible = np.zeros((2, n, count, asking.world.most), np.float32)
        self.values = [Values.empty(n) for _ in range(2)]
        self.tried = np.zeros((n, 2), np.int64)
        self.named = np.full((n, 3), -1)

    def run(self) -> None:
        """Draw words and streets until every pair has its sequences. Raises ImpossibleError."""
        waiting = np.arange(len(self.pairs))
        for epoch in range(WORDS):
            questions = [self.questions[i] for i in waiting.tolist()]
            word_questions(self.recipe.asking, questions, epoch)
            self.named[waiting] = np.reshape([_named(question) for question in questions], (-1, 3))
            for turn in range(STREETS // TOGETHER):
                if not len(waiting):
                    return
                attempts = (epoch * STREETS // TOGETHER + turn) * TOGETHER + np.arange(TOGETHER)
                waiting = waiting[~self._try(waiting, attempts)]
        if len(waiting):
            question = self.questions[waiting[0]]
            raise ImpossibleError(
                f"no sequence was found for '{question.words}': leave the family {question.family.name} out "
                "of `questions`, or allow fewer `crowd` or more `entities`"
            )

    def _try(self, waiting: np.ndarray, attempts: np.ndarray) -> np.ndarray:
        """Try streets for waiting pairs, in order; returns for which one was found, (k,) bool."""
        rows = np.repeat(waiting, len(attempts))
        address = np.tile(attempts, len(waiting))
        street, filled = self._streets(waiting, int(attempts[0]))
        copies = np.repeat(np.arange(len(waiting)), len(attempts))
        street, filled = street[copies], filled[copies]
        draw = {"time": self._drive, "views": self._view, "change": self._edit}[self.recipe.mode]
        pairs, fits = draw(street, rows, address)
        fits &= filled
        self.tried[waiting] += np.stack(
            [np.full(len(waiting), len(attempts)), fits.reshape(len(waiting), -1).sum(axis=1)], axis=1
        )
        done = np.zeros(len(self.pairs), dtype=bool)
        untried = np.flatnonzero(fits)
        while len(untried):
            first = np.unique(rows[untried], return_index=True)[1]
            some = untried[first]
            self._keep(_Pairs(pairs.one[some], pairs.other[some], pairs.shared[some]), rows[some], done)
            untried = np.delete(untried, first)
            untried = untried[~done[rows[untried]]]
        return done[waiting]

    def _streets(self, waiting: np.ndarray, attempt: int) -> tuple[SceneBatch, np.ndarray]:
        """A street without places for each waiting pair, and whether vehicles fit its words."""
        asking = self.recipe.asking
        numbers = asking.stream("vehicles").uniform(self.pairs[waiting], VEHICLE_DRAWS, attempt).tolist()
        scene, filled = self.scene[waiting], np.zeros(len(waiting), dtype=bool)
        for place, (row, own) in enumerate(zip(waiting.tolist(), numbers, strict=True)):
            question = self.questions[row]
            vehicles = fill_street(
                asking.world, question.form, question.answer, question.vehicles, Draws(own)
            )
            if vehicles is not None:
                scene.entity[place], scene.paint[place] = vehicles.entity, vehicles.paint
                filled[place] = True
        return scene, filled

    def _goals(self, street: SceneBatch, rows: np.ndarray, deed: str) -> tuple[Goal, Goal]:
        """What is to happen in both sequences of pairs to the vehicle that a question names first."""
        slot = self._slots(street, rows)[:, 0]
        asked = self.deed[rows] == deed
        return tuple(  # type: ignore[return-value]
            Goal(slot, deed, np.where(asked, answer[rows], -1)) for answer in (self.answer, self.twin)
        )

    def _slots(self, street: SceneBatch, rows: np.ndarray) -> np.ndarray:
        """(k, 3) slots of the vehicles that questions name, in order, -1 if there are no more."""
        kinds = self.named[rows]
        slots = (street.entity[:, None] == kinds[..., None]).argmax(axis=2)
        return np.where(kinds >= 0, slots, -1)

    def _drive(self, street: SceneBatch, rows: np.ndarray, attempt: np.ndarray) -> tuple[_Pairs, np.ndarray]:
        """Vehicles that drive; the second sequence of a pair has another motion of those asked about."""
        n, vehicles = street.entity.shape
        seconds, back = self.seconds[rows], self.reversed[rows]
        draws = [
            self.recipe.asking.stream(name).uniform(self.pairs[rows], vehicles * MOTION_DRAWS, attempt)
            for name in ("motion", "twin motion")
        ]
        u = draws[0].reshape(n, vehicles, MOTION_DRAWS)
        one, two, asked = self._motions(street, rows, u, draws[1].reshape(u.shape))
        two = np.where(asked[..., None] & ~back[:, None, None], two, one)
        passing = np.zeros((n, vehicles, vehicles), dtype=bool)
        meetings = [
            (own, *self._meet(deed, street[own], rows[own], u[own])) for deed, own in self._meeting(rows)
        ]
        for own, meeting, numbers in meetings:
            one[own], two[own], u[own] = meeting.one, meeting.other, numbers
            passing[own] = (meeting.lane >= 0)[..., None] & (meeting.lane == -1)[:, None]
        passing[self.deed[rows] == "nears"] = False
        moved = [travel(motion, seconds) for motion in (one, two)]
        entity = street.entity.astype(np.int64)
        met = (self.deed[rows] == "passes")[:, None]
        pose = draw_places(u, entity, street.camera, moved, asked, (asked & ~back[:, None]) | met)
        for own, meeting, numbers in meetings:
            found = place_meeting(meeting, numbers, entity[own], street.camera[own], seconds[own])
            pose[own] = np.where(np.isnan(found), pose[own], found)
        still = Sequence.still(replace(street, pose=pose), self.recipe.pictures)
        first, second = (replace(still, motion=motion, seconds=seconds) for motion in (one, two))
        fits = keep_apart(entity, pose, one, seconds) & keep_apart(entity, pose, two, seconds)
        tried = np.flatnonzero(fits & passing.any(axis=(1, 2)))
        fits[tried] = self._passes_seen(first[tried], passing[tried])
        shared = np.where(back, REVERSED, (seconds == 0).argmax(axis=1)).astype(np.uint8)
        return _Pairs(first, second, shared), fits

    def _meet(
        self, deed: str, street: SceneBatch, rows: np.ndarray, u: np.ndarray
    ) -> tuple[Meeting, np.ndarray]:
        """Meetings, and the numbers `u` of vehicles. Those that choose lanes are the pair's, so lanes
        do not depend on the answers for which a street is found. Those of "order" are always yes and no.
        """
        answers = np.stack([answer[rows] for answer in (self.answer, self.twin)], axis=1)
        lane = self.recipe.asking.stream("lane").uniform(self.pairs[rows], 2)
        numbers, one_for_all = u.copy(), deed != "order"
        if one_for_all:
            numbers[..., 0] = lane[:, :1]
        slots, seconds = self._slots(street, rows), self.seconds[rows]
        meeting = draw_meeting(deed, numbers, street.entity.astype(np.int64), slots, answers, seconds)
        stands, others = meeting.lane == -1, (meeting.lane == -2) & (street.entity >= 0)
        if one_for_all:
            in_turn = (lane[:, 1:] + 0.5 * np.cumsum(others, axis=1)) % 1
            numbers[..., 0] = np.select([stands, others], [u[..., 0], in_turn], lane[:, :1])
        return meeting, numbers

    def _passes_seen(self, sequence: Sequence, passing: np.ndarray) -> np.ndarray:
        """(k,) bool, whether the first and the last picture show what is asked: whether some vehicles, the
        second axis of (k, v, v) bool, pass those of the third. In other streets nothing else need be tried.
        """
        ends = np.tile([0, self.recipe.pictures - 1], (len(sequence), 1))
        truth = show(sequence, ends).meetings["passes"][:, -1]
        return np.asarray((~passing | (truth != 0)).all(axis=(1, 2)))

    def _meeting(self, rows: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """What vehicles do to one that stands, and the places of the pairs that ask for it."""
        for deed in MEETINGS:
            own = np.flatnonzero(self.deed[rows] == deed)
            if len(own):
                yield deed, own

    def _motions(
        self, street: SceneBatch, rows: np.ndarray, u: np.ndarray, other: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(k, v, 3) motions in both sequences of pairs, and (k, v) of which vehicles they may differ."""
        seconds, slots = self.seconds[rows], self._slots(street, rows)
        yaw = np.where(u[..., 0] < 0.5, np.pi, 0.0)
        y = np.where(u[..., 0] < 0.5, LANES[1][0], LANES[0][0])
        left, right = framed_road(street.entity.astype(np.int64), y, street.camera)
        room = right - left
        one, two = (np.zeros((*yaw.shape, 3), np.float32) for _ in range(2))
        family = self.deed[rows]
        for deed in np.unique(family).tolist():
            own = np.flatnonzero(family == deed)
            goal, twin = self._goals(street[own], rows[own], deed)
            one[own] = draw_speeds(u[own], yaw[own], seconds[own], goal, room[own])
            two[own] = draw_speeds(other[own], yaw[own], seconds[own], twin, room[own])
        raced = self.raced[rows]
        faster, faster_twin = (answer[rows[raced]] == 1 for answer in (self.answer, self.twin))
        one[raced] = make_faster(one[raced], slots[raced, :2], faster, seconds[raced])
        two[raced] = make_faster(one[raced], slots[raced, :2], faster_twin, seconds[raced])
        named = np.arange(yaw.shape[1]) == slots[:, :2, None]
        return one, two, named[:, 0] | (named[:, 1] & raced[:, None])

    def _stand(
        self, street: SceneBatch, rows: np.ndarray, attempt: np.ndarray
    ) -> tuple[SceneBatch, np.ndarray]:
        """Streets in which all vehicles stand, and whether they find their places."""
        pose, _, placed = place_crowds(
            self.recipe.asking.stream("crowd"), self.pairs[rows], attempt, street.entity.astype(np.int64),
            street.camera, rough=True,
        )  # fmt: skip
        turned = self.recipe.asking.stream("heading").uniform(self.pairs[rows], pose.shape[1], attempt) < 0.5
        turned &= np.isin(self.deed[rows], _HEADED)[:, None] & (street.entity >= 0)
        pose[..., 2] = np.where(turned, np.where(pose[..., 2] == 0, np.pi, 0), pose[..., 2])
        return replace(street, pose=pose), placed

    def _edit(self, street: SceneBatch, rows: np.ndarray, attempt: np.ndarray) -> tuple[_Pairs, np.ndarray]:
        """A vehicle that is another one from the second picture on; the pair shares the first."""
        street, fits = self._stand(street, rows, attempt)
        still = Sequence.still(street, self.recipe.pictures)
        u = self.recipe.asking.stream("edit").uniform(self.pairs[rows], EDIT_DRAWS, attempt)
        goals, chances = self._goals(street, rows, "change"), self.recipe.asking.world.chances
        one, other = (edited(still, goal, u, chances) for goal in goals)
        fits &= may_stand(one) & may_stand(other)
        back = self.reversed[rows]
        return _Pairs(one, other, np.where(back, REVERSED, 0).astype(np.uint8)), fits

    def _view(self, street: SceneBatch, rows: np.ndarray, attempt: np.ndarray) -> tuple[_Pairs, np.ndarray]:
        """Cameras of one street; the pair shares the first."""
        street, fits = self._stand(street, rows, attempt)
        still, back = Sequence.still(street, self.recipe.pictures), self.reversed[rows]
        n, count = len(rows), self.recipe.pictures
        u, other_u = (
            self.recipe.asking.stream(name)
            .uniform(self.pairs[rows], count * CAMERA_DRAWS, attempt)
            .reshape(n, count, CAMERA_DRAWS)
            for name in ("cameras", "twin cameras")
        )
        goals = self._goals(street, rows, "camera")
        every = np.arange(n)
        one, other = (
            replace(still[every], cameras=draw_cameras(u, street.camera, goal, ~back)) for goal in goals
        )
        pairs = _Pairs(one, other, np.where(back, REVERSED, 0).astype(np.uint8))
        for deed in ("seat", "place", "moment"):
            own = np.flatnonzero(self.deed[rows] == deed)
            if not len(own):
                continue
            goals = self._goals(street[own], rows[own], deed)
            for sequence, goal in zip((one, other), goals, strict=True):
                part = sequence[own]
                if deed == "place":
                    part = replace(part, cameras=draw_corners(u[own], part.street.camera))
                elif deed == "seat":
                    part = replace(part, cameras=draw_seats(u[own], part, goal))
                else:
                    part = at_two_moments(u[own, 0], part, goal.answer == 1)
                sequence.keep(own, part)
            if deed == "seat":
                lane = self.recipe.asking.stream("lane").uniform(self.pairs[rows[own]], 1)[:, 0]
                fits[own] &= beside_free(street[own], goals[0].slot, lane < 0.5)
            if deed == "place":
                other.cameras[own, -1] = draw_corners(other_u[own], street.camera[own])[:, -1]
                for sequence, goal, numbers in ((one, goals[0], u), (other, goals[1], other_u)):
                    wrong = own[~places_agree(sequence[own], goal)]
                    mirrored = numbers[wrong] * (-1, 1, 1) + (1, 0, 0)
                    sequence.cameras[wrong, -1] = draw_corners(mirrored, street.camera[wrong])[:, -1]
                    fits[own] &= places_agree(sequence[own], goal)
            if deed == "moment":
                last = np.maximum(one.seconds[own], other.seconds[own])
                fits[own] &= keep_apart(
                    street.entity[own].astype(np.int64), street.pose[own], one.motion[own], last
                )
        return pairs, fits

    def _keep(self, pairs: _Pairs, rows: np.ndarray, done: np.ndarray) -> None:
        """Keep the pairs that show both answers, each for its row, and enter these in `done`."""
        programs = stored([self.questions[i].numbers for i in rows.tolist()])
        forwards = in_order(self.recipe.pictures, len(rows))
        one = show(pairs.one, forwards)
        values = evaluate_shown(one, programs, self.recipe.asking.size)
        fits = np.flatnonzero((values.state == KNOWN) & (values.answer == self.answer[rows]))
        back = pairs.shared[fits] == REVERSED
        other = pairs.one[fits]
        other.keep(np.flatnonzero(~back), pairs.other[fits[~back]])
        order = np.where(back[:, None], forwards[fits, ::-1], forwards[fits])
        two = show(other, order)
        twins = evaluate_shown(two, programs[fits], self.recipe.asking.size)
        clear = self._changes_seen(pairs.one[fits]) & self._changes_seen(other)
        right = np.flatnonzero((twins.state == KNOWN) & (twins.answer == self.twin[rows[fits]]) & clear)
        kept = fits[right]
        into = rows[kept]
        done[into] = True
        self.shared[into] = pairs.shared[kept]
        for found, sequence in zip(self.found, (pairs.one[kept], other[right]), strict=True):
            found.keep(into, sequence)
        for place, (shown, own, values_) in enumerate(((one, kept, values), (two, right, twins))):
            self.visible[place, into] = shown.visible[own]
            self.values[place].keep(into, values_.at(own))

    def _changes_seen(self, sequence: Sequence) -> np.ndarray:
        """(n,) bool, whether so many pixels of a vehicle change that is painted or turned that both pictures
        differ.
        """
        street, rows = sequence.street, np.arange(len(sequence))
        slot = np.minimum(sequence.edited, street.entity.shape[1] - 1)
        same = (street.entity[rows, slot] == sequence.edit_entity) & (sequence.edited != UNEDITED)
        turned = street.pose[rows, slot, 2] != sequence.edit_pose[:, 2]
        subtle = np.flatnonzero(same & (turned | (street.paint[rows, slot] != sequence.edit_paint)))
        seen, count_changes = np.ones(len(sequence), dtype=bool), self.recipe.asking.count_changes
        if len(subtle) and count_changes is not None:
            scenes = pictures(sequence[subtle])
            first = np.arange(len(subtle)) * self.recipe.pictures
            changed = count_changes(scenes[first], scenes[first + 1], self.recipe.asking.size)
            seen[subtle] = changed >= TURNED_PIXELS
        return seen

    def table(self, place: np.ndarray, index: np.ndarray) -> SequenceQuestions:
        """The questions of some pairs: the first, or the second if the number of the example is odd."""
        n, second = len(place), index % 2 == 1
        questions = [self.questions[i] for i in place.tolist()]
        back = self.shared[place] == REVERSED
        sequence = self.found[0][place]
        sequence.keep(np.flatnonzero(second), self.found[1][place[second]])
        scene, asking = sequence.street, self.recipe.asking
        scene.intensity = thin_fog(scene.weather, scene.intensity, scene.camera)
        street = draw_street(asking.stream("street"), index // 2, scene.weather)
        scene.prop, scene.prop_pose, scene.prop_style = street
        values = self.values[0].at(place)
        values.keep(np.flatnonzero(second), self.values[1].at(place[second]))
        order = in_order(self.recipe.pictures, n)
        return SequenceQuestions(
            sequence=sequence,
            number=np.where(second & ~back, index, 2 * (index // 2)),
            order=np.where((second & back)[:, None], order[:, ::-1], order),
            shared=self.shared[place],
            visible=self.visible[second.astype(np.int64), place],
            **word_columns(questions),
            answer=np.where(second, self.twin[place], self.answer[place]),
            values=values,
            tried=self.tried[place],
        )


def _named(question: Question) -> list[int]:
    """The first three kinds that a question names, -1 where it names no more."""
    kinds = dict.fromkeys(ENTITIES.index(noun) for noun in question.form.nouns() if noun in ENTITIES)
    return [*kinds, -1, -1, -1][:3]
