"""Models of sequences: who reads the order of pictures needs it, who ignores it has no pair right."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from simtown.core.options import SettingsError
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.vlm.picture_orders import ORDERS
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import VlmSettings

MODEL = "readers_of_order:answer"


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    out = tmp_path_factory.mktemp("sequences") / "town"
    size = {"n": 2, "val": 0, "test": 60, "width": 64, "height": 48, "entities": 20}
    generate(Settings(sequence="time", questions=("backs",), **size), out)
    return open_dataset(out)


def evaluate(monkeypatch, sequences, out, answer, **settings):
    monkeypatch.setitem(sys.modules, "readers_of_order", SimpleNamespace(answer=answer))
    how = VlmSettings(**settings)
    return evaluate_model(f"python:{MODEL}", sequences, how, out, allow_model=[MODEL])


def known(sequences, key):
    """The right reply by the question and the pictures, as `key` sees these."""
    return {(example.question, key(example.image)): example.reply for example in sequences.test}


def in_order(pictures):
    return np.stack(pictures).tobytes()


def as_a_bag(pictures):
    return tuple(sorted(picture.tobytes() for picture in pictures))


def reader(replies, key):
    def answer(prompt, pictures, choices):
        if pictures is None or len(pictures) != 4:
            return choices[0]
        question = prompt.partition("? ")[0] + "?"
        return replies.get((question, key(pictures)), choices[0])

    return answer


def test_who_reads_the_order_loses_all_of_a_reversal(monkeypatch, sequences, tmp_path):
    answer = reader(known(sequences, in_order), in_order)
    results = evaluate(monkeypatch, sequences, tmp_path / "out", answer)
    tasks = results.content["tasks"]
    assert tasks["picture"]["accuracy"] == 1
    assert tasks["reversed"]["accuracy"] == 0  # of `backs` every pair is one sequence and its reverse
    assert 0.3 < tasks["shuffled"]["accuracy"] < 0.7
    assert tasks["no-pictures"]["accuracy"] == tasks["one-picture"]["accuracy"] == 0.5
    assert results.content["twins"]["pair"]["accuracy"] == 1
    assert "Needs order" in (tmp_path / "out" / "summary.md").read_text()


def test_who_ignores_the_order_has_half_and_no_pair(monkeypatch, sequences, tmp_path):
    answer = reader(known(sequences, as_a_bag), as_a_bag)
    results = evaluate(monkeypatch, sequences, tmp_path / "out", answer)
    for name in ("picture", *ORDERS):
        assert results.content["tasks"][name]["accuracy"] == 0.5
    assert results.content["twins"]["pair"]["accuracy"] == 0


def test_a_model_of_one_picture_and_texts_are_refused(monkeypatch, sequences, tmp_path):
    with pytest.raises(SettingsError, match="single pictures"):
        evaluate(monkeypatch, sequences, tmp_path / "out", print, show=("text",))
    assert not (tmp_path / "out").exists()
