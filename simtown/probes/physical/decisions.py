"""The tasks as yes/no decisions about pairs: object and property, object and affordance, affordance and
property (section "Tasks"); and the different pairs of a task.

Labels repeat for every instance of an object, so a task has far fewer pairs than rows. A loss that is a mean
over rows is the same sum over pairs with their counts: full-batch training on pairs takes exactly the steps
that training on rows would take.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from simtown.probes.physical.physical_release import PhysicalRelease

Kind = Literal["object", "property", "affordance"]
#: What stands left and right in a pair of each task.
KINDS: dict[str, tuple[Kind, Kind]] = {
    "OP": ("object", "property"),
    "OA": ("object", "affordance"),
    "AP": ("affordance", "property"),
}


@dataclass(frozen=True)
class DecisionRows:
    """Decisions.

    Attributes:
        left: (n,) int64 into the task's names.
        right: (n,) int64 into the task's names.
        label: (n,) bool.
        group: (n,) int64, the object behind each.
    """

    left: np.ndarray
    right: np.ndarray
    label: np.ndarray
    group: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    def where(self, chosen: np.ndarray) -> DecisionRows:
        """The rows of a mask or of indices."""
        return DecisionRows(self.left[chosen], self.right[chosen], self.label[chosen], self.group[chosen])


@dataclass(frozen=True)
class Pairs:
    """The different pairs of train and test.

    Attributes:
        left: (u,) int64, each pair's left item.
        right: (u,) int64, each pair's right item.
        train: (n,) int64, the pair of each training row.
        test: (m,) int64, the pair of each test row.
    """

    left: np.ndarray
    right: np.ndarray
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class PhysicalTask:
    """One column group of Table 2.

    Attributes:
        title: "situated-AP".
        release: the data that it is made of.
        lefts: uids or verbs.
        rights: uids or verbs.
        groups: object uids.
        train: decisions to learn from. Labels repeat for every instance of an object and are not merged.
        test: the other decisions.
    """

    title: str
    release: PhysicalRelease
    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    groups: tuple[str, ...]
    train: DecisionRows
    test: DecisionRows

    @property
    def name(self) -> str:
        """ "OP", "OA" or "AP"."""
        return self.title[-2:]

    @property
    def kinds(self) -> tuple[Kind, Kind]:
        """What left and right are."""
        return KINDS[self.name]

    @cached_property
    def pairs(self) -> Pairs:
        """The different pairs."""
        left, right = (
            np.concatenate([getattr(part, side) for part in (self.train, self.test)])
            for side in ("left", "right")
        )
        codes, pair = np.unique(left * len(self.rights) + right, return_inverse=True)
        train, test = np.split(pair, [len(self.train)])
        return Pairs(codes // len(self.rights), codes % len(self.rights), train, test)

    @property
    def named_pairs(self) -> list[tuple[str, str]]:
        """(u) names of each pair's items."""
        return [
            (self.lefts[i], self.rights[j]) for i, j in zip(self.pairs.left, self.pairs.right, strict=True)
        ]


@dataclass(frozen=True)
class DecidedItems:
    """What a model decided about items.

    Attributes:
        kinds: what left and right are.
        lefts: names.
        rights: names.
        groups: names.
        rows: the items.
        said: (n,) bool.
        score: (n,) float64, what was cut to decide.
        notes: how it came about, for the summary.
    """

    kinds: tuple[Kind, Kind]
    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    groups: tuple[str, ...]
    rows: DecisionRows
    said: np.ndarray
    score: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)


def build(release: PhysicalRelease, title: str) -> PhysicalTask:
    """The rows of a task. Only the label 1 is positive; "no agreement" and "too hard to tell" count as no.

    AP: each of an instance's three affordances takes the instance's whole row of properties.
    """
    which, _, name = title.partition("-")
    rows: list[tuple[str, str, bool, str]] = []
    if which == "abstract":
        for uid, labels in release.abstract.items():
            rows += [(uid, p, bool(v == 1), uid) for p, v in zip(release.properties, labels, strict=True)]
    for instance in release.instances if which == "situated" else ():
        uid = instance.object
        if name == "OA":
            rows += [(uid, verb, verb in instance.yes, uid) for verb in (*instance.yes, *instance.no)]
            continue
        labelled = [(p, bool(v)) for p, v in zip(release.properties, instance.properties, strict=True)]
        for subject in (uid,) if name == "OP" else instance.yes:
            rows += [(subject, p, label, uid) for p, label in labelled]
    (lefts, left), (rights, right), (groups, group) = (_numbered([row[i] for row in rows]) for i in (0, 1, 3))
    decisions = DecisionRows(left, right, np.array([row[2] for row in rows]), group)
    train, test = (
        decisions.where(np.isin(np.array(groups)[group], list(release.splits[which, part])))
        for part in ("train", "test")
    )
    return PhysicalTask(title, release, lefts, rights, groups, train, test)


def _numbered(names: list[Any]) -> tuple[tuple[str, ...], np.ndarray]:
    """The different names in their order, and (n,) int64 the number of each."""
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return tuple(number), np.array([number[name] for name in names])
