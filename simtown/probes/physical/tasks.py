"""The three tasks as rows of yes/no decisions about pairs: object/property, object/affordance,
affordance/property (section "Tasks").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simtown.probes.physical.datasets import SETS, PhysicalRelease

Kind = Literal["object", "property", "affordance"]
#: What stands left and right in a pair of each task.
KINDS: dict[str, tuple[Kind, Kind]] = {
    "OP": ("object", "property"),
    "OA": ("object", "affordance"),
    "AP": ("affordance", "property"),
}
#: Every set and task, as Table 2 orders them.
ALL = (("abstract", "OP"), ("situated", "OP"), ("situated", "OA"), ("situated", "AP"))


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
class PhysicalTask:
    """One column group of Table 2.

    Attributes:
        set: "situated".
        name: "AP".
        kinds: what left and right are.
        lefts: uids or verbs.
        rights: uids or verbs.
        groups: object uids.
        train: decisions to learn from. Labels repeat for every instance of an object and are not merged.
        test: the other decisions.
    """

    set: str
    name: str
    kinds: tuple[Kind, Kind]
    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    groups: tuple[str, ...]
    train: DecisionRows
    test: DecisionRows

    @property
    def title(self) -> str:
        return f"{self.set}-{self.name}"


def chosen(task: str, which: str) -> tuple[tuple[str, str], ...]:
    """The (set, task) pairs of "OP", "OA", "AP" or "all" in "abstract", "situated" or "all".

    Raises:
        ValueError: there is no such task or set.
    """
    if task not in (*KINDS, "all") or which not in (*SETS, "all"):
        raise ValueError(
            f"there is no task {task} of set {which}: tasks are {', '.join(KINDS)}, all; sets "
            f"{', '.join(SETS)}, all"
        )
    tasks = tuple((s, t) for s, t in ALL if which in (s, "all") and task in (t, "all"))
    if not tasks:
        raise ValueError(
            f"the {which} set has no task {task}: affordances are annotated in the situated set only"
        )
    return tasks


def build(release: PhysicalRelease, which: str, name: str) -> PhysicalTask:
    """The rows of a task. Only the label 1 is positive; "no agreement" and "too hard to tell" count as no.

    AP: each of an instance's three affordances takes the instance's whole row of properties.

    Raises:
        ValueError: the set has no such task.
    """
    chosen(name, which)
    triples: list[tuple[str, str, bool, str]] = []
    if which == "abstract":
        for uid, labels in release.abstract.items():
            triples += [(uid, p, bool(v == 1), uid) for p, v in zip(release.properties, labels, strict=True)]
    for instance in release.instances if which == "situated" else ():
        if name == "OA":
            triples += [
                (instance.object, verb, verb in instance.yes, instance.object)
                for verb in (*instance.yes, *instance.no)
            ]
            continue
        for subject in (instance.object,) if name == "OP" else instance.yes:
            triples += [
                (subject, p, bool(v), instance.object)
                for p, v in zip(release.properties, instance.properties, strict=True)
            ]
    left, right, label, group = zip(*triples, strict=True)
    lefts, rights, groups = (tuple(dict.fromkeys(side)) for side in (left, right, group))
    number = [{uid: i for i, uid in enumerate(names)} for names in (lefts, rights, groups)]
    rows = DecisionRows(
        np.array([number[0][uid] for uid in left]),
        np.array([number[1][uid] for uid in right]),
        np.array(label),
        np.array([number[2][uid] for uid in group]),
    )
    train, test = (
        np.isin(rows.group, [number[2][u] for u in release.splits[which, part] if u in number[2]])
        for part in ("train", "test")
    )
    return PhysicalTask(which, name, KINDS[name], lefts, rights, groups, rows.where(train), rows.where(test))
