"""CLEVR: the release's fields, programs that give the answers, and coordinates that meet the masks."""

import json

import numpy as np
import pytest
from PIL import Image

from simtown.datasets.settings import SPLITS


@pytest.fixture(params=SPLITS)
def split(request, exported):
    out, data = exported("clevr")
    name = request.param
    paths = (out / what / f"CLEVR_{name}_{what}.json" for what in ("scenes", "questions"))
    scenes, questions = (json.loads(path.read_text()) for path in paths)
    assert scenes["info"]["split"] == questions["info"]["split"] == name
    return out / "images" / name, scenes["scenes"], questions["questions"], data[name]


def test_fields_are_those_of_the_release(split):
    _, scenes, questions, _ = split
    about = {"split", "image_index", "image_filename"}
    assert set(scenes[0]) == about | {"objects", "directions", "relationships"}
    thing = {"color", "size", "rotation", "shape", "3d_coords", "material", "pixel_coords"}
    assert set(scenes[0]["objects"][0]) == thing
    assert set(scenes[0]["directions"]) == {"right", "behind", "above", "below", "left", "front"}
    assert set(scenes[0]["relationships"]) == {"right", "behind", "front", "left"}
    question = {"question_index", "question_family_index", "question", "answer", "program"}
    assert set(questions[0]) == about | question
    assert set(questions[0]["program"][0]) == {"inputs", "function", "value_inputs"}


def run(program, scene):
    """What a CLEVR program gives on a CLEVR scene: an executor of the functions that occur."""
    results = []
    for step in program:
        inputs, values = [results[i] for i in step["inputs"]], step["value_inputs"]
        match step["function"]:
            case "scene":
                result = list(range(len(scene["objects"])))
            case "filter_shape":
                result = [i for i in inputs[0] if scene["objects"][i]["shape"] == values[0]]
            case "unique":
                (result,) = inputs[0]
            case "relate":
                result = scene["relationships"][values[0]][inputs[0]]
            case "exist":
                result = "yes" if inputs[0] else "no"
        results.append(result)
    return results[-1]


def test_programs_give_the_answers(split):
    pictures, scenes, questions, data = split
    for number, (scene, question, example) in enumerate(zip(scenes, questions, data, strict=True)):
        assert (question["image_index"], scene["image_index"]) == (number, number)
        assert run(question["program"], scene) == question["answer"] == ("yes" if example.answer else "no")
        assert question["question"] == example.question
        assert np.array_equal(np.array(Image.open(pictures / question["image_filename"])), example.image)


def test_relationships_are_opposite_and_follow_the_directions(split):
    _, scenes, _, _ = split
    for scene in scenes:
        related, places = scene["relationships"], np.array([o["3d_coords"] for o in scene["objects"]])
        for name, opposite in (("left", "right"), ("front", "behind")):
            pairs = {(i, j) for i, found in enumerate(related[name]) for j in found}
            assert pairs == {(j, i) for i, found in enumerate(related[opposite]) for j in found}
        for i, found in enumerate(related["behind"]):
            assert all((places[j] - places[i]) @ scene["directions"]["behind"] > 1.49 for j in found)
        for i, found in enumerate(related["right"]):
            x = [o["pixel_coords"][0] for o in scene["objects"]]
            assert all(x[j] > x[i] for j in found)


def test_pixel_coordinates_lie_in_the_boxes(split):
    _, scenes, _, data = split
    for scene, example in zip(scenes, data, strict=True):
        for thing, (x0, y0, x1, y1) in zip(scene["objects"], example.boxes, strict=True):
            x, y, depth = thing["pixel_coords"]
            assert (x, y) == (np.clip(x, x0, x1), np.clip(y, y0, y1))
            assert example.depth[np.isfinite(example.depth)].min() < depth < 40


def test_sizes_are_what_a_person_would_say(split):
    _, scenes, _, _ = split
    sizes = {thing["shape"]: thing["size"] for scene in scenes for thing in scene["objects"]}
    assert {sizes.get("sedan", "small"), sizes.get("bicycle", "small")} == {"small"}
    assert {sizes.get("city bus", "large"), sizes.get("school bus", "large")} == {"large"}
