"""Lettered options, worked examples, system prompts and several samples, as a server receives them."""

import json
import re
from collections import Counter
from itertools import count
from string import ascii_uppercase

import numpy as np
import pyarrow.parquet as pq
import pytest

from simtown import open_dataset
from simtown.core.options import SettingsError
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.prompting import Prompting, over_samples
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.vlm.chat_server import serving

ALONE = {"controls": 0, "parallel": 1}


def test_letters_are_read_and_positions_are_apart(towns, tmp_path):
    """A model that always takes the first option: the letter counts, not the answer behind it."""
    data = open_dataset(towns[1])
    with serving(lambda prompt, picture: "The answer is (A).") as server:
        results = evaluate_model(
            server.model, data, VlmSettings(**ALONE, choices="letters"), tmp_path / "out"
        )
    rows = pq.read_table(tmp_path / "out" / "picture.parquet").to_pylist()
    lettered = [row for row in rows if row["letter"]]
    assert len(lettered) > 60
    assert all(row["right"] == (row["letter"] == "A") for row in lettered)
    for row in lettered:
        options = dict(re.findall(r"^\((\w)\) (.*)$", row["question"], re.M))
        assert options[row["letter"]] == row["gold"]
        assert row["answer"] == options["A"]
    found = results.content["positions"]
    assert found["A"]["chosen"] == 1
    yes_or_no = Counter(row["letter"] for row in lettered if row["gold"] in ("yes", "no"))
    assert min(yes_or_no["A"], yes_or_no["B"]) > 0.3 * sum(yes_or_no.values())


def test_every_answer_stands_on_every_letter_equally_often(towns):
    asked = AskedSplit(open_dataset(towns[1]), "test")
    prompting = Prompting(VlmSettings(choices="letters"), asked)
    letters, orders = {}, {}
    for number in range(len(asked)):
        query = prompting.put(asked[number].query(), number)
        if query.letters:
            assert sorted(query.letters) == sorted(query.gold.choices)
            of_answer = letters.setdefault((query.gold.choices, query.gold.answer), Counter())
            of_answer[query.letters[query.gold.answer]] += 1
            orders.setdefault(query.gold.choices, set()).add(tuple(query.letters))
    assert len(letters) > 10
    for (choices, _), found in letters.items():
        assert max(found.values()) - min(found[letter] for letter in ascii_uppercase[: len(choices)]) <= 1
    assert any(len(own) > len(choices) for choices, own in orders.items())  # not rotations alone


def test_worked_examples_come_before_the_question(paper, tmp_path):
    how = VlmSettings(**ALONE, system="Be brief.", shots=2, examples=3)
    with serving(lambda prompt, picture: "no") as server:
        evaluate_model(server.model, paper, how, tmp_path / "out")
        system, *turns, question = server.bodies[0]["messages"]
    assert (system["role"], system["content"]) == ("system", "Be brief.")
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2
    replies = {turn["content"] for turn in turns[1::2]}
    assert replies <= {example.reply for example in paper.train}
    pictures = [json.dumps(turn["content"][0]) for turn in (*turns[::2], question)]
    assert len(set(pictures)) == 3
    asked = AskedSplit(paper, "test")
    first, again = (Prompting(how, asked).put(asked[2].query(), 2) for _ in range(2))
    assert [turn.text for turn in first.turns] == [turn.text for turn in again.turns]


def test_models_without_turns_and_too_many_examples_are_refused(paper, tmp_path):
    with pytest.raises(SettingsError, match="needs a model of hf: or openai:"):
        evaluate_model("command:cat", paper, VlmSettings(shots=1), tmp_path / "out")
    with pytest.raises(SettingsError, match="more than the 2 examples"):
        evaluate_model("command:cat", paper, VlmSettings(shots=3), tmp_path / "out")


def test_several_samples(paper, tmp_path):
    turn = count()
    with serving(lambda prompt, picture: ("yes", "no", "yes")[next(turn) // 24 % 3]) as server:
        results = evaluate_model(server.model, paper, VlmSettings(**ALONE, samples=3), tmp_path / "out")
        assert {body["temperature"] for body in server.bodies} == {1}
    found = results.content["samples"]
    assert found["k"] == 3
    assert found["any"]["accuracy"] == 1
    assert found["agreement"] == pytest.approx(1 / 3)
    assert found["majority"]["accuracy"] == results.tasks["picture"]["accuracy"]
    assert (tmp_path / "out" / "sample-3.parquet").is_file()


def test_samples_without_an_answer_do_not_agree():
    rows = [[{"answer": answer, "right": answer == "yes"}] for answer in (None, None, "yes")]
    found = over_samples(rows)
    assert {name: np.array(each).tolist() for name, each in found.items()} == {
        "any": [True],
        "majority": [True],
        "agreement": [0.0],
    }
