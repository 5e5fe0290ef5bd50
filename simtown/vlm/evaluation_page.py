"""The page of an evaluation: the verdict in words, figures, and every question with its picture and reply.

index.html opens from the disk. It reads rows.js beside it, a few hundred bytes a row, and pictures as they
come into sight.
"""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from simtown.core.files import as_json, replacing, save_text
from simtown.core.progress import Bars, no_bars
from simtown.core.table_files import FLAG, INTEGER, TEXT
from simtown.core.untrusted import folder
from simtown.datasets.reading.reader import Dataset, Example
from simtown.datasets.showing.gallery import LARGE, assemble, base_style, write_script
from simtown.language.meaning.programs import parse
from simtown.probes.report import Results
from simtown.town.explaining import reason
from simtown.vlm.referee import in_words
from simtown.vlm.vlm_run import PAGE, PICTURES, ROWS, headline

_STORED = ("key", "question", "gold", "reply", "answer", "why", "reasoning", "cluster")
#: Columns that are not texts, and those that the page does not store.
_ALSO = {
    **dict.fromkeys(("cluster", "example"), INTEGER),
    **dict.fromkeys(("family", "relation"), TEXT),
    **dict.fromkeys(("right", "unparsed", "refused"), FLAG),
}
_COLUMNS = ("condition", "part", "outcome", "picture", "mirrored", "reason", *_STORED)
_WEBP: dict[str, Any] = {"quality": 75, "method": 1}


def write_page(results: Results, dataset: Dataset, bars: Bars = no_bars) -> Path:
    """Write the page of some results into their directory; gives its path.

    Args:
        results: of :func:`simtown.vlm.vlm_run.evaluate_model`.
        dataset: that was asked about.
        bars: opens a progress bar, of pictures.
    """
    content = results.content
    split = dataset[content["settings"]["split"]]
    rows = [row for condition in results.tasks for row in _rows(results, condition, len(split))]
    asked = {row["example"] for row in rows if row["condition"] == "picture"}
    place = folder(results.path, PICTURES)
    reasons, shown = {}, sorted({row["picture"] for row in rows} - {None})
    progress = bars(f"page of {results.model}", len(shown))
    for number in shown:
        example = split[number]
        pictures = example.image.reshape(-1, *example.image.shape[-3:])
        picture = Image.fromarray(np.concatenate(pictures, axis=1))
        picture.thumbnail((LARGE * len(pictures), LARGE))
        with replacing(place / f"{number}.webp", ".webp") as temporary:
            picture.save(temporary, **_WEBP)
        if number in asked:
            reasons[number] = _reason(example)
        progress(1)
    for row in rows:
        row["reason"] = reasons.get(row["example"], "") if row["condition"] == "picture" else ""
    rows.sort(key=lambda row: row["condition"] != "picture")
    task, verdict = results.tasks["picture"], content["verdict"]
    parts = [{"name": name, **it} for name, it in task["parts"].items()]
    about = {
        "about": f"{content['settings']['data']}, {content['settings']['split']} · {task['n']:,} questions",
        "place": dataset.name,
        "size": [dataset.settings.width, dataset.settings.height],
        "verdict": [headline(task), *([in_words(verdict)] if verdict else [])],
        "sentences": [it["sentence"] for it in content["thresholds"]],
        "families": parts,
        "thresholds": content["thresholds"],
        "columns": _COLUMNS,
        "rows": [[row[name] for name in _COLUMNS] for row in rows],
    }
    write_script(results.path / ROWS, "evaluation.begin", as_json(about))
    markup, style, script = (
        (files(__package__) / f"evaluation.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    page = assemble(results.model, markup, base_style() + style, script)
    save_text(results.path / PAGE, page)
    return results.path / PAGE


def _rows(results: Results, condition: str, count: int) -> Iterator[dict[str, Any]]:
    """The rows of a condition as the page shows them, of a split of `count` examples."""
    columns = results.rows(condition, dict.fromkeys(_STORED, TEXT) | _ALSO)
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        outcome = "refused" if row["refused"] else "unread" if row["unparsed"] else "wrong"
        number = row["example"]
        pictures = {
            "no-picture": None,
            "text": None,
            "none": None,
            "other-picture": (number + count // 2) % count,
        }
        yield row | {
            "condition": condition,
            "part": row["relation"] or row["family"],
            "outcome": "right" if row["right"] else outcome,
            "picture": pictures.get(condition, number),
            "mirrored": condition == "mirrored",
        }


def _reason(example: Example) -> str:
    """Why an answer is right."""
    if not example.program:
        return f"the margin is {abs(example.margin):.2f} m"
    return reason(example.scene, parse(example.program), example.visible, example.boxes)
