"""Tasks whose level follows success: harder ones for a model that answers, easier ones for one that fails."""

from __future__ import annotations

from collections import deque
from typing import Any

from simtown.gym.levels import LEVELS
from simtown.gym.tasks import Street, Task


class Curriculum:
    """An endless iterator of tasks, which moves between the nine levels by the scores that it is told.

    ::

        curriculum = Curriculum(seed=7)
        for task in curriculum:
            curriculum.record(task, task.score(model(task.messages)))

    After `window` scores on a level, a mean of at least `up` moves one level up, one below `down` one level
    down. No task comes twice. `state` goes into a checkpoint: ``Curriculum(seed=7, state=state)`` goes on.

    Args:
        seed: other seeds are other tasks.
        level: to begin with.
        window: how many scores decide.
        up: least mean score that moves up.
        down: a mean score below it moves down.
        state: of another curriculum with these settings.
    """

    def __init__(
        self,
        seed: int = 0,
        level: int = 1,
        window: int = 64,
        up: float = 0.8,
        down: float = 0.4,
        state: dict[str, Any] | None = None,
    ) -> None:
        state = state or {"level": level, "positions": [0] * len(LEVELS), "scores": []}
        self.seed, self.window, self.up, self.down = seed, window, up, down
        self.level: int = state["level"]
        self._positions = list(state["positions"])
        self._scores = deque[float](state["scores"], maxlen=window)
        self._street = Street(self.level, seed)

    @property
    def state(self) -> dict[str, Any]:
        """Level, position on each level and the scores that count, in plain JSON values."""
        return {"level": self.level, "positions": [*self._positions], "scores": [*self._scores]}

    def __iter__(self) -> Curriculum:
        return self

    def __next__(self) -> Task:
        position = self._positions[self.level - 1]
        self._positions[self.level - 1] += 1
        return self._street[position]

    def record(self, task: Task, score: float) -> None:
        """Take note of a score, from 0 to 1; it counts if the task is of the present level."""
        if task.metadata["level"] != self.level:
            return
        self._scores.append(score)
        mean = sum(self._scores) / len(self._scores)
        step = int(mean >= self.up) - int(mean < self.down)
        if len(self._scores) == self.window and step and 1 <= self.level + step <= len(LEVELS):
            self.level += step
            self._street = Street(self.level, self.seed)
            self._scores.clear()
