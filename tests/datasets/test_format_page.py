"""docs/data-format.md suffices: a data set is read with h5py, hdf5plugin and NumPy by what that page says.

Only the fixtures make data sets with simtown; what reads them is written from the page.
"""

import hashlib
import json
import math
import re
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.datasets.resolved_settings import LEFT_OUT, resolve

PAGE = Path(__file__).parents[2] / "docs" / "data-format.md"
SPLITS = ("train", "val", "test")
FILTERS = dict.fromkeys(("images", "masks", "depth"), (32004, (0,)))


@pytest.fixture(params=["plain", "rich", "many"])
def town(request):
    """A directory, and its manifest as JSON has it."""
    directory = request.getfixturevalue(request.param)
    return directory, json.loads((directory / "manifest.json").read_text(encoding="ascii"))


def table(heading):
    """Rows of the tables under a heading of the page: lists of cells."""
    section = PAGE.read_text(encoding="utf-8").partition(f"{heading}\n")[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if not set(row[0]) <= {"-", " "}]


def shard_names(settings):
    """Every shard with its first example and its number of examples."""
    found = {}
    for split, total in zip(SPLITS, (settings["n"], settings["val"], settings["test"]), strict=True):
        shards = math.ceil(total / settings["shard"])
        for i in range(shards):
            folder = f"{split}/{i // 1000:05d}/" if shards > 1000 else ""
            start = i * settings["shard"]
            found[f"{folder}{split}-{i:05d}.h5"] = (split, start, min(settings["shard"], total - start))
    return found


def counts(shard, names):
    """The summary of a shard, counted from its rows."""
    entity, paint = shard["scene/entity"][:], shard["scene/paint"][:]
    asked = np.zeros(entity.shape, dtype=bool)
    for role in ("subject_slot", "object_slot"):
        asked[np.arange(len(entity)), shard[role][:]] = True
    there = entity != -1
    numbers = {
        "answer": (shard["answer"][:], 2),
        "subject": (shard["subject"][:], len(names["entities"])),
        "object": (shard["object"][:], len(names["entities"])),
        "distractor": (entity[there & ~asked], len(names["entities"])),
        "relation": (shard["relation"][:], len(names["relations"])),
        "phrasing": (shard["phrasing"][:], len(names["phrasings"])),
        "weather": (shard["scene/weather"][:], len(names["weathers"])),
        "paint": (paint[there] + 1, 1 + len(names["paints"])),
        "hidden": ((shard["visible"][:] != 1).any(axis=1), 2),
        "margin": (np.minimum(np.floor(2 * np.abs(shard["margin"][:])), 63), 64),
    }
    return {
        key: np.bincount(values.astype(int), minlength=n).tolist() for key, (values, n) in numbers.items()
    }


def test_the_manifest_is_written_and_sealed_as_the_page_says(town):
    directory, manifest = town
    assert (directory / "manifest.json").read_text() == json.dumps(manifest, indent=1, sort_keys=True) + "\n"
    rest = {key: value for key, value in manifest.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    assert manifest["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (manifest["format"], manifest["schema"], manifest["complete"]) == ("simtown dataset", 3, True)
    keys = {name for row in table("## manifest.json")[1:] for name in re.findall(r"`(\w+)`", row[0])}
    assert keys == set(manifest)
    words = {row[0]: set(re.findall(r"`(\w+)`", row[1])) for row in table("## manifest.json")}
    left_out = {*LEFT_OUT, "kinds"} - set(manifest["settings"])
    assert words["`settings`"] - left_out == set(manifest["settings"])
    assert set(manifest["names"]) <= words["`names`"]


def test_the_shards_are_those_that_the_page_names(town):
    directory, manifest = town
    names = shard_names(manifest["settings"])
    files = {path.relative_to(directory).as_posix() for path in directory.rglob("*.h5")}
    assert set(names) == set(manifest["shards"]) == files
    for name, (_, _, count) in names.items():
        data = (directory / name).read_bytes()
        about = {"examples": count, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        assert manifest["shards"][name] == manifest["shards"][name] | about


def test_a_shard_is_laid_out_as_the_page_says(town):
    directory, manifest = town
    settings = manifest["settings"]
    v = 3 if settings["distractor"] else 2
    for name, (split, start, n) in shard_names(settings).items():
        data = (directory / name).read_bytes()
        assert data[:9] == b"\x89HDF\r\n\x1a\n\x03", "superblock version 3, no user block"
        assert int.from_bytes(data[28:36], "little") == len(data), "the superblock's end of file"
        with h5py.File(directory / name) as shard:
            p = shard["scene/prop"].shape[1]
            sizes = {"n": n, "h": settings["height"], "w": settings["width"], "v": v, "p": p}
            arrays = dict(of_page(settings))
            stored = {}
            shard.visititems(stored.__setitem__)
            assert {key for key, item in stored.items() if isinstance(item, h5py.Dataset)} == set(arrays)
            for key, (shape, kind) in arrays.items():
                array = shard[key]
                assert array.shape == tuple(sizes.get(word) or int(word) for word in shape), key
                assert array.dtype == np.dtype({"bool": "?", "bytes": "S96"}.get(kind, kind)), key
                assert array.chunks == (1 if key in FILTERS else min(n, 512), *array.shape[1:]), key
                creation = array.id.get_create_plist()
                number, _, parameters, _ = creation.get_filter(0)
                assert creation.get_nfilters() == 1
                assert (number, parameters) == (32004, (0,)), key
                assert not array.attrs
            assert np.isin(shard["scene/entity"][:], settings.get("kinds", range(settings["entities"]))).all()
            told = dict(shard.attrs)
            assert (told["schema"], told["split"], told["start"], told["count"]) == (3, split, start, n)
            assert told.keys() == {"schema", "split", "start", "count", "tried", "summary"}
            for key in ("tried", "summary"):
                assert told[key] == json.dumps(json.loads(told[key]), sort_keys=True)
            assert json.loads(told["tried"]) == manifest["shards"][name]["tried"]


def of_page(settings):
    """Name, shape in words and type of every array that the page lists for these settings."""
    for row in table("## A shard"):
        shapes = re.findall(r"\(([\w, ]+)\)", row[1]) if len(row) == 3 else []
        kinds = re.findall(r"(u?int\d+|float32|bool|bytes)", row[1])
        if not shapes or not kinds:
            continue
        keys = re.findall(r"`([\w/]+)`", row[0])
        for place, key in enumerate(keys):
            if settings.get(key, True):
                shape = re.findall(r"\w+", shapes[min(place, len(shapes) - 1)])
                yield key, (shape, kinds[min(place, len(kinds) - 1)])


def test_numbers_have_their_names_and_questions_their_words(town):
    directory, manifest = town
    names = manifest["names"]
    for name, (_, start, n) in shard_names(manifest["settings"]).items():
        with h5py.File(directory / name) as shard:
            assert shard["index"][:].tolist() == list(range(start, start + n))
            assert shard["images"][:].std() > 10
            for i in range(n):
                subject, obj = (names["entities"][shard[role][i]] for role in ("subject", "object"))
                for role, slot in (("subject", "subject_slot"), ("object", "object_slot")):
                    assert shard["scene/entity"][i, shard[slot][i]] == shard[role][i]
                a_s, a_o = (f"{'an' if w[0] in 'aeiou' or w == 'SUV' else 'a'} {w}" for w in (subject, obj))
                relation = names["relations"][shard["relation"][i]]
                pattern = names["phrasings"][shard["phrasing"][i]]
                question = pattern.format(s=subject, o=obj, a_s=a_s, a_o=a_o, r=relation)
                assert shard["question"][i].decode() == question
                words = question.lower().replace("?", " ?").replace(",", " ,").split()
                assert [manifest["vocabulary"][token] for token in shard["tokens"][i] if token] == words
                assert bool(shard["answer"][i]) == (shard["margin"][i] > 0)
                assert 0 <= shard["scene/weather"][i] < len(names["weathers"])
            kinds = shard["scene/prop"][:]
            assert kinds.min() >= -1
            assert kinds.max() < len(names["props"])


def test_summaries_are_what_counting_all_rows_gives(town):
    directory, manifest = town
    sums = {}
    for name, (split, _, _) in shard_names(manifest["settings"]).items():
        with h5py.File(directory / name) as shard:
            counted = counts(shard, manifest["names"])
            assert json.loads(shard.attrs["summary"]) == counted
        for key, values in counted.items():
            before = sums.setdefault(split, {}).setdefault(key, [0] * len(values))
            sums[split][key] = [a + b for a, b in zip(before, values, strict=True)]
    assert manifest["summary"] == sums
    lengths = {name for row in table("### Summary")[1:] for name in re.findall(r"`(\w+)`", row[0])}
    assert lengths == set(sums["train"])


def test_rates_of_acceptance_are_the_sum_over_the_shards(town):
    _, manifest = town
    for loop, total in manifest["acceptance"].items():
        tried = [entry["tried"][loop] for entry in manifest["shards"].values()]
        proposed, accepted = (sum(column) for column in zip(*tried, strict=True))
        assert total == {"proposed": proposed, "accepted": accepted, "rate": accepted / proposed}


SIZES = [(128, 128, 60_000, ()), (128, 128, 2_000, ()), (64, 64, 20_000, ()), (32, 32, 10**6, ())]
SIZES += [(1024, 1024, 10_000, ("depth",)), (64, 32, 300_000, ("masks", "depth")), (256, 128, 100, ())]


@pytest.mark.parametrize(("width", "height", "n", "more"), SIZES)
def test_the_number_of_examples_a_shard_is_the_pages(width, height, n, more):
    from simtown.datasets.settings import Settings

    side, area = math.sqrt(width * height), width * height
    needed = 145 * side + 0.16 * area
    needed += (18 * side + 0.015 * area) * ("masks" in more) + (110 * side + 0.6 * area) * ("depth" in more)
    steps = sorted([2, 100_000, *(d * 10**k for k in range(1, 5) for d in (1, 2, 5))])

    def down(limit):
        return [step for step in steps if step <= limit][-1]

    settings = Settings(n=n, width=width, height=height, **dict.fromkeys(more, True))
    assert resolve(settings)["shard"] == min(down(160e6 / needed), max(down(n / 4), 500))
