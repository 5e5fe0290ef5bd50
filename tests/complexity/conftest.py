"""What the tests share: learning curves whose truth is known, and runs that follow them."""

import json

import numpy as np
import pytest
from scipy import stats

from simtown.complexity.finished_runs import Run

_SIZES = np.array([500, 1000, 2000, 5000, 10000, 20000])


def _accuracy_of(n, middle):
    """A learning curve that takes off at `middle` samples."""
    return 0.5 + 0.49 / (1 + (middle / n) ** 1.6)


def _simulate(middles, seeds=3, items=400, sizes=_SIZES, scatter=0.2, start=0):
    """Runs of {(model, entities): middle}; a seed shifts log n by `scatter`, test items differ in how hard
    they are for everyone.
    """
    rng, runs = np.random.default_rng(start), []
    hard = {k: rng.normal(size=items) for k in sorted({k for _, k in middles})}
    for (model, k), middle in middles.items():
        for s in range(seeds):
            shift = np.exp(scatter * rng.normal())
            for n in sizes:
                luck = np.sqrt(0.4) * hard[k] + np.sqrt(0.6) * rng.normal(size=items)
                correct = luck < stats.norm.ppf(_accuracy_of(n, middle * shift))
                runs.append(Run(model, k, False, int(n), s, f"test-{k}", correct))
    return runs


def _exact(model, k, n, share, seed=0, items=400, test="t", distractor=False):
    """A run that answers exactly this share of the items."""
    return Run(model, k, distractor, n, seed, test, np.arange(items) < round(share * items))


def _store(directory, run, **changes):
    """The directory of a finished run, as far as reports and cells read it."""
    directory.mkdir(parents=True)
    record = {
        "format": "simtown-run",
        "status": "done",
        "model": run.model,
        "train_size": run.train_size,
        "seed": run.seed,
        "data": {"entities": run.entities, "distractor": run.distractor, "test_id": run.test_id},
        "test": {"accuracy": float(run.correct.mean()), "n": len(run.correct)},
    }
    (directory / "run.json").write_text(json.dumps(record | changes))
    np.savez(directory / "test.npz", correct=run.correct)
    row = {"step": 100, "train_accuracy": 0.123456, "val_accuracy": 0.5, "val_loss": 0.7}
    (directory / "metrics.jsonl").write_text(json.dumps(row) + "\n")


@pytest.fixture(scope="session")
def sizes():
    return _SIZES


@pytest.fixture(scope="session")
def accuracy_of():
    return _accuracy_of


@pytest.fixture(scope="session")
def simulate():
    return _simulate


@pytest.fixture(scope="session")
def exact():
    return _exact


@pytest.fixture(scope="session")
def store():
    return _store
