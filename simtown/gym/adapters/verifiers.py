"""The gym for `verifiers` (0.4): `vf-eval simtown-street --env.taskset.level 3`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from simtown.gym.adapters import gold_of, score, unread
from simtown.gym.curriculum import Curriculum
from simtown.gym.tasks import Street


class StreetData(vf.TaskData):
    """One task on the wire: the prompt with its picture, and what a reply is compared with."""

    gold: dict[str, Any]
    metadata: dict[str, Any]


class StreetTask(vf.Task[StreetData]):
    """Scores a reply; a task goes by its address, whatever its position in a run.

    Attributes:
        unscored: tasks of the taskset's curriculum, by key, until their first reply is recorded.
    """

    def __init__(self, data: StreetData, config: Any = None) -> None:
        super().__init__(data, config)
        self.unscored: dict[str, Curriculum] = {}

    @property
    def key(self) -> str:
        return str(self.data.id)

    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        """1 for a right reply, 0 for any other."""
        right = score(trace.last_reply, self.data.gold)
        if curriculum := self.unscored.pop(self.key, None):
            curriculum.record(self.data.metadata, right)
        return right

    @vf.metric
    async def unread(self, trace: vf.Trace) -> float:
        """1 where the reply holds no answer: it counts as wrong."""
        return float(unread(trace.last_reply, self.data.gold))


class StreetTasksetConfig(vf.TasksetConfig):
    """Which tasks: `--env.taskset.level 3 --env.taskset.seed 7`, from `--env.taskset.start` on.

    A curriculum begins at the level, and at its first task. Each rank of several has tasks of its own.
    """

    level: int = 1
    seed: int = 0
    start: int = 0
    rank: int = 0
    ranks: int = 1
    curriculum: bool = False
    by_family: bool = False


class StreetTaskset(vf.Taskset[StreetTask, StreetTasksetConfig]):
    """Endless: bound it with `-n`. `--select.skip` draws what it skips, start does not.

    Attributes:
        curriculum: that of the config, or one that a program puts here before the tasks are loaded. It counts
            the first reply to each task that this process scores.
    """

    INFINITE = True

    def __init__(self, config: StreetTasksetConfig) -> None:
        super().__init__(config)
        self.curriculum: Curriculum | None = None
        if config.curriculum:
            whole = Curriculum(config.seed, config.level, by_family=config.by_family)
            self.curriculum = whole.shard(config.rank, config.ranks)

    def load(self) -> Iterator[StreetTask]:
        """Tasks, made when they are asked for."""
        config, unscored = self.config, dict[str, Curriculum]()
        street = Street(config.level, config.seed).shard(config.rank, config.ranks)
        for task in self.curriculum or street.from_(config.start):
            address = "/".join(str(task.metadata[name]) for name in ("level", "seed", "index"))
            data = StreetData(id=address, prompt=task.messages, gold=gold_of(task), metadata=task.metadata)
            loaded = StreetTask(data, config.task)
            if self.curriculum:
                unscored[address] = self.curriculum
                loaded.unscored = unscored
            yield loaded
