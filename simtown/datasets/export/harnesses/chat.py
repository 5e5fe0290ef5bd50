"""Chat messages in JSON lines as OpenAI's interface has them, with the pictures inside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simtown.datasets.export.harnesses.prompts import items
from simtown.datasets.export.portion import Format, Portion, joined, write_lines
from simtown.datasets.reader import Dataset


def write(portion: Portion, directory: Path) -> None:
    """Messages: the picture and the question, and the answer."""
    with portion.part(directory, "messages") as add_messages:
        for batch, questions in items(portion):
            for row, item in enumerate(questions):
                picture = b64encode(batch.png(row)).decode()
                content = [
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
                    {"type": "text", "text": item["question"]},
                ]
                asks: dict[str, Any] = {"role": "user", "content": content}
                add_messages({"messages": [asks, {"role": "assistant", "content": item["answer"]}]})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """SPLIT.jsonl."""
    for split in splits:
        write_lines(directory / f"{split}.jsonl", joined(directory, split, "messages"))


FORMAT = Format(write, finish)
