"""The gym by Reasoning Gym's contract: importing this registers the data set "simtown_street".

::

    data = reasoning_gym.create_dataset("simtown_street", level=3, seed=7, size=1000)
    reward = data.score_answer(model(data[0]["messages"]), data[0])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import reasoning_gym
from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
from reasoning_gym.dataset import ProceduralDataset

from simtown.gym.adapters import gold_of, score
from simtown.gym.levels import LEVELS, SINGLE
from simtown.gym.tasks import Street

NAME = "simtown_street"


@dataclass
class StreetDatasetConfig:
    """Which tasks: the first `size` of a level and a seed; seed None is drawn."""

    level: int = 1
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Refuse impossible values."""
        assert 1 <= self.level <= len(LEVELS), f"level is {self.level}: give one from 1 to {len(LEVELS)}"
        assert self.size > 0, "size must be positive"


class StreetDataset(ProceduralDataset):
    """Entries with question, answer and metadata, and beside them messages, which hold the picture."""

    def __init__(self, config: StreetDatasetConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._tasks = Street(config.level, self.seed)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        task = self._tasks[idx]
        own = {"source_dataset": NAME, "source_index": idx, "gold": gold_of(task)}
        metadata = {**task.metadata, **own, "difficulty": {"level": self.config.level}}
        entry = {"question": task.prompt, "answer": task.answer, "metadata": metadata}
        return {**entry, "messages": task.messages}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1 for a right reply, 0 for any other and for None."""
        return score(answer or "", entry["metadata"]["gold"])


class StreetCurriculum(BaseCurriculum):
    """The levels of one picture, in their order."""

    def __init__(self) -> None:
        super().__init__(StreetCurriculum.__name__, StreetDatasetConfig)
        levels = list(range(1, SINGLE + 1))
        self._define_attributes(ScalarAttributeDefinition(name="level", field_name="level", levels=levels))


reasoning_gym.register_dataset(NAME, StreetDataset, StreetDatasetConfig, StreetCurriculum)
