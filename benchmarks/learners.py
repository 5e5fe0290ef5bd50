"""How often the intervals of `simtown.needs` hold the truth on real learners, and how wide they are.

Twelve problems of scikit-learn's shipped and generated data, and three that are ill-behaved by construction:
linear discriminants at as many examples as dimensions, a least-squares classifier of least norm (double
descent), and runs of which 15 % stay at chance. The truth is that of the mean of all repeats at sizes about
1.4 times apart; an experiment has five of them, at every other size. Beside it: a power law with a ceiling,
and plain isotonic regression, each with percentiles of a bootstrap over the seeds.

Then adaptive searches (--searches), each with a random state of its own: how often their intervals hold the
same truth; and their processor time and examples beside those of scikit-learn's `learning_curve` over all
sizes of the grid, also for three learners whose fits take longer.

    python benchmarks/learners.py --out benchmarks/results/learners.csv --figure docs/needs.png \
        --searches benchmarks/results/learners-search.csv
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from machine import Rows, machine, options, read_rows
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import learning_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from simtown.complexity import needs
from simtown.complexity.curves import ABOVE, RULES
from simtown.complexity.irregular import held
from simtown.core import plots
from simtown.core.tables import Table

SEEDS, TEST = 5, 500


class LeastNorm:
    """A linear classifier of two classes by least squares, of least norm where many fit."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> LeastNorm:
        self.weights = np.linalg.lstsq(X, 2.0 * y - 1, rcond=None)[0]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X @ self.weights > 0).astype(int)


class Problem(NamedTuple):
    """Examples, a learner, and the probability with which a run stays at chance."""

    name: str
    data: Callable[[], tuple[np.ndarray, np.ndarray]]
    learner: Callable[[], object]
    stuck: float = 0.0
    ill: bool = False


def shipped(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    return lambda: getattr(datasets, f"load_{name}")(return_X_y=True)


def made(name: str, **how: object) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    return lambda: getattr(datasets, f"make_{name}")(n_samples=3000, random_state=0, **how)


def planes(dimensions: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Two classes that a plane through normal points parts, with 5 % of the labels turned."""

    def draw() -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((3000, dimensions))
        turned = rng.uniform(size=3000) < 0.05
        return X, ((X @ rng.standard_normal(dimensions) > 0) ^ turned).astype(int)

    return draw


DIGITS, CANCER = shipped("digits"), shipped("breast_cancer")
PROBLEMS = (
    Problem("digits, nearest neighbour", DIGITS, lambda: KNeighborsClassifier(1)),
    Problem("digits, naive Bayes", DIGITS, GaussianNB),
    Problem("digits, ridge", DIGITS, RidgeClassifier),
    Problem("digits, tree", DIGITS, lambda: DecisionTreeClassifier(random_state=0)),
    Problem("breast cancer, naive Bayes", CANCER, GaussianNB),
    Problem("breast cancer, ridge", CANCER, lambda: RidgeClassifier(1e-3)),
    Problem("wine, naive Bayes", shipped("wine"), GaussianNB),
    Problem("iris, nearest neighbour", shipped("iris"), lambda: KNeighborsClassifier(1)),
    Problem("moons, nearest neighbour", made("moons", noise=0.2), lambda: KNeighborsClassifier(1)),
    Problem(
        "circles, tree",
        made("circles", noise=0.1, factor=0.6),
        lambda: DecisionTreeClassifier(random_state=0),
    ),
    Problem("20 features, naive Bayes", made("classification", n_informative=10), GaussianNB),
    Problem("50 dimensions, ridge", planes(50), RidgeClassifier),
    Problem("discriminants at n = d", planes(60), LinearDiscriminantAnalysis, ill=True),
    Problem("double descent", planes(60), LeastNorm, ill=True),
    Problem("15 % of the runs stuck", DIGITS, lambda: KNeighborsClassifier(1), stuck=0.15, ill=True),
)
#: Their fits take longer; for the time of a search alone.
SLOW = (
    Problem("digits, logistic regression", DIGITS, lambda: LogisticRegression(max_iter=2000)),
    Problem("digits, forest", DIGITS, lambda: RandomForestClassifier(random_state=0)),
    Problem("digits, network", DIGITS, lambda: MLPClassifier(random_state=0)),
)
SLOW_TARGET, SLOW_SEARCHES = 0.9, 5


def grid_of(y: np.ndarray) -> np.ndarray:
    """Sizes about 1.4 times apart, from two examples of each class to all but the test items."""
    most = len(y) - min(TEST, len(y) // 2)
    least = 2 * len(np.unique(y))
    return np.unique(np.geomspace(least, most, 1 + int(np.log(most / least) / np.log(1.4))).astype(int))


def train(problem: Problem, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """Sizes (S,) and scores (S, repeats), each repeat on an order of its own."""
    X, y = problem.data()
    sizes = grid_of(y)
    most = sizes[-1]
    scores = np.empty((len(sizes), repeats))
    for r in range(repeats):
        rng = np.random.default_rng([repeats, r])
        order = rng.permutation(len(y))
        test = order[most:]
        # one of each class comes first
        firsts = [np.flatnonzero(y[order[:most]] == label)[0] for label in np.unique(y)]
        rows = np.concatenate([order[firsts], np.delete(order[:most], firsts)])
        for i, n in enumerate(sizes):
            learner = problem.learner().fit(X[rows[:n]], y[rows[:n]])
            scores[i, r] = (learner.predict(X[test]) == y[test]).mean()
            if rng.uniform() < problem.stuck:
                scores[i, r] = rng.binomial(len(test), 1 / len(np.unique(y))) / len(test)
    return sizes, scores


def truth(sizes: np.ndarray, scores: np.ndarray, target: float, stuck: bool) -> float:
    """The size from which the mean curve holds the target; the median curve, if some runs are stuck."""
    mean = np.median(scores, axis=1) if stuck else scores.mean(axis=1)
    return float(RULES["isotonic"](sizes, held(mean[None]), np.ones(len(sizes)), np.array([target]))[0, 0])


def power_law(sizes: np.ndarray, means: np.ndarray, target: float) -> np.ndarray:
    """Where the least-squares power law with a ceiling reaches the target, for means (R, S)."""
    powers = np.geomspace(0.05, 3, 40)[:, None]
    rise = -(sizes[None].astype(float) ** -powers)
    centre = rise.mean(axis=1, keepdims=True)
    level = means.mean(axis=1, keepdims=True)
    slope = (means - level) @ (rise - centre).T / ((rise - centre) ** 2).sum(axis=1)
    residue = ((means - level) ** 2).sum(axis=1)[:, None] - slope**2 * ((rise - centre) ** 2).sum(axis=1)
    best = residue.argmin(axis=1)
    b, c = slope[np.arange(len(means)), best], powers[best, 0]
    gap = (level[:, 0] - b * centre[best, 0] - target) / np.maximum(b, 1e-9)
    return np.where(gap > 0, np.maximum(gap, 1e-12) ** (-1 / c), ABOVE)


def ends(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(np.minimum(values, 1e12), (0.025, 0.975))
    return float(low), float(high)


def measure(problem: Problem, repeats: int, experiments: int) -> dict[str, object]:
    sizes, scores = train(problem, repeats)
    mean = np.median(scores, axis=1) if problem.stuck else scores.mean(axis=1)
    target = round(float(mean[0] + 0.8 * (mean[-2:].mean() - mean[0])), 2)
    need = truth(sizes, scores, target, problem.stuck > 0)
    held_by: dict[str, list[bool]] = {name: [] for name in ("needs", "power law", "isotonic")}
    widths: dict[str, list[float]] = {name: [] for name in held_by}
    refused = 0
    grid = sizes[::2]
    for number in range(experiments):
        rng = np.random.default_rng([number, 1])
        own = scores[::2][:, rng.choice(repeats, SEEDS, replace=False)]
        found = needs.from_curve(grid, own, target, random_state=number)
        low, high = found.interval_
        drawn = own[:, rng.integers(0, SEEDS, (400, SEEDS))].mean(axis=2).T
        others = {
            "power law": ends(power_law(grid, drawn, target)),
            "isotonic": ends(RULES["isotonic"](grid, drawn, np.ones(len(grid)), np.array([target]))[0]),
        }
        refused += found.need_ is None
        for name, (least, most) in {"needs": (low or 0, high or np.inf), **others}.items():
            held_by[name].append(least <= need <= most)
            widths[name].append(most / max(least, 1))
    row: dict[str, object] = {"problem": problem.name, "ill_behaved": problem.ill, "target": target}
    row |= {"truth": round(need, 1), "experiments": experiments, "refused": round(refused / experiments, 3)}
    for name, values in held_by.items():
        row |= {f"{name}_coverage": round(float(np.mean(values)), 3)}
        row |= {f"{name}_width": round(float(min(np.median(widths[name]), 1e6)), 3)}
    return row


def search(problem: Problem, target: float, states: int, need: float = np.nan) -> dict[str, object]:
    """Adaptive searches beside the whole grid of sizes; nothing about their intervals if no need is known."""
    X, y = problem.data()
    most = int(0.8 * len(y))
    grid = [int(n) for n in grid_of(y) if n < most] + [most]
    curves = 1 + states // 20
    began = process_time()
    for _ in range(curves):
        learning_curve(problem.learner(), X, y, train_sizes=grid, cv=5, shuffle=True, random_state=0)
    middle = process_time()
    results = [
        needs.needed_samples(problem.learner(), X, y, target=target, random_state=state)
        for state in range(states)
    ]
    seconds, own = (middle - began) / curves, (process_time() - middle) / states
    sizes = np.concatenate([found.train_sizes_ for found in results])
    row: dict[str, object] = {"problem": problem.name, "target": target, "searches": states}
    row |= {"grid_sizes": len(grid), "sizes": round(len(sizes) / states, 1)}
    row |= {"ms_a_fit": round(1000 * seconds / len(grid) / 5, 1)}
    row |= {"grid_seconds": round(seconds, 3), "seconds": round(own, 3)}
    row |= {"share_of_time": round(own / seconds, 3)}
    row |= {"share_of_examples": round(float(sizes.sum()) / sum(grid) / states, 3)}
    if np.isnan(need):
        return row | {"coverage": "", "width": "", "refused": ""}
    low, high = np.array([found.interval_ for found in results], dtype=float).T
    low, high = np.nan_to_num(low), np.nan_to_num(high, nan=np.inf)
    row |= {"coverage": round(float(((low <= need) & (need <= high)).mean()), 3)}
    row |= {"width": round(float(min(np.median(high / np.maximum(low, 1)), 1e6)), 3)}
    return row | {"refused": sum(found.need_ is None for found in results) / states}


def table(lines: list[dict[str, str]]) -> str:
    """The table of docs/needs.md."""
    rows = []
    for line in lines:
        row = {"problem": line["problem"], "need": f"{float(line['truth']):,.0f}"}
        for name in ("needs", "power law", "isotonic"):
            width = float(line[f"{name}_width"])
            text = f"× {width:.2f}" if width < 1e3 else "open"
            row[name] = f"{100 * float(line[f'{name}_coverage']):.0f} % ({text})"
        rows.append(row | {"refused": f"{100 * float(line['refused']):.0f} %"})
    return Table.of_records(rows).markdown()


def draw(lines: list[dict[str, str]], path: Path) -> None:
    """The figure of docs/needs.md, which reads at 390 pixels: coverage by problem."""
    figure = plots.new_figure(3.9, 4.9, dpi=200)
    axes = figure.subplots()
    plots.style_axes(axes, label_size=7.5)
    axes.axvspan(92, 98, color="#DDDDDD", zorder=0)
    names = ("needs", "power law", "isotonic")
    for name, colour, marker in zip(names, ("#D55E00", "#0072B2", "#009E73"), "oD^", strict=True):
        coverage = [100 * float(line[f"{name}_coverage"]) for line in lines]
        style = {"color": colour, "label": name, "markersize": 5.5 if name == "needs" else 4.5, "alpha": 0.9}
        axes.plot(coverage, range(len(lines)), marker, linestyle="", clip_on=False, **style)
    axes.set_yticks(range(len(lines)), [line["problem"] for line in lines])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("intervals that hold the truth, %", fontsize=8.5)
    figure.legend(loc="outside upper right", ncols=3, fontsize=8, frameon=False, handletextpad=0.2)
    plots.save_figure(figure, path)


def search_all(path: Path, lines: list[dict[str, str]], states: int) -> None:
    rows = Rows(path, f"{states} searches; {machine('numpy', 'scipy', 'scikit-learn')}")
    for problem, line in zip(PROBLEMS, lines, strict=True):
        if not problem.ill:
            rows.add(search(problem, float(line["target"]), states, float(line["truth"])))
    for problem in SLOW:
        rows.add(search(problem, SLOW_TARGET, SLOW_SEARCHES))
    seconds = [[float(line[name]) for name in ("seconds", "grid_seconds")] for line in read_rows(path)]
    for count in (len(seconds) - len(SLOW), len(seconds)):
        own, grid = np.sum(seconds[:count], axis=0)
        print(f"The first {count} problems together: {own / grid:.3f} of the grid's time")


def main() -> None:
    args = options(__doc__, repeats=100, experiments=100, out="learners.csv", figure="", searches="")
    warnings.simplefilter("ignore")  # classes with one example
    what = f"{args.repeats} repeats, {args.experiments} experiments of {SEEDS} seeds"
    rows = Rows(Path(args.out), f"{what}; {machine('numpy', 'scipy', 'scikit-learn')}", "problem")
    for problem in PROBLEMS:
        rows.add(measure(problem, args.repeats, args.experiments))
    lines = read_rows(Path(args.out))
    print(table(lines))
    if args.figure:
        draw(lines, Path(args.figure))
    if args.searches:
        search_all(Path(args.searches), lines, args.experiments)


if __name__ == "__main__":
    main()
