"""The paper's Tables 1 and 2 from a prepared directory, beside its printed numbers; and marginals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import save_text
from simtown.core.tables import Table, parse_cells
from simtown.core.untrusted import printable
from simtown.visualgenome import prepare

#: Table 1 of the paper: what, as printed.
TABLE1 = (
    ("images", "108,777"), ("regions", "5.4M"), ("questions", "1.7M"), ("objects", "3.8M"),
    ("attributes", "2.8M"), ("relationships", "2.3M"),
)  # fmt: skip
#: Thresholds for which unique relationships are counted.
THRESHOLDS = (1, 2, 5, 10, 13, 20, 50, 100, 500, 1000)


@dataclass(frozen=True)
class Entry:
    """An entry of Table 2.

    Attributes:
        group: Spatial, Physical or Action.
        printed: the paper's name.
        count: the paper's number.
        predicates: those of ours that it may be the sum of.
        note: a conjecture, why it may differ; "" for an entry that is one predicate of the same name.
    """

    group: str
    printed: str
    count: int
    predicates: tuple[str, ...]
    note: str = ""


_TABLE2 = """
    Spatial  | On           | 707901 | on                      |
    Spatial  | In           | 241004 | in                      |
    Spatial  | Above        |  57000 | above, over, on top of  | a round number: a group?
    Spatial  | Behind       |  47398 | behind                  | misprint of 41,398?
    Spatial  | Next to      |  46000 | next to                 | a round number: a group?
    Spatial  | Next         |  27490 | near                    | near?
    Spatial  | Under        |  19134 | under                   |
    Spatial  | Front        |  18000 | in front of, on front of | a round number: a group?
    Physical | Sit on       |  15687 | sit on                  |
    Physical | Stand        |   8250 | stand on                | stand on?
    Physical | Hang on      |   6105 | hang on                 |
    Physical | Lay on       |   6100 | lay on, lie on          | a round number: a group?
    Physical | Cover to     |   5316 | cover                   | cover?
    Physical | Park on      |   2728 | park on                 |
    Physical | On back of   |   1926 | on back of              |
    Physical | Grow on      |   1097 | grow on                 | misprint of 1,897?
    Action   | Have         | 278647 | have                    |
    Action   | Wear         |  51996 | wear                    | misprint of 151,996?
    Action   | Hold         |  43151 | hold                    |
    Action   | Carry        |   5825 | carry                   |
    Action   | Eat          |   5218 | eat                     |
    Action   | Walk         |   4723 | walk on                 | walk on?
    Action   | Play         |   4098 | play                    |
    Action   | Watch        |   3987 | watch                   |
"""
#: Table 2 of the paper, entry by entry. Groupings and misprints are conjectures from published counts:
#: docs/reproduce/visual-genome.md.
TABLE2 = tuple(
    Entry(group, printed, int(count), tuple(predicates.split(", ")), note)
    for group, printed, count, predicates, note in parse_cells(_TABLE2)
)


#: A count that differs from the paper's by no more agrees with it.
TOLERANCE = 0.006


def agreement(table2: Sequence[int]) -> tuple[int, int]:
    """How many of our counts of :data:`TABLE2` agree with the paper's, and how many by the printed name."""
    agrees = [abs(here / entry.count - 1) <= TOLERANCE for entry, here in zip(TABLE2, table2, strict=True)]
    return sum(agrees), sum(agree and not entry.note for entry, agree in zip(TABLE2, agrees, strict=True))


@dataclass(frozen=True)
class Statistics:
    """What `simtown vg stats` prints.

    Attributes:
        content: prepared.json.
        table2: our count of every entry of :data:`TABLE2`.
        unique: (threshold, predicates, share of statements): predicates with at least so many statements.
        most_frequent: {"entity", "subject", "object" or "relation": (name, count), most frequent first}.
    """

    content: Mapping[str, Any]
    table2: tuple[int, ...]
    unique: tuple[tuple[int, int, float], ...]
    most_frequent: Mapping[str, list[tuple[str, int]]]


def statistics(directory: Path) -> Statistics:
    """Count a prepared directory. Raises DamagedError if the directory is damaged."""
    content = prepare.load(directory)
    table = prepare.read(directory, prepare.PREDICATES)
    names, counts = table["predicate"].to_pylist(), table["count"].to_numpy()
    by_name = dict(zip(names, counts.tolist(), strict=True))
    unique = []
    for threshold in sorted({*THRESHOLDS, int(content["choices"]["threshold"])}):
        kept = counts[counts >= threshold]
        unique.append((threshold, len(kept), float(kept.sum() / max(counts.sum(), 1))))
    marginals = prepare.read(directory, prepare.ENTITIES)
    entities = marginals["entity"].to_pylist()
    subject, obj = (marginals[role].to_numpy() for role in ("subject", "object"))
    kept = table.filter(table["kept"])
    table2 = tuple(sum(by_name.get(p, 0) for p in entry.predicates) for entry in TABLE2)
    stated = {"entity": subject + obj, "subject": subject, "object": obj}
    most_frequent = {role: _ranked(entities, numbers) for role, numbers in stated.items()}
    most_frequent["relation"] = _ranked(kept["predicate"].to_pylist(), kept["count"].to_numpy())
    return Statistics(content, table2, tuple(unique), most_frequent)


def _ranked(names: Sequence[str], counts: np.ndarray) -> list[tuple[str, int]]:
    rows = ((name, count) for name, count in zip(names, counts.tolist(), strict=True) if count)
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def frequency_table(directory: Path, top: int) -> list[tuple[str, int, int]]:
    """The `top` entities stated most by both counts together: (name, as subject, as object).

    Raises:
        ValueError: top is below 1, or there are fewer entities. Others as :func:`statistics`.
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, not {top}")
    prepare.load(directory)
    table = prepare.read(directory, prepare.ENTITIES)
    if table.num_rows < top:
        raise ValueError(f"{directory} has {table.num_rows} entities, fewer than `top={top}`")
    columns = (table[name].to_pylist()[:top] for name in ("entity", "subject", "object"))
    return list(zip(*columns, strict=True))


def write_frequencies(rows: Sequence[tuple[str, int, int]], path: Path, source: str) -> None:
    """Write the CSV table that `simtown generate --frequencies` reads; # says where it is from."""
    about = f"# How often the {len(rows)} entities stated most are subject and object of a relationship."
    lines = Table((), rows).csv(header=False)
    save_text(path, f"entity,subject,object\n{about} {printable(source)}\n{lines}")
