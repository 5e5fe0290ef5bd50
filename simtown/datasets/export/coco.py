"""COCO: pictures in SPLIT/, instances with boxes and run-length masks in annotations/instances_SPLIT.json."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.listing import listing
from simtown.datasets.export.masks import runs, seen
from simtown.datasets.export.portion import Portion, plain, record
from simtown.datasets.reader import Dataset


def write(portion: Portion, directory: Path) -> None:
    """An annotation for each vehicle of which a pixel is seen; `amodal_bbox` is the box of all of it, hidden parts included.

    `attributes` holds the paint of its body.
    """
    s, entities = portion.data.settings, portion.data.names["entities"]
    pictures, annotations = directory / portion.name, directory / "annotations"
    pictures.mkdir()
    annotations.mkdir(exist_ok=True)
    head = {
        "info": {"description": f"simtown, {portion.name} split", "version": portion.data.manifest["simtown"]},
        "licenses": [],
        "categories": [{"id": e + 1, "name": entities[e], "supercategory": "vehicle"} for e in sorted(s.kinds)],
    }
    total = 0
    with listing(annotations / f"instances_{portion.name}.json", head, "images", "annotations") as (add_image, add_annotation):
        for batch in portion.batches(masks=True):
            assert batch.ids is not None
            for row, number in batch.numbers():
                name = f"{number:012d}.png"
                (pictures / name).write_bytes(batch.png(row))
                told = record(batch, row, number)
                about = {key: told[key] for key in ("question", "answer", "subject", "relation", "object", "margin", "weather")}
                add_image({"id": number, "file_name": name, "width": s.width, "height": s.height, **about})
                for slot, entity in enumerate(batch.scenes.entity[row]):
                    found = seen(batch.ids[row], slot)
                    if found is None:
                        continue
                    mask, (x0, y0, x1, y1) = found
                    total += 1
                    a0, b0, a1, b1 = map(float, batch.columns["boxes"][row, slot])
                    add_annotation(
                        {
                            "id": total,
                            "image_id": number,
                            "category_id": int(entity) + 1,
                            "bbox": [x0, y0, x1 - x0, y1 - y0],
                            "area": int(mask.sum()),
                            "segmentation": {"size": [s.height, s.width], "counts": runs(mask)},
                            "iscrowd": 0,
                            "attributes": {"paint": told["vehicles"][slot]["paint"]},
                            "amodal_bbox": [plain(a0), plain(b0), plain(a1 - a0), plain(b1 - b0)],
                        }
                    )


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """Nothing more."""
