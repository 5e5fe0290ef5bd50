"""Examples as a model is asked them, and the files by which a harness scores the replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simtown.datasets.export.portion import ExportBatch, Portion
from simtown.datasets.family_questions import answers_of
from simtown.datasets.reading.reader import Dataset
from simtown.language import words
from simtown.language.words.grammar import spoken_names
from simtown.language.words.instructions import prompt

_HERE = Path(__file__).parent


def task_name(data: Dataset, split: str) -> str:
    """The name of a split's task, such as simtown_60_1000_test: one word."""
    return re.sub(r"\W+", "_", f"{data.name}_{split}")


def items(portion: Portion) -> Iterator[tuple[ExportBatch, list[dict[str, Any]]]]:
    """The batches, and their examples as a model is asked them and its replies are scored.

    `number` and `tolerance` are metres of a distance, else None; `group` is that of its twins, else None.
    """
    answers = answers_of(portion.data.settings)
    for batch in portion.batches():
        yield batch, [_item(batch, row, portion.name, answers) for row in range(len(batch))]


def _item(batch: ExportBatch, row: int, split: str, answers: dict[str, Any]) -> dict[str, Any]:
    c, asked = batch.columns, batch.asked(row)
    answer_type, known = answers[asked["family"]]
    return {
        "id": f"{split}-{batch.start + row:06d}",
        "question": prompt(c["question"][row].decode(), answer_type, known),
        "type": answer_type,
        "answer": asked["reply"],
        **{name: asked[name] for name in ("tolerance", "number", "family")},
        "group": batch.group(row),
    }


def with_pictures(portion: Portion, directory: Path) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """For every example, the paths of its pictures in `directory`, where they are written, and the item."""
    folder = f"images/{portion.name}"
    for batch, questions in items(portion):
        for first in range(0, len(batch), batch.each):
            number = (batch.start + first) // batch.each
            pngs = batch.pngs(first)
            ends = [".png"] if len(pngs) == 1 else [f"-{place}.png" for place in range(1, len(pngs) + 1)]
            paths = [f"{folder}/{number:06d}{end}" for end in ends]
            for path, png in zip(paths, pngs, strict=True):
                (directory / path).write_bytes(png)
            for item in questions[first : first + batch.each]:
                yield paths, item


def write_scorer(data: Dataset, directory: Path, source: str, target: str) -> None:
    """Write a harness's own file, a copy of the module `source`, and all that it needs beside itself."""
    readers = {f"simtown_{path.name}": path for path in Path(words.__path__[0]).glob("repl*.py")}
    copies = {**readers, "simtown_scoring.py": _HERE / "scoring.py", target: _HERE / source}
    for name, path in copies.items():
        text = path.read_text("utf-8").replace(f"{words.__name__}.repl", "simtown_repl")
        (directory / name).write_text(text.replace(f"{__package__}.scoring", "simtown_scoring"), "utf-8")
    types = dict(answers_of(data.settings).values())
    answers = {name: {"choices": known, "names": spoken_names(name)} for name, known in types.items()}
    (directory / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", "utf-8")
