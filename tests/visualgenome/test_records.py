"""Released files of every version, against json.load and plain loops."""

import json

import pytest

from benchmarks import vg_files
from simtown.core.files import DamagedError
from simtown.visualgenome.records import Attributes, Graph, ImageData, ImageQuestions, Objects, Regions
from simtown.visualgenome.stream import Records

VERSIONS, PACKINGS = vg_files.VERSIONS, ("", ".zip", ".gz")


def name(thing):
    said = thing.get("names") or thing.get("name") or thing.get("object_names")
    return said[0] if isinstance(said, list) else said


def number(entry, key):
    return entry[key] if key in entry else entry["id"]


def box(thing):
    return tuple(thing[side] for side in "xywh")


@pytest.mark.parametrize(("version", "packing"), [*zip(VERSIONS, PACKINGS, strict=True)])
def test_relationships(released, plain_json, version, packing):
    path = released("relationships", version, packing)
    expected = []
    for image in plain_json(path):
        for r in image["relationships"]:
            s, o = r["subject"], r["object"]
            numbers = number(image, "image_id"), number(r, "relationship_id"), number(o, "object_id")
            expected.append((*numbers, name(s), r["predicate"], name(o), box(s)))
    found = [
        (graph.image, r.number, o.number, s.text, r.predicate, o.text, (s.x, s.y, s.w, s.h))
        for graph in Records(path, Graph)
        for r, s, o in graph.statements()
    ]
    assert found == expected
    assert len(found) > 500


def test_scene_graphs_say_what_relationships_say(released):
    """Ends by number, resolved: the same statements as in the other file."""

    def stated(path):
        statements = ((g.image, *statement) for g in Records(path, Graph) for statement in g.statements())
        return [(image, r.number, s.text, r.predicate, o.text, s.number) for image, r, s, o in statements]

    assert stated(released("scene_graphs")) == stated(released("relationships"))


def test_an_end_that_is_not_there_is_left_out_and_a_merged_one_found(tmp_path):
    path = tmp_path / "scene_graphs.json"
    things = [{"object_id": 1, "names": ["cat"], "merged_object_ids": [9]}, {"object_id": 2, "name": "mat"}]
    ends = [(1, 2), (9, 2), (1, 3), (4, 2)]
    names = ("relationship_id", "subject_id", "object_id")
    stated = [{"predicate": "on", **dict(zip(names, (i, *end), strict=True))} for i, end in enumerate(ends)]
    content = [{"image_id": 5, "objects": things, "relationships": stated}]
    path.write_text(json.dumps(content), encoding="utf-8")
    (graph,) = Records(path, Graph)
    found = [(r.number, s.text, o.text) for r, s, o in graph.statements()]
    assert found == [(0, "cat", "mat"), (1, "cat", "mat")]


@pytest.mark.parametrize("version", VERSIONS)
def test_things(released, plain_json, version):
    path = released("objects", version)
    for image, expected in zip(Records(path, Objects), plain_json(path), strict=True):
        assert image.image == number(expected, "image_id")
        for thing, entry in zip(image.objects, expected["objects"], strict=True):
            assert (thing.number, thing.text) == (number(entry, "object_id"), name(entry))
            assert (thing.x, thing.y, thing.w, thing.h) == box(entry)
            assert thing.merged_object_ids == entry.get("merged_object_ids")
    path = released("attributes", version)
    expected = [[(name(t), t.get("attributes")) for t in image["attributes"]] for image in plain_json(path)]
    found = [[(t.text, t.attributes) for t in image.attributes] for image in Records(path, Attributes)]
    assert found == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_regions_questions_and_images(released, plain_json, version):
    path = released("region_descriptions", version)
    for image, expected in zip(Records(path, Regions), plain_json(path), strict=True):
        assert [region.phrase for region in image.regions] == [r["phrase"] for r in expected["regions"]]
    path = released("question_answers", version)
    for image, expected in zip(Records(path, ImageQuestions), plain_json(path), strict=True):
        assert [entry.question for entry in image.qas] == [q["question"] for q in expected["qas"]]
    path = released("image_data", version)
    for image, expected in zip(Records(path, ImageData), plain_json(path), strict=True):
        size = image.width, image.height
        assert (image.image, *size) == (number(expected, "image_id"), expected["width"], expected["height"])


def test_every_way_to_name_a_thing(tmp_path):
    things = [{"names": ["a", "b"]}, {"names": [], "name": "b"}, {"name": ["c"]}, {"names": "d"}]
    things += [{"object_names": ["e"]}, {"names": None}, {}]
    path = tmp_path / "objects.json"
    path.write_text(json.dumps([{"image_id": 1, "objects": things}]), encoding="utf-8")
    (image,) = Records(path, Objects)
    assert [thing.text for thing in image.objects] == ["a", "b", "c", "d", "e", "", ""]


@pytest.mark.parametrize("kind", [Graph, Objects, Attributes, Regions])
def test_another_kind_of_file_is_refused_at_its_first_record(released, kind):
    with pytest.raises(DamagedError, match=r"record 1, at byte 1,"):
        list(Records(released("image_data"), kind))
