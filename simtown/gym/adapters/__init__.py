"""The gym's tasks for training libraries: one short module for each, which needs that library alone.

A picture is made when its task is used, and once for a prompt, however many replies are sampled.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simtown.gym.tasks import Task
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import Gold, read_reply, score_reply


def gold_of(task: Task) -> dict[str, Any]:
    """The right answer of a task in plain JSON values, to compare replies with."""
    return {**asdict(task.gold), "choices": list(task.gold.choices)}


def score(reply: str, gold: dict[str, Any]) -> float:
    """:meth:`simtown.gym.Task.score` of a task of which only the gold is at hand."""
    return score_reply(reply, Gold(**gold), spoken_names(gold["type"]))


def unread(reply: str, gold: dict[str, Any]) -> bool:
    """Whether a reply holds no answer, or several: it counts as wrong."""
    return read_reply(reply, gold["type"], gold["choices"], spoken_names(gold["type"])).answer is None
