"""Where examples lie, and that they are balanced, follow their frequencies, and differ by split and seed."""

from dataclasses import replace

import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
from scipy import stats

from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import SPLITS, Settings

SMALL = Settings(entities=20, n=24, val=4, test=4, width=32, height=32, shard=8)


def test_splits_and_seeds_hold_different_examples(tmp_path):
    settings = replace(SMALL, n=12, val=12, test=12, frequencies="uniform")
    parts = []
    for seed in (0, 1):
        generate(replace(settings, seed=seed), tmp_path / str(seed), workers=1)
        data = open_dataset(tmp_path / str(seed))
        parts += [data[split].column("scene/pose") for split in SPLITS]
    assert len({pose.tobytes() for part in parts for pose in part}) == 6 * 12


def test_every_even_prefix_is_balanced(many):
    dataset = open_dataset(many)
    for split in SPLITS:
        yes = np.cumsum(dataset[split].column("answer"))
        assert np.array_equal(yes[1::2], np.arange(1, len(yes) // 2 + 1))
        first = dataset[split].column("answer")[::2]
        assert 0.3 < first.mean() < 0.7, "which of a pair is yes must not be told by its place"


def test_train_follows_the_frequencies_and_test_is_uniform(many):
    dataset = open_dataset(many)
    told = dataset.manifest["settings"]
    p, q = (np.array(told[f"{role}_frequencies"]) for role in ("subject", "object"))
    for role, target in (("subject", p * (1 - q)), ("object", q * (1 - p))):
        counts = {split: np.bincount(dataset[split].column(role), minlength=5) for split in SPLITS}
        even, skewed = np.full(5, 0.2), target / target.sum()
        assert stats.chisquare(counts["train"], 600 * skewed).pvalue > 1e-3
        assert stats.chisquare(counts["train"], 600 * even).pvalue < 1e-6
        assert stats.chisquare(counts["test"], 600 * even).pvalue > 1e-3
        assert stats.chisquare(counts["val"], 100 * skewed).pvalue > 1e-3
