"""Croissant 1.0 metadata (docs.mlcommons.org/croissant) of a Parquet export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simtown.core.files import save_json
from simtown.core.untrusted import printable
from simtown.datasets.export.dataset_card import MEANING, description, features, split_name
from simtown.datasets.making.ready_worlds import LICENCE, cited
from simtown.datasets.reading.reader import Dataset

#: Croissant's own terms, which stand for cr:TERM.
_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes "
    "isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform"
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    **{term: {"@id": f"cr:{term}", "@type": "@json"} for term in ("data", "examples")},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
}
_TYPES = {"image": "sc:ImageObject", "string": "sc:Text", "int64": "sc:Integer", "float32": "sc:Float"}


def write(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """croissant.json: a file set and a record set for each split."""
    columns = {
        n: kind for n, kind in features(data.settings).items() if not isinstance(kind, dict) and kind != "box"
    }
    sets, records = [], []
    for split in map(split_name, splits):
        files, about = f"data/{split}-*.parquet", {"@type": "cr:FileSet", "@id": f"{split}-files"}
        sets.append({**about, "encodingFormat": "application/x-parquet", "includes": files})
        fields = [_field(split, name, feature) for name, feature in columns.items()]
        records.append({"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields})
    world = cited(data.settings)
    licence = {"license": f"https://spdx.org/licenses/{LICENCE}", "citeAs": world} if world else {}
    metadata = {
        "@context": dict(sorted(_CONTEXT.items())),
        "@type": "sc:Dataset",
        "name": printable(data.name),
        "description": printable(description(data)),
        "version": printable(data.manifest["simtown"]),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **licence,
        "distribution": sets,
        "recordSet": records,
    }
    save_json(directory / "croissant.json", metadata)


def _field(split: str, name: str, feature: Any) -> dict[str, Any]:
    transform = {"transform": {"jsonPath": "bytes"}} if feature == "image" else {}
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{name}",
        "name": name,
        "description": MEANING[name],
        "dataType": _TYPES["int64" if isinstance(feature, tuple) else feature],
        "source": {"fileSet": {"@id": f"{split}-files"}, "extract": {"column": name}, **transform},
    }
