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

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import datasets
from accelerate.utils import gather_object

from simtown.gym.adapters import gold_of, reward, score
from simtown.gym.adapters.datasets import as_row, task_dataset
from simtown.gym.curriculum import Curriculum
from simtown.gym.tasks import Street, Task
from simtown.language.words.instructions import message_parts

#: A reward function of TRL.
Rewards = Callable[..., list[float]]


def as_prompt(task: Task) -> dict[str, Any]:
    """prompt (one message of a user, its content a list of parts), gold, metadata; image, a PIL picture, or
    images, a list of several.
    """
    content = message_parts(task.prompt, [{"type": "image"}] * len(task.pictures))
    pictures = {name: shown for name, shown in as_row(task).items() if name in ("image", "images")}
    return {
        "prompt": [{"role": "user", "content": content}],
        **pictures,
        "gold": gold_of(task),
        "metadata": task.metadata,
    }


def prompts(tasks: Street | Curriculum, start: int = 0) -> datasets.IterableDataset:
    """The tasks from `start` on, for GRPOTrainer and trainers like it; TRL splits them between ranks.

    A curriculum begins where it is, whatever `start` is; :func:`recorded` tells it the scores.
    """
    if isinstance(tasks, Curriculum):
        return datasets.IterableDataset.from_generator(_dealt, gen_kwargs={"curriculum": tasks})
    return task_dataset(tasks, start, row=as_prompt)


def _dealt(curriculum: Curriculum) -> Iterator[dict[str, Any]]:
    return map(as_prompt, curriculum)


def graded_reply(completions: list[Any], gold: list[dict[str, Any]], **_: Any) -> list[float]:
    """The reward in parts (:class:`simtown.gym.rewards.Reward`): the total of each reply."""
    return [reward(reply, own).total for reply, own in zip(map(_text, completions), gold, strict=True)]


def right_reply(completions: list[Any], gold: list[dict[str, Any]], **_: Any) -> list[float]:
    """The reward: 1 for each right reply, 0 for any other."""
    return [score(reply, own) for reply, own in zip(map(_text, completions), gold, strict=True)]


def recorded(
    curriculum: Curriculum, reward: Callable[..., list[float]] = right_reply
) -> Callable[..., list[float]]:
    """A reward function that also records in a curriculum, for each task, the share of right replies.

    All ranks record the scores of all: TRL wants the same stream of prompts on each.
    """

    def recorded_reply(
        completions: list[Any], gold: list[dict[str, Any]], metadata: list[dict[str, Any]], **more: Any
    ) -> list[float]:
        scores = right_reply(completions, gold)
        tasks: dict[tuple[int, int], tuple[dict[str, Any], list[float]]] = {}
        for task, right in gather_object([*zip(metadata, scores, strict=True)]):
            tasks.setdefault((task["level"], task["index"]), (task, []))[1].append(right)
        for task, rights in tasks.values():
            curriculum.record(task, fmean(rights))
        return reward(completions, gold=gold, metadata=metadata, **more)

    return recorded_reply


def _text(completion: Any) -> str:
    return str(completion if isinstance(completion, str) else completion[-1]["content"])
