"""Tasks whose level follows success: harder ones for a model that answers, easier ones for one that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any

from simtown.gym.levels import SINGLE
from simtown.gym.tasks import Street, Task

#: A level is left when its scores are so many times likelier beyond the bar than on it.
ODDS = 4.0
#: The least that evidence falls to: so failures of long ago do not hold back a model that has learned.
FLOOR = -4.0


@dataclass
class Track:
    """Questions that move together: their level, and the log likelihood ratios for going up and down."""

    level: int
    up: float = 0.0
    down: float = 0.0


class Curriculum:
    """An endless iterator of tasks, which moves between the nine levels by the scores that it receives.

    ::

        curriculum = Curriculum(seed=7)
        for task in curriculum:
            curriculum.record(task, task.score(model(task.messages)))

    Levels follow skill: the share of tasks that a model knows, if it guesses evenly where it does not. A
    sequential test looks after each score. The level goes up when the scores are four times likelier for a
    skill halfway between `up` and 1 than for `up`: then the lower bound of the skill (75 %) is above the bar.
    It goes down when they are four times likelier for half of `down` than for `down`. A new level begins
    without scores. No task comes twice.

    ``Curriculum(seed=7, state=curriculum.state)`` goes on from a checkpoint.

    Args:
        seed: other seeds are other tasks.
        level: to begin with.
        up: the skill above which the level goes up.
        down: the skill below which it goes down.
        by_family: gives each family of questions a level of its own. The families that a level adds join when
            half of the others have reached it.
        state: of another curriculum with these settings.

    Raises:
        ValueError: the bars are impossible, or the state is of other tasks.
    """

    def __init__(
        self,
        seed: int = 0,
        level: int = 1,
        up: float = 0.8,
        down: float = 0.4,
        *,
        by_family: bool = False,
        state: dict[str, Any] | None = None,
    ) -> None:
        if not 0 <= down < up < 1:
            raise ValueError(f"up is {up} and down {down}: give 0 <= down < up < 1")
        if level not in range(1, SINGLE + 1):
            raise ValueError(f"level is {level}: give a whole number from 1 to {SINGLE}")
        self.seed, self.up, self.down, self.by_family = seed, up, down, by_family
        self._shard, self._turn = (0, 1), 0
        self._positions = [0] * SINGLE
        self._streets: dict[int, Street] = {}
        self._tracks = {self._track_of(family): Track(level) for family in _chances(level)}
        if state is not None:
            self._resume(state)

    def shard(self, rank: int, ranks: int) -> Curriculum:
        """The same curriculum, from its beginning, over the tasks of one rank and moved by their scores."""
        level = next(iter(self._tracks.values())).level
        own = Curriculum(self.seed, level, self.up, self.down, by_family=self.by_family)
        own._shard = (rank, ranks)
        return own

    @property
    def levels(self) -> dict[str, int]:
        """The level of each family, or of "all"."""
        return {name: track.level for name, track in self._tracks.items()}

    @property
    def state(self) -> dict[str, Any]:
        """All that goes into a checkpoint, in plain JSON values."""
        tracks = {name: [track.level, track.up, track.down] for name, track in self._tracks.items()}
        address = {"seed": self.seed, "by_family": self.by_family, "shard": [*self._shard]}
        return {**address, "turn": self._turn, "positions": [*self._positions], "tracks": tracks}

    def _resume(self, state: dict[str, Any]) -> None:
        if {*state} != {*self.state}:
            raise ValueError("state is not of a curriculum: give what curriculum.state was")
        for name, own in (("seed", self.seed), ("by_family", self.by_family)):
            if state[name] != own:
                raise ValueError(f"state is of {name}={state[name]}: give the same, or leave the state out")
        rank, ranks = state["shard"]
        self._shard, self._turn, self._positions = (rank, ranks), state["turn"], [*state["positions"]]
        self._tracks = {name: Track(*values) for name, values in state["tracks"].items()}

    def __iter__(self) -> Curriculum:
        return self

    def __next__(self) -> Task:
        """The next task of a level, which is that of each track in turn."""
        tracks = [*self._tracks.values()]
        level = tracks[self._turn % len(tracks)].level
        self._turn += 1
        while True:
            position = self._positions[level - 1]
            self._positions[level - 1] += 1
            task = self._street(level)[position]
            track = self._tracks.get(self._track_of(task.metadata["family"]))
            if track and track.level == level:
                return task

    def record(self, task: Task | Mapping[str, Any], score: float) -> None:
        """Take note of a score, from 0 to 1: it counts if its questions are still on the task's level.

        Args:
            task: a task, or its metadata.
            score: of one reply, or the mean of several to this task.
        """
        if not 0 <= score <= 1:
            raise ValueError(f"score is {score}: give a number from 0 to 1")
        metadata = task.metadata if isinstance(task, Task) else task
        name = self._track_of(metadata["family"])
        track = self._tracks.get(name)
        if track is None or metadata["level"] != track.level:
            return
        chance = _chances(track.level)[metadata["family"]]
        track.up = max(track.up + _evidence(score, chance, self.up, (1 + self.up) / 2), FLOOR)
        track.down = max(track.down + _evidence(score, chance, self.down, self.down / 2), FLOOR)
        if track.up >= log(ODDS):
            self._move(name, 1)
        elif track.down >= log(ODDS):
            self._move(name, -1)

    def _move(self, name: str, step: int) -> None:
        """Move a track to the next level that asks it, if there is one; its evidence is spent."""
        level = self._tracks[name].level
        levels = range(level + step, SINGLE + 1 if step > 0 else 0, step)
        asked = [other for other in levels if name in map(self._track_of, _chances(other))]
        self._tracks[name] = Track(asked[0] if asked else level)
        for other in range(level + 1, self._tracks[name].level + 1):
            reached = sum(track.level >= other for track in self._tracks.values())
            if 2 * reached >= len(self._tracks):
                for family in _chances(other):
                    self._tracks.setdefault(self._track_of(family), Track(other))

    def _track_of(self, family: str) -> str:
        return family if self.by_family else "all"

    def _street(self, level: int) -> Street:
        if level not in self._streets:
            self._streets[level] = Street(level, self.seed).shard(*self._shard)
        return self._streets[level]


@cache
def _chances(level: int) -> dict[str, float]:
    """By family of a level, the share of its tasks that a guess among the possible answers gets right."""
    return Street(level).chances


def _evidence(score: float, chance: float, bar: float, beyond: float) -> float:
    """Log likelihood ratio of a score: for a skill beyond a bar, against one on the bar."""
    right = log((chance + (1 - chance) * beyond) / (chance + (1 - chance) * bar))
    return score * right + (1 - score) * log((1 - beyond) / (1 - bar))
