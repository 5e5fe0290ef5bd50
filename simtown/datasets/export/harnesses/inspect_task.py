"""simtown's questions for Inspect: inspect eval simtown_task.py@simtown -T split=test --model MODEL."""

from __future__ import annotations

import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer, stderr
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from simtown.datasets.export.harnesses.scoring import answers_beside, score, summary  # noqa: E402

ANSWERS = answers_beside(__file__)


@metric
def shares() -> Metric:
    """Accuracy, unparsed replies, and pairs and groups of twins that are right."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        none = {"accuracy": float("nan")}  # asked for before a reply has come, too
        return summary([one.score.metadata for one in scores]) if scores else none

    return compute


@scorer(metrics=[shares(), stderr(cluster="cluster")])
def simtown_reply() -> Scorer:
    """Scores by simtown's rule; no judge is asked."""

    async def rate(state: TaskState, target: Target) -> Score:
        row = score(state.output.completion, {**state.metadata, "answer": target.text}, ANSWERS)
        return Score(value=row["accuracy"], answer=row["answer"], metadata=row)

    return rate


@task
def simtown(split: str = "test") -> Task:
    """The questions of a split."""
    return Task(
        dataset=json_dataset(str(HERE / f"{split}.jsonl")),
        solver=generate(),
        scorer=simtown_reply(),
        config=GenerateConfig(max_tokens=64, temperature=0.0),
    )
