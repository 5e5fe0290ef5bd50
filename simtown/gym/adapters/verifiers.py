"""The gym for `verifiers` (0.4): `vf-eval simtown-street --env.taskset.level 3`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from simtown.gym.adapters import gold_of, score, unread
from simtown.gym.tasks import Street


class StreetData(vf.TaskData):
    """One task on the wire: the prompt with its picture, and what a reply is compared with."""

    gold: dict[str, Any]
    metadata: dict[str, Any]


class StreetTask(vf.Task[StreetData]):
    """Scores a reply; a task goes by its address, whatever its position in a run."""

    @property
    def key(self) -> str:
        return str(self.data.id)

    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        """1 for a right reply, 0 for any other."""
        return score(trace.last_reply, self.data.gold)

    @vf.metric
    async def unread(self, trace: vf.Trace) -> float:
        """1 where the reply holds no answer: it counts as wrong."""
        return float(unread(trace.last_reply, self.data.gold))


class StreetTasksetConfig(vf.TasksetConfig):
    """Which tasks: `--env.taskset.level 3 --env.taskset.seed 7`, from `--env.taskset.start` on."""

    level: int = 1
    seed: int = 0
    start: int = 0


class StreetTaskset(vf.Taskset[StreetTask, StreetTasksetConfig]):
    """Endless: bound it with `-n`. `--select.skip` draws what it skips, start does not."""

    INFINITE = True

    def load(self) -> Iterator[StreetTask]:
        """Tasks, made when they are asked for."""
        config = self.config
        for task in Street(config.level, config.seed).from_(config.start):
            address = f"{config.level}/{config.seed}/{task.metadata['index']}"
            data = StreetData(id=address, prompt=task.messages, gold=gold_of(task), metadata=task.metadata)
            yield StreetTask(data, config.task)
