"""Figure 11 and who stands left of whom, against plain loops and against tables that others derived."""

import csv
import gzip
import json
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from PIL import Image

from simtown.core.files import DamagedError
from simtown.visualgenome import prepare
from simtown.visualgenome.clean import Cleaner, word_counts
from simtown.visualgenome.prepare import PrepareSettings
from simtown.visualgenome.sparsity import ImageSource, sparsity, write_tables


def by_loops(images, names):
    """together, left and apart of images of (name, x, y, w, h), as dictionaries."""
    together, left, apart = Counter(), Counter(), Counter()
    for image in images:
        marked = [thing for thing in image if thing[0] in names]
        kinds = Counter(name for name, *_ in marked)
        together.update(map(frozenset, combinations(kinds, 2)))
        together.update(frozenset([kind]) for kind, n in kinds.items() if n > 1)
        for (a, ax, _, aw, _), (b, bx, _, bw, _) in permutations(marked, 2):
            left[a, b] += 2 * ax + aw < 2 * bx + bw
            apart[a, b] += ax + aw <= bx
    return together, left, apart


def check_counts(found, images):
    together, left, apart = by_loops(images, found.names)
    assert found.images == len(images)
    for i, a in enumerate(found.names):
        for j, b in enumerate(found.names):
            counted = found.together[i, j], found.left[i, j], found.apart[i, j]
            assert counted == (together[frozenset([a, b])], left[a, b], apart[a, b])


def things(content):
    names = Counter(thing["names"][0] for image in content for thing in image["objects"])
    cleaner = Cleaner(counts=word_counts(names.items()))

    def clean(thing):
        return cleaner.entity(thing["names"][0]), *(thing[side] for side in "xywh")

    return [list(map(clean, image["objects"])) for image in content]


@pytest.mark.parametrize(("version", "packing"), [("1.0", ""), ("1.4", ".zip")])
def test_objects_against_plain_loops(released, plain_json, version, packing):
    path = released("objects", version, packing)
    found = sparsity(ImageSource(path), top=12)
    images = things(plain_json(path))
    counts = Counter(name for image in images for name, *_ in image)
    assert found.names == tuple(sorted(counts, key=lambda name: (-counts[name], name))[:12])
    assert found.boxes.tolist() == [counts[name] for name in found.names]
    check_counts(found, images)


def test_all_sources_say_the_same(released, tmp_path):
    """Scene graphs mark what objects.json does; both kinds of relations mark the ends of relations."""
    prepare.prepare(released("relationships"), tmp_path / "vg", PrepareSettings(threshold=1))
    files = (*map(released, ("objects", "scene_graphs", "relationships")), tmp_path / "vg")
    one, two, three, four = (sparsity(ImageSource(path), top=20) for path in files)
    for a, b in ((one, two), (three, four)):
        assert a.names == b.names
        for name in ("boxes", "together", "left", "apart"):
            assert np.array_equal(getattr(a, name), getattr(b, name))
    assert three.boxes.sum() < one.boxes.sum()


def test_invariants(released):
    found = sparsity(ImageSource(released("objects")), top=200)
    assert np.array_equal(found.together, found.together.T)
    assert (found.together <= found.images).all()
    assert (found.apart <= found.left).all()  # boxes have a width
    off = ~np.eye(len(found.names), dtype=bool)
    assert found.empty() == pytest.approx((found.together[off] == 0).mean())
    assert ((found.left + found.left.T == 0) | (found.together > 0)).all()
    rows = found.lopsided(least=5)
    ratios = [(many + 1) / (few + 1) for *_, few, many in rows]
    assert ratios == sorted(ratios, reverse=True)
    assert all(found.pair(a, b) == (few, many) and few + many >= 5 for a, b, few, many in rows)


def image(*boxes):
    objects = [{"names": [name], "x": x, "y": 0, "w": 2, "h": 2} for name, x in boxes]
    return {"image_id": 1, "objects": objects}


def test_the_paper_s_example(tmp_path):
    """One giraffe left of a person and eight the other way; a third thing never meets them."""
    path = tmp_path / "objects.json"
    left, right = image(("giraffe", 0), ("person", 9)), image(("giraffe", 9), ("person", 0))
    content = [left, *[right] * 8, *[image(("boat", 0))] * 3, image()]
    path.write_text(json.dumps(content), encoding="utf-8")
    found = sparsity(ImageSource(path))
    assert found.pair("giraffe", "person") == (1, 8)
    assert found.pair("giraffe", "zebra") is None
    assert found.lopsided() == [("giraffe", "person", 1, 8)]
    assert found.lopsided(least=10) == []
    path.write_text(json.dumps([*content, {"image_id": 2, "objects": [{"names": 3}]}]), encoding="utf-8")
    assert sparsity(ImageSource(path, skip_bad=True)).pair("giraffe", "person") == (1, 8)
    with pytest.raises(DamagedError):
        sparsity(ImageSource(path))
    shares = found.empty(), found.empty_left()
    assert (found.images, *shares) == (12, pytest.approx(2 / 3), pytest.approx(4 / 6))


def test_the_command(released, cli, tmp_path):
    out = tmp_path / "figure.png"
    path = released("objects", "1.2", ".gz")
    outcome = cli("vg", "sparsity", path, "--out", out, "--top", 20, "--least", 3).succeeds()
    for words in ("of 190 pairs", "of 380 ordered pairs", "Most lopsided", "Figure 11"):
        assert words in outcome.out
    with Image.open(out) as picture:
        assert min(picture.size) > 600
        grey = np.asarray(picture.convert("L"))
    assert (grey < 80).mean() > 0.005
    with open(out.with_suffix(".csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 380


def test_annotations_of_others_against_plain_loops(released, plain_json, tmp_path):
    """The same boxes in the published form, an image without any among them, say what objects.json says."""
    images = things(plain_json(released("objects")))
    classes = sorted({name for image in images for name, *_ in image})
    (tmp_path / "objects_150.json").write_text(json.dumps(classes), encoding="utf-8")

    def published(name, x, y, w, h):
        return {"cls": classes.index(name), "bbox": [x, y, x + w, y + h]}

    marked = [["a.jpg", {"objs": [published(*thing) for thing in image]}] for image in images]
    content = json.dumps([*marked, ["b.jpg", None]]).encode()
    (tmp_path / "annotations_test.json.gz").write_bytes(gzip.compress(content))
    found = sparsity(ImageSource(tmp_path), top=12, steps=())
    check_counts(found, images)
    write_tables(found, tmp_path / "t.csv")
    with open(tmp_path / "t.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 11
    assert all(int(row["a_left_of_b"]) == found.pair(row["a"], row["b"])[0] for row in rows)


def test_published_annotations_give_the_derived_tables(reference_data, tmp_path):
    folder = reference_data("vg-statistics")
    found = sparsity(ImageSource(folder))
    place = {name: i for i, name in enumerate(found.names)}
    compared = 0
    columns_of = {"cooccurrence": ("entity_a", "entity_b", "images")}
    columns_of["left_right"] = ("left_entity", "right_entity", "centre_left")
    for name, columns in columns_of.items():
        with gzip.open(folder / f"derived_{name}_test.tsv.gz", "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                a, b, count = (row[c] for c in columns)
                if a in place and b in place:
                    compared += 1
                    i, j = place[a], place[b]
                    assert int(count) == (found.together if name == "cooccurrence" else found.left)[i, j]
                    assert name == "cooccurrence" or int(row["disjoint_left"]) == found.apart[i, j]
    assert compared > 10_000
    assert found.pair("giraffe", "person") == (1, 13)
    write_tables(found, tmp_path / "t.csv")
    assert len((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()) == 9901
