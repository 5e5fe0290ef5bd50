"""Released files of every version, against json.load and plain loops."""

import json

import pytest

from benchmarks import vg_files
from simtown.core.files import DamagedError
from simtown.visualgenome import records

VERSIONS, PACKINGS = vg_files.VERSIONS, ("", ".zip", ".gz")


def name(thing):
    said = thing.get("names") or thing.get("name") or thing.get("object_names")
    return said[0] if isinstance(said, list) else said


def number(entry, key):
    return entry[key] if key in entry else entry["id"]


def box(thing):
    return tuple(thing[side] for side in "xywh")


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("version", VERSIONS)
def test_relationships(released, plain_json, version, packing):
    path = released("relationships", version, packing)
    expected = [
        (
            number(image, "image_id"),
            number(r, "relationship_id"),
            name(r["subject"]),
            r["predicate"],
            name(r["object"]),
            box(r["subject"]),
            number(r["object"], "object_id"),
        )
        for image in plain_json(path)
        for r in image["relationships"]
    ]
    found = [
        (graph.image, r.number, s.text, r.predicate, o.text, (s.x, s.y, s.w, s.h), o.number)
        for graph in records.graphs(path)
        for r, s, o in graph.statements()
    ]
    assert found == expected
    assert len(found) > 500


@pytest.mark.parametrize("packing", PACKINGS)
def test_scene_graphs_say_what_relationships_say(released, packing):
    """Ends by number, resolved: the same statements as in the other file."""

    def stated(path):
        return [
            (g.image, r.number, s.text, r.predicate, o.text, s.number)
            for g in records.graphs(path)
            for r, s, o in g.statements()
        ]

    assert stated(released("scene_graphs", packing=packing)) == stated(released("relationships"))


def test_an_end_that_is_not_there_is_left_out_and_a_merged_one_found(tmp_path):
    path = tmp_path / "scene_graphs.json"
    things = [{"object_id": 1, "names": ["cat"], "merged_object_ids": [9]}, {"object_id": 2, "name": "mat"}]
    ends = [(1, 2), (9, 2), (1, 3), (4, 2)]
    stated = [
        {"predicate": "on", "relationship_id": i, "subject_id": s, "object_id": o}
        for i, (s, o) in enumerate(ends)
    ]
    path.write_text(
        json.dumps([{"image_id": 5, "objects": things, "relationships": stated}]), encoding="utf-8"
    )
    (graph,) = records.graphs(path)
    assert [(r.number, s.text, o.text) for r, s, o in graph.statements()] == [
        (0, "cat", "mat"),
        (1, "cat", "mat"),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_objects(released, plain_json, version):
    path = released("objects", version)
    expected = [
        [(number(t, "object_id"), name(t), box(t), t.get("merged_object_ids")) for t in i["objects"]]
        for i in plain_json(path)
    ]
    found = [
        [(t.number, t.text, (t.x, t.y, t.w, t.h), t.merged_object_ids) for t in image.objects]
        for image in records.objects(path)
    ]
    assert found == expected
    assert [i.image for i in records.objects(released("scene_graphs"))] == [
        i.image for i in records.objects(path)
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_attributes(released, plain_json, version):
    path = released("attributes", version)
    expected = [[(name(t), t.get("attributes")) for t in image["attributes"]] for image in plain_json(path)]
    assert [
        [(t.text, t.attributes) for t in image.attributes] for image in records.attributes(path)
    ] == expected


@pytest.mark.parametrize(
    ("kind", "reader", "entries", "texts"),
    [
        ("region_descriptions", records.regions, "regions", ("phrase", "width")),
        ("question_answers", records.questions, "qas", ("question", "answer")),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_regions_and_questions(released, plain_json, version, kind, reader, entries, texts):
    path = released(kind, version)
    expected = [[[e[text] for text in texts] for e in image[entries]] for image in plain_json(path)]
    found = [[[getattr(e, text) for text in texts] for e in getattr(i, entries)] for i in reader(path)]
    assert found == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_image_data(released, plain_json, version):
    path = released("image_data", version)
    expected = [
        (number(i, "image_id"), i["width"], i["height"], i["url"], i.get("flickr_id"))
        for i in plain_json(path)
    ]
    assert [(i.image, i.width, i.height, i.url, i.flickr_id) for i in records.image_data(path)] == expected


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        ({"names": ["a", "b"]}, "a"),
        ({"names": [], "name": "b"}, "b"),
        ({"name": ["c"]}, "c"),
        ({"names": "d"}, "d"),
        ({"object_names": ["e"]}, "e"),
        ({"names": None}, ""),
        ({}, ""),
    ],
)
def test_every_way_to_name_a_thing(tmp_path, thing, text):
    path = tmp_path / "objects.json"
    path.write_text(json.dumps([{"image_id": 1, "objects": [thing]}]), encoding="utf-8")
    (image,) = records.objects(path)
    assert image.objects[0].text == text


@pytest.mark.parametrize("reader", [records.graphs, records.objects, records.attributes, records.regions])
def test_another_kind_of_file_is_refused_at_its_first_record(released, reader):
    with pytest.raises(DamagedError, match=r"record 1, at byte 1, .* missing required field"):
        list(reader(released("image_data")))
