"""Tasks as a `torch.utils.data.IterableDataset`: endless, split between workers, resumed by position.

::

    tasks = Street(level=3, seed=7).shard(rank, ranks)
    loader = DataLoader(TaskStream(tasks), batch_size=16, num_workers=2)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from simtown.gym.tasks import Street


class TaskStream(IterableDataset):
    """Tasks as {"picture", "question", "answer", "index"}; no two workers give the same.

    picture is (h, w, 3) uint8, question has its instruction, and ``Street(level, seed)[index]`` is the task.

    Args:
        tasks: of this rank.
        start: the first task. To go on after n batches of a loader with W workers, give n * batch size,
            where n is a multiple of W.

    torchdata's `StatefulDataLoader` needs no start: it keeps `state_dict` of each worker.
    """

    def __init__(self, tasks: Street, start: int = 0) -> None:
        self.tasks, self.start, self._passed = tasks, start, 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        first = -((worker - self.start) // workers)  # the least j with worker + j * workers >= start
        own = self.tasks.shard(worker, workers)
        for number in count(first + self._passed):
            self._passed += 1
            task = own[number]
            if not own.keeps(task):
                continue
            yield {
                "picture": torch.from_numpy(task.picture if len(task.pictures) == 1 else task.pictures),
                "question": task.prompt,
                "answer": task.answer,
                "index": task.metadata["index"],
            }

    def state_dict(self) -> dict[str, int]:
        """The number of tasks that this copy has passed since its start: given, or not kept."""
        return {"passed": self._passed}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on after as many tasks."""
        self._passed = state["passed"]
