"""Minimal pairs of words: does a shallow rule find the target that follows from a context?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from simtown.datasets.audit.findings import Finding
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.word_pairs import WordPair, first_rows, word_pairs

#: Items of a domain, groups of twins that are searched for them, and parts on which a rule is tested in turn.
ITEMS, GROUPS, FOLDS = 5_000, 20_000, 5
#: The longest n-grams.
LONGEST = 5
_ADVICE = "A rule that reads no meaning chooses among the targets: ask for more of its domain's twins."


def pair_findings(dataset: Dataset, name: str) -> Iterator[Finding]:
    """A finding for each domain of a split's pairs."""
    split, settings = dataset[name], dataset.settings
    items: dict[str, list[WordPair]] = {}
    for item in word_pairs(split, first_rows(split)[:GROUPS], name, (settings.width, settings.height)):
        items.setdefault(item.domain, []).append(item)
    for domain, every in items.items():
        own = every[:ITEMS]
        right = rule_outcomes(own)
        rules = {rule: float(outcome.mean()) for rule, outcome in right.items()}
        worst, p = least_explained(right, [item.group for item in own])
        links = np.array([item.link for item in own])
        apart = ", ".join(f"{link} {right['2-grams'][links == link].mean():.2f}" for link in np.unique(links))
        figure = f"{worst} {rules[worst]:.3f} right of {len(own):,}; chance 0.500; shared 2-grams: {apart}"
        yield Finding(f"pairs by {domain}", name, figure, _ADVICE, p, details={"rules": rules})


def rule_outcomes(items: Sequence[WordPair]) -> dict[str, np.ndarray]:
    """By rule, (n,) float64 share of the choices about each item that are right; a tie is half right.

    The first rules choose the target that shares more n-grams with the context. The others score a text alone
    by words and pairs of words, as they are learned from other groups, and choose that of the first picture.
    """
    rules = {"bag of words": 1, **{f"{n}-grams": n for n in range(2, LONGEST + 1)}}
    outcomes = {rule: np.array([_overlap(item, n) for item in items]) for rule, n in rules.items()}
    groups = [item.group for item in items]
    outcomes["context alone"] = _learned([item[:2] for item in items], groups)
    outcomes["target alone"] = _learned([item[2:4] for item in items], groups)
    return outcomes


def least_explained(right: dict[str, np.ndarray], groups: Sequence[int]) -> tuple[str, float]:
    """The rule that chance explains least, and the p-value of that, for all rules together.

    Args:
        right: of :func:`rule_outcomes`, (n,) each.
        groups: (n) of the items. Those of one group count together.
    """
    from scipy.stats import norm

    place = np.unique(groups, return_inverse=True)[1]
    sums = np.array([np.bincount(place, weights=outcome - 0.5) for outcome in right.values()])
    z = np.abs(sums.sum(axis=1)) / np.maximum(np.sqrt((sums**2).sum(axis=1)), 1e-9)
    return list(right)[z.argmax()], min(1.0, 2 * len(z) * float(norm.sf(z.max())))


def _overlap(item: WordPair, n: int) -> float:
    """The share of right choices by shared n-grams."""
    words = [re.findall(r"[\w'-]+", text.lower()) for text in item[:4]]
    *contexts, a, b = ({*zip(*(own[k:] for k in range(n)), strict=False)} for own in words)
    more, less = (len(own & a) - len(own & b) for own in contexts)
    return float(2 + np.sign(more) - np.sign(less)) / 4


def _learned(texts: Sequence[tuple[str, ...]], groups: Sequence[int]) -> np.ndarray:
    """Whether of both texts of each item that of the first picture scores higher, by naive Bayes."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.naive_bayes import BernoulliNB

    flat = [text for both in texts for text in both]
    counts = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+").fit_transform(flat)
    labels, folds = np.tile([1, 0], len(texts)), GroupKFold(min(FOLDS, len({*groups})))
    kinds = {"groups": np.repeat(groups, 2), "cv": folds, "method": "predict_proba"}
    score = cross_val_predict(BernoulliNB(), counts, labels, **kinds)[:, 1].reshape(-1, 2).round(9)
    return (np.sign(score[:, 0] - score[:, 1]) + 1) / 2
