"""COCO: pictures in SPLIT/, boxes and run-length masks of vehicles, seen and whole, in
annotations/instances_SPLIT.json; and panoptic segmentation of everything in annotations/panoptic_SPLIT.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from simtown.assets.catalogue import STREET
from simtown.core.portable_png import png_bytes
from simtown.datasets.export.portion import ExportBatch, Format, Portion, joined, plain, write_listing
from simtown.datasets.reading.reader import Dataset
from simtown.render.masks import compressed_run_lengths, mask_and_box
from simtown.render.renderers import make_renderer

#: What an image has of :meth:`~simtown.datasets.export.portion.ExportBatch.record`.
_OF_IMAGES = (
    "question", "answer", "family", "program", "group", "edit", "subject", "relation", "object", "margin",
    "weather",
)  # fmt: skip
#: Lists of a split, which become the lists of its two files.
_LISTS = ("images", "annotations", "panoptic_images", "panoptic")
#: Panoptic categories: a vehicle's is its catalogue number + 1, those of street things begin after this.
STREET_FROM = 1000
#: The two that are no things.
GROUND, SKY = 901, 902
_COLOURS = {"vehicle": 0xD8352F, "building": 0xB8B4AA, "tree": 0x5FA84A, "furniture": 0xF5B82E}
_COLOURS |= {"person": 0x7E4FB0, "cloud": 0xF4F1EA, "ground": 0x62666E, "sky": 0x6FBDEB, "animal": 0x7D5230}


def write(portion: Portion, directory: Path) -> None:
    """SPLIT/000000000000.png ..., their panoptic segments, and the portion's images and annotations."""
    s, split = portion.data.settings, portion.name
    renderer = make_renderer()
    with ExitStack() as parts:
        add = {name: parts.enter_context(portion.part(directory, name)) for name in _LISTS}
        for batch in portion.batches():
            scenes = batch.scenes[:: batch.each]
            drawn = renderer.render(scenes, s.width, s.height)
            slots = range(scenes.entity.shape[1])
            whole = [renderer.render(scenes.alone(slot), s.width, s.height).ids > 0 for slot in slots]
            for row, number, name in batch.write_pictures(directory / split, "{:012d}.png"):
                asked = [{k: entry[k] for k in _OF_IMAGES if k in entry} for entry in batch.records(row)]
                image = {"id": number, "file_name": name, "width": s.width, "height": s.height}
                add["images"](image | (asked[0] if batch.each == 1 else {"questions": asked}))
                picture = row // batch.each
                masks = [mask[picture] for mask in whole]
                for annotation in _annotations(batch, row, drawn.ids[picture], masks):
                    add["annotations"]({"image_id": number, **annotation})
                numbers, segments = _panoptic(batch, row, drawn.ids[picture], drawn.depth[picture])
                (directory / "annotations" / f"panoptic_{split}" / name).write_bytes(png_bytes(numbers))
                add["panoptic_images"](image)
                add["panoptic"]({"image_id": number, "file_name": name, "segments_info": segments})


def _annotations(
    batch: ExportBatch, row: int, ids: np.ndarray, whole: Sequence[np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Each vehicle with a visible pixel; what is amodal includes its hidden parts."""
    for slot, entity in enumerate(batch.scenes.entity[row]):
        seen = mask_and_box(ids, slot)
        if seen is not None:
            mask, (x0, y0, x1, y1) = seen
            full = whole[slot]
            a0, b0, a1, b1 = map(float, batch.columns["boxes"][row, slot])
            yield {
                "category_id": int(entity) + 1,
                "bbox": [x0, y0, x1 - x0, y1 - y0],
                "area": int(mask.sum()),
                "segmentation": {"size": list(ids.shape), "counts": compressed_run_lengths(mask)},
                "iscrowd": 0,
                "attributes": {"paint": batch.paint(row, slot)},
                "amodal_bbox": [plain(a0), plain(b0), plain(a1 - a0), plain(b1 - b0)],
                "amodal_area": int(full.sum()),
                "amodal_segmentation": {"size": list(ids.shape), "counts": compressed_run_lengths(full)},
                "visible": plain(mask.sum() / full.sum()),
            }


def _panoptic(
    batch: ExportBatch, row: int, ids: np.ndarray, depth: np.ndarray
) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """COCO's panoptic picture and segments of an example: each pixel belongs to one.

    Returns:
        (h, w, 3) uint8, red, green and blue: a segment's number is red + 256 green; and what
        each segment is. Vehicles and street things have their instance ids as numbers.
    """
    scenes, ids = batch.scenes, ids.astype(np.uint16)
    entity, prop = scenes.entity[row].astype(int), scenes.prop[row].astype(int)
    ids[ids == 0] = GROUND
    ids[np.isinf(depth)] = SKY
    categories = np.arange(SKY + 1)
    categories[1 : 1 + len(entity)] = entity + 1
    categories[1 + len(entity) : 1 + len(entity) + len(prop)] = STREET_FROM + 1 + prop
    segments = []
    for number in np.unique(ids):
        found = mask_and_box(ids, int(number) - 1)
        assert found is not None
        mask, (x0, y0, x1, y1) = found
        about = {"id": int(number), "category_id": int(categories[number]), "area": int(mask.sum())}
        segments.append({**about, "bbox": [x0, y0, x1 - x0, y1 - y0], "iscrowd": 0})
    return np.stack([ids & 255, ids >> 8, np.zeros_like(ids)], axis=2).astype(np.uint8), segments


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """annotations/instances_SPLIT.json, in which the annotations of a split are numbered from 1 on, and
    annotations/panoptic_SPLIT.json.
    """
    entities = data.names["entities"]
    kinds = [{"id": e + 1, "name": entities[e]} for e in sorted(data.settings.kinds)]
    vehicles = [{**kind, "supercategory": "vehicle"} for kind in kinds]
    group_of = {kind: group for group, names in STREET.items() for kind in names}
    street = enumerate(data.names["props"], STREET_FROM + 1)
    things = vehicles + [{"id": i, "name": name, "supercategory": group_of[name]} for i, name in street]
    stuff = [{"id": i, "name": name, "supercategory": name} for i, name in ((GROUND, "ground"), (SKY, "sky"))]
    everything = [
        {**category, "isthing": int(category in things), "color": _colour(str(category["supercategory"]))}
        for category in things + stuff
    ]
    for split in splits:
        info = {"description": f"simtown, {split} split", "version": data.manifest["simtown"]}
        head = {"info": info, "licenses": [], "categories": vehicles}
        annotations = enumerate(joined(directory, split, "annotations"), start=1)
        numbered = (f'{{"id": {number}, {annotation[1:]}' for number, annotation in annotations)
        lists = {"images": joined(directory, split, "images"), "annotations": numbered}
        write_listing(directory / "annotations" / f"instances_{split}.json", head, lists)
        parts = zip(_LISTS[:2], _LISTS[2:], strict=True)
        lists = {key: joined(directory, split, part) for key, part in parts}
        path = directory / "annotations" / f"panoptic_{split}.json"
        write_listing(path, {**head, "categories": everything}, lists)


def _colour(group: str) -> list[int]:
    return list(_COLOURS[group].to_bytes(3))


FORMAT = Format(write, finish, ("{split}", "annotations/panoptic_{split}"))
