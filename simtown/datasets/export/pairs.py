"""Minimal pairs of words with the pictures of twins, for `simtown probe ask`, lm-eval and EWoK's readers."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.portion import Format, Portion, joined, write_lines
from simtown.datasets.export.yaml import yaml
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.word_pairs import first_rows, word_pairs

_TEXTS = ("context_a", "context_b", "target_a", "target_b")
_COLUMNS = (*_TEXTS, "picture_a", "picture_b", "domain", "link", "edit", "group")
_EWOK = dict(zip(("Context1", "Context2", "Target1", "Target2"), _TEXTS, strict=True))


def write(portion: Portion, directory: Path) -> None:
    """images/SPLIT/000000.png ..., and the portion's items.

    Raises ValueError for a data set without twins.
    """
    split, s = portion.data[portion.name], portion.data.settings
    if not s.twins:
        raise ValueError(f"{portion.data.place} has no twins: make it again with simtown generate --twins")
    for batch in portion.batches():
        for _ in batch.write_pictures(directory / "images" / portion.name, "{:06d}.png"):
            pass
    rows = first_rows(split)
    rows = rows[(rows >= portion.rows.start) & (rows < portion.rows.stop)]
    with portion.part(directory, "items") as add_item:
        for item in word_pairs(split, rows, portion.name, (s.width, s.height)):
            pictures = (row // s.questions_per_picture for row in (item.row_a, item.row_b))
            names = (f"images/{portion.name}/{number:06d}.png" for number in pictures)
            shown = dict(zip(("picture_a", "picture_b"), names, strict=True))
            add_item({name: (item._asdict() | shown)[name] for name in _COLUMNS})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """SPLIT.csv, SPLIT-ewok.jsonl, and SPLIT-lm-eval.jsonl with its task."""
    for split in splits:
        items = [json.loads(entry) for entry in joined(directory, split, "items")]
        with open(directory / f"{split}.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(items)
        write_lines(directory / f"{split}-ewok.jsonl", (json.dumps(_ewok(item)) for item in items))
        asked = [_asked(item, own) for item in items for own in (0, 1)]
        write_lines(directory / f"{split}-lm-eval.jsonl", map(json.dumps, asked))
        task = {
            "task": f"simtown_pairs_{split}".replace("-", "_"),
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": f"{split}-lm-eval.jsonl"}},
            "test_split": "test",
            "output_type": "multiple_choice",
            "doc_to_text": "context",
            "doc_to_choice": "targets",
            "doc_to_target": "label",
            "target_delimiter": " ",
            "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
        }
        (directory / f"{split}.yaml").write_text(yaml(task), "utf-8")


def _ewok(item: dict[str, str]) -> dict[str, str]:
    """An item under EWoK's names."""
    about = {"Domain": item["domain"], "ContextType": item["link"], "ContextDiff": item["edit"]}
    return about | {name: item[column] for name, column in _EWOK.items()}


def _asked(item: dict[str, str], own: int) -> dict[str, object]:
    """One context of an item, and both targets."""
    about = {name: item[name] for name in ("domain", "link", "edit", "group")}
    targets = [item["target_a"], item["target_b"]]
    return {"context": item[f"context_{'ab'[own]}"], "targets": targets, "label": own, **about}


FORMAT = Format(write, finish, ("images/{split}",))
