"""Whether a data set follows its frequencies: its subjects and objects against the settings (Figure 12), and
training against test (Figure 13).

The target is exact: the marginals of subject and object when both are drawn by equation 4, and the distractor
too, until all differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import replacing
from simtown.core.plots import round_values, set_log_ticks
from simtown.core.untrusted import figure_text
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS

ROLES = ("subject", "object")
#: Expected count below which cells are pooled: the usual rule for the chi-square approximation.
LEAST = 5.0
_SHOWN = {"train": "#D55E00", "test": "#0072B2"}
#: Entities from which on only some ranks are labelled in a figure.
_ALL_RANKS = 10


@dataclass(frozen=True)
class GoodnessOfFit:
    """How well counts fit a target.

    Attributes:
        chi2: Pearson's chi-square.
        dof: its degrees of freedom.
        p: its p-value, nan without a degree of freedom.
    """

    chi2: float
    dof: int
    p: float


@dataclass(frozen=True)
class Marginals:
    """The subjects and objects of a split; the k kinds in the order of
    :attr:`simtown.datasets.settings.Settings.kinds`.

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
    """Pearson's chi-square of counts (k,) against target shares (k,).

    Rare entities are pooled until each cell expects LEAST. A count where the target is 0 gives an infinite
    chi-square.
    """
    from scipy.stats import chi2

    if counts[target == 0].any():
        return GoodnessOfFit(float("inf"), int(np.count_nonzero(target)), 0.0)
    order = np.argsort(-target, kind="stable")
    expected, observed = target[order] * counts.sum(), counts[order].astype(np.float64)
    cells: list[list[float]] = []
    for e, o in zip(expected.tolist(), observed.tolist(), strict=True):
        if cells and (cells[-1][0] < LEAST or e == 0):
            cells[-1][0] += e
            cells[-1][1] += o
        else:
            cells.append([e, o])
    if len(cells) > 1 and cells[-1][0] < LEAST:
        e, o = cells.pop()
        cells[-1][0] += e
        cells[-1][1] += o
    dof = len(cells) - 1
    if dof < 1:
        return GoodnessOfFit(0.0, 0, float("nan"))
    value = sum((o - e) ** 2 / e for e, o in cells)
    return GoodnessOfFit(value, dof, float(chi2.sf(value, dof)))


def marginals(dataset: Dataset) -> dict[str, Marginals]:
    """The marginals of every split that has examples, by name."""
    s = dataset.settings
    recorded = dataset.manifest["settings"]
    followed = targets(
        np.array(recorded["subject_frequencies"]), np.array(recorded["object_frequencies"]), s.distractor
    )
    uniform = {role: np.full(s.entities, 1 / s.entities) for role in ROLES}
    result = {}
    for name in SPLITS:
        split = dataset[name]
        if not len(split):
            continue
        target = uniform if name == "test" else followed
        counts = {role: np.array(dataset.summary(name)[role])[list(s.kinds)] for role in ROLES}
        result[name] = Marginals(
            len(split), counts, target, {role: goodness(counts[role], target[role]) for role in ROLES}
        )
    return result


def plot(results: Mapping[str, Marginals], frequencies: str, path: Path) -> None:
    """Figures 12 and 13 in one PNG: shares by rank on logarithmic axes.

    A band holds 95 of 100 counts that follow the target.

    Args:
        results: of :func:`marginals`.
        frequencies: what the target is called.
        path: the PNG to write.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure: Any = Figure(figsize=(10.5, 8), dpi=150, layout="constrained", facecolor="white")
    grid = figure.subplots(2, 2, sharex=True, sharey="row")
    wanted = "Visual Genome" if frequencies == "vg" else figure_text(frequencies)
    for row, shown in enumerate((("train",), ("train", "test"))):
        for column, role in enumerate(ROLES):
            axes = grid[row, column]
            order = np.argsort(-results["train"].target[role], kind="stable")
            rank = np.arange(1, len(order) + 1)
            floor = 0.4 / max(results[name].n for name in shown if name in results)
            for name in shown:
                if name not in results:
                    continue
                m, colour = results[name], _SHOWN[name]
                target, share = m.target[role][order], m.counts[role][order] / m.n
                noise = 1.96 * np.sqrt(target * (1 - target) / m.n)
                axes.fill_between(
                    rank,
                    np.maximum(target - noise, floor),
                    target + noise,
                    color=colour,
                    alpha=0.15,
                    linewidth=0,
                )
                title = wanted if name == "train" else "uniform"
                axes.plot(rank, target, color=colour, linewidth=1.2, label=f"{title}, asked of {name}")
                seen = share > 0
                axes.plot(
                    rank[seen],
                    share[seen],
                    "o",
                    color=colour,
                    markersize=3.5,
                    markeredgewidth=0,
                    label=f"{name}, {m.n:,} examples",
                )
                if (~seen).any():
                    axes.plot(
                        rank[~seen],
                        np.full((~seen).sum(), floor),
                        "v",
                        color=colour,
                        markersize=4,
                        markerfacecolor="none",
                        label=f"{name}: never",
                    )
            fits = "\n".join(_in_words(name, results[name].fit[role]) for name in shown if name in results)
            kind = "asked for and generated" if row == 0 else "training and test"
            axes.set_title(f"{role.capitalize()}s: {kind}\n{fits}", fontsize=10, color="#333333")
            axes.set_xscale("log")
            axes.set_yscale("log")
            ranks = rank.tolist() if len(rank) < _ALL_RANKS else round_values(1, len(rank))
            set_log_ticks(axes.xaxis, ranks, lambda x, _: f"{x:g}")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
            axes.yaxis.set_minor_formatter(NullFormatter())  # it would label small worlds by powers of ten
            axes.spines[["top", "right"]].set_visible(False)
            axes.spines[["left", "bottom"]].set_color("#888888")
            axes.tick_params(colors="#333333", which="both", labelsize=9)
            axes.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
            axes.set_axisbelow(True)
            if column == 0:
                axes.set_ylabel("share of examples", fontsize=9.5, color="#333333")
            if row == 1:
                axes.set_xlabel("rank among the entities", fontsize=9.5, color="#333333")
    marks: dict[str, Any] = {}
    for axes in grid.flat:
        handles, labels = axes.get_legend_handles_labels()
        marks |= dict(zip(labels, handles, strict=True))
    figure.legend(marks.values(), marks, loc="outside lower center", ncols=4, fontsize=8.5, frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})


def _in_words(name: str, fit: GoodnessOfFit) -> str:
    return f"{name}: χ² = {fit.chi2:.1f}, {fit.dof} d.o.f., p = {fit.p:.2g}"
