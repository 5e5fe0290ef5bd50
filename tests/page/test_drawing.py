"""Random examples of the page: those of the data set, with the reasons for which they were accepted."""

import io
from base64 import b64decode

import pytest
from PIL import Image

import simtown
from simtown.page.random_examples import COUNT, SIZE, draw

CHOICES = [{}, {"distractor": True, "relations": ["behind"]}, {"questions": ["all"], "crowd": "4-6"}]
CHOICES += [{"questions": ["colour", "count", "weather", "street-exist"], "paint": "uniform"}]
CHOICES += [{"questions": ["all"], "twins": True}, {"twins": True, "weathers": ["night"]}]


@pytest.mark.parametrize("choice", CHOICES)
def test_examples_are_those_of_the_data_set_and_say_why(choice, tmp_path):
    examples = draw({"entities": 15, "seed": "3", **choice})["examples"]
    assert len(examples) == COUNT
    twins = choice.get("twins", False)
    own = {name: tuple(value) if isinstance(value, list) else value for name, value in choice.items()}
    made = simtown.Settings(entities=15, seed=3, n=20, val=0, test=0, **own)
    simtown.generate(made, tmp_path / "data", workers=1)
    train = simtown.open_dataset(tmp_path / "data").train
    for k, example in enumerate(examples):
        stored = train[4 * k if twins else k]
        assert (example["question"], example["answer"]) == (stored.question, stored.reply)
        picture = Image.open(io.BytesIO(b64decode(example["picture"].partition(",")[2])))
        assert picture.size == SIZE
        assert f"'{stored.reply}'" in example["why"]
        if twins:
            twin = train[4 * k + 1]
            assert example["twin"]["answer"] == twin.reply != stored.reply
            assert example["twin"]["picture"] != example["picture"]
            assert "In the twin " in example["why"]


REFUSED = [{"entities": 1}, {"entities": "many"}, {"questions": ["riddles"]}, {"crowd": "9"}, {"colour": 1}]
REFUSED += [{"questions": ["all"], "distractor": True}, {"relations": []}, {"weathers": ["hail"]}]


@pytest.mark.parametrize("choice", REFUSED)
def test_settings_that_make_no_examples_are_refused_in_one_line(choice):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        draw(choice)
