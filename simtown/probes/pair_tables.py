"""Tables of minimal pairs as their authors publish them: CSV, TSV, or JSON with an object a line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.core.tables import read_rows
from simtown.core.untrusted import parse_json, read_text
from simtown.probes.elicit import fill
from simtown.probes.items import ItemsError, ItemSet


class TextPair(NamedTuple):
    """A text that fits and one that does not, each perhaps behind a context, which is not scored."""

    good_context: str
    good: str
    bad_context: str
    bad: str


class Layout(NamedTuple):
    """The columns of a table.

    Attributes:
        pairs: of a row, by columns; "" for no context.
        groups: columns by which accuracy is reported apart, if they are there.
        templates: columns that name a template; the first that is there counts.
    """

    pairs: tuple[TextPair, ...]
    groups: tuple[str, ...]
    templates: tuple[str, ...]


#: Of each layout the columns that it must have are those of its pairs, but for "context".
LAYOUTS = {
    "BLiMP": Layout((TextPair("", "sentence_good", "", "sentence_bad"),), ("UID",), ("UID",)),
    "COMPS": Layout(
        (TextPair("prefix_acceptable", "property_phrase", "prefix_unacceptable", "property_phrase"),),
        ("negative_sample_type",),
        ("property_phrase",),
    ),
    "EWoK": Layout(
        (
            TextPair("Context1", "Target1", "Context2", "Target1"),
            TextPair("Context2", "Target2", "Context1", "Target2"),
        ),
        ("Domain", "ContextType"),
        ("MetaTemplateID", "TemplateID", "Template", "ConceptA"),
    ),
    "simtown": Layout(
        (
            TextPair("context_a", "target_a", "context_b", "target_a"),
            TextPair("context_b", "target_b", "context_a", "target_b"),
        ),
        ("domain", "link"),
        ("group",),
    ),
    "good and bad": Layout((TextPair("context", "good", "context", "bad"),), ("group",), ("template",)),
}
#: The columns of a line of lm-eval's samples.
_SAMPLES = {"arguments", "target"}


@dataclass(frozen=True)
class PairSet:
    """The pairs of a table.

    Attributes:
        pairs: (n) pairs, the good text of each first.
        rows: (n,) int64, the row of the table that a pair is of.
        templates: (n,) str; pairs of one template are drawn together.
        groups: {column: (n,) names}.
    """

    pairs: tuple[TextPair, ...]
    rows: np.ndarray
    templates: np.ndarray
    groups: Mapping[str, np.ndarray]

    def digest(self) -> str:
        """A digest of all that decides the answers."""
        state = [self.pairs, self.templates.tolist(), {k: v.tolist() for k, v in self.groups.items()}]
        return blake2b(json.dumps(state).encode(), digest_size=8).hexdigest()


def layout_of(path: Path) -> str:
    """The layout of a table of pairs, "lm-eval" or a name of :data:`LAYOUTS`; "" if it is another table."""
    _, row = next(_rows(path), ("", {}))
    if set(row) >= _SAMPLES:
        return "lm-eval"
    for name, layout in LAYOUTS.items():
        if {column for pair in layout.pairs for column in pair} <= {"", "context", *row}:
            return name
    return ""


def read_pairs(path: Path) -> PairSet:
    """Read a table of pairs.

    Raises:
        ItemsError: a row cannot be used; the message names it.
        ValueError: it is not such a table.
    """
    name = layout_of(path)
    layout = LAYOUTS.get(name, Layout((), (), ()))
    pairs, rows, templates = list[TextPair](), list[int](), list[str]()
    groups: dict[str, list[str]] = {}
    for number, (where, row) in enumerate(_rows(path)):
        own = _of_samples(where, row) if name == "lm-eval" else [_pair(where, row, p) for p in layout.pairs]
        template = next((str(row[column]) for column in layout.templates if row.get(column)), f"row {number}")
        for pair in own:
            pairs.append(pair)
            rows.append(number)
            templates.append(template)
            for column in layout.groups:
                if column in row:
                    groups.setdefault(column, []).append(str(row[column]))
    if any(len(names) != len(pairs) for names in groups.values()):
        raise ItemsError(f"{path} has rows with and without one of {', '.join(groups)}: give all or none")
    arrays = {column: np.array(names) for column, names in groups.items() if len({*names}) > 1}
    return PairSet(tuple(pairs), np.array(rows), np.array(templates), arrays)


def pairs_of_items(data: ItemSet) -> PairSet:
    """The sentences of each test item with a right class, each against those with the classes that are wrong.

    If an item has one class to choose against, only that counts.
    """
    pairs, rows, templates, groups = list[TextPair](), list[int](), list[str](), list[str]()
    group_of, right = data.group_of(), data.right
    asked = np.ones_like(right) if data.choices is None else data.choices
    for item in data.test.tolist():
        wrong = np.flatnonzero(asked[item] & ~right[item]) if data.other[item] < 0 else data.other[item, None]
        for template in data.templates or data.own_templates[item : item + 1]:
            for fits in np.flatnonzero(right[item]).tolist():
                for other in wrong.tolist():
                    good, bad = (fill(template, data.subjects[item], data.classes[c]) for c in (fits, other))
                    pairs.append(TextPair("", good, "", bad))
                    rows.append(item)
                    templates.append(data.subjects[item])
                    groups.append(str(group_of[item]))
    apart = {"group": np.array(groups)} if len({*groups}) > 1 else {}
    return PairSet(tuple(pairs), np.array(rows), np.array(templates), apart)


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Where each row stands, and its cells by column."""
    if path.suffix in (".jsonl", ".json"):
        for number, line in enumerate(read_text(path, encoding="utf-8-sig").split("\n"), start=1):
            where = f"{path}, line {number}"
            if line.strip():
                try:
                    row = parse_json(line)
                except ValueError as error:
                    raise ItemsError(f"{where} is not JSON ({error}): write an object a line") from None
                if not isinstance(row, dict):
                    raise ItemsError(f"{where} is not an object of JSON: write an object a line")
                yield where, row
    elif path.suffix == ".tsv":
        text = io.StringIO(read_text(path, encoding="utf-8-sig"), newline="")
        for number, row in enumerate(csv.DictReader(text, delimiter="\t"), start=2):
            yield f"{path}, line {number}", row
    else:
        yield from read_rows(path, ())


def _pair(where: str, row: Mapping[str, Any], columns: TextPair) -> TextPair:
    texts = [row.get(column, "") if column else "" for column in columns]
    if wrong := [c for c, text in zip(columns, texts, strict=True) if not isinstance(text, str)]:
        raise ItemsError(f"{where}: '{wrong[0]}' is not a text: write one")
    pair = TextPair(*(text.strip() for text in texts))
    if not (pair.good and pair.bad):
        empty = columns.bad if pair.good else columns.good
        raise ItemsError(f"{where}: there is nothing in the column '{empty}': fill it in")
    if pair[:2] == pair[2:]:
        raise ItemsError(f"{where}: both texts are the same: give two that differ")
    return pair


def _of_samples(where: str, row: Mapping[str, Any]) -> list[TextPair]:
    """The right choice of a line of lm-eval's samples against each other one."""
    try:
        given = row["arguments"]
        requests = [tuple(each.values()) for each in given.values()] if isinstance(given, dict) else given
        texts = [(str(context), str(choice)) for context, choice, *_ in requests]
        right = texts.pop(int(row["target"]))
    except (TypeError, ValueError, LookupError, AttributeError):
        needed = "arguments, pairs of a context and a choice, and target, the number of the right one"
        raise ItemsError(f"{where} is not a question with choices: it needs {needed}") from None
    return [TextPair(*right, *wrong) for wrong in texts if wrong != right]
