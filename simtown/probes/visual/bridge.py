"""The bridge to the town: what a language model of its captions believes of the vehicles' colours.

The town knows how each kind of vehicle is painted, and its captions omit the typical colour with a chosen
probability. For each bias a model is trained on the captions alone, asked for the colour of every kind, and
compared with the truth. No natural corpus allows this experiment: there neither the truth nor the bias is
known.
"""

import filecmp
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import entropy

from simtown.assets.catalogue import ENTITIES, NAMED_BY_COLOUR
from simtown.core.callbacks import ProgressCallback
from simtown.core.files import ForeignDirectoryError, claimed, replacing, save_json, save_text
from simtown.core.plots import GREY, INK, new_figure, save_figure, style_axes
from simtown.core.tables import Table
from simtown.core.untrusted import folder
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.showing.captioned import caption_blocks
from simtown.language.meaning.colours import COLOURS, by_kind, seen
from simtown.probes import elicit, measures
from simtown.probes.figures import titled
from simtown.probes.items import GROUPS, grouped
from simtown.probes.lm import LMSettings
from simtown.probes.lm.train import train
from simtown.probes.report import write_rows
from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.base import Scorer

#: How captions name a colour, and so how the model is asked.
TEMPLATES = ("the [X] is [Y]", "the [Y] [X]")
NAME, FORMAT = "bridge.json", "simtown bridge"
#: Words that the model may have: more than captions use.
VOCABULARY = 400
#: In the picture: the name of what a faithful reader of captions believes, and the colour of the model, which
#: no dot has.
CAPTIONS, MODEL = "what captions say", "#CC79A7"
#: Captions a step: few, for colours take many steps to learn and not many tokens.
BATCH = 32


class NeutralKinds(NamedTuple):
    """The kinds of a data set whose names contain no colour.

    Attributes:
        names: (k) of ENTITIES.
        truth: (k, 12) float64 how often each of COLOURS is seen, rows sum to 1.
    """

    names: tuple[str, ...]
    truth: np.ndarray

    @staticmethod
    def of(town: Dataset) -> "NeutralKinds":
        """Those of the training scenes. Raises ValueError if there are fewer than two."""
        scenes = town.train.scenes()
        truth = by_kind(scenes.entity, seen(scenes))
        shown = np.isfinite(truth).all(axis=1)
        kept = [i for i, name in enumerate(ENTITIES) if shown[i] and name not in NAMED_BY_COLOUR]
        if len(kept) < 2:
            few = f"{town.path} shows {len(kept)} kinds of vehicles whose names contain no colour"
            raise ValueError(f"{few}: two are needed, give a data set made with --entities 20")
        return NeutralKinds(tuple(ENTITIES[i] for i in kept), truth[kept])

    def said(self, bias: float) -> np.ndarray:
        """(k, 12) how often captions name each colour: a faithful reader's belief, for a bias below 1."""
        spoken = self.truth.copy()
        spoken[np.arange(len(spoken)), self.truth.argmax(axis=1)] *= 1 - bias
        return spoken / spoken.sum(axis=1, keepdims=True)


def recovered(scorer: Scorer, names: Sequence[str]) -> np.ndarray:
    """(t, k, 12) float64 a model's distribution over COLOURS for every kind, by each of TEMPLATES."""
    logprobs = elicit.by_template(scorer, TEMPLATES, names, [(colour,) for colour in COLOURS], "corrected")
    return np.exp(logprobs - np.logaddexp.reduce(logprobs, axis=2, keepdims=True))


def measured(truth: np.ndarray, belief: np.ndarray) -> dict[str, Any]:
    """KL(truth ‖ belief) in bits, ρ, and whether the commonest colour comes first; by group. Both (k, c).

    The divergence leaves out kinds of a colour whose word the model does not know: theirs is infinite. "n"
    says how many are left. Intervals are over kinds.
    """
    each = {
        "divergence": np.asarray(entropy(truth, belief, base=2, axis=1)),
        "rho": measures.spearman_rows(belief, truth),
        "first": (truth.argmax(axis=1) == belief.argmax(axis=1)).astype(float),
    }
    group_of = grouped(truth)
    summary: dict[str, Any] = {}
    for name, values in each.items():
        known = np.isfinite(values)
        means = {g: float(values[known & (group_of == g)].mean()) for g in GROUPS if g in group_of[known]}
        low, high = measures.mean_interval(values)
        mean = float(values[known].mean()) if known.any() else float("nan")
        summary[name] = {"mean": mean, "low": low, "high": high, "n": int(known.sum()), **means}
    return summary


def run(
    town: Dataset,
    biases: Sequence[float],
    epochs: int,
    out: Path,
    watching: Callable[[str], AbstractContextManager[ProgressCallback]],
) -> dict[str, Any]:
    """Write captions, model and measures for every bias, each in a directory; returns what bridge.json says.

    What an earlier run made is kept.

    Raises:
        ValueError: a bias that is not in [0, 1), or too few kinds.
        ForeignDirectoryError: the directory holds another experiment.
    """
    if not biases or any(not 0 <= bias < 1 for bias in biases):
        raise ValueError("`bias` lists probabilities from 0 to below 1, such as 0,0.5,0.95")
    kinds = NeutralKinds.of(town)
    settings = LMSettings(epochs=epochs, vocabulary=VOCABULARY, batch=BATCH, device="cpu")
    guess = np.tile(measures.shares(kinds.truth).mean(axis=0), (len(kinds.names), 1))
    summary: dict[str, Any] = {"format": FORMAT, "town": town.name, "epochs": epochs, "bias": {}}
    summary |= {"kinds": len(kinds.names), "prior": measured(kinds.truth, guess)}
    summary["ceiling_rho"] = float(measures.ceiling_rows(kinds.truth).mean())
    names = ("bias", "kind", "color", "truth", "said", "recovered")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    beliefs = {}
    with claimed(out, "simtown probe visual bridge"):
        for bias in sorted(set(biases)):
            place = folder(out, f"bias-{bias:g}")
            corpus = _captions(town, bias, place)
            with watching(f"train {place / 'lm'}") as progress:
                training = train(settings, corpus, folder(place, "lm"), progress)
            by_template = recovered(open_scorer(f"lstm:{place / 'lm'}"), kinds.names)
            belief, captioned = by_template.mean(axis=0), kinds.said(bias)
            beliefs[bias] = belief
            means = (float(entropy(kinds.truth, shares, base=2, axis=1).mean()) for shares in by_template)
            summary["bias"][f"{bias:g}"] = {
                "model": measured(kinds.truth, belief),
                "captions": measured(kinds.truth, captioned),
                "templates": dict(zip(TEMPLATES, means, strict=True)),
                "validation_perplexity": training["validation_perplexity"],
            }
            shape = kinds.truth.shape
            columns = (np.full(shape, bias), np.repeat(kinds.names, shape[1]), np.tile(COLOURS, shape[0]))
            for name, column in zip(names, (*columns, kinds.truth, captioned, belief), strict=True):
                rows[name] += column.ravel().tolist()
        save_json(out / NAME, summary)
        write_rows(out / "bridge.parquet", rows)
        save_text(out / "bridge.md", table(summary))
        figure(kinds, beliefs, summary, out / "bridge.png")
    return summary


def _captions(town: Dataset, bias: float, place: Path) -> Path:
    """The captions' file, made if need be: they name every colour, as often as it is seen.

    Raises ForeignDirectoryError if it holds other captions.
    """
    path = place / "captions.txt"
    with replacing(path) as made:
        with open(made, "wb") as file:
            file.writelines(text for _, text in caption_blocks(town, "train", bias, every=True))
        if path.is_symlink() or (path.exists() and not filecmp.cmp(path, made, shallow=False)):
            raise ForeignDirectoryError(f"{path} holds captions of other scenes: give another `out`")
    return path


def table(summary: dict[str, Any]) -> str:
    """What was found, in Markdown: a line for every bias, and the prior."""

    def cell(measure: dict[str, float], times: float = 1.0, digits: int = 2) -> str:
        mean, low, high = (f"{times * measure[key]:.{digits}f}" for key in ("mean", "low", "high"))
        return f"{mean} [{low}, {high}]"

    def line(name: str, measure: dict[str, Any], own: Sequence[str]) -> tuple[str, ...]:
        by_group = (measure["divergence"].get(group, float("nan")) for group in GROUPS)
        scores = (cell(measure["rho"], 100, 1), cell(measure["first"], 100, 0))
        return (name, cell(measure["divergence"]), *own, *scores, *(f"{value:.2f}" for value in by_group))

    heads = ("bias", "KL, bits", "captions' own", *(f"KL, {t}" for t in TEMPLATES))
    heads += ("ρ × 100", "typical first, %", *(f"KL, {g}" for g in GROUPS))
    lines = []
    for bias, measure in summary["bias"].items():
        own = [abs(measure["captions"]["divergence"]["mean"]), *(measure["templates"][t] for t in TEMPLATES)]
        lines.append(line(bias, measure["model"], [f"{value:.2f}" for value in own]))
    lines.append(line("prior", summary["prior"], [""] * (1 + len(TEMPLATES))))
    text = Table(heads, lines).markdown(text_columns=0)
    return (
        f"{text}\n\nThe truth against a model's belief: means over {summary['kinds']} kinds with 95 % "
        "intervals. Who believes just what captions say has the second number; the prior is the mean of "
        f"all kinds. Ceiling of ρ × 100: {100 * summary['ceiling_rho']:.1f}.\n"
    )


def figure(
    kinds: NeutralKinds, beliefs: Mapping[float, np.ndarray], summary: dict[str, Any], path: Path
) -> None:
    """Above, true against recovered shares at every bias; below, divergence and ρ as the bias grows."""
    drawn = new_figure(max(2.4 * len(beliefs), 7.5), 6.6)
    drawn.get_layout_engine().set(w_pad=0.12)  # inches, so that the outermost ticks have room
    halves: Any = drawn.subfigures(2, 1, height_ratios=(1, 1.1))
    upper, lower = halves
    small = {"fontsize": 8.5, "color": "#333333"}
    typical = np.zeros(kinds.truth.shape, dtype=bool)
    typical[np.arange(len(typical)), kinds.truth.argmax(axis=1)] = True
    dots = ((~typical, "#0072B2", "other colours"), (typical, "#D55E00", "the typical colour"))
    line = np.linspace(0, 1, 101)
    panels = upper.subplots(1, len(beliefs), sharey=True, squeeze=False)[0]
    for panel, (bias, belief) in zip(panels, beliefs.items(), strict=True):
        style_axes(panel, "y", 8.5)
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, label="the truth")
        faithful = line * (1 - bias) / np.maximum(1 - line * bias, 1e-9)
        panel.plot(line, faithful, "--", color=INK, linewidth=1.1, label=CAPTIONS)
        for chosen, colour, name in dots:
            dot = {"s": 11, "color": colour, "alpha": 0.65, "linewidths": 0, "label": name}
            panel.scatter(kinds.truth[chosen], belief[chosen], **dot)
        panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1, xticks=(0, 0.5, 1))
        panel.set_xlabel("true share", **small)
        titled(panel, f"bias {bias:g}")
    panels[0].set_ylabel("recovered share", **small)
    _add_legend(upper, panels[0], "upper")
    left, right = lower.subplots(1, 2)
    sources = (("captions", "--", INK, CAPTIONS), ("model", "-o", MODEL, "the model, 95 % interval"))
    for panel, measure, times, title in (
        (left, "divergence", 1, "KL(truth ‖ belief), bits: lower is better"),
        (right, "rho", 100, "Spearman ρ × 100 with the truth: higher is better"),
    ):
        style_axes(panel, "y", 8.5)
        for source, style, colour, name in sources:
            numbers = [summary["bias"][f"{bias:g}"][source][measure] for bias in beliefs]
            mean, low, high = (times * np.array([n[key] for n in numbers]) for key in ("mean", "low", "high"))
            error = [mean - low, high - mean] if source == "model" else None
            look = {"color": colour, "linewidth": 1.4, "markersize": 4, "label": name}
            panel.errorbar(list(beliefs), mean, error, fmt=style, **look)
        prior = times * summary["prior"][measure]["mean"]
        panel.axhline(prior, color=GREY, linestyle=":", label="the mean of all kinds")
        titled(panel, title)
        panel.set_xlabel("reporting bias: probability that a kind's typical colour goes unsaid", **small)
    ceiling, name = 100 * summary["ceiling_rho"], "ceiling of a ranking without ties"
    right.axhline(ceiling, color="#009E73", linewidth=1, label=name)
    _add_legend(lower, right, "lower")
    save_figure(drawn, path)


def _add_legend(part: Any, panel: Any, where: str) -> None:
    """One line outside the panels of a part of a figure, which names what one of them shows."""
    handles, labels = panel.get_legend_handles_labels()
    place = f"outside {where} center"
    part.legend(handles, labels, loc=place, ncols=len(labels), fontsize=8.5, frameon=False)
