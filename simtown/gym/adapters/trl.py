"""GRPO with TRL: prompts with pictures, and the reward.

::

    trainer = GRPOTrainer(
        model=...,
        reward_funcs=right_reply,
        train_dataset=prompts(Street(level=3, seed=7)),
        args=GRPOConfig(max_steps=1000, shuffle_dataset=False, ...),
    )

TRL repeats a row for each reply of a group: a picture is made once for all of them. With shuffle_dataset=True
it would draw a thousand pictures before the first step; tasks need no shuffling.
"""

from __future__ import annotations

from typing import Any

import datasets
from PIL import Image

from simtown.gym.adapters import gold_of, score
from simtown.gym.adapters.datasets import task_dataset
from simtown.gym.tasks import Street, Task


def as_prompt(task: Task) -> dict[str, Any]:
    """prompt (one message of a user, its content a list of parts), image (a PIL picture), gold, metadata."""
    content = [{"type": "image"}, {"type": "text", "text": task.prompt}]
    return {
        "prompt": [{"role": "user", "content": content}],
        "image": Image.fromarray(task.picture),
        "gold": gold_of(task),
        "metadata": task.metadata,
    }


def prompts(tasks: Street, start: int = 0) -> datasets.IterableDataset:
    """The tasks from `start` on, for GRPOTrainer and trainers like it; TRL splits them between ranks."""
    return task_dataset(tasks, start, row=as_prompt)


def right_reply(completions: list[Any], gold: list[dict[str, Any]], **_: Any) -> list[float]:
    """The reward: 1 for each right reply, 0 for any other."""
    replies = [reply if isinstance(reply, str) else reply[-1]["content"] for reply in completions]
    return [score(reply, own) for reply, own in zip(replies, gold, strict=True)]
