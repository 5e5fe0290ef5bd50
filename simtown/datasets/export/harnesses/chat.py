"""Chat messages in JSON lines as OpenAI's interface has them, with the pictures inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.harnesses.prompts import items
from simtown.datasets.export.portion import Format, Portion, joined, write_lines
from simtown.datasets.reading.reader import Dataset
from simtown.language.words.instructions import user_message


def write(portion: Portion, directory: Path) -> None:
    """Messages: the picture and the question, and the answer."""
    with portion.part(directory, "messages") as add_messages:
        for batch, questions in items(portion):
            for row, item in enumerate(questions):
                asks = user_message(item["question"], *batch.pngs(row))
                add_messages({"messages": [asks, {"role": "assistant", "content": item["answer"]}]})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """SPLIT.jsonl."""
    for split in splits:
        write_lines(directory / f"{split}.jsonl", joined(directory, split, "messages"))


FORMAT = Format(write, finish)
