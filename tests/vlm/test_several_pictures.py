"""Questions with several pictures: every kind of model gets all of them, in their order."""

import base64
import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from simtown.language.words.replies import Gold
from simtown.vlm.models import open_model
from simtown.vlm.vision_model import Query, Turn
from simtown.vlm.vlm_settings import VlmSettings
from tests.vlm.chat_server import serving
from tests.vlm.tiny_models import build

#: A program and a function that reply with the upper left level of grey of each picture that they got.
PROGRAM = """\
import base64, io, json, sys
from PIL import Image
def level(png):
    return Image.open(io.BytesIO(base64.b64decode(png))).getpixel((0, 0))[0]
for line in sys.stdin:
    asked = json.loads(line)
    shown = asked["picture"]
    levels = [] if shown is None else [level(png) for png in (shown if type(shown) is list else [shown])]
    print(json.dumps({"key": asked["key"], "text": str(levels)}), flush=True)
"""
FUNCTION = """\
def levels(prompt, picture, choices):
    shown = () if picture is None else picture if isinstance(picture, tuple) else (picture,)
    return str([int(own[0, 0, 0]) for own in shown])
"""


def query(*levels, **changes):
    pictures = tuple(np.full((32, 40, 3), level, np.uint8) for level in levels)
    made = Query(str(levels), pictures, "Which?", Gold("truth", "yes", ("yes", "no")), "Which?")
    return replace(made, **changes)


ASKED = [query(), query(7), query(7, 200), query(200, 7, 90)]


def test_programs_and_functions_get_them(tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "levels_of.py").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    place = "levels_of:levels"
    for name in (f"command:{sys.executable} {tmp_path / 'program.py'}", f"python:{place}"):
        model = open_model(name, VlmSettings(), allow_model=[place])
        assert model.holds_several
        replies = {asked.key: said.text for asked, said in model.ask(ASKED)}
        assert replies == {"()": "[]", "(7,)": "[7]", "(7, 200)": "[7, 200]", "(200, 7, 90)": "[200, 7, 90]"}


def test_a_server_gets_them_behind_their_names():
    with serving(lambda prompt, picture: "yes") as server:
        asked = [*ASKED, query(90, key="turns", turns=(Turn("user", "And?", ASKED[2].pictures),))]
        list(open_model(server.model, VlmSettings(parallel=1)).ask(asked))
    shown = []
    for body in server.bodies:
        for message in body["messages"]:
            for part in message["content"]:
                if part["type"] == "text":
                    shown.append(part["text"])
                else:
                    png = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                    shown.append(Image.open(io.BytesIO(png)).getpixel((0, 0))[0])
            shown.append("|")
    expected = [
        "Which?", "|", 7, "Which?", "|", "Picture 1:", 7, "Picture 2:", 200, "Which?", "|",
        "Picture 1:", 200, "Picture 2:", 7, "Picture 3:", 90, "Which?", "|",
        "Picture 1:", 7, "Picture 2:", 200, "And?", "|", 90, "Which?", "|",
    ]  # fmt: skip
    assert json.dumps(shown) == json.dumps(expected)


def noise(seed):
    return np.random.default_rng(seed).integers(0, 256, (32, 32, 3), dtype=np.uint8)


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_a_model_of_the_hub_gets_them(tmp_path, family):
    """Each answer as text behind two pictures, alone, is what a batch with other shapes gives."""
    path = build(family, tmp_path / family)
    asked = [query(pictures=(noise(1),), key="one"), query(pictures=(noise(1), noise(2)), key="two")]
    asked.append(query(pictures=(noise(2), noise(1)), key="reversed"))
    model = open_model(f"hf:{path}", VlmSettings())
    said = {own.key: it for own, it in model.ask(asked)}
    assert len({it.scores for it in said.values()}) == 3
    processor = transformers.AutoProcessor.from_pretrained(path)
    opened = transformers.AutoModelForImageTextToText.from_pretrained(path, dtype="float32").eval()
    for own in asked[1:]:
        content = [
            {"type": "text", "text": "Picture 1:"}, {"type": "image"},
            {"type": "text", "text": "Picture 2:"}, {"type": "image"}, {"type": "text", "text": own.text},
        ]  # fmt: skip
        chat = [{"role": "user", "content": content}]
        prompt = processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        images = [[Image.fromarray(picture) for picture in own.pictures]]
        start = processor(text=[prompt], images=images, return_tensors="pt")["input_ids"].shape[1]
        for choice, score in zip(own.gold.choices, said[own.key].scores, strict=True):
            forms = []
            for form in (choice, choice.capitalize()):
                inputs = processor(text=[f"{prompt} {form}"], images=images, return_tensors="pt")
                with torch.no_grad():
                    each = opened(**inputs).logits[0].log_softmax(dim=1)
                ids = inputs["input_ids"][0]
                forms.append(sum(float(each[at - 1, ids[at]]) for at in range(start, len(ids))))
            assert score == pytest.approx(np.logaddexp.reduce(forms), rel=1e-4, abs=2e-4)


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_pictures_of_earlier_messages_do_not_mix_with_questions_without_one(tmp_path, family):
    path = build(family, tmp_path / family)
    earlier = (Turn("user", "Here is a picture.", (noise(1),)), Turn("assistant", "I see it."))
    asked = [query(key="blind"), query(key="earlier", turns=earlier)]
    asked += [
        query(pictures=(noise(1),), key="before"),
        query(pictures=(noise(1),), key="behind", is_behind=True),
    ]
    together, alone = (
        {own.key: said.scores for own, said in open_model(f"hf:{path}", VlmSettings(batch=batch)).ask(asked)}
        for batch in (8, 1)
    )
    for key, scores in together.items():
        assert scores == pytest.approx(alone[key], rel=1e-4, abs=2e-4)
    assert len({*together.values()}) == 4
