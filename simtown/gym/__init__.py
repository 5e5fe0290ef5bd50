"""Endless questions about streets with an exact verifier, for training and testing vision-language models.

::

    import simtown.gym

    tasks = simtown.gym.Street(level=3, seed=7)
    task = tasks[0]
    reply = model(task.messages)
    reward = task.score(reply)
"""

from simtown.gym.levels import LEVELS as LEVELS
from simtown.gym.levels import Level as Level
from simtown.gym.tasks import Street as Street
from simtown.gym.tasks import Task as Task

__all__ = ["LEVELS", "Level", "Street", "Task"]
