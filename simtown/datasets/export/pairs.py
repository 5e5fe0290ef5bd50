"""Minimal pairs of words with the pictures of twins, for `simtown probe ask`, lm-eval and EWoK's readers."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.portion import Format, Portion, joined, write_lines
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.word_pairs import first_rows, word_pairs

_TEXTS = ("context_a", "context_b", "target_a", "target_b")
_COLUMNS = (*_TEXTS, "picture_a", "picture_b", "domain", "link", "edit", "group")
_EWOK = dict(zip(("Context1", "Context2", "Target1", "Target2"), _TEXTS, strict=True))
_EWOK |= {"Domain": "domain", "ContextType": "link", "ContextDiff": "edit"}
#: The task of lm-eval.
_TASK = """\
task: simtown_pairs_SPLIT
dataset_path: json
dataset_kwargs:
  data_files:
    test: SPLIT-lm-eval.jsonl
test_split: test
output_type: multiple_choice
doc_to_text: context
doc_to_choice: targets
doc_to_target: label
target_delimiter: " "
metric_list:
- metric: acc
- metric: acc_norm
"""


def write(portion: Portion, directory: Path) -> None:
    """images/SPLIT/000000.png ..., and the portion's items.

    Raises ValueError for a data set without twins.
    """
    split, s = portion.data[portion.name], portion.data.settings
    if not s.twins:
        raise ValueError(f"{portion.data.place} has no twins: make it again with simtown generate --twins")
    folder = f"images/{portion.name}"
    for batch in portion.batches():
        for _ in batch.write_pictures(directory / folder, "{:06d}.png"):
            pass
    rows = first_rows(split)
    rows = rows[(rows >= portion.rows.start) & (rows < portion.rows.stop)]
    with portion.part(directory, "items") as add_item:
        for item in word_pairs(split, rows, portion.name, (s.width, s.height)):
            values = item._asdict()
            for own in "ab":
                values[f"picture_{own}"] = (
                    f"{folder}/{values[f'row_{own}'] // s.questions_per_picture:06d}.png"
                )
            add_item({name: values[name] for name in _COLUMNS})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """SPLIT.csv, SPLIT-ewok.jsonl, and SPLIT-lm-eval.jsonl with its task."""
    for split in splits:
        items = [json.loads(entry) for entry in joined(directory, split, "items")]
        with open(directory / f"{split}.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(items)
        as_ewok = ({name: item[column] for name, column in _EWOK.items()} for item in items)
        write_lines(directory / f"{split}-ewok.jsonl", map(json.dumps, as_ewok))
        asked = [
            {
                "context": item[f"context_{own}"],
                "targets": [item["target_a"], item["target_b"]],
                "label": label,
            }
            for item in items
            for label, own in enumerate("ab")
        ]
        write_lines(directory / f"{split}-lm-eval.jsonl", map(json.dumps, asked))
        (directory / f"{split}.yaml").write_text(_TASK.replace("SPLIT", split), "utf-8")


FORMAT = Format(write, finish, ("images/{split}",))
