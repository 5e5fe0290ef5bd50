"""The cache of shards from behind a URL: within its limit, ahead of its reader, and shared."""

import gc
import os
import pickle
from threading import Event, Thread

import numpy as np
import pytest

from simtown.datasets.job import generate
from simtown.datasets.mirror import LIMIT, Mirror, _alone, _content
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.stores import Remote
from tests.conftest import HANGS

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install '.[cluster]'")

SHARDS = [f"train-{number:05d}.h5" for number in range(8)]


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Eight shards of four training examples, all of about as many bytes."""
    directory = tmp_path_factory.mktemp("mirrored") / "town"
    generate(Settings(entities=5, n=32, val=0, test=0, width=32, height=32, shard=4), directory, workers=1)
    return directory


@pytest.fixture
def largest(local):
    return max((local / name).stat().st_size for name in SHARDS)


@pytest.fixture
def remote(local, tmp_path, monkeypatch):
    """The URL of the data set, in the memory of this process; its shards come into an empty cache."""
    url = f"memory://{tmp_path.name}/town"
    for path in local.iterdir():
        fsspec.filesystem("memory").pipe_file(f"{url}/{path.name}", path.read_bytes())
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))
    return url


@pytest.fixture
def allow(monkeypatch):
    """Let the cache hold so many bytes."""
    return lambda count: monkeypatch.setenv(LIMIT, str(count / 1e9))


@pytest.fixture
def fetched(monkeypatch):
    """The names of files, as their downloads begin; fetched.hook(name) is called then."""

    class Fetched(list):
        def hook(self, name):
            """Nothing, unless a test says otherwise."""

    get, names = Remote.get, Fetched()

    def told(self, name, path, most):
        names.append(name)
        names.hook(name)
        get(self, name, path, most)

    monkeypatch.setattr(Remote, "get", told)
    return names


def used_by(cache):
    """Bytes of all shards that are there or about to be."""
    with _alone(cache / "data" / ".room.lock"):
        return _content(cache)[1]


def kept(cache):
    return sorted(path.name for path in cache.rglob("*.h5"))


def test_a_stream_stays_within_the_limit(remote, local, tmp_path, allow, largest, fetched):
    allow(3 * largest)
    used = []
    data = open_dataset(remote)
    fetched.hook = lambda name: used.append(used_by(tmp_path / "cache"))
    blocks = []
    for _, block in data.train.stream(["images", "tokens"], 2):
        blocks.append(block)
        used.append(used_by(tmp_path / "cache"))
    assert max(used) <= 3 * largest
    assert sorted(fetched[1:]) == SHARDS  # each once
    same = open_dataset(local).train
    assert np.array_equal(np.concatenate([block["images"] for block in blocks]), same.images(range(32)))
    assert np.array_equal(np.concatenate([block["tokens"] for block in blocks]), same.column("tokens"))
    assert len(kept(tmp_path / "cache")) <= 3


def test_the_next_shard_is_fetched_while_one_is_read(remote, fetched):
    begun = {name: Event() for name in SHARDS}
    fetched.hook = lambda name: begun[name].set() if name in begun else None
    rows = open_dataset(remote).train.stream(["answer"], 1)
    first, _ = next(rows)
    assert first == 0
    assert begun[SHARDS[1]].wait(HANGS)
    assert begun[SHARDS[2]].wait(HANGS)
    assert not begun[SHARDS[3]].is_set()
    assert len(list(rows)) == 31


def test_pieces_of_one_shard_have_the_next_one_fetched(remote, fetched):
    begun = {name: Event() for name in SHARDS}
    fetched.hook = lambda name: begun[name].set() if name in begun else None
    split = open_dataset(remote).train
    assert len(list(split.stream(["answer"], 4, begin=8, end=10, onward=False))) == 1
    assert fetched[1:] == [SHARDS[2]]
    assert len(list(split.stream(["answer"], 4, begin=12, end=16))) == 1
    assert begun[SHARDS[4]].wait(HANGS)
    assert begun[SHARDS[5]].wait(HANGS)
    assert not any(begun[name].is_set() for name in (*SHARDS[:2], *SHARDS[6:]))


def test_a_shuffled_reader_fetches_all_that_it_will_read_next(remote, local, fetched):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    from simtown.datasets.shuffled import Shuffled

    begun = {name: Event() for name in SHARDS}
    fetched.hook = lambda name: begun[name].set() if name in begun else None
    batches = iter(Shuffled(open_dataset(remote).train, 4))
    first = next(batches)
    for event in begun.values():
        assert event.wait(HANGS)
    rest = torch.cat([batch["tokens"] for batch in [first, *batches]])
    assert sorted(map(tuple, rest.tolist())) == sorted(
        map(tuple, open_dataset(local).train.column("tokens").tolist())
    )


def test_what_fails_in_the_background_is_reported_by_its_reader(remote, fetched):
    fsspec.filesystem("memory").rm(f"{remote}/{SHARDS[1]}")
    rows = open_dataset(remote).train.stream(["answer"], 4)
    next(rows)
    with pytest.raises(RuntimeError, match=rf"lacks its shard {SHARDS[1]}"):
        next(rows)


def test_what_was_used_longest_ago_goes_first(remote, tmp_path, allow, largest):
    allow(3 * largest)
    mirror = Mirror(Remote(remote))
    for number in (0, 1, 2, 0, 3):
        mirror.fetch(mirror.path / SHARDS[number])
    assert kept(tmp_path / "cache") == [SHARDS[0], SHARDS[2], SHARDS[3]]


def test_an_open_shard_stays(remote, local, tmp_path, allow, largest):
    allow(2 * largest)
    data, same = open_dataset(remote), open_dataset(local).train
    assert np.array_equal(data.train.images([0]), same.images([0]))
    mirror = Mirror(Remote(remote))
    for number in (1, 2, 3):
        mirror.fetch(mirror.path / SHARDS[number])
    assert kept(tmp_path / "cache") == [SHARDS[0], SHARDS[3]]
    del data
    gc.collect()
    mirror.fetch(mirror.path / SHARDS[4])
    assert kept(tmp_path / "cache") == [SHARDS[3], SHARDS[4]]


def test_a_shard_larger_than_the_limit_is_kept_alone(remote, local, tmp_path, allow):
    allow(1)
    rows = [block["answer"] for _, block in open_dataset(remote).train.stream(["answer"], 4)]
    assert np.array_equal(np.concatenate(rows), open_dataset(local).train.column("answer"))
    assert len(kept(tmp_path / "cache")) == 1


def test_what_was_removed_is_fetched_again(remote, local, tmp_path, fetched):
    data = open_dataset(remote)
    split = pickle.loads(pickle.dumps(data.train))
    before = split.images([0, 31])
    for path in (tmp_path / "cache").rglob("*.h5"):
        path.unlink()
    assert np.array_equal(split.images([0, 31]), before)  # of the files that are open
    other = pickle.loads(pickle.dumps(split))
    assert np.array_equal(other.images([0, 31]), open_dataset(local).train.images([0, 31]))
    assert fetched[1:] == [SHARDS[0], SHARDS[7]] * 2


def test_those_who_want_one_shard_at_once_fetch_it_once(remote, fetched):
    mirrors = [Mirror(Remote(remote)) for _ in range(4)]
    fetched.clear()
    threads = [Thread(target=mirror.fetch, args=(mirror.path / SHARDS[0],)) for mirror in mirrors]
    fetched.hook = lambda name: [
        thread.start() for thread in threads[1:]
    ]  # the others come while it is fetched
    threads[0].start()
    threads[0].join(HANGS)
    for thread in threads[1:]:
        thread.join(HANGS)
    assert fetched == [SHARDS[0]]


def test_what_a_killed_process_left_goes(remote, tmp_path, allow, largest):
    allow(2 * largest)
    mirror = Mirror(Remote(remote))
    reserved = mirror.path / f".{SHARDS[5]}.lock"
    reserved.write_bytes(b"")
    os.truncate(reserved, largest)
    for number in (0, 5):
        (mirror.path / f".{SHARDS[number]}.{'a' * 16}.tmp").write_bytes(b"half")
    for number in (0, 1):
        mirror.fetch(mirror.path / SHARDS[number])
    assert sorted(path.name for path in mirror.path.iterdir()) == ["manifest.json", *SHARDS[:2]]


def test_a_fetch_that_fails_leaves_nothing(remote, fetched):
    def fail(name):
        raise OSError(5, "the network is gone")

    mirror = Mirror(Remote(remote))
    fetched.hook = fail
    with pytest.raises(OSError, match="network"):
        mirror.fetch(mirror.path / SHARDS[0])
    assert [path.name for path in mirror.path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("text", ["many", "0", "-1", "inf", "nan"])
def test_a_limit_that_is_none_is_refused(text, remote, monkeypatch, cli):
    monkeypatch.setenv(LIMIT, text)
    cli("info", remote).refuses(f"{LIMIT}={text}", "number of gigabytes")
