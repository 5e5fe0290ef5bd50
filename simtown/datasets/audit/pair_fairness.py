"""Minimal pairs of words: does a shallow rule find the target that follows from a context?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

import numpy as np

from simtown.datasets.audit.findings import Finding
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.word_pairs import WordPair, first_rows, word_pairs

#: Items of a domain, groups of twins that are searched for them, and parts that rules are learned on in turn.
ITEMS, GROUPS, FOLDS = 5_000, 20_000, 5
#: The longest n-grams.
LONGEST = 5
_ADVICE = "A rule that reads no meaning chooses among the targets: ask for more of its domain's twins."
Words = tuple[str, ...]


def pair_findings(dataset: Dataset, name: str) -> Iterator[Finding]:
    """A finding for each domain of a split's pairs."""
    from scipy.stats import norm

    split, settings = dataset[name], dataset.settings
    items: dict[str, list[WordPair]] = {}
    rows = first_rows(split)[:GROUPS]
    for item in word_pairs(split, rows, name, (settings.width, settings.height)):
        items.setdefault(item.domain, []).append(item)
    for domain, every in items.items():
        own = every[:ITEMS]
        group = np.array([item.group for item in own])
        found, least = {}, 1.0
        for rule, right in rule_outcomes(own).items():
            sums = np.bincount(np.unique(group, return_inverse=True)[1], weights=right - 0.5)
            spread = float(np.sqrt(sums @ sums))
            p = 2 * float(norm.sf(abs(sums.sum()) / spread)) if spread else 1.0
            found[rule], least = float(right.mean()), min(least, p)
        links = {link: np.array([item.link == link for item in own]) for link in {i.link for i in own}}
        shared = rule_outcomes(own, 2)["2-grams"]
        apart = ", ".join(f"{link} {shared[which].mean():.2f}" for link, which in sorted(links.items()))
        worst = max(found, key=lambda rule: abs(found[rule] - 0.5))
        figure = f"{worst} {found[worst]:.3f} right of {len(own):,}; chance 0.500; shared 2-grams: {apart}"
        p = min(1.0, least * len(found))
        yield Finding(f"pairs by {domain}", name, figure, _ADVICE, p, details={"rules": found})


def rule_outcomes(items: Sequence[WordPair], longest: int = LONGEST) -> dict[str, np.ndarray]:
    """By rule, (n,) float64 share of the two choices of each item that are right; a tie is half right.

    The rules choose the target that shares more n-grams with the context, or score a text alone by words and
    pairs of words that are learned from other groups.
    """
    rules = {"bag of words": 1, **{f"{n}-grams": n for n in range(2, longest + 1)}}
    outcomes = {rule: np.array([_overlap(item, n) for item in items]) for rule, n in rules.items()}
    outcomes["context alone"] = _learned([(item.context_a, item.context_b) for item in items], items)
    outcomes["target alone"] = _learned([(item.target_a, item.target_b) for item in items], items)
    return outcomes


def _grams(text: str, n: int) -> set[Words]:
    words = re.findall(r"[\w'-]+", text.lower())
    return {*zip(*(words[k:] for k in range(n)), strict=False)}


def _overlap(item: WordPair, n: int) -> float:
    """The share of right choices by shared n-grams."""
    a, b = _grams(item.target_a, n), _grams(item.target_b, n)
    contexts = [_grams(text, n) for text in (item.context_a, item.context_b)]
    more, less = (len(own & a) - len(own & b) for own in contexts)
    return float(2 + np.sign(more) - np.sign(less)) / 4


def _learned(texts: Sequence[tuple[str, str]], items: Sequence[WordPair]) -> np.ndarray:
    """Whether of both texts of each item that of the first picture scores higher, by naive Bayes on other
    groups.
    """
    fold = np.array([item.group // 2 % FOLDS for item in items])
    features = [[_grams(text, 1) | _grams(text, 2) for text in both] for both in texts]
    right = np.zeros(len(items))
    for tested in range(FOLDS):
        counts = Counter[Words](), Counter[Words]()
        for place in np.flatnonzero(fold != tested):
            for count, own in zip(counts, features[place], strict=True):
                count.update(own)
        for place in np.flatnonzero(fold == tested):
            scores = [
                sum(log((counts[0][gram] + 1) / (counts[1][gram] + 1)) for gram in own)
                for own in features[place]
            ]
            right[place] = (np.sign(round(scores[0] - scores[1], 9)) + 1) / 2
    return right
