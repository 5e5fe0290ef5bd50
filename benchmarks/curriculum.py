"""How soon the curriculum of the gym promotes, by the skill of a learner.

A learner of skill s knows the answers to a share s of the tasks, and guesses evenly where it does not. Every
run begins on a level and lasts until it is promoted, or for 5,000 tasks. The bar is a skill of 0.8. A row for
each rule, level and skill:

sequential test     of all families of the level together, which come equally often
one family          of the level's first family alone (exist: yes or no), in a curriculum by family
mean of 64          the rule before: the mean of the last 64 scores, looked at after each of them

accuracy            of the learner on this level
in 150, in 5000     share of runs that were promoted within so many tasks
median, p95         tasks until promotion, of all runs; 5000+ if that many do not suffice

    python benchmarks/curriculum.py [--runs 400] [--levels 1,7] [--rules "one family"] [--out FILE]

Writes benchmarks/results/curriculum.csv.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from machine import RESULTS, Rows, options

from simtown.gym import Street
from simtown.gym.curriculum import Curriculum

TASKS = 5_000
SKILLS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
#: How many scores the old rule looked at, and its bar.
WINDOW, BAR = 64, 0.8


def replies(
    level: int, skill: float, seed: int, most: int | None
) -> Iterator[tuple[dict[str, object], float]]:
    """Metadata and scores of the tasks of a level's first families that a learner answers."""
    rng = np.random.default_rng([seed, level, int(1000 * skill)])
    families, chances = zip(*[*chances_of(level).items()][:most], strict=True)
    asked = rng.integers(len(families), size=TASKS)
    right = rng.random(TASKS) < skill + (1 - skill) * np.array(chances)[asked]
    for family, score in zip(asked, right, strict=True):
        yield {"level": level, "family": families[family]}, float(score)


@cache
def chances_of(level: int) -> dict[str, float]:
    return Street(level).chances


def by_test(level: int, skill: float, seed: int, most: int | None = None) -> int:
    """The number of tasks until the curriculum promotes, TASKS + 1 if it does not."""
    curriculum = Curriculum(level=level, by_family=bool(most))
    for number, (metadata, score) in enumerate(replies(level, skill, seed, most), 1):
        curriculum.record(metadata, score)
        if max(curriculum.levels.values()) > level:
            return number
    return TASKS + 1


def by_sliding_mean(level: int, skill: float, seed: int) -> int:
    """The same by the old rule."""
    scores = deque[float](maxlen=WINDOW)
    for number, (_, score) in enumerate(replies(level, skill, seed, None), 1):
        scores.append(score)
        if number >= WINDOW and sum(scores) >= BAR * WINDOW:
            return number
    return TASKS + 1


RULES: dict[str, Callable[[int, float, int], int]] = {
    "sequential test": by_test,
    "one family": partial(by_test, most=1),
    "mean of 64": by_sliding_mean,
}


def measure(rule: str, level: int, skill: float, runs: int) -> dict[str, object]:
    """One row."""
    tasks = np.array([RULES[rule](level, skill, seed) for seed in range(runs)])
    chance = np.mean([*chances_of(level).values()][: 1 if rule == "one family" else None])
    row = {"rule": rule, "level": level, "skill": skill, "accuracy": round(skill + (1 - skill) * chance, 3)}
    row |= {f"in {most}": round(float(np.mean(tasks <= most)), 3) for most in (150, TASKS)}
    for name, share in (("median", 0.5), ("p95", 0.95)):
        value = int(np.quantile(tasks, share, method="inverted_cdf"))
        row[name] = value if value <= TASKS else f"{TASKS}+"
    return row


def main() -> None:
    args = options(__doc__, runs=400, levels=[1, 7], rules=[*RULES], out=RESULTS / "curriculum.csv")
    rows = Rows(
        args.out,
        f"{args.runs} runs of up to {TASKS} tasks; the bar is a skill of {BAR}",
        "rule",
        "level",
        "skill",
    )
    for rule, level, skill in product(args.rules, args.levels, SKILLS):
        rows.add(measure(rule, level, skill, args.runs))


if __name__ == "__main__":
    main()
