"""Whether a data set follows its frequencies: its subjects and objects against the settings (Figure 12), and
training against test (Figure 13).

The target is exact: the marginals of subject and object when both are drawn by equation 4, and the distractor
too, until all differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core import plots
from simtown.core.untrusted import figure_text
from simtown.datasets.reading.reader import Dataset

ROLES = ("subject", "object")
#: Expected count below which cells are pooled: the usual rule for the chi-square approximation.
LEAST = 5.0
#: Splits that are shown: the first above, both below.
_SHOWN = ("train", "test")
#: Entities from which on only some ranks are labelled in a figure.
_ALL_RANKS = 10


@dataclass(frozen=True)
class GoodnessOfFit:
    """The fit of counts to a target: Pearson's chi-square, degrees of freedom, p-value (nan without any)."""

    chi2: float
    dof: int
    p: float


@dataclass(frozen=True)
class Marginals:
    """The subjects and objects of a split; the k kinds in the order of
    :attr:`simtown.Settings.kinds`.

    Attributes:
        n: examples.
        counts: by role, (k,) int64.
        target: by role, (k,) float64 shares.
        fit: by role, how well the counts fit the target.
    """

    n: int
    counts: Mapping[str, np.ndarray]
    target: Mapping[str, np.ndarray]
    fit: Mapping[str, GoodnessOfFit]


def targets(subject: np.ndarray, obj: np.ndarray, distractor: bool) -> dict[str, np.ndarray]:
    """Marginals of subject and object, each (k,) float64, given that all entities of a scene differ.

    Args:
        subject: (k,) frequencies of equation 4.
        obj: (k,) frequencies of equation 4.
        distractor: whether a third entity is drawn, by the mean of the two.
    """
    joint = np.outer(subject, obj)
    np.fill_diagonal(joint, 0.0)
    if distractor:
        either = (subject + obj) / 2
        joint *= np.maximum(1.0 - either[:, None] - either[None, :], 0.0)
    joint /= joint.sum()
    return {"subject": joint.sum(axis=1), "object": joint.sum(axis=0)}


def goodness(counts: np.ndarray, target: np.ndarray) -> GoodnessOfFit:
    """Pearson's chi-square of counts (k,) against target shares (k,), infinite for a count beside a target 0.

    Rare entities are pooled until each cell expects LEAST.
    """
    from scipy.stats import chi2

    if counts[target == 0].any():
        return GoodnessOfFit(float("inf"), int(np.count_nonzero(target)), 0.0)
    order = np.argsort(-target, kind="stable")
    starts, pooled = [0], 0.0
    for place, expected in enumerate((target[order] * counts.sum()).tolist()):
        if pooled >= LEAST:
            starts.append(place)
            pooled = 0.0
        pooled += expected
    if len(starts) > 1 and pooled < LEAST:
        starts.pop()
    if len(starts) == 1:
        return GoodnessOfFit(0.0, 0, float("nan"))
    wanted = np.add.reduceat(target[order] * counts.sum(), starts)
    value = float(((np.add.reduceat(counts[order], starts) - wanted) ** 2 / wanted).sum())
    return GoodnessOfFit(value, len(starts) - 1, float(chi2.sf(value, len(starts) - 1)))


def targets_of(dataset: Dataset, name: str) -> dict[str, np.ndarray]:
    """The :func:`targets` of a split: the test split is uniform, the others follow the settings."""
    s, recorded = dataset.settings, dataset.manifest["settings"]
    if name.startswith("test"):
        return {role: np.full(s.entities, 1 / s.entities) for role in ROLES}
    subject, obj = (np.array(recorded[f"{role}_frequencies"]) for role in ROLES)
    return targets(subject, obj, s.distractor)


def marginals(dataset: Dataset) -> dict[str, Marginals]:
    """The marginals of every split that has examples, by name."""
    kinds, result = list(dataset.settings.kinds), {}
    for name in dataset.splits:
        if n := len(dataset[name]):
            target, summary = targets_of(dataset, name), dataset.summary(name)
            counts = {role: np.array(summary[role])[kinds] for role in ROLES}
            fit = {role: goodness(counts[role], target[role]) for role in ROLES}
            result[name] = Marginals(n, counts, target, fit)
    return result


def plot(results: Mapping[str, Marginals], frequencies: str, path: Path) -> None:
    """Figures 12 and 13 in one PNG: shares by rank on logarithmic axes; `frequencies` names the target.

    A band holds 95 of 100 counts that follow the target.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = plots.new_figure(10.5, 8)
    grid = figure.subplots(2, 2, sharex=True, sharey="row")
    wanted = "Visual Genome" if frequencies == "vg" else figure_text(frequencies)
    for (row, column), axes in np.ndenumerate(grid):
        role, shown = ROLES[column], [name for name in _SHOWN[: row + 1] if name in results]
        order = np.argsort(-results["train"].target[role], kind="stable")
        floor = 0.4 / max(results[name].n for name in shown)
        for name in shown:
            label = wanted if name == "train" else "uniform"
            _plot_split(axes, name, results[name], role, order, floor, label=label)
        tests = [(name, results[name].fit[role]) for name in shown]
        fits = "\n".join(f"{n}: χ² = {t.chi2:.1f}, {t.dof} d.o.f., p = {t.p:.2g}" for n, t in tests)
        kind = "asked for and generated" if row == 0 else "training and test"
        axes.set_title(f"{role.capitalize()}s: {kind}\n{fits}", fontsize=10, color=plots.INK, loc="left")
        axes.set_xscale("log")
        axes.set_yscale("log")
        ranks = [*range(1, len(order) + 1)] if len(order) < _ALL_RANKS else plots.round_values(1, len(order))
        plots.set_log_ticks(axes.xaxis, ranks, lambda x, _: f"{x:g}")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
        axes.yaxis.set_minor_formatter(NullFormatter())  # it would label small worlds by powers of ten
        plots.style_axes(axes)
    for axes in grid[:, 0]:
        axes.set_ylabel("share of examples", fontsize=9.5, color=plots.INK)
    for axes in grid[1]:
        axes.set_xlabel("rank among the entities", fontsize=9.5, color=plots.INK)
    handles, labels = grid[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, fontsize=9, frameon=False)
    plots.add_footnote(figure, "Bands: 95 of 100 shares that follow the line.")
    plots.save_figure(figure, path)


def _plot_split(
    axes: Any, name: str, split: Marginals, role: str, order: np.ndarray, floor: float, *, label: str
) -> None:
    """A split's target and shares of a role by rank; shares of 0 are marked at the `floor`."""
    colour = {"train": "#D55E00", "test": "#0072B2"}[name]
    rank = np.arange(1, len(order) + 1)
    target, share = split.target[role][order], split.counts[role][order] / split.n
    noise = 1.96 * np.sqrt(target * (1 - target) / split.n)
    low = np.maximum(target - noise, floor)
    axes.fill_between(rank, low, target + noise, color=colour, alpha=0.15, linewidth=0)
    axes.plot(rank, target, color=colour, linewidth=1.2, label=f"{label}, asked of {name}")
    dots = {"color": colour, "markersize": 3.5, "markeredgewidth": 0}
    seen = share > 0
    axes.plot(rank[seen], share[seen], "o", label=f"{name}, {split.n:,} examples", **dots)
    if not seen.all():
        hollow = {"color": colour, "markersize": 4, "markerfacecolor": "none"}
        never = np.full(len(order) - seen.sum(), floor)
        axes.plot(rank[~seen], never, "v", label=f"{name}: never", **hollow)
