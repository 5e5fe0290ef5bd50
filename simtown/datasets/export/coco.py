"""COCO: pictures in SPLIT/, instances with boxes and run-length masks in annotations/instances_SPLIT.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from simtown.datasets.export.portion import ExportBatch, Format, Portion, joined, plain, write_listing
from simtown.datasets.reader import Dataset
from simtown.render.masks import compressed_run_lengths, mask_and_box

#: What an image has of :meth:`~simtown.datasets.export.portion.ExportBatch.record`.
_OF_IMAGES = ("question", "answer", "subject", "relation", "object", "margin", "weather")


def write(portion: Portion, directory: Path) -> None:
    """SPLIT/000000000000.png ..., and the portion's images and annotations."""
    s = portion.data.settings
    with (
        portion.part(directory, "images") as add_image,
        portion.part(directory, "annotations") as add_annotation,
    ):
        for batch in portion.batches(masks=True):
            for row, number, name in batch.write_pictures(directory / portion.name, "{:012d}.png"):
                entry = batch.record(row, number)
                about = {key: entry[key] for key in _OF_IMAGES}
                add_image({"id": number, "file_name": name, "width": s.width, "height": s.height, **about})
                for annotation in _annotations(batch, row):
                    add_annotation({"image_id": number, **annotation})


def _annotations(batch: ExportBatch, row: int) -> Iterator[dict[str, Any]]:
    """Each vehicle with a visible pixel; `amodal_bbox` includes its hidden parts."""
    assert batch.ids is not None
    ids = batch.ids[row]
    for slot, entity in enumerate(batch.scenes.entity[row]):
        seen = mask_and_box(ids, slot)
        if seen is not None:
            mask, (x0, y0, x1, y1) = seen
            a0, b0, a1, b1 = map(float, batch.columns["boxes"][row, slot])
            yield {
                "category_id": int(entity) + 1,
                "bbox": [x0, y0, x1 - x0, y1 - y0],
                "area": int(mask.sum()),
                "segmentation": {"size": list(ids.shape), "counts": compressed_run_lengths(mask)},
                "iscrowd": 0,
                "attributes": {"paint": batch.paint(row, slot)},
                "amodal_bbox": [plain(a0), plain(b0), plain(a1 - a0), plain(b1 - b0)],
            }


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """annotations/instances_SPLIT.json, in which the annotations of a split are numbered from 1 on."""
    entities = data.names["entities"]
    kinds = [{"id": e + 1, "name": entities[e]} for e in sorted(data.settings.kinds)]
    categories = [{**kind, "supercategory": "vehicle"} for kind in kinds]
    for split in splits:
        info = {"description": f"simtown, {split} split", "version": data.manifest["simtown"]}
        head = {"info": info, "licenses": [], "categories": categories}
        annotations = enumerate(joined(directory, split, "annotations"), start=1)
        numbered = (f'{{"id": {number}, {annotation[1:]}' for number, annotation in annotations)
        lists = {"images": joined(directory, split, "images"), "annotations": numbered}
        write_listing(directory / "annotations" / f"instances_{split}.json", head, lists)


FORMAT = Format(write, finish, ("{split}", "annotations"))
