"""Croissant 1.0 metadata (docs.mlcommons.org/croissant) of a Parquet export:

JSON-LD that names files, columns and types.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simtown.core.files import save_json
from simtown.core.untrusted import printable
from simtown.datasets.export.card import MEANING, description, features
from simtown.datasets.reader import Dataset

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {"image": "sc:ImageObject", "string": "sc:Text", "int64": "sc:Integer", "float32": "sc:Float"}


def write(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """croissant.json: a file set and a record set for each split."""
    sets = [
        {
            "@type": "cr:FileSet",
            "@id": f"{split}-files",
            "encodingFormat": "application/x-parquet",
            "includes": f"data/{split}-*.parquet",
        }
        for split in splits
    ]
    records = [
        {
            "@type": "cr:RecordSet",
            "@id": split,
            "name": split,
            "field": [
                _field(split, name, feature)
                for name, feature in features(data.settings).items()
                if not isinstance(feature, dict)
            ],
        }
        for split in splits
    ]
    metadata = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": printable(data.name),
        "description": printable(description(data)),
        "version": printable(data.manifest["simtown"]),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": sets,
        "recordSet": records,
    }
    save_json(directory / "croissant.json", metadata)


def _field(split: str, name: str, feature: Any) -> dict[str, Any]:
    column: dict[str, Any] = {"column": name}
    extract: dict[str, Any] = {"extract": column}
    if feature == "image":
        extract["transform"] = {"jsonPath": "bytes"}
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{name}",
        "name": name,
        "description": MEANING[name],
        "dataType": _TYPES["int64" if isinstance(feature, tuple) else feature],
        "source": {"fileSet": {"@id": f"{split}-files"}, **extract},
    }
