"""Sizes (section 4.3): does a model put smaller nouns before larger ones, in sentences and in vectors?"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from simtown.core.plots import INK, PALETTE, save_figure
from simtown.core.table_files import NUMBER, TEXT
from simtown.probes import elicit, figures, item_study, measures
from simtown.probes.item_study import mean_text, share_text
from simtown.probes.model_names import in_words
from simtown.probes.report import Results
from simtown.probes.reproduce import some
from simtown.probes.scorers.base import UnableError
from simtown.probes.study import TaskRequest, TaskResult
from simtown.probes.visual.classes import SIZES

Way = Literal["larger", "smaller"]
Direction = Literal["paper", "corrected"]
WAYS: tuple[Way, ...] = ("larger", "smaller")
DIRECTIONS: tuple[Direction, ...] = ("paper", "corrected")
#: Sizes whose nouns are subjects: the others have nothing smaller, or nothing larger.
SUBJECTS = ("small", "medium", "large")
#: What projections are.
PROJECTED = "cosine with large − small"
#: Sizes whose nouns the released program does not read: it looks for them in a file of another name.
UNREAD = ("huge",)


class Sizes:
    """Nouns by size, from the smallest, and sentences by "larger" and "smaller".

    Attributes:
        size: (c,) int64, each noun's size, from 0.
        subjects: (s,) int64 numbers of the nouns that are asked about.
        learned: {way: what fits in each pair to learn from}.
    """

    def __init__(
        self,
        table: Mapping[str, Sequence[str]],
        templates: Mapping[str, Sequence[str]] | None = None,
        learned: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.table, self.templates, self.learned = table, templates or {}, learned or {}
        self.names = tuple(table)
        self.nouns = tuple(noun for nouns in table.values() for noun in nouns)
        self.size = np.repeat(np.arange(len(table)), [len(nouns) for nouns in table.values()])
        self.subjects = np.flatnonzero(np.isin(np.array(self.names)[self.size], SUBJECTS))

    def digest(self) -> str:
        """A digest of the nouns by size."""
        return blake2b(repr(self.table).encode(), digest_size=8).hexdigest()

    def larger_and_smaller(self) -> tuple[np.ndarray, np.ndarray]:
        """(s, c) bool twice: the nouns that are larger than each subject, and the smaller ones."""
        own = self.size[self.subjects][:, None]
        return self.size > own, self.size < own


def rank_partition(sizes: Sizes, scores: np.ndarray, way: Way, direction: Direction) -> np.ndarray:
    """(s,) share of nouns that stand where they should, for each subject X of "X is larger (smaller) than Y".

    With n nouns larger than X and m smaller: the mean of two overlaps, of the ranking's top with one set and
    of its bottom with the other. What fits behind "larger than" is *smaller* than X, so the corrected
    direction wants the m smaller nouns on top and the n larger ones at the bottom. The paper's text wants the
    n larger ones on top: what is perfect comes out below chance. (The numbers that the paper prints are made
    in a third way: :func:`released_limits`.)

    Row i of the (s, c) scores says how well each noun fits as [Y] of subject i. Of equal scores, any order is
    equally likely, and the share is its expectation.
    """
    larger, smaller = sizes.larger_and_smaller()
    top, bottom = (larger, smaller) if (way == "larger") == (direction == "paper") else (smaller, larger)
    above, below = (rankdata(x, method="min", axis=1) - 1 for x in (-scores, scores))
    equal = scores.shape[1] - above - below
    # each noun's probability to stand among the first, and among the last
    first = np.clip((top.sum(axis=1, keepdims=True) - above) / equal, 0, 1)
    last = np.clip((bottom.sum(axis=1, keepdims=True) - below) / equal, 0, 1)
    return (first.mean(axis=1, where=top) + last.mean(axis=1, where=bottom)) / 2


def limits(sizes: Sizes, direction: Direction) -> dict[str, tuple[float, float]]:
    """{"chance", "perfect"}: (larger, smaller) rank partition of a random order, and of the right one."""
    larger, smaller = sizes.larger_and_smaller()
    chance = float((larger | smaller).mean() / 2)
    by_size = np.tile(sizes.size.astype(float), (len(sizes.subjects), 1))
    smallest_first = float(rank_partition(sizes, -by_size, "larger", direction).mean())
    largest_first = float(rank_partition(sizes, by_size, "smaller", direction).mean())
    return {"chance": (chance, chance), "perfect": (smallest_first, largest_first)}


def subject_blind(sizes: Sizes, way: Way) -> float:
    """Rank partition of one order for all subjects: how often each noun was what fits, in the train pairs."""
    times = np.array([float(sizes.learned[way].count(noun)) for noun in sizes.nouns])
    same = np.tile(times, (len(sizes.subjects), 1))
    return float(rank_partition(sizes, same, way, "corrected").mean())


def released_limits(
    table: Mapping[str, Sequence[str]], subjects: Sequence[Sequence[str]]
) -> dict[str, tuple[float, ...]]:
    """{"chance", "perfect", "reversed"}: bounds of the released program's metric, which Table 4 prints.

    It is not the one that the paper describes. For the subject of each test pair it ranks the n larger and m
    smaller nouns alone, without those of :data:`UNREAD`. Behind "larger than" it wants the n larger ones
    first, behind "smaller than" the m smaller ones; the score is the share of the n + m nouns that stand in
    their part. What fits the sentence is the reverse. So "perfect", all nouns in the order of their sizes,
    scores |n - m| / (n + m); "reversed" scores 1; and "chance" is expected to score (n² + m²) / (n + m)².

    Args:
        table: {size: nouns}, from the smallest.
        subjects: those of the test pairs of "larger", with repeats, and those of "smaller".
    """
    size_of = {noun: i for i, nouns in enumerate(table.values()) for noun in nouns}
    read = np.array([0 if size in UNREAD else len(nouns) for size, nouns in table.items()])
    smaller_than = np.cumsum(read) - read
    larger_than = read.sum() - np.cumsum(read)
    chance, perfect = [], []
    for asked in subjects:
        number = [size_of[subject] for subject in asked]
        n, m = larger_than[number], smaller_than[number]
        chance.append(float(((n**2 + m**2) / (n + m) ** 2).mean()))
        perfect.append(float((abs(n - m) / (n + m)).mean()))
    return {"chance": tuple(chance), "perfect": tuple(perfect), "reversed": (1.0, 1.0)}


def projection(vectors: np.ndarray, small: np.ndarray, large: np.ndarray) -> np.ndarray:
    """(c,) cosine of each noun's (c, d) vector with large - small, (d,) each (van Paridon et al. 2021)."""
    return 1 - cdist(vectors, (large - small)[None], "cosine")[:, 0]


def ask(request: TaskRequest) -> TaskResult:
    """Rank partition for a model with probabilities, adjective projection for one with vectors of words.

    Raises UnableError for a model that has neither.
    """
    settings, sizes = request.settings, request.items
    scorer = request.scorer(settings.policy)
    rows: dict[str, list[Any]] = {"method": [], "noun": [], "size": [], "score": []}
    summary: dict[str, Any] = {"partition": {}, "projection": None, "notes": {}}

    def add(method: str, nouns: np.ndarray, scores: np.ndarray) -> None:
        rows["method"] += [method] * len(nouns)
        rows["noun"] += [sizes.nouns[i] for i in nouns]
        rows["size"] += [sizes.names[sizes.size[i]] for i in nouns]
        rows["score"] += scores.tolist()

    if "class_logprobs" in scorer.abilities and settings.use in (None, "prompts"):
        unsaid = np.zeros(len(sizes.nouns), dtype=bool)
        words = [(noun,) for noun in sizes.nouns]
        subjects = [sizes.nouns[i] for i in sizes.subjects]
        for way in WAYS:
            logprobs = elicit.by_template(scorer, sizes.templates[way], subjects, words, settings.protocol)
            scores = elicit.averaged(logprobs, settings.protocol)
            unsaid |= ~np.isfinite(scores).any(axis=0)
            for direction in reversed(DIRECTIONS):
                partition = rank_partition(sizes, scores, way, direction)
                bounds = {name: b[WAYS.index(way)] for name, b in limits(sizes, direction).items()}
                mean = {"n": len(partition), **item_study.mean_of(partition)}
                summary["partition"][f"{way}, {direction}"] = mean | bounds
                add(f"{way}, {direction}", sizes.subjects, partition)
        summary["subject_blind"] = {way: subject_blind(sizes, way) for way in sizes.learned}
        summary["notes"]["unsaid_nouns"] = np.array(sizes.nouns)[unsaid].tolist()
    if "word_vector" in scorer.abilities:
        vectors = {word: scorer.word_vector(word) for word in (*sizes.nouns, "small", "large")}
        known = np.flatnonzero([vectors[noun] is not None for noun in sizes.nouns])
        summary["notes"]["unknown_nouns"] = [noun for noun in sizes.nouns if vectors[noun] is None]
        small, large = vectors["small"], vectors["large"]
        if small is not None and large is not None and len(known) > 2:
            scores = projection(np.array([vectors[sizes.nouns[i]] for i in known]), small, large)
            ceiling = measures.ceiling_rows(sizes.size[known][None].astype(float))[0]
            correlation = measures.spearman(scores, sizes.size[known])
            summary["projection"] = {**correlation._asdict(), "ceiling": float(ceiling)}
            add("projection", known, scores)
    if not rows["noun"]:
        raise UnableError(f"{scorer.name} has neither probabilities nor vectors of 'small', 'large', nouns")
    return TaskResult(rows, summary)


def remarks(summary: Mapping[str, Any]) -> list[str]:
    """Which nouns a model cannot say; they stand at the end of its rankings, in any order."""
    words = summary.get("notes", {}).get("unsaid_nouns")
    if not words:
        return []
    return [f"size: the model cannot say {len(words)} nouns, which it ranks last: {some(words)}"]


def lines(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """A line a way of asking, by the names of columns. Numbers are times 100."""
    rows = []
    for name, numbers in summary["partition"].items():
        bounds = share_text(numbers["chance"]), share_text(numbers["perfect"])
        rows.append((name, str(numbers["n"]), mean_text(numbers, spread=True), *bounds))
    for way, share in summary.get("subject_blind", {}).items():
        rows.append((f"{way}, subject-blind prior", "", share_text(share), "", ""))
    if numbers := summary.get("projection"):
        score = f"{share_text(numbers['rho'])} (p = {numbers['p']:.2g})"
        bounds = "0.0", share_text(numbers["ceiling"])
        rows.append(("projection ρ with size", str(numbers["n"]), score, *bounds))
    columns = ("task", "mode", "n", "score", "prior", "ceiling")
    return [dict(zip(columns, ("size", *row), strict=True)) for row in rows]


def draw(results: Results) -> None:
    """Left: rank partition both ways, chance and perfect (Table 4). Right: projections by size (Figure 3)."""
    summary = results.tasks["size"]
    partition, panels = summary["partition"], bool(summary["partition"]) + bool(summary["projection"])
    figure, places = figures.canvas(panels, 5.6 * panels, 4.2)
    if partition:
        panel = places.pop(0)
        for i, (name, numbers) in enumerate(partition.items()):
            figures.bar(panel, i, numbers, 0.62, PALETTE["corrected" not in name])
            figures.level(panel, i, numbers["chance"], "--", None if i else "chance")
            figures.level(panel, i, numbers["perfect"], "-", None if i else "perfect")
        panel.set_xticks(range(len(partition)), [n.replace(", ", "\n") for n in partition])
        panel.set_ylabel("rank partition, %", fontsize=9, color=INK)
        panel.set_ylim(0, 112)
        panel.legend(fontsize=8, frameon=False, ncols=2)
    if summary["projection"]:
        rows = results.rows("size", {"method": TEXT, "size": TEXT, "score": NUMBER})
        entries = zip(rows["method"], rows["size"], rows["score"], strict=True)
        scores = [(size, score) for method, size, score in entries if method == "projection"]
        rho, p = summary["projection"]["rho"], summary["projection"]["p"]
        figures.boxes(places[0], {size: [score for s, score in scores if s == size] for size in SIZES})
        places[0].set_ylabel(PROJECTED, fontsize=9, color=INK)
        figures.titled(places[0], f"adjective projection; ρ = {rho:.2f}, p = {p:.2g}")
    figure.suptitle(f"size, {in_words(results.model)}", fontsize=11, color=INK)
    save_figure(figure, results.path / "size.png")
