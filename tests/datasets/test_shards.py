"""Where examples lie: splits and seeds differ, and every even prefix is balanced."""

import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np

from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import SPLITS, Settings


def test_splits_and_seeds_hold_different_examples(dataset_of):
    sizes = {"entities": 20, "n": 12, "val": 12, "test": 12, "width": 32, "height": 32, "shard": 8}
    sets = [Settings(**sizes, frequencies="uniform", seed=seed) for seed in (0, 1)]
    data = [open_dataset(dataset_of(settings)) for settings in sets]
    parts = [each[split].column("scene/pose") for each in data for split in SPLITS]
    assert len({pose.tobytes() for part in parts for pose in part}) == 6 * 12


def test_every_even_prefix_is_balanced(many):
    dataset = open_dataset(many)
    for split in SPLITS:
        yes = np.cumsum(dataset[split].column("answer"))
        assert np.array_equal(yes[1::2], np.arange(1, len(yes) // 2 + 1))
        first = dataset[split].column("answer")[::2]
        assert 0.3 < first.mean() < 0.7, "which of a pair is yes must not be told by its place"
