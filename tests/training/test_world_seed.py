"""Training in a world of other kinds: a model knows them by rank, and is asked about no others."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.training import identity
from simtown.training.ask import open_run
from simtown.training.fit import fit
from tests.training import towns
from tests.training.towns import HERE, small

ELSEWHERE = replace(towns.TOWN, world_seed=3)
NAMES = [ENTITIES[kind] for kind in ELSEWHERE.kinds]
#: Each logit is a number of the subject's rank, so that a wrong number of a kind shows.
BY_RANK = f"{HERE}:Entities"


@pytest.fixture(scope="module")
def elsewhere(dataset_of):
    return dataset_of(ELSEWHERE)


@pytest.fixture(scope="module")
def run(elsewhere, tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "run"
    fit(small(BY_RANK), elsewhere, directory)
    return directory


def biases(run):
    """What the model says of each rank."""
    return open_run(run, [BY_RANK])[0].bias.weight.detach().numpy()[:, 0]


def test_a_run_tells_its_world_and_is_evaluated_on_it(run, elsewhere, cli, tmp_path):
    told = json.loads((run / "run.json").read_text())
    assert (told["data"]["world_seed"], told["data"]["test_seed"]) == (3, None)
    examples = open_dataset(elsewhere).test
    with np.load(run / "test.npz") as test:
        logits = [biases(run)[NAMES.index(example.subject)] for example in examples]
        np.testing.assert_allclose(test["logit"], logits, rtol=1e-6)
    cli("evaluate", run, elsewhere, "--json", tmp_path / "told.json", "--allow-model", BY_RANK).succeeds()
    again = json.loads((tmp_path / "told.json").read_text())
    del told["test"]["loss"]
    assert again == {**told["test"], "references": told["references"]}


def test_other_kinds_are_refused(run, elsewhere, data, cli, tmp_path):
    allowed = ["--allow-model", BY_RANK]
    cli("evaluate", run, data, *allowed).refuses("has not seen (a", "--world-seed 3")
    Image.fromarray(open_dataset(elsewhere).test[0].image).save(tmp_path / "street.png")
    unseen = next(name for name in ENTITIES if name not in NAMES)
    question = f"Is the {unseen} left of the {NAMES[0]}?"
    predicted = cli("predict", run, tmp_path / "street.png", question, *allowed)
    predicted.refuses("has not seen a", unseen, *NAMES)


def test_a_test_seed_that_is_the_seed_is_the_same_run():
    fitted = small(BY_RANK)
    old = {"settings": json.loads(json.dumps(fitted.__dict__)), "data": identity.world(Settings(seed=4))}
    same, other = (identity.other_settings(old, fitted, Settings(seed=4, test_seed=n)) for n in (4, 0))
    assert (same, other) == ([], ["data.test_seed null, now 0"])


def test_an_endless_stream_does_not_depend_on_the_test_split(elsewhere, dataset_of):
    other = dataset_of(replace(ELSEWHERE, n=4, val=2, test=2, test_seed=8))
    assert identity.endless(open_dataset(elsewhere)) == identity.endless(open_dataset(other))
