"""lmms-eval: a folder with a task for each split, for `lmms-eval --include_path`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from simtown.core.extras import how_to_install
from simtown.datasets.export.harnesses.prompts import items, task_name, write_scorer
from simtown.datasets.export.portion import Format, Portion
from simtown.datasets.reading.reader import Dataset

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:  # pragma: no cover
    raise ImportError(f"lmms-eval needs pyarrow: {how_to_install('export')}") from error

_PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_TEXTS, _NUMBERS = ("id", "question", "answer", "type", "family"), ("number", "tolerance")
_COLUMNS = {"images": pa.list_(_PICTURE), "group": pa.int64()}
_COLUMNS |= dict.fromkeys(_TEXTS, pa.string()) | dict.fromkeys(_NUMBERS, pa.float32())
_HINTS = {"huggingface": json.dumps({"info": {"features": {"images": [{"_type": "Image"}]}}})}
#: What each task says; a stop at an empty line, lmms-eval's default, would cut off an answer behind reasons.
_TASK = """\
task: {task}
dataset_path: parquet
dataset_kwargs:
  data_files:
    {split}: {files}
test_split: {split}
output_type: generate_until
doc_to_visual: !function utils.picture
{asks}
doc_to_target: answer
process_results: !function utils.{results}
generation_kwargs:
  max_new_tokens: 64
  temperature: 0
  do_sample: false
  until: []
metric_list:
  - metric: accuracy
    aggregation: mean
    higher_is_better: true
  - metric: unparsed
    aggregation: mean
    higher_is_better: false
"""
#: What a task asks, and how one asks in which pictures are frames of a video.
_ASKS = "doc_to_text: !function utils.question"
_ASKS_VIDEO = "doc_to_text: !function utils.video_question\ndoc_to_messages: !function utils.video"
_PAIRS = """\
  - metric: pair
    aggregation: !function utils.pair
    higher_is_better: true
"""
_GROUPS = """\
  - metric: group
    aggregation: !function utils.group
    higher_is_better: true
"""


def _is_video(data: Dataset) -> bool:
    """Whether the pictures of an example are frames of a video."""
    return data.settings.sequence == "time"


def _tasks(data: Dataset, split: str) -> dict[str, str]:
    """What the tasks of a split ask, by name."""
    name = task_name(data, split)
    return {name: _ASKS} | ({f"{name}_video": _ASKS_VIDEO} if _is_video(data) else {})


def write(portion: Portion, directory: Path) -> None:
    """data/SPLIT-00000.parquet, a row an example."""
    path = directory / "data" / f"{portion.name}-{portion.number:05d}.parquet"
    video = _is_video(portion.data)
    schema = pa.schema(_COLUMNS | ({"seconds": pa.list_(pa.float64())} if video else {}), _HINTS)
    with pq.ParquetWriter(path, schema) as file:
        for batch, questions in items(portion):
            for row, item in enumerate(questions):
                item["images"] = [
                    {"bytes": png, "path": f"{item['id']}-{number}.png"}
                    for number, png in enumerate(batch.pngs(row), 1)
                ]
                if video:
                    item["seconds"] = batch.seconds(row)
            file.write_table(pa.Table.from_pylist(questions, schema=schema))


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """TASK.yaml of each split, TASK_video.yaml of several moments, utils.py, and what it scores by."""
    write_scorer(data, directory, "lmms_eval_utils.py", "utils.py")
    for split in splits:
        paths = sorted((directory / "data").glob(f"{split}-[0-9]*"))
        files = json.dumps([f"data/{path.name}" for path in paths])
        results = "sequence_results" if data.settings.sequence else "results"
        for task, asks in _tasks(data, split).items():
            text = _TASK.format(
                task=task, split=split.replace("-", "_"), files=files, asks=asks, results=results
            )
            if data.settings.twins or data.settings.sequence:
                text += _PAIRS
            if data.settings.twins:
                text += _GROUPS
            (directory / f"{task}.yaml").write_text(text, "utf-8")


def notes(data: Dataset, splits: Sequence[str], directory: Path) -> list[str]:
    """The command that runs the tasks."""
    tasks = ",".join(task for split in splits for task in _tasks(data, split))
    return [f"run it with: lmms-eval --include_path {directory} --tasks {tasks} --model MODEL"]


FORMAT = Format(write, finish, ("data",), notes=notes)
