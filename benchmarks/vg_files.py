"""Files in Visual Genome's released formats, of any size, from a seed: for the benchmark and the tests.

Names are drawn from word lists with Zipf frequencies, in the raw spelling of the annotators: plurals,
capitals, articles, "is", slips.
"""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

VERSIONS = ("1.0", "1.2", "1.4")
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
ENTITY_WEIGHTS, PREDICATE_WEIGHTS = (
    list(accumulate(1 / (rank + 1) for rank in range(len(words)))) for words in (ENTITIES, PREDICATES)
)


def write(
    path: Path, kind: str, n: int = 10**9, *, version: str = "1.4", seed: int = 0, size: float = float("inf")
) -> int:
    """Write n images, or as many as make `size` bytes of JSON; the ending of the path says how it is packed.

    Returns the number of images.
    """
    count, written = 0, 1
    with _opened(path, kind) as file:
        file.write(b"[")
        while count < n and written < size:
            text = json.dumps(record(kind, version, count + 1, random.Random(f"{seed}/{count + 1}")))
            count += 1
            written += file.write((b", " if count > 1 else b"") + text.encode())
        file.write(b"]")
    return count


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[IO[bytes]]:
    if path.suffix == ".zip":
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(f"{kind}.json", "w", force_zip64=True) as inner,
        ):
            yield inner
    else:
        with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else open(path, "wb") as file:
            yield file


def record(kind: str, version: str, number: int, draw: random.Random) -> dict[str, Any]:
    """An image's record in one of the released files of one release.

    It has about 35 things and 21 relations, as images of Visual Genome have. An image has the same content in
    every file and release.
    """
    old = version == "1.0"
    image = {"id" if old else "image_id": number}
    width, height = draw.choice([(800, 600), (500, 375), (640, 480), (375, 500)])
    names = draw.choices(ENTITIES, cum_weights=ENTITY_WEIGHTS, k=draw.randint(8, 62))
    numbered = enumerate(names, 1_000_000 + 64 * number)
    things = [_thing(draw, i, name, width, height, version) for i, name in numbered]
    predicates = draw.choices(PREDICATES, cum_weights=PREDICATE_WEIGHTS, k=draw.randint(2, 40))
    relations = [
        (15_000_000 + 64 * number + j, _slip(draw, predicate, 0.004), *draw.sample(things, 2))
        for j, predicate in enumerate(predicates)
    ]
    if kind == "image_data":
        url = f"https://cs.stanford.edu/people/rak248/VG_100K_2/{number}.jpg"
        sources = {} if old else {"coco_id": None, "flickr_id": number + 5_000_000}
        return {"width": width, "url": url, "height": height, **image, **sources}
    if kind == "objects":
        return {**image, "objects": things}
    if kind == "attributes":
        entries = [
            thing | ({"attributes": some} if (some := draw.sample(COLOURS, draw.randint(0, 2))) else {})
            for thing in things
        ]
        if old:
            entries = [{"object_names": entry.pop("names"), **entry} for entry in entries]
        return {**image, "attributes": entries}
    if kind == "scene_graphs":
        links = [
            {"relationship_id": i, "predicate": p, "subject_id": s["object_id"], "object_id": o["object_id"]}
            for i, p, s, o in relations
        ]
        return {"image_id": number, "objects": things, "relationships": links}
    if kind == "relationships":
        key = "id" if old else "relationship_id"
        stated = [
            {"predicate": p, "object": o, "subject": _with_one_name(s), key: i} for i, p, s, o in relations
        ]
        return {"relationships": stated, **image}
    texts = [(i, s, s["names"][0], p, o["names"][0]) for i, p, s, o in relations]
    if kind == "region_descriptions":
        number_key, image_key = ("id", "image") if old else ("region_id", "image_id")
        regions = []
        for i, s, subject, predicate, obj in texts:
            box = {"width": s["w"], "height": s["h"], "x": s["x"], "y": s["y"]}
            phrase = f"the {subject} is {predicate} the {obj}"
            regions.append({number_key: i, image_key: number, **box, "phrase": phrase})
        return {"regions": regions, "id": number}
    questions = []
    for i, _, subject, predicate, obj in texts:
        words = {"question": f"What is {predicate} the {obj}?", "answer": f"{subject}."}
        questions.append({"id" if old else "qa_id": i, **words, "image_id": number})
    return {"qas": questions, "id": number}


def _thing(
    draw: random.Random, number: int, name: str, width: int, height: int, version: str
) -> dict[str, Any]:
    """An object as a release writes it.

    Every sixth has adjectives, every hundredth a slip, so that strings never stop being new.
    """
    if draw.random() < 1 / 6:
        name = " ".join([*draw.sample(COLOURS, draw.choice([1, 1, 2])), name])
    name = _slip(draw, name, 0.01)
    w, h = draw.randint(5, width // 2), draw.randint(5, height // 2)
    box = {"x": draw.randint(0, width - w), "y": draw.randint(0, height - h), "w": w, "h": h}
    if version == "1.0":
        return {"id": number, "names": [name], **box}
    merged = {"merged_object_ids": [number + 7] if number % 5 == 0 else []} if version == "1.4" else {}
    kind = {"synsets": [f"{name.split()[-1].lower()}.n.01"], "object_id": number}
    return {**kind, **merged, "names": [name], **box}


def _with_one_name(thing: dict[str, Any]) -> dict[str, Any]:
    """Half of the subjects of relationships.json have a "name" instead of "names"."""
    if thing["x"] % 2:
        return thing
    return {key: value for key, value in thing.items() if key != "names"} | {"name": thing["names"][0]}


def _slip(draw: random.Random, text: str, chance: float) -> str:
    """The text, by this chance with one letter left out or another put in its place."""
    if draw.random() >= chance:
        return text
    place = draw.randrange(len(text))
    return text[:place] + draw.choice(["", draw.choice("abcdefghijklmnopqrstuvwxyz")]) + text[place + 1 :]
