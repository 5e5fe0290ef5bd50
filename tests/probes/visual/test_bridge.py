"""The bridge to the town's colours: what is computed, against oracles, and the command with a small model."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from simtown.datasets.reading.reader import open_dataset
from simtown.language.meaning.colours import COLOURS
from simtown.probes.scorers.base import Scorer, TokenScores
from simtown.probes.visual import bridge
from simtown.probes.visual.classes import COLOR


@pytest.fixture(scope="module")
def kinds(many):
    return bridge.NeutralKinds.of(open_dataset(many))


def test_the_towns_colours_are_the_studys():
    assert set(COLOURS) == set(COLOR.classes)


def test_kinds_whose_names_tell_their_colour_are_left_out(kinds):
    assert kinds.names == ("sedan", "fire truck", "school bus", "taxi")  # and no red truck
    assert kinds.truth.sum(axis=1) == pytest.approx(1)
    assert [COLOURS[c] for c in kinds.truth.argmax(axis=1)] == ["blue", "red", "yellow", "yellow"]


@given(st.floats(0, 0.99))
def test_what_captions_say_is_the_truth_with_its_peak_cut(bias):
    truth = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25]])
    said = bridge.NeutralKinds(("a", "b"), truth).said(bias)
    for row, p in zip(said, truth, strict=True):
        kept = np.array([p[0] * (1 - bias), *p[1:]])
        assert row == pytest.approx(kept / kept.sum())


class Oracle(Scorer):
    """Says of every kind what captions say, as a model that reads forward: in gaps and of whole sentences."""

    name, abilities = "oracle", frozenset({"class_logprobs", "sequence_logprobs"})
    forward = True

    def __init__(self, names, belief):
        self.names, self.log = names, np.log(np.maximum(belief, 1e-12))

    def class_logprobs(self, contexts, targets):
        rows = [next((i for i, n in enumerate(self.names) if f"the {n} is" in c), None) for c in contexts]
        return np.array([self.log[i] if i is not None else np.zeros(len(targets)) for i in rows])

    def sequence_logprobs(self, texts):
        kinds = [next(i for i, n in enumerate(self.names) if text.endswith(f" {n}")) for text in texts]
        colours = [COLOURS.index(text.split()[1]) for text in texts]
        return [TokenScores(np.array([p]), np.array([0])) for p in self.log[kinds, colours]]


def test_who_knows_the_truth_shows_it(kinds):
    by_template = bridge.recovered(Oracle(kinds.names, kinds.truth), kinds.names)
    assert np.abs(by_template - kinds.truth).max() < 1e-6
    summary = bridge.measured(kinds.truth, by_template.mean(axis=0))
    assert summary["divergence"]["mean"] == pytest.approx(0, abs=1e-5)
    assert summary["first"]["mean"] == 1


@pytest.mark.slow
def test_the_command(cli, many, tmp_path):
    out = tmp_path / "bridge"
    words = ("probe", "visual", "bridge", many, "--out", out, "--bias", "0,0.9", "--epochs", "1")
    assert "KL, bits" in cli(*words).succeeds().out
    summary = json.loads((out / "bridge.json").read_text())
    assert summary["kinds"] == 4
    at = {bias: one["captions"]["divergence"]["mean"] for bias, one in summary["bias"].items()}
    assert at["0"] == pytest.approx(0)
    assert at["0.9"] > 0.2
    assert (out / "bridge.png").read_bytes()[:4] == b"\x89PNG"
    captions = [(out / f"bias-{bias}" / "captions.txt").read_text() for bias in ("0", "0.9")]
    unbiased, biased = (text.count("the school bus is yellow") for text in captions)
    assert unbiased > 5 * max(biased, 1)
    before = (out / "bias-0" / "lm" / "model.safetensors").read_bytes()
    cli(*words).succeeds()  # nothing is trained again
    assert (out / "bias-0" / "lm" / "model.safetensors").read_bytes() == before
    cli(*words[:-1], "2").refuses("other settings")
    (out / "bias-0" / "captions.txt").write_text("something else\n")
    cli(*words).refuses("captions of other scenes")


def test_what_cannot_be(cli, many, tmp_path):
    for bias in ("1", "-0.1", "x", ""):
        cli("probe", "visual", "bridge", many, "--out", tmp_path / "b", "--bias", bias).refuses("bias")
    assert not (tmp_path / "b").exists()


def test_a_kind_of_an_unknown_colour_is_left_out_of_the_divergence():
    truth = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]])
    belief = np.array([[0.6, 0.3, 0.1], [0.6, 0.4, 0.0]])
    summary = bridge.measured(truth, belief)["divergence"]
    assert summary["n"] == 1
    assert summary["low"] == summary["mean"] == pytest.approx(entropy(truth[0], belief[0], base=2))
    assert np.isnan(bridge.measured(truth[1:], belief[1:])["divergence"]["mean"])
