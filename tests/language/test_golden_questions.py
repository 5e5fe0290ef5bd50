"""Questions of every kind are what they were: digests of all columns but the pictures.

A change of the code that should change no question changes nothing here. One that should (**Data** in
CHANGELOG.md) is written with `python -m tests.language.test_golden_questions`.
"""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from simtown.datasets.settings import MODES, Settings
from simtown.datasets.source import source_of
from simtown.language.asking.families import families

GOLDEN = Path(__file__).parents[1] / "golden" / "questions.json"
COUNT = 256
COMMON = {"entities": 40, "n": COUNT, "val": 0, "test": 0, "width": 64, "height": 64}
ALL = {"questions": ("all",), "crowd": "3-6"}
OWN = """
[siren]
answer = "truth"
[[siren.templates]]
program = "exist(filter(1, related(2, 3)))"
slots = ["group", "relation", "kind"]
texts = ["Is there {a 1} {2} {3}?"]
[both-lanes]
answer = "count"
vehicles = 4
[[both-lanes.templates]]
program = "count(filter(1, has(lane, 2)))"
slots = ["group", "lane"]
texts = ["How many {many 1} stand in the {2} lane?"]
"""
HELD_OUT = (
    "kind-kind:0.2",
    "kind-colour:0.2",
    "kind-weather:0.2",
    "kind-relation:0.15",
    "count>2",
    "depth>2",
)


def recipes():
    """Settings and the name of the split, by the name of a recipe."""
    found = {}
    for distractor in (False, True):
        for jitter in (0.0, 0.5):
            asked = {"distractor": distractor, "jitter": jitter}
            found[f"paper, distractor {distractor}, jitter {jitter}"] = (asked, "train")
    for family in families():
        for paint in ("own", "uniform"):
            asked = {"questions": (family,), "crowd": "3-6", "paint": paint}
            found[f"{family}, paint {paint}"] = (asked, "train")
    together = {
        "all": {},
        "cannot tell": {"cannot_tell": 0.2},
        "three a picture": {"questions_per_picture": 3},
        "twins": {"twins": True},
        "twins, three a picture": {"twins": True, "questions_per_picture": 3},
        "twins, cannot tell": {"twins": True, "cannot_tell": 0.2},
        "uniform paint, up to eight": {"paint": "uniform", "crowd": "2-8"},
        "own families": {"own_families": OWN, "questions": ("siren", "both-lanes")},
    }
    found |= {name: (ALL | changes, "train") for name, changes in together.items()}
    for rule in HELD_OUT:
        for split in ("train", "test-composition"):
            held = ALL | {"hold_out": (rule,), "paint": "uniform", "test": COUNT, "val": 0}
            found[f"hold-out {rule}, {split}"] = (held, split)
    found |= {f"sequences of {mode}": ({"sequence": mode}, "train") for mode in MODES}
    return {name: (Settings(**COMMON | changes), split) for name, (changes, split) in found.items()}


def digest(parts):
    """The first 16 digits of the SHA-256 of columns, by name."""
    found = sha256()
    for name in sorted(parts):
        array = np.ascontiguousarray(parts[name])
        found.update(name.encode() + array.astype(array.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()[:16]


def digests(settings, split):
    """Digests of the scenes and of the other columns."""
    count = COUNT if settings.has_families and len(source_of(settings).family_names()) > 1 else COUNT // 2
    index = np.arange(count)
    found = source_of(settings).columns(source_of(settings).draw(split, index), index)
    scene = {name: values for name, values in found.items() if name.startswith("scene/")}
    return {"scenes": digest(scene), "questions": digest({k: v for k, v in found.items() if k not in scene})}


@pytest.mark.parametrize("name", recipes())
def test_questions_are_what_they_were(name):
    assert digests(*recipes()[name]) == json.loads(GOLDEN.read_text())[name]


def write():
    """Write the digests of today."""
    found = {name: digests(settings, split) for name, (settings, split) in recipes().items()}
    GOLDEN.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    write()
