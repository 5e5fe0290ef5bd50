"""Galleries made once, as (directory, data set)."""

import pytest

from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.showing.gallery import gallery


@pytest.fixture(scope="session")
def rich_gallery(rich, tmp_path_factory):
    out = tmp_path_factory.mktemp("gallery") / "page"
    gallery(open_dataset(rich), out)
    return out, open_dataset(rich)


@pytest.fixture(scope="session")
def sampled_gallery(many, tmp_path_factory):
    """Of 600 training examples 120 in 6 stretches, of 100 for validation all, of 600 for the test 120."""
    out, counted = tmp_path_factory.mktemp("gallery") / "page", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simtown.datasets.showing.gallery.SAMPLE", 120)
        patch.setattr("simtown.datasets.showing.gallery.STRETCH", 20)
        gallery(open_dataset(many), out, progress=counted.append)
    assert sum(counted) == 340
    return out, open_dataset(many)
