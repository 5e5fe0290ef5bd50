"""What the tests of training share: one state of PyTorch, learning curves whose truth is known, and runs that
follow them.
"""

import json
import sys

import numpy as np
import pytest
from scipy import stats

from simtown.training.results import Run


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """A model's numbers depend on how many threads share a sum; and one works quickest here, even beside
    other jobs.
    """
    torch = sys.modules.get("torch")  # whoever needs it has imported it
    before = torch.get_num_threads() if torch else 1
    if torch:
        torch.set_num_threads(1)
    yield
    if torch:
        torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def same_torch(monkeypatch):
    """Every test begins with the same random numbers, leaves none behind, and sees no graphics card:

    "--device auto" is the processor.
    """
    torch = sys.modules.get("torch")
    if not torch:
        yield
        return
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


@pytest.fixture
def same_dropout(monkeypatch):
    """PyTorch's dropout of whole channels draws the same numbers in whatever precision."""
    torch = sys.modules["torch"]

    def drop(x, p=0.5, training=True, inplace=False):
        keep = torch.empty(x.shape[:2]).bernoulli_(1 - p).div_(1 - p or 1)
        return x * keep[:, :, None, None] if training else x

    monkeypatch.setattr(torch.nn.functional, "dropout2d", drop)


@pytest.fixture
def undrawn(monkeypatch):
    """Runs draw no curve, which takes a third of the time of a small one."""
    monkeypatch.setattr("simtown.training.fit._draw_curve", lambda directory: None)


@pytest.fixture
def own_modules(tmp_path, monkeypatch):
    """Forgets what the test adds to the import path and what it imports from its own directory."""
    monkeypatch.setattr(
        sys, "path", [p for p in sys.path if p]
    )  # "" would be the working directory, which a test changes
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(f"{tmp_path}/"):
            del sys.modules[name]


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
    directory.mkdir(parents=True)
    told = {
        "format": "simtown-run",
        "status": "done",
        "model": run.model,
        "train_size": run.train_size,
        "seed": run.seed,
        "steps": 10,
        "epochs": 2,
        "data": {"entities": run.entities, "distractor": run.distractor, "test_id": run.test_id},
        "test": {"accuracy": float(run.correct.mean())},
    }
    (directory / "run.json").write_text(json.dumps(told | changes))
    np.savez(directory / "test.npz", correct=run.correct)


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
