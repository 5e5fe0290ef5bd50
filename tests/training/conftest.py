"""What the tests of training share: one state of PyTorch."""

import sys
from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """A model's numbers depend on how many threads share a sum."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def same_torch(monkeypatch):
    """Every test begins with the same random numbers, leaves none behind, and sees no graphics card."""
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


@pytest.fixture(scope="session")
def data(dataset_of):
    """The directory of the small data set that SMALL runs are trained on."""
    from tests.training import towns

    return dataset_of(towns.TOWN)


@pytest.fixture
def undrawn(monkeypatch):
    """Runs draw no curve, which takes a third of the time of a small one."""
    monkeypatch.setattr("simtown.training.fit.curve", lambda *given: None)


@pytest.fixture
def in_this_process(monkeypatch, undrawn):
    """What a sweep makes is made here, one run after the other, instead of in workers."""
    from simtown.core.pool import Processes

    def here(self, function, pieces, shared, progress, **settings):
        for cell in pieces:
            yield cell, function(cell, partial(progress, cell), *shared)

    monkeypatch.setattr(Processes, "outcomes", here)
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)  # this process keeps its own number
    monkeypatch.setattr("simtown.datasets.making.generate.default_workers", lambda: 1)


@pytest.fixture
def own_modules(tmp_path, monkeypatch):
    """Forgets what the test adds to the import path and what it imports from its own directory."""
    # "" would be the working directory, which a test changes
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(f"{tmp_path}/"):
            del sys.modules[name]
