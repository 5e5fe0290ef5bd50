"""Statistics of a split: whether anything but the scene hints at the answer (shares of "yes", and mutual
information), and whether its questions can be answered (margins, occlusion).
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from simtown.datasets.audit import features
from simtown.datasets.audit.features import CLOSE, HIDDEN, Columns, SplitCounts
from simtown.datasets.audit.findings import Finding, information, wilson
from simtown.datasets.settings import Settings
from simtown.scenes.placement import LEAST_VISIBLE

#: Draws from the null distribution of a mutual information.
DRAWS = 300
#: Features with p-values below this are ordered by their information.
_SURE = 1e-9
_BALANCE = "Ask as many questions answered yes as no; otherwise a model that always says the same beats 50 %."


def findings(counts: SplitCounts, sample: Columns, settings: Settings, name: str) -> Iterator[Finding]:
    """All findings of the split `name`; `sample` has columns of its `sample_rows`."""
    yield _overall(counts, name)
    yield from _by_group(counts, settings, name)
    yield _information(sample, counts.examples, settings, name)
    yield _margins(counts, sample, name)
    yield _occlusion(counts, name)


def _overall(counts: SplitCounts, name: str) -> Finding:
    """The share of "yes" in a split against one half."""
    from scipy.stats import binomtest

    yes, n = int(counts.answers["relation"][:, 1].sum()), counts.examples
    low, high = wilson(yes, n)
    figure = f"{yes / n:.1%} yes (95 %: {low:.1%} to {high:.1%})"
    details = {"yes": yes, "n": n, "low": low, "high": high}
    return Finding("answers", name, figure, _BALANCE, float(binomtest(yes, n).pvalue), details=details)


def _by_group(counts: SplitCounts, settings: Settings, name: str) -> Iterator[Finding]:
    """The share of "yes" in every group against one half; the intervals' level holds for all at once."""
    from scipy.stats import binom

    for what, names in features.group_names(settings).items():
        n = counts.answers[what].sum(axis=1)
        occurring = np.flatnonzero(n)
        n, yes = n[occurring], counts.answers[what][occurring, 1]
        p = np.minimum(1.0, 2 * binom.cdf(np.minimum(yes, n - yes), n, 0.5))
        low, high = wilson(yes, n, len(occurring))
        worst = int(np.argmin(p))
        label = names[occurring[worst]]
        interval = f"{low[worst]:.1%} to {high[worst]:.1%}"
        figure = f"furthest from half: {label} {yes[worst] / n[worst]:.1%} yes ({interval}) of {n[worst]:,}"
        advice = (
            f"Generate the data set again so that each {what} is answered yes as often as no, or weight the "
            f"examples; first look at: {label}."
        )
        measured = zip(yes.tolist(), n.tolist(), low.tolist(), high.tolist(), strict=True)
        rows = [dict(zip(("yes", "n", "low", "high"), row, strict=True)) for row in measured]
        listed = [{"name": names[group], **row} for group, row in zip(occurring, rows, strict=True)]
        worst_p = min(1.0, float(p[worst]) * len(occurring))
        yield Finding(f"answers by {what}", name, figure, advice, worst_p, details={"groups": listed})


def _information(sample: Columns, length: int, settings: Settings, name: str) -> Finding:
    """Mutual information of the answer with every feature that it must not depend on, beyond chance."""
    rows, answer = features.sample_rows(length), sample["answer"].astype(bool)
    table = features.features(sample, rows, length, settings)
    drawn = itertools.chain([answer], null_answers(answer, DRAWS, seed=0))
    columns = (*map(np.ndarray.tolist, information(table.values(), drawn)), table.items())
    measures: list[dict[str, Any]] = [
        {"feature": feature, "bits": bits, "plain_bits": plain, "values": int(numbers.max()) + 1, "p": p}
        for bits, plain, p, (feature, numbers) in zip(*columns, strict=True)
    ]
    measures.sort(key=lambda row: (max(row["p"], _SURE), -row["bits"]))
    first = measures[0]
    sure = [row for row in measures if row["p"] < 1e-4]
    telling = ", ".join(f"{row['feature']} ({row['bits']:.3f} bits)" for row in sure) or first["feature"]
    among = f"; of {len(rows):,} examples" if len(rows) < length else ""
    numbers = table[first["feature"]]
    n, yes = np.bincount(numbers), np.bincount(numbers, weights=answer)
    value = int(np.argmax(np.abs(yes - n / 2) / np.sqrt(n)))  # whose answers are furthest from half
    examples = ", ".join(map(str, rows[np.flatnonzero(numbers == value)[:3]]))
    beyond = f"{first['bits']:+.4f} of 1 bit beyond chance"
    figure = f"of {len(measures)} features the most telling: {first['feature']}, {beyond}{among}"
    advice = (
        f"The answer can be guessed from {telling} without understanding the picture: find out "
        f"why, and generate the data set again. Look at examples {examples}: of the {n[value]:,} that agree "
        f"with them in this, {yes[value] / n[value]:.0%} are answered yes."
    )
    p, details = min(1.0, first["p"] * len(measures)), {"features": measures, "n": len(rows)}
    return Finding("information", name, figure, advice, p, details=details)


def null_answers(answer: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Random answers (n,) bool of the same design: a coin exchanges opposite pairs, or all are permuted."""
    rng, n = np.random.default_rng(seed), len(answer)
    paired = n % 2 == 0 and bool((answer[0::2] ^ answer[1::2]).all())
    for _ in range(draws):
        yield answer ^ np.repeat(rng.random(n // 2) < 0.5, 2) if paired else rng.permutation(answer)


def _margins(counts: SplitCounts, sample: Columns, name: str) -> Finding:
    """Questions whose relation is nearly undefined; the median is that of the `sample`."""
    close = counts.close / counts.examples
    median = float(np.median(np.abs(sample["margin"].astype(np.float64))))
    too_close = f"{counts.ambiguous:,} of {counts.examples:,} too close to call"
    figure = f"{too_close}, {close:.1%} less than {CLOSE} m from that; median margin {median:.2f} m"
    advice = (
        "Remove questions whose vehicles stand nearer to each other than the relation's margin: the picture "
        "does not answer them."
    )
    measured = {"ambiguous": counts.ambiguous, "close": close, "median_m": median}
    return Finding.of_count("ambiguous margins", name, counts.ambiguous, figure, advice, **measured)


def _occlusion(counts: SplitCounts, name: str) -> Finding:
    """Vehicles asked about that another vehicle hides."""
    hidden = counts.hidden / counts.examples
    unseen = f"{counts.unseen:,} of {counts.examples:,} ask about a vehicle under {LEAST_VISIBLE:.0%} visible"
    figure = f"{unseen}, {hidden:.1%} under {HIDDEN:.0%}; least {counts.least:.0%}"
    advice = f"Remove questions about vehicles of which less than {LEAST_VISIBLE:.0%} can be seen."
    measured = {"under": counts.unseen, "hidden": hidden, "least": counts.least}
    return Finding.of_count("occlusion", name, counts.unseen, figure, advice, **measured)
