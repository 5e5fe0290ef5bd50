"""Learning curves whose truth is known, and runs that follow them."""

import json

import numpy as np
from scipy import stats

from simtown.complexity.finished_runs import Run

SIZES = np.array([500, 1000, 2000, 5000, 10000, 20000])


def accuracy_of(n, middle):
    """A learning curve that takes off at `middle` samples."""
    return 0.5 + 0.49 / (1 + (middle / n) ** 1.6)


def simulate(middles, seeds=3, items=400, sizes=SIZES, scatter=0.2, start=0):
    """Runs of {(model, entities): middle}; a seed shifts log n by `scatter`, some items are hard for all."""
    rng, runs = np.random.default_rng(start), []
    hard = {k: rng.normal(size=items) for k in sorted({k for _, k in middles})}
    for (model, k), middle in middles.items():
        for s in range(seeds):
            shift = np.exp(scatter * rng.normal())
            for n in sizes:
                luck = np.sqrt(0.4) * hard[k] + np.sqrt(0.6) * rng.normal(size=items)
                correct = luck < stats.norm.ppf(accuracy_of(n, middle * shift))
                runs.append(Run(model, k, False, int(n), s, f"test-{k}", correct))
    return runs


def exact(model, k, n, share, seed=0, items=400, test="t", distractor=False):
    """A run that answers exactly this share of the items."""
    return Run(model, k, distractor, n, seed, test, np.arange(items) < round(share * items))


def store(directory, run, **changes):
    """The directory of a finished run, as far as reports and cells read it."""
    directory.mkdir(parents=True)
    record = {"format": "simtown-run", "status": "done", "model": run.model, "train_size": run.train_size}
    data = {"entities": run.entities, "distractor": run.distractor, "test_id": run.test_id}
    test = {"accuracy": float(run.correct.mean()), "n": len(run.correct)}
    record |= {"seed": run.seed, "data": data, "test": test}
    (directory / "run.json").write_text(json.dumps(record | changes))
    np.savez(directory / "test.npz", correct=run.correct)
    row = {"step": 100, "train_accuracy": 0.123456, "val_accuracy": 0.5, "val_loss": 0.7}
    (directory / "metrics.jsonl").write_text(json.dumps(row) + "\n")
