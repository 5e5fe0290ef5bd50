"""Accuracies, their parts and intervals, against the plainest way of counting them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES
from simtown.complexity.intervals import share
from simtown.datasets.reading.reader import open_dataset
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.training import run_scores
from simtown.training.models import build
from simtown.training.run_scores import deciles, logits_of, scores_of
from simtown.training.sources import Resident
from simtown.training.world import World

TRAIN = 50


@pytest.fixture(scope="module")
def town(many):
    return open_dataset(many)


@pytest.fixture(scope="module")
def skewed(rich):
    return open_dataset(rich)


@pytest.fixture(scope="module")
def guesses(town):
    """Logits that are right more often than not, differently in every part."""
    rng = np.random.default_rng(0)
    signs = {name: np.where(town[name].column("answer"), 1, -1) for name in ("test", "val")}
    return {name: sign * (rng.normal(size=len(sign)) + 0.7) for name, sign in signs.items()}


def expected(flags):
    """Accuracy and Wilson's 95 % interval by his formula."""
    n, z = len(flags), 1.959963984540054
    p = sum(flags) / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    wide = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    ends = {"low": max(middle - wide, 0), "high": min(middle + wide, 1)}
    return pytest.approx({"accuracy": p, **ends, "n": n, "clusters": n}, abs=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_a_share_has_wilsons_interval(flags):
    right = share(np.array(flags))
    assert right == expected(flags)
    assert 0 <= right["low"] <= right["accuracy"] <= right["high"] <= 1


def parts(split, correct, key):
    """Right answers by a key of an example, counted one by one."""
    out = {}
    for example, right in zip(split, correct, strict=True):
        out.setdefault(key(example), []).append(bool(right))
    return out


def right(split, logits):
    return [(z > 0) == example.answer for z, example in zip(logits, split, strict=True)]


def test_accuracy_overall_and_by_relation_is_what_counting_gives(town, guesses):
    shares, flags = scores_of(town).measure(guesses, TRAIN), right(town.test, guesses["test"])
    assert {k: shares[k] for k in ("accuracy", "low", "high", "n")} == expected(flags)
    by_relation = parts(town.test, flags, lambda e: e.relation)
    assert shares["relations"] == {name: expected(part) for name, part in by_relation.items()}
    assert set(shares["relations"]) == set(RELATION_NAMES)
    assert shares["validation"] == expected(right(town.val, guesses["val"]))


def triple(example):
    return example.subject, example.relation, example.object


@pytest.mark.parametrize("n", [2, TRAIN, 600])
def test_seen_triples_are_those_of_the_training_examples_that_were_used(town, guesses, n):
    shares, flags = scores_of(town).measure(guesses, n), right(town.test, guesses["test"])
    known = {triple(example) for example in town.train[:n]}
    both = parts(town.test, flags, lambda e: triple(e) in known)
    for name, seen in (("seen", True), ("unseen", False)):
        assert shares[name] == (expected(both[seen]) if seen in both else None)
    assert len(both.get(False, [])) > 0 or n == 600
    endless = scores_of(town).measure(guesses, None)
    assert not {"seen", "unseen"} & set(endless)


@pytest.mark.parametrize("which", ["town", "skewed"])
def test_deciles_go_from_the_most_frequent_entities_to_the_rarest(which, request):
    dataset = request.getfixturevalue(which)
    resolved, of = dataset.manifest["settings"], deciles(dataset)
    pairs = zip(resolved["subject_frequencies"], resolved["object_frequencies"], strict=True)
    mean = [(a + b) / 2 for a, b in pairs]
    for i, own in enumerate(mean):
        before = sum(other > own or (other == own and j < i) for j, other in enumerate(mean))
        assert of[i] == 10 * before // len(mean)
    counts = np.bincount(of, minlength=10)
    assert counts.max() - counts.min() <= 1


def test_a_question_counts_for_the_decile_of_its_rarer_entity(skewed):
    rng, of = np.random.default_rng(1), deciles(skewed)
    logits = rng.normal(size=len(skewed.test))
    shares = scores_of(skewed).measure({"test": logits}, None)
    tenth = {ENTITIES[kind]: of[rank] for rank, kind in enumerate(skewed.manifest["settings"]["kinds"])}
    flags = right(skewed.test, logits)
    wanted = parts(skewed.test, flags, lambda e: str(max(tenth[e.subject], tenth[e.object])))
    assert shares["deciles"] == {k: expected(v) for k, v in wanted.items()}
    assert not {"validation", "reweighted"} & set(shares)


@pytest.mark.parametrize("which", ["town", "skewed"])
def test_weights_are_the_inverse_of_both_frequencies(which, request):
    data = request.getfixturevalue(which)
    resolved, names = data.manifest["settings"], [ENTITIES[kind] for kind in data.settings.kinds]
    p, q = (dict(zip(names, resolved[f"{role}_frequencies"], strict=True)) for role in ("subject", "object"))
    raw = np.array([1 / (p[example.subject] * q[example.object]) for example in data.val])
    np.testing.assert_allclose(run_scores.inverse_frequency(data, data.val), raw / raw.mean())
    assert max(raw) > 2 * min(raw)
    logits = np.random.default_rng(0).normal(size=len(data.val))
    flags = np.array(right(data.val, logits))
    shares = scores_of(data).measure({"test": np.zeros(len(data.test)), "val": logits}, None)["reweighted"]
    assert shares["accuracy"] == pytest.approx(raw[flags].sum() / raw.sum())
    assert shares["effective_n"] == pytest.approx(raw.sum() ** 2 / (raw**2).sum())
    assert shares["n"] == len(flags) > shares["effective_n"]


@pytest.mark.parametrize("which", ["town", "skewed"])
@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_the_logical_form_on_the_latent_scene_is_always_right(which, split, request):
    """Left and right in `skewed`, with moved cameras and a third vehicle; all four relations in `town`."""
    examples = request.getfixturevalue(which)[split]
    assert (run_scores.oracle(examples) == examples.column("answer")).all()


def test_references_are_what_does_not_learn(town):
    shares = scores_of(town).references()
    assert (shares["chance"], shares["oracle"]) == (0.5, 1.0)
    assert shares["oracle_on_boxes"] > 0.95
    yes = sum(example.answer for example in town.train) / len(town.train)
    share = sum(example.answer for example in town.test) / len(town.test)
    assert shares["majority"] == (share if yes >= 0.5 else 1 - share)


@pytest.mark.parametrize("name", ["pbn", "cnn-lstm"])
def test_logits_do_not_depend_on_how_many_are_asked_at_once(name, town, monkeypatch):
    torch.manual_seed(0)
    model = build(name, World.of(town.settings), {}).train()
    source, found = Resident(town.val, 100, town.settings, torch.device("cpu")), {}
    before = {k: v.clone() for k, v in model.state_dict().items()}
    for size in (1, 7, 512):
        monkeypatch.setattr(run_scores, "BATCH", size)
        found[size] = logits_of(model, source, 100)
    assert not model.training
    rounding = 1e-4  # about 10^3 times what it is; examples differ by far more
    assert np.ptp(found[512][0]) > 100 * rounding
    for size in (1, 7):
        np.testing.assert_allclose(found[size][0], found[512][0], rtol=0, atol=rounding)
        assert found[size][1] == pytest.approx(found[512][1], abs=rounding)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    logits, loss = found[512]
    y, z = town.val.column("answer"), logits.astype(np.float64)
    assert loss == pytest.approx(np.mean(np.where(y, np.log1p(np.exp(-z)), np.log1p(np.exp(z)))), rel=1e-5)
    assert logits.shape == (100,)
