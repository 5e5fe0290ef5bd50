"""LLaVA's JSON of conversations, with pictures; LLaMA-Factory and others of ShareGPT's form read it, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.harnesses.prompts import task_name, with_pictures
from simtown.datasets.export.portion import Format, Portion, joined
from simtown.datasets.reading.reader import Dataset


def write(portion: Portion, directory: Path) -> None:
    """images/SPLIT/000000.png ..., and conversations."""
    with portion.part(directory, "conversations") as add_conversation:
        for paths, item in with_pictures(portion, directory):
            names = [f"Picture {number}: " if len(paths) > 1 else "" for number in range(1, len(paths) + 1)]
            pictures = "".join(f"{name}<image>\n" for name in names)
            question = {"from": "human", "value": f"{pictures}{item['question']}"}
            turns = [question, {"from": "gpt", "value": item["answer"]}]
            image = paths[0] if len(paths) == 1 else paths
            add_conversation({"id": item["id"], "image": image, "images": paths, "conversations": turns})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """SPLIT.json, and dataset_info.json, by which LLaMA-Factory finds them."""
    form = {"formatting": "sharegpt", "columns": {"messages": "conversations", "images": "images"}}
    info = {task_name(data, split): {"file_name": f"{split}.json", **form} for split in splits}
    (directory / "dataset_info.json").write_text(json.dumps(info, indent=2) + "\n", "utf-8")
    for split in splits:
        with open(directory / f"{split}.json", "w", encoding="utf-8") as file:
            for number, conversation in enumerate(joined(directory, split, "conversations")):
                file.write((",\n" if number else "[\n") + conversation)
            file.write("\n]\n")


FORMAT = Format(write, finish, ("images/{split}",))
