"""Real models on small worlds: what can be learned is, what cannot is not."""

import pytest
from scipy.stats import binom

from simtown.datasets.generate import generate
from simtown.datasets.settings import Settings
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings


@pytest.mark.slow
def test_the_place_binder_learns_a_small_world(tmp_path):
    """At least half the way from chance to always right; it gets to 0.95 and more."""
    pair = tmp_path / "town"
    generate(Settings(entities=2, n=1_000, val=200, test=1_000, width=64, height=32), pair, workers=1)
    told = fit(FitSettings("pbn", 1_000, min_steps=384, max_steps=384), pair, tmp_path / "run")
    assert told["test"]["accuracy"] > 0.75
    assert told["steps"] <= 400


def test_the_question_alone_gives_nothing_away(many, tmp_path):
    told = fit(FitSettings("question-only", 600, batch=64, max_steps=80), many, tmp_path / "run")
    # by chance once in 10^9 times: every processor trains another model
    low, high = binom.interval(1 - 1e-9, 600, 0.5)
    assert low <= told["test"]["accuracy"] * 600 <= high
