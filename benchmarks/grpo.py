"""The curves of examples/grpo_curve.py, and how many groups of replies teach its policy.

A group teaches if its replies do not all earn the same. The share of such groups is counted for the trained
policy: among all tasks of a new seed, and among those that `keep` lets through, whose likeliest reply has a
chance below 0.9.

    python benchmarks/grpo.py

Writes benchmarks/results/grpo.csv, grpo_keep.csv beside it, and docs/gym-grpo.png.
"""

from __future__ import annotations

import runpy
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from machine import RESULTS, Rows, machine

from simtown.gym import Street
from simtown.gym.tasks import Task

ROOT = Path(__file__).parents[1]
COLUMNS = ("seed", "shuffled", "step", "accuracy", "reward", "groups that teach")
#: Tasks whose groups are counted.
COUNTED = 400


def main() -> None:
    plt.switch_backend("agg")
    torch.set_num_threads(1)
    example = runpy.run_path(str(ROOT / "examples" / "grpo_curve.py"))
    rows = Rows(RESULTS / "grpo.csv", machine("torch", "numpy"))
    for row in example["curves"]:
        rows.add(dict(zip(COLUMNS, row, strict=True)))
    plt.savefig(ROOT / "docs" / "gym-grpo.png", dpi=110)

    policy, see, replies = (example[name] for name in ("policy", "see", "replies"))

    def chances(tasks: list[Task]) -> torch.Tensor:
        with torch.no_grad():
            return policy(*see(tasks)).exp()

    rows = Rows(RESULTS / "grpo_keep.csv", f"{COUNTED} tasks, {example['GROUP']} replies each")
    for name, keep in (("all", None), ("chance below 0.9", lambda task: float(chances([task]).max()) < 0.9)):
        tasks = list(islice(Street(example["level"], 99, keep), COUNTED))
        said = torch.multinomial(chances(tasks), example["GROUP"], replacement=True).tolist()
        worth = [{task.reward(replies[i]).total for i in own} for task, own in zip(tasks, said, strict=True)]
        teaching = sum(len(own) > 1 for own in worth) / len(worth)
        rows.add({"tasks": name, "groups that teach": teaching, "passed": tasks[-1].metadata["index"] + 1})


if __name__ == "__main__":
    main()
