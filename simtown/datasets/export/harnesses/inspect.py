"""Inspect: a task file with a task for each split, JSON lines, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.harnesses.prompts import with_pictures, write_scorer
from simtown.datasets.export.portion import Format, Portion, joined, write_lines
from simtown.datasets.reading.reader import Dataset
from simtown.language.words.instructions import message_parts


def write(portion: Portion, directory: Path) -> None:
    """images/SPLIT/000000.png ..., and samples."""
    with portion.part(directory, "samples") as add_sample:
        for paths, item in with_pictures(portion, directory):
            pictures = [{"type": "image", "image": path} for path in paths]
            message = {"role": "user", "content": message_parts(item["question"], pictures)}
            sample = {"id": item.pop("id"), "input": [message], "target": item.pop("answer")}
            cluster = paths[0] if item["group"] is None else str(item["group"])
            add_sample({**sample, "metadata": {**item, "cluster": cluster}})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """SPLIT.jsonl, simtown_task.py, and what it scores by."""
    write_scorer(data, directory, "inspect_task.py", "simtown_task.py")
    for split in splits:
        write_lines(directory / f"{split}.jsonl", joined(directory, split, "samples"))


def notes(data: Dataset, splits: Sequence[str], directory: Path) -> list[str]:
    """The command that runs each task."""
    command = f"run it with: inspect eval {directory}/simtown_task.py@simtown -T split="
    return [f"{command}{split} --model MODEL" for split in splits]


FORMAT = Format(write, finish, ("images/{split}",), notes=notes)
