"""simtown's questions for lmms-eval."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from simtown.datasets.export.harnesses.scoring import answers_beside, score, summary

ANSWERS = answers_beside(__file__)


def picture(doc: Mapping[str, Any]) -> list[Any]:
    """The picture that the model sees, or the pictures of a sequence in their order."""
    return [image.convert("RGB") for image in doc["images"]]


def question(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None) -> str:
    """The text that the model reads."""
    return str(doc["question"])


def video_question(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None) -> str:
    """The text for models that get the frames of a video as pictures."""
    *others, last = (f"{second:g}" for second in doc["seconds"])
    return f"These are frames of a video, at {', '.join(others)} and {last} seconds.\n{question(doc)}"


def video(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None) -> list[dict[str, Any]]:
    """The message for models that chat: each frame behind its time, as lmms-eval marks frames of videos."""
    content: list[dict[str, Any]] = []
    for second, frame in zip(doc["seconds"], picture(doc), strict=True):
        content += [{"type": "text", "text": f"<{second:g} seconds>"}, {"type": "image", "url": frame}]
    return [{"role": "user", "content": [*content, {"type": "text", "text": question(doc)}]}]


def results(doc: Mapping[str, Any], replies: Sequence[str]) -> dict[str, Any]:
    """The metrics of a reply; :func:`pair` and :func:`group` put twins together."""
    row = score(replies[0], doc, ANSWERS)
    metrics = {"accuracy": row["accuracy"], "unparsed": float(row["answer"] is None)}
    return metrics if row["group"] is None else {**metrics, "pair": row, "group": row}


def sequence_results(doc: Mapping[str, Any], replies: Sequence[str]) -> dict[str, Any]:
    """The metrics of a reply about a sequence, whose group is a pair."""
    metrics = results(doc, replies)
    del metrics["group"]
    return metrics


def pair(rows: Sequence[Mapping[str, Any]]) -> float:
    """The share of questions that are right about both twins, or in both sequences of a pair."""
    return summary(rows).get("pair", float("nan"))


def group(rows: Sequence[Mapping[str, Any]]) -> float:
    """The share of groups of two pictures and two questions in which all is right."""
    return summary(rows).get("group", float("nan"))
