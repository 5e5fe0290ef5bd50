"""Files in Visual Genome's released formats, of any size, from a seed: for the benchmark and the tests.

Every image is a flat dictionary of what stands in it; each writer puts that into the form of one file of one
release. What is said is drawn from word lists with Zipf frequencies, in the raw spelling of the annotators:
plurals, capitals, articles, "is", slips.
"""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

VERSIONS = ("1.0", "1.2", "1.4")
KINDS = (
    "relationships", "objects", "attributes", "scene_graphs", "region_descriptions", "question_answers",
    "image_data",
)  # fmt: skip

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


def _thing(thing: Thing, version: str, *, single: bool = False) -> dict[str, Any]:
    """An object as a release writes it: 1.0 says "id" and one "name"; 1.4 has "merged_object_ids"."""
    name = {"name": thing.name} if single else {"names": [thing.name]}
    box = dict(zip("xywh", thing.box, strict=True))
    if version == "1.0":
        return {"id": thing.number, **name, **box}
    merged = {"merged_object_ids": [thing.number + 7] if thing.number % 5 == 0 else []}
    synsets = [f"{thing.name.split()[-1].lower()}.n.01"]
    return {
        "synsets": synsets,
        "object_id": thing.number,
        **(merged if version == "1.4" else {}),
        **name,
        **box,
    }


def record(image: Image, kind: str, version: str = "1.4") -> dict[str, Any]:
    """The image's entry in one of the released files (one of KINDS) of one release (one of VERSIONS)."""
    old = version == "1.0"
    number = {"id" if old else "image_id": image.number}
    if kind == "image_data":
        url = f"https://cs.stanford.edu/people/rak248/VG_100K_2/{image.number}.jpg"
        more = {} if old else {"coco_id": None, "flickr_id": image.number + 5_000_000}
        return {"width": image.width, "url": url, "height": image.height, **number, **more}
    if kind == "objects":
        return {**number, "objects": [_thing(thing, version) for thing in image.things]}
    if kind == "attributes":
        listed = []
        for thing in image.things:
            entry = _thing(thing, version)
            if old:
                entry["object_names"] = entry.pop("names")
            listed.append(entry | ({"attributes": list(thing.attributes)} if thing.attributes else {}))
        return {**number, "attributes": listed}
    entries = [
        _relation(image, kind, version, number, image.things[s], predicate, image.things[o])
        for number, s, predicate, o in image.relations
    ]
    if kind == "relationships":
        return {"relationships": entries, **number}
    if kind == "scene_graphs":
        things = [_thing(thing, "1.2") for thing in image.things]
        return {"image_id": image.number, "objects": things, "relationships": entries}
    return {"regions" if kind == "region_descriptions" else "qas": entries, "id": image.number}


def _relation(
    image: Image, kind: str, version: str, number: int, subject: Thing, predicate: str, obj: Thing
) -> dict[str, Any]:
    """A relation as a relationship, a region or a question, numbered as its release does."""
    old = version == "1.0"
    if kind == "relationships":
        single = image.things.index(subject) % 2 == 0
        ends = {"object": _thing(obj, version), "subject": _thing(subject, version, single=single)}
        more = {} if old else {"synsets": [f"{predicate.split()[0].lower()}.r.01"]}
        return {"predicate": predicate, **ends, "id" if old else "relationship_id": number, **more}
    if kind == "scene_graphs":
        ends = {"subject_id": subject.number, "object_id": obj.number}
        return {"relationship_id": number, "predicate": predicate, "synsets": [], **ends}
    if kind == "region_descriptions":
        x, y, w, h = subject.box
        phrase = f"the {subject.name} is {predicate} the {obj.name}"
        own = (
            {"id": number, "image": image.number} if old else {"region_id": number, "image_id": image.number}
        )
        return {**own, "width": w, "height": h, "phrase": phrase, "y": y, "x": x}
    question = {"question": f"What is {predicate} the {obj.name}?", "answer": f"{subject.name}."}
    return {"id" if old else "qa_id": number, **question, "image_id": image.number}


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
    count = 0
    with _opened(path, kind) as file:
        file.write(b"[")
        written = 1
        for image in images(n if n is not None else 10**9, seed):
            text = (b", " if count else b"") + json.dumps(record(image, kind, version)).encode()
            file.write(text)
            written += len(text)
            count += 1
            if size is not None and written >= size:
                break
        file.write(b"]")
    return count


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[IO[bytes]]:
    if path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=1) as packed:
            yield packed
    elif path.suffix == ".zip":
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(f"{kind}.json", "w", force_zip64=True) as inner,
        ):
            yield inner
    else:
        with open(path, "wb") as file:
            yield file
