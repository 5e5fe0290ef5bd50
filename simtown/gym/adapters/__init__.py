"""The gym's tasks for training libraries: one short module for each, which needs that library alone.

A picture is made when its task is used, and once for a prompt, however many replies are sampled.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simtown.gym.rewards import Reward, reward_reply
from simtown.gym.tasks import Task
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import Gold, score_reply


def gold_of(task: Task) -> dict[str, Any]:
    """The right answer of a task in plain JSON values, to compare replies with."""
    return {**asdict(task.gold), "choices": list(task.gold.choices)}


def score(reply: str, gold: dict[str, Any]) -> float:
    """:meth:`simtown.gym.Task.score` of a task of which only the gold is at hand."""
    return score_reply(reply, Gold(**gold), spoken_names(gold["type"]))


def reward(reply: str, gold: dict[str, Any]) -> Reward:
    """:meth:`simtown.gym.Task.reward` of a task of which only the gold is at hand."""
    return reward_reply(reply, Gold(**gold))


def unread(reply: str, gold: dict[str, Any]) -> bool:
    """Whether a reply holds no answer, or several: it counts as wrong."""
    return bool(reward(reply, gold).unread)
