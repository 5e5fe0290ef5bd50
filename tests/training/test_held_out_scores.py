"""Accuracy on held-out compositions, beside that on the test questions of the same families."""

import numpy as np
import pytest

from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.training.run_scores import scores_of


def test_a_model_that_knows_nothing_of_compositions_scores_less_there(dataset_of):
    sizes = {"entities": 6, "n": 20, "val": 0, "test": 40, "width": 32, "height": 32}
    settings = Settings(**sizes, questions=("exist", "driver"), hold_out=("frame:driver", "taxi+sedan"))
    data = open_dataset(dataset_of(settings))
    test, held = (
        np.eye(len(data.names["answers"]))[data[name].column("value")] for name in ("test", COMPOSITION)
    )
    held[::2] = 1 - held[::2]
    shares = scores_of(data).measure({"test": test, COMPOSITION: held}, None)["held_out"]
    assert (shares["accuracy"], shares["n"], shares["seen"]) == (0.5, 40, None)
    assert shares["families"]["exist"]["seen"]["accuracy"] == 1
    assert shares["families"]["driver"]["seen"] is None
    assert sum(share["n"] for share in shares["families"].values()) == 40
    assert shares["families"]["driver"]["accuracy"] == pytest.approx(0.5)
