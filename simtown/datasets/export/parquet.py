"""Parquet with the pictures inside, a dataset card and Croissant metadata, for Hugging Face datasets."""

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.extras import how_to_install
from simtown.datasets.export import croissant, dataset_card
from simtown.datasets.export.portion import ExportBatch, Format, Portion
from simtown.datasets.reading.reader import Dataset
from simtown.render.masks import picture_file

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:  # pragma: no cover
    raise ImportError(f"Parquet needs pyarrow: {how_to_install('export')}") from error

#: Examples a row group: what a viewer must read to show one.
_GROUP = 256


def write(portion: Portion, directory: Path) -> None:
    """data/SPLIT-00000.parquet, a row an example."""
    features = dataset_card.features(portion.data.settings)
    schema = pa.schema([pa.field(name, _arrow(feature)) for name, feature in features.items()])
    description = {"info": {"features": {name: _huggingface(feature) for name, feature in features.items()}}}
    schema = schema.with_metadata({"huggingface": json.dumps(description)})
    path = directory / "data" / f"{dataset_card.split_name(portion.name)}-{portion.number:05d}.parquet"
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=["question"]) as file:
        for batch in portion.batches():
            file.write_table(_table(batch, portion.name, schema), row_group_size=_GROUP)


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """README.md, the dataset card, and croissant.json."""
    (directory / "README.md").write_text(dataset_card.card(data, splits, directory), encoding="utf-8")
    croissant.write(data, splits, directory)


def notes(data: Dataset, splits: Sequence[str], directory: Path) -> list[str]:
    """The command that puts it on the Hub."""
    folder = shlex.quote(str(directory))
    return [f"push it to the Hugging Face Hub with: hf upload USER/NAME {folder} . --repo-type dataset"]


def _table(batch: ExportBatch, split: str, schema: Any) -> Any:
    c, n = batch.columns, len(batch)
    there = c["scene/entity"] >= 0
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
    measures = [c["scene/pose"][..., 0], c["scene/pose"][..., 1], c["scene/pose"][..., 2], c["visible"]]
    parts = [
        *(pa.array(numbers[there].astype(np.int64)) for numbers in (c["scene/entity"], batch.paints)),
        pa.FixedSizeListArray.from_arrays(pa.array(c["boxes"][there].ravel()), 4),
        *(pa.array(measure[there]) for measure in measures),
    ]
    vehicles = pa.StructArray.from_arrays(parts, fields=list(schema.field("vehicles").type.value_type))
    pictures: dict[str, Iterator[bytes]] = {"image": map(batch.png, range(n))}
    if batch.ids is not None:
        pictures["mask"] = map(picture_file, batch.ids)
    names = pa.array([f"{split}-{number:06d}.png" for _, number in batch.numbers()])
    columns: dict[str, Any] = {}
    for name, files in pictures.items():
        content = [pa.array(list(files), pa.binary()), names]
        columns[name] = pa.StructArray.from_arrays(content, fields=list(schema.field(name).type))
    answer = {"answer": c["value" if "program" in c else "answer"]}
    for name, numbers in (c | answer).items():
        if name in schema.names and schema.field(name).type == pa.int64():
            columns[name] = pa.array(numbers.astype(np.int64))
    if "program" in c:
        columns["program"] = pa.array([batch.asked(row)["program"] for row in range(n)])
        metres = np.where(np.isfinite(c["tolerance"]), c["number"], np.float32(np.nan))
        columns |= {"number": pa.array(metres), "tolerance": pa.array(c["tolerance"])}
        if "group" in c:
            columns["edit"] = pa.array([batch.edit(row) for row in range(n)], pa.string())
        box = schema.field("answer_box").type
        columns["answer_box"] = pa.array([batch.answer_box(row) for row in range(n)], box)
    columns |= {
        "question": pa.array([text.decode() for text in c["question"]]),
        "margin": pa.array(c["margin"]),
        "weather": pa.array(batch.scenes.weather.astype(np.int64)),
        "intensity": pa.array(batch.scenes.intensity),
        "vehicles": pa.ListArray.from_arrays(pa.array(ends), vehicles),
    }
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _arrow(feature: Any) -> Any:
    """The Arrow type of a feature of :func:`dataset_card.features`."""
    if isinstance(feature, dict):
        return pa.list_(pa.struct([pa.field(name, _arrow(inner)) for name, inner in feature.items()]))
    if isinstance(feature, tuple):
        return pa.int64()
    if feature == "image":
        return pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
    if feature == "box":
        return pa.list_(pa.float32(), 4)
    return getattr(pa, feature)()


def _huggingface(feature: Any) -> Any:
    """The same as datasets' Features are written in JSON."""
    if isinstance(feature, dict):
        return [{name: _huggingface(inner) for name, inner in feature.items()}]
    if isinstance(feature, tuple):
        return {"names": list(feature), "_type": "ClassLabel"}
    if feature == "image":
        return {"_type": "Image"}
    if feature == "box":
        return {"feature": {"dtype": "float32", "_type": "Value"}, "length": 4, "_type": "Sequence"}
    return {"dtype": feature, "_type": "Value"}


FORMAT = Format(write, finish, ("data",), notes=notes)
