"""Tiny models of several families, asked through the command, against loops that ask one text at a time."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
import transformers
from PIL import Image

from simtown import generate, open_dataset
from simtown.datasets.settings import Settings
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.models import open_model
from simtown.vlm.vlm_settings import SHOWS, VlmSettings
from tests.vlm.tiny_models import FAMILIES, build

torchvision = pytest.mark.skipif(find_spec("torchvision") is None, reason="its processor needs torchvision")
CHATS = ["llava", "idefics3", pytest.param("qwen2-vl", marks=torchvision)]
TRAINER = Path(__file__).parents[2] / "benchmarks" / "tiny_clip.py"
CLOSE = {"rtol": 1e-4, "atol": 2e-4}


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """The directory of a family's tiny model."""
    made = {}

    def of(family):
        if family not in made:
            made[family] = build(family, tmp_path_factory.mktemp("models") / family)
        return made[family]

    return of


def answers(kind, path, queries, **settings):
    opened = open_model(f"{kind}:{path}", VlmSettings(**settings))
    said = {query.key: said for query, said in opened.ask(queries)}
    return [said[query.key] for query in queries]


def queries_of(towns, count=6):
    asked = [AskedSplit(open_dataset(directory), "test") for directory in towns]
    queries = [split[i].query() for split in asked for i in range(count)]
    return [replace(query, key=str(number)) for number, query in enumerate(queries)]


def test_the_command_asks_models_of_the_hub(cli, towns, directory, tmp_path):
    names = [f"{'clip' if family in ('clip', 'siglip') else 'hf'}:{directory(family)}"
             for family in FAMILIES if family != "qwen2-vl"]  # fmt: skip
    few = ["--controls", 3, "--out"]
    for i, name in enumerate(names):
        cli("evaluate", name, towns[0], *few, tmp_path / str(i)).succeeds()
        rows = pq.read_table(tmp_path / str(i) / "picture.parquet").to_pylist()
        assert [row["example"] for row in rows] == list(range(24))
        assert all(row["log_odds"] == row["scores"][1] - row["scores"][0] for row in rows)
        assert all(row["answer"] == ("yes" if row["log_odds"] > 0 else "no") for row in rows)
        assert len({row["log_odds"] for row in rows}) == 24, "a picture does not matter"


def test_a_language_model_is_asked_by_texts_alone(cli, towns, directory, tmp_path):
    name = f"hf:{directory('llama')}"
    cli("evaluate", name, towns[0], "--out", tmp_path / "refused").refuses("--show", "sees no pictures")
    few = ["--controls", 0, "--examples", 24, "--show", "text,none", "--out", tmp_path / "out"]
    cli("evaluate", name, towns[0], *few).succeeds()
    text, none = (
        pq.read_table(tmp_path / "out" / f"{show}.parquet").to_pylist() for show in ("text", "none")
    )
    assert len(text) == len(none) == 24
    assert all(read["log_odds"] != alone["log_odds"] for read, alone in zip(text, none, strict=True))


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_a_model_that_sees_is_asked_with_all_four_shows(cli, towns, directory, tmp_path, family):
    few = ["--controls", 0, "--examples", 8, "--show", ",".join(SHOWS), "--out", tmp_path / "out"]
    cli("evaluate", f"hf:{directory(family)}", towns[0], *few).succeeds()
    rows = {show: pq.read_table(tmp_path / "out" / f"{show}.parquet").to_pylist() for show in SHOWS}
    odds = [tuple(row["log_odds"] for row in rows[show]) for show in SHOWS]
    assert [len(of_show) for of_show in odds] == [8] * 4
    assert len(set(odds)) == 4


@pytest.mark.parametrize("family", CHATS)
def test_scores_are_the_probabilities_of_the_words(directory, towns, family):
    """Every answer is put behind the prompt as text, alone, without a batch and without kept parts."""
    path, queries = directory(family), queries_of(towns)
    said = answers("hf", path, queries, answers="scores", batch=5)
    processor = transformers.AutoProcessor.from_pretrained(path)
    model = transformers.AutoModelForImageTextToText.from_pretrained(path, dtype="float32").eval()
    for query, got in list(zip(queries, said, strict=True))[::5]:
        content = [{"type": "image"}, {"type": "text", "text": query.text}]
        chat = [{"role": "user", "content": content}]
        prompt = processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        picture = Image.fromarray(query.picture)
        start = processor(text=[prompt], images=[[picture]], return_tensors="pt")["input_ids"].shape[1]

        def logprob(answer, prompt=prompt, picture=picture, start=start):
            inputs = processor(text=[f"{prompt} {answer}"], images=[[picture]], return_tensors="pt")
            with torch.no_grad():
                each = model(**inputs).logits[0].log_softmax(dim=1)
            return sum(each[at - 1, inputs["input_ids"][0, at]] for at in range(start, len(each)))

        forms = [dict.fromkeys((word, word[0].upper() + word[1:])) for word in query.gold.choices]
        expected = [np.logaddexp.reduce([float(logprob(form)) for form in each]) for each in forms]
        np.testing.assert_allclose(got.scores, expected, **CLOSE)
        assert got.text == query.gold.choices[int(np.argmax(expected))]


@pytest.mark.parametrize("family", CHATS)
def test_a_reply_does_not_depend_on_its_batch(directory, towns, family):
    queries = queries_of(towns, 4)
    queries.append(replace(queries[0], key="blind", pictures=()))
    alone, together = (
        answers("hf", directory(family), queries, answers="reply", max_tokens=6, batch=batch)
        for batch in (1, 9)
    )
    assert alone == together
    assert all(said.scores is None and 0 <= said.written <= 6 and said.read > 9 for said in alone)


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_similarities_are_those_of_a_picture_with_a_sentence(directory, towns, family):
    path, queries = directory(family), queries_of(towns)
    said = answers("clip", path, queries, batch=5)
    processor = transformers.AutoProcessor.from_pretrained(path)
    model = transformers.AutoModel.from_pretrained(path).eval()
    for query, got in zip(queries, said, strict=True):
        for score, sentences in zip(got.scores, query.statements, strict=True):
            each = []
            for text in sentences:
                padding = "max_length" if family == "siglip" else False
                picture = Image.fromarray(query.picture)
                inputs = processor(
                    text=[text], images=[picture], padding=padding, truncation=True, return_tensors="pt"
                )
                with torch.no_grad():
                    each.append(float(model(**inputs).logits_per_image))
            assert score == pytest.approx(np.mean(each), rel=1e-4, abs=2e-4)


@pytest.mark.slow
def test_a_model_that_was_trained_on_the_town_beats_chance(cli, tmp_path):
    """1.00 or so with the picture, half right without it."""
    town, model, out = (tmp_path / name for name in ("town", "model", "out"))
    world = {"entities": 2, "frequencies": "uniform", "weathers": ("clear",), "width": 32, "height": 32}
    generate(Settings(**world, n=1500, val=0, test=200), town, workers=1)
    subprocess.run([sys.executable, TRAINER, town, model, "--steps", "300"], check=True)
    cli("evaluate", f"clip:{model}", town, "--controls", 80, "--out", out).succeeds()
    tasks = json.loads((out / "summary.json").read_text())["tasks"]
    shares = {name: task["accuracy"] for name, task in tasks.items()}
    assert min(shares[name] for name in ("picture", "exchanged", "phrasings")) > 0.85
    assert 0.35 < shares["no-picture"] < 0.65
