"""How soon the curriculum of the gym promotes, by the skill of a learner.

A learner of skill s knows the answers to a share s of the tasks, and guesses evenly where it does not. Every
run begins on a level and lasts until it is promoted, or for 5,000 tasks; families come as often as the level
asks them. The bar is a skill of 0.8. Each learner is also judged by the rule before this one: the mean of the
last 64 scores, looked at after each of them. A row for each rule, level, tracks and skill:

accuracy            of the learner on this level
in 150, in 5000     share of runs that were promoted within so many tasks
median, p95         tasks until promotion, of all runs; 5000+ if that many do not suffice

    python benchmarks/curriculum.py [--runs 400] [--levels 1,4,7] [--out FILE]

Writes benchmarks/results/curriculum.csv.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from machine import RESULTS, Rows, options

from simtown.gym import Street
from simtown.gym.curriculum import Curriculum

TASKS = 5_000
SKILLS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
#: How many scores the old rule looked at, and its bar.
WINDOW, BAR = 64, 0.8


def replies(level: int, skill: float, seed: int) -> Iterator[tuple[dict[str, object], float]]:
    """Metadata and scores of the tasks of a level that a learner answers."""
    rng = np.random.default_rng([seed, level, int(1000 * skill)])
    families, chances = zip(*Street(level).chances.items(), strict=True)
    asked = rng.integers(len(families), size=TASKS)
    right = rng.random(TASKS) < skill + (1 - skill) * np.array(chances)[asked]
    for family, score in zip(asked, right, strict=True):
        yield {"level": level, "family": families[family]}, float(score)


def by_test(level: int, skill: float, seed: int) -> int:
    """The number of tasks until the curriculum promotes, TASKS + 1 if it does not."""
    curriculum = Curriculum(level=level)
    for number, (metadata, score) in enumerate(replies(level, skill, seed), 1):
        curriculum.record(metadata, score)
        if curriculum.levels["all"] > level:
            return number
    return TASKS + 1


def by_family(level: int, skill: float, seed: int) -> int:
    """The same for the first family of the level, of which alone the tasks count."""
    curriculum, number = Curriculum(level=level, by_family=True), 0
    first = next(iter(curriculum.levels))
    while number <= TASKS:
        for metadata, score in replies(level, skill, seed):
            number += metadata["family"] == first
            curriculum.record(metadata, score)
            if curriculum.levels[first] > level or number > TASKS:
                return number
        seed += 10_000
    return number


def by_sliding_mean(level: int, skill: float, seed: int) -> int:
    """The same by the old rule."""
    scores = deque[float](maxlen=WINDOW)
    for number, (_, score) in enumerate(replies(level, skill, seed), 1):
        scores.append(score)
        if number >= WINDOW and sum(scores) >= BAR * WINDOW:
            return number
    return TASKS + 1


RULES: dict[str, Callable[[int, float, int], int]] = {
    "sequential test": by_test,
    "sequential test, one family": by_family,
    "mean of the last 64": by_sliding_mean,
}


def measure(rule: str, level: int, skill: float, runs: int) -> dict[str, object]:
    """One row."""
    tasks = np.array([RULES[rule](level, skill, seed) for seed in range(runs)])
    chance = np.mean([*Street(level).chances.values()])
    row = {"rule": rule, "level": level, "skill": skill, "accuracy": round(skill + (1 - skill) * chance, 3)}
    row |= {f"in {most}": round(float(np.mean(tasks <= most)), 3) for most in (150, TASKS)}
    for name, share in (("median", 0.5), ("p95", 0.95)):
        value = int(np.quantile(tasks, share, method="inverted_cdf"))
        row[name] = value if value <= TASKS else f"{TASKS}+"
    return row


def main() -> None:
    args = options(__doc__, runs=400, levels=[1, 4, 7], out=RESULTS / "curriculum.csv")
    rows = Rows(args.out, f"{args.runs} runs of up to {TASKS} tasks; the bar is a skill of {BAR}")
    for rule, level, skill in product(RULES, args.levels, SKILLS):
        rows.add(measure(rule, level, skill, args.runs))


if __name__ == "__main__":
    main()
