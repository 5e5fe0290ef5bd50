"""Files in Visual Genome's released formats, of any size, from a seed: for the benchmark and the tests.

Every image is a flat dictionary of what stands in it; each writer puts that into the form of one file of one
release. What is said is drawn from word lists with Zipf frequencies, in the raw spelling of the annotators:
plurals, capitals, articles, "is", slips.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

VERSIONS = ("1.0", "1.2", "1.4")
KINDS = (
    "relationships",
    "objects",
    "attributes",
    "scene_graphs",
    "region_descriptions",
    "question_answers",
    "image_data",
)

ENTITIES = (
    "man", "window", "trees", "person", "building", "shirt", "wall", "woman", "sign", "sky", "the ground",
    "grass", "table", "pole", "head", "Light", "hand", "car", "leaves", "clouds", "water", "hair",
    "fence", "people", "leg", "ear", "eyes", "red hydrant", "hat", "chair", "giraffe", "a boy",
    "young girl", "wheels", "street", "bench", "zebras", "white plate", "horse", "motorcycle", "snow",
    "train", "bus", "umbrella", "kite", "surfboard", "elephants", "tennis racket", "skateboard",
    "stop sign", "bicycl", "giraff", "wooden table", "men", "dark blue jeans", "traffic light", "frisbee",
    "cows", "large umbrela", "parking meter",
)  # fmt: skip
PREDICATES = (
    "on", "has", "in", "of", "wearing", "with", "behind", "near", "holding", "on a", "next to",
    "on top of", "WEARING", "sitting on", "in front of", "is on", "above", "wears", "under", "are in",
    "standing on", "on side of", "riding", "has a", "ON", "attached to", "beside", "carrying",
    "walking on", "hanging on", "is behind", "over", "eating", "to the left of", "in the", "are on the",
    "laying on", "parked on", "covered in", "watching", "playing", "growing on", "on back of",
    "on front of", "flying over", "hodling", "inside",
)  # fmt: skip
COLOURS = ("white", "black", "green", "brown", "tall", "wooden", "small", "red", "parked", "blue")


@dataclass(frozen=True)
class Thing:
    """An object of an image: its number, name, and box (x, y, w, h) in pixels."""

    number: int
    name: str
    box: tuple[int, int, int, int]
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Image:
    """What is annotated in one image.

    Relations are (number, place of the subject, predicate, place of the object) among the things.
    """

    number: int
    width: int
    height: int
    things: tuple[Thing, ...]
    relations: tuple[tuple[int, int, str, int], ...]


def _zipf(n: int) -> list[float]:
    return list(accumulate(1 / (rank + 1) for rank in range(n)))


def images(n: int, seed: int = 0) -> Iterator[Image]:
    """n images, about 35 things and 21 relations each as in Visual Genome; the first n of a larger number are
    the same.
    """
    entity_weights, predicate_weights = _zipf(len(ENTITIES)), _zipf(len(PREDICATES))
    for number in range(1, n + 1):
        draw = random.Random(f"{seed}/{number}")
        width, height = draw.choice([(800, 600), (500, 375), (640, 480), (375, 500)])
        names = [
            _said(draw, name)
            for name in draw.choices(ENTITIES, cum_weights=entity_weights, k=draw.randint(8, 62))
        ]
        things = []
        for i, name in enumerate(names):
            w, h = draw.randint(5, width // 2), draw.randint(5, height // 2)
            box = (draw.randint(0, width - w), draw.randint(0, height - h), w, h)
            some = tuple(draw.sample(COLOURS, draw.choice([0, 0, 1, 1, 2])))
            things.append(Thing(1_000_000 + 64 * number + i, name, box, some))
        relations = tuple(
            (15_000_000 + 64 * number + j, *_two(draw, len(things), _slip(draw, predicate, 0.004)))
            for j, predicate in enumerate(
                draw.choices(PREDICATES, cum_weights=predicate_weights, k=draw.randint(2, 40))
            )
        )
        yield Image(number, width, height, tuple(things), relations)


def _two(draw: random.Random, n: int, predicate: str) -> tuple[int, str, int]:
    subject, obj = draw.sample(range(n), 2)
    return subject, predicate, obj


def _said(draw: random.Random, name: str) -> str:
    """A name as annotators vary it: every sixth with adjectives, every hundredth with a slip, so that strings
    never stop being new.
    """
    if draw.random() < 1 / 6:
        name = " ".join([*draw.sample(COLOURS, draw.choice([1, 1, 2])), name])
    return _slip(draw, name, 0.01)


def _slip(draw: random.Random, text: str, chance: float) -> str:
    """The text, by this chance with one letter left out or another put in its place."""
    if draw.random() >= chance:
        return text
    place = draw.randrange(len(text))
    return text[:place] + draw.choice(["", draw.choice("abcdefghijklmnopqrstuvwxyz")]) + text[place + 1 :]


def _synsets(name: str) -> list[str]:
    return [f"{name.split()[-1].lower()}.n.01"]


def _thing(thing: Thing, version: str, *, single: bool = False) -> dict[str, Any]:
    """An object as a release writes it: 1.0 says "id" and one "name"; 1.4 has "merged_object_ids"."""
    x, y, w, h = thing.box
    if version == "1.0":
        said: dict[str, Any] = {"name": thing.name} if single else {"names": [thing.name]}
        return {"id": thing.number, **said, "x": x, "y": y, "w": w, "h": h}
    said = {"name": thing.name} if single else {"names": [thing.name]}
    merged = (
        {"merged_object_ids": [thing.number + 7] if thing.number % 5 == 0 else []} if version == "1.4" else {}
    )
    return {
        "synsets": _synsets(thing.name),
        "h": h,
        "object_id": thing.number,
        **merged,
        **said,
        "w": w,
        "y": y,
        "x": x,
    }


def record(image: Image, kind: str, version: str = "1.4") -> dict[str, Any]:
    """The image's entry in one of the released files (one of KINDS) of one release (one of VERSIONS)."""
    key = "id" if version == "1.0" else "image_id"
    if kind == "image_data":
        url = f"https://cs.stanford.edu/people/rak248/VG_100K_2/{image.number}.jpg"
        more = {} if version == "1.0" else {"coco_id": None, "flickr_id": image.number + 5_000_000}
        return {"width": image.width, "url": url, "height": image.height, key: image.number, **more}
    if kind == "relationships":
        said = []
        for number, s, predicate, o in image.relations:
            ends = {
                "object": _thing(image.things[o], version),
                "subject": _thing(image.things[s], version, single=s % 2 == 0),
            }
            name = (
                {"id": number}
                if version == "1.0"
                else {"relationship_id": number, "synsets": [f"{predicate.split()[0].lower()}.r.01"]}
            )
            said.append({"predicate": predicate, **ends, **name})
        return {"relationships": said, key: image.number}
    if kind == "objects":
        return {
            key: image.number,
            "objects": [_thing(t, version) for t in image.things],
            "image_url": f"https://x/{image.number}.jpg",
        }
    if kind == "attributes":
        listed = []
        for t in image.things:
            entry = _thing(t, version)
            if version == "1.0":
                entry["object_names"] = entry.pop("names")
            listed.append({**entry, **({"attributes": list(t.attributes)} if t.attributes else {})})
        return {key: image.number, "attributes": listed}
    if kind == "scene_graphs":
        ends = [
            {
                "relationship_id": number,
                "predicate": predicate,
                "synsets": [],
                "subject_id": image.things[s].number,
                "object_id": image.things[o].number,
            }
            for number, s, predicate, o in image.relations
        ]
        return {
            "image_id": image.number,
            "objects": [_thing(t, "1.2") for t in image.things],
            "relationships": ends,
        }
    if kind == "region_descriptions":
        regions = []
        for number, s, predicate, o in image.relations:
            x, y, w, h = image.things[s].box
            phrase = f"the {image.things[s].name} is {predicate} the {image.things[o].name}"
            own = (
                {"id": number, "image": image.number}
                if version == "1.0"
                else {"region_id": number, "image_id": image.number}
            )
            regions.append({**own, "width": w, "height": h, "phrase": phrase, "y": y, "x": x})
        return {"regions": regions, "id": image.number}
    if kind == "question_answers":
        name = "id" if version == "1.0" else "qa_id"
        asked = [
            {
                name: number,
                "question": f"What is {predicate} the {image.things[o].name}?",
                "answer": f"{image.things[s].name}.",
                "image_id": image.number,
                "a_objects": [],
                "q_objects": [],
            }
            for number, s, predicate, o in image.relations
        ]
        return {"id": image.number, "qas": asked}
    raise ValueError(f"unknown kind of file '{kind}': choose among {', '.join(KINDS)}")


def write(
    path: Path,
    kind: str,
    n: int | None = None,
    *,
    version: str = "1.4",
    seed: int = 0,
    size: int | None = None,
) -> int:
    """Write a released file: n images, or as many as make `size` bytes of JSON.

    Ends in .zip or .gz: compressed. Returns the images.
    """
    source = images(n if n is not None else 10**9, seed)
    count = 0

    def fill(put: Callable[[bytes], Any]) -> None:
        nonlocal count
        put(b"[")
        written = 1
        for image in source:
            text = (b", " if count else b"") + json.dumps(record(image, kind, version)).encode()
            put(text)
            written += len(text)
            count += 1
            if size is not None and written >= size:
                break
        put(b"]")

    if path.suffix == ".zip":
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(f"{kind}.json", "w", force_zip64=True) as inner,
        ):
            fill(inner.write)
    elif path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=1) as packed:
            fill(packed.write)
    else:
        with open(path, "wb", buffering=io.DEFAULT_BUFFER_SIZE * 16) as plain:
            fill(plain.write)
    return count
