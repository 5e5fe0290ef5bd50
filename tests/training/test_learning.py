"""Real models on small worlds: what can be learned is, what cannot is not."""

import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from scipy.stats import binom  # noqa: E402

from simtown.datasets.generate import generate  # noqa: E402
from simtown.datasets.settings import Settings  # noqa: E402
from simtown.training.fit import fit  # noqa: E402
from simtown.training.fit_settings import FitSettings  # noqa: E402

CHOICE = FitSettings("pbn", 1_000, min_steps=384, max_steps=384)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two entities, 1,000 training examples, 64x32."""
    directory = tmp_path_factory.mktemp("pair") / "town"
    generate(Settings(entities=2, n=1_000, val=200, test=1_000, width=64, height=32), directory, workers=1)
    return directory


def by_chance(accuracy, n):
    """Whether tossing n coins gives so many right answers, but for once in 10^9: every processor trains
    another model, and tosses anew.
    """
    low, high = binom.interval(1 - 1e-9, n, 0.5)
    return low <= accuracy * n <= high


@pytest.fixture(scope="module")
def shuffled(pair, tmp_path_factory):
    """The same with answers tossed anew: half of either truth of each relation are yes.

    Those of the test too: judged by the true ones a model is far from a coin, for it says one thing of all
    that look alike to it.
    """
    directory, rng = tmp_path_factory.mktemp("shuffled") / "town", np.random.default_rng(0)
    for path in sorted(Path(shutil.copytree(pair, directory)).glob("*.h5")):  # one a split
        with h5py.File(path, "r+") as file:
            truth, relation = file["answer"][()], file["relation"][()]
            tossed = np.zeros(len(truth), dtype=bool)
            for group in sorted({*zip(truth.tolist(), relation.tolist(), strict=True)}):
                rows = rng.permutation(np.flatnonzero((truth == group[0]) & (relation == group[1])))
                tossed[rows[::2]] = True
            file["answer"][...] = tossed
    return directory


@pytest.mark.slow
def test_the_place_binder_learns_a_small_world(pair, tmp_path):
    """At least half the way from chance to always right; it gets to 0.95 and more."""
    told = fit(CHOICE, pair, tmp_path / "run")
    assert told["test"]["accuracy"] > 0.75
    assert told["steps"] <= 400


@pytest.mark.slow
@pytest.mark.parametrize("model", ["pbn", "cnn-lstm"])
def test_answers_tossed_anew_cannot_be_learned(model, shuffled, tmp_path):
    """What a model makes of the pictures is arbitrary here, but it cannot know the tossed answers of the
    test.
    """
    told = fit(replace(CHOICE, model=model, max_steps=160), shuffled, tmp_path / "run")
    assert by_chance(told["test"]["accuracy"], 1_000), told["test"]


def test_the_question_alone_gives_nothing_away(many, tmp_path):
    told = fit(FitSettings("question-only", 600, batch=64, max_steps=80), many, tmp_path / "run")
    assert by_chance(told["test"]["accuracy"], 600), told["test"]
