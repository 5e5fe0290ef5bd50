"""Tasks as an endless `datasets.IterableDataset`, whose `state_dict` resumes without drawing again.

::

    stream = task_dataset(Street(level=3, seed=7).shard(rank, ranks), workers=2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import datasets
from PIL import Image

from simtown.gym.tasks import Street, Task


def as_row(task: Task) -> dict[str, Any]:
    """image, a PIL picture, or images, a list of several; question with its instruction, answer, metadata."""
    pictures = [Image.fromarray(picture) for picture in task.pictures]
    shown = {"image": pictures[0]} if len(pictures) == 1 else {"images": pictures}
    return {**shown, "question": task.prompt, "answer": task.answer, "metadata": task.metadata}


def task_dataset(
    tasks: Street, start: int = 0, workers: int = 1, row: Callable[[Task], dict[str, Any]] = as_row
) -> datasets.IterableDataset:
    """The tasks from `start` on, one row each.

    Args:
        tasks: of this rank: split them with :meth:`simtown.gym.Street.shard`, not `split_dataset_by_node`,
            which draws what it skips.
        workers: of the loader: as many shards as these, which have no task in common.
        row: what is given of a task.
    """
    shards = {"worker": list(range(workers)), "workers": [workers] * workers, "start": [start] * workers}
    numbers = datasets.IterableDataset.from_generator(_numbers, gen_kwargs=shards)
    own = [tasks.shard(worker, workers) for worker in range(workers)]
    if tasks.keep:
        numbers = numbers.filter(partial(_kept, own))
    return numbers.map(partial(_row, own, row), remove_columns=["worker", "number"])


def _numbers(worker: list[int], workers: list[int], start: list[int]) -> Iterator[dict[str, int]]:
    """Numbers of the tasks of one worker: the pictures are made after what is skipped is skipped."""
    for mine, of, first in zip(worker, workers, start, strict=True):
        for number in count(-((mine - first) // of)):
            yield {"worker": mine, "number": number}


def _kept(own: list[Street], at: dict[str, int]) -> bool:
    street = own[at["worker"]]
    return street.keeps(street[at["number"]])


def _row(own: list[Street], row: Callable[[Task], dict[str, Any]], at: dict[str, int]) -> dict[str, Any]:
    return row(own[at["worker"]][at["number"]])
