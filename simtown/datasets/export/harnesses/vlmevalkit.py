"""VLMEvalKit: TSV files with pictures in base64, and run.py, which runs the package's own command on them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.harnesses.prompts import items, task_name, write_scorer
from simtown.datasets.export.portion import Format, Portion, joined
from simtown.datasets.reading.reader import Dataset

_COLUMNS = ("index", "image", "question", "answer", "type", "number", "tolerance", "family", "group")
#: Of sequences: names of the files that VLMEvalKit makes of the pictures.
_PATHS = ("image_path",)


def write(portion: Portion, directory: Path) -> None:
    """The lines of a split's TSV; a picture that several questions share stands once, then its index."""
    with portion.part(directory, "lines") as add_line:
        for batch, questions in items(portion):
            for row, number in batch.numbers():
                first = number // batch.each * batch.each
                line = {"index": number, "image": str(first), **questions[row]}
                if number == first:
                    images = [b64encode(png).decode() for png in batch.pngs(row)]
                    line["image"] = images[0] if len(images) == 1 else json.dumps(images)
                    line["image_path"] = json.dumps([f"{number}-{k}.png" for k in range(len(images))])
                columns = (*_COLUMNS, *_PATHS) if portion.data.settings.sequence else _COLUMNS
                add_line("\t".join("" if line[name] is None else str(line[name]) for name in columns))


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """TASK.tsv of each split, run.py, and what it scores by."""
    write_scorer(data, directory, "vlmevalkit_run.py", "run.py")
    for split in splits:
        with open(directory / f"{task_name(data, split)}.tsv", "w", encoding="utf-8") as file:
            columns = (*_COLUMNS, *_PATHS) if data.settings.sequence else _COLUMNS
            file.write("\t".join(columns) + "\n")
            file.writelines(json.loads(line) + "\n" for line in joined(directory, split, "lines"))


def notes(data: Dataset, splits: Sequence[str], directory: Path) -> list[str]:
    """The command that runs the tasks."""
    tasks = " ".join(task_name(data, split) for split in splits)
    return [f"run it with: python {directory}/run.py --data {tasks} --model MODEL"]


FORMAT = Format(write, finish, notes=notes)
