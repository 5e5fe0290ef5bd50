"""The cache of shards from behind a URL: within its limit, ahead of its reader, and shared."""

from threading import Event, Thread

import numpy as np
import pytest

from simtown.core.untrusted import RefusedError
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.remote import LIMIT, Remote, ShardCache
from simtown.datasets.settings import Settings
from tests.conftest import HANGS

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install '.[cluster]'")

SHARDS = [f"train-{number:05d}.h5" for number in range(8)]


@pytest.fixture(scope="module")
def local(dataset_of):
    """Eight shards of four training examples, all of about as many bytes."""
    return dataset_of(Settings(entities=5, n=32, val=0, test=0, width=32, height=32, shard=4))


@pytest.fixture
def remote(local, tmp_path, monkeypatch):
    """The URL of the data set, in the memory of this process; its shards come into an empty cache."""
    url = f"memory://{tmp_path.name}/town"
    for path in local.iterdir():
        fsspec.filesystem("memory").pipe_file(f"{url}/{path.name}", path.read_bytes())
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))
    return url


@pytest.fixture
def allow(local, monkeypatch):
    """Let the cache hold so many shards."""
    largest = max((local / name).stat().st_size for name in SHARDS)
    return lambda count: monkeypatch.setenv(LIMIT, f"{count * largest / 1e9:.12f}")


@pytest.fixture
def fetched(monkeypatch):
    """The names of files, as their downloads begin; fetched.hook(name) is called then."""

    class Fetched(list):
        def hook(self, name):
            """Nothing, unless a test says otherwise."""

    get, names = Remote.get, Fetched()

    def counted(self, name, path):
        names.append(name)
        names.hook(name)
        get(self, name, path)

    monkeypatch.setattr(Remote, "get", counted)
    return names


def kept(cache):
    return sorted(path.name for path in cache.rglob("*.h5"))


def test_a_stream_stays_within_the_limit(remote, local, tmp_path, allow):
    allow(3)
    same = open_dataset(local).train
    for first, block in open_dataset(remote).train.stream(["images", "tokens"], 2):
        rows = slice(first, first + 2)
        assert np.array_equal(block["images"], same.images(np.arange(32)[rows]))
        assert np.array_equal(block["tokens"], same.column("tokens")[rows])
        assert len(kept(tmp_path / "cache")) <= 3 + 1  # two are fetched at once
    assert first == 30


def test_the_next_shards_are_fetched_while_one_is_read(remote, fetched):
    begun = {name: Event() for name in SHARDS}
    fetched.hook = lambda name: begun[name].set() if name in begun else None
    rows = open_dataset(remote).train.stream(["answer"], 1)
    assert next(rows)[0] == 0
    assert begun[SHARDS[1]].wait(HANGS)
    assert begun[SHARDS[2]].wait(HANGS)
    assert not begun[SHARDS[3]].is_set()
    assert len(list(rows)) == 31


def test_a_shuffled_reader_fetches_all_that_it_will_read_next(remote, local, fetched):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    from simtown.datasets.reading.shuffled import Shuffled

    begun = {name: Event() for name in SHARDS}
    fetched.hook = lambda name: begun[name].set() if name in begun else None
    batches = iter(Shuffled(open_dataset(remote).train, 4))
    first = next(batches)
    for event in begun.values():
        assert event.wait(HANGS)
    rest = torch.cat([batch["tokens"] for batch in [first, *batches]])
    same = open_dataset(local).train.column("tokens")
    assert sorted(map(tuple, rest.tolist())) == sorted(map(tuple, same.tolist()))


def test_what_fails_in_the_background_is_reported_by_its_reader(remote):
    fsspec.filesystem("memory").rm(f"{remote}/{SHARDS[1]}")
    rows = open_dataset(remote).train.stream(["answer"], 4)
    next(rows)
    with pytest.raises(RuntimeError, match=rf"lacks its shard {SHARDS[1]}"):
        next(rows)


def test_what_was_used_longest_ago_goes_first(remote, tmp_path, allow):
    allow(3)
    cache = ShardCache(Remote(remote))
    for number in (0, 1, 2, 0, 3):
        cache.fetch(cache.path / SHARDS[number])
    assert kept(tmp_path / "cache") == [SHARDS[0], SHARDS[2], SHARDS[3]]


def test_readers_of_one_shard_fetch_it_once(remote, fetched):
    caches = [ShardCache(Remote(remote)) for _ in range(4)]
    fetched.clear()
    threads = [Thread(target=cache.fetch, args=(cache.path / SHARDS[0],)) for cache in caches]
    fetched.hook = lambda name: [thread.start() for thread in threads[1:]]  # while the first one fetches it
    threads[0].start()
    for thread in threads:
        thread.join(HANGS)
    assert fetched == [SHARDS[0]]


def test_a_fetch_that_fails_leaves_nothing_and_what_a_killed_process_left_goes(remote, fetched):
    cache = ShardCache(Remote(remote))
    (cache.path / f".{SHARDS[0]}.{'a' * 16}.tmp").write_bytes(b"half")

    def fail(name):
        raise OSError(5, "the network is gone")

    fetched.hook = fail
    with pytest.raises(OSError, match="network"):
        cache.fetch(cache.path / SHARDS[0])
    assert [path.name for path in cache.path.iterdir()] == [f".{SHARDS[0]}.lock"]


def test_a_cache_leads_nowhere_else(remote, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "data").symlink_to(tmp_path / "outside")
    with pytest.raises(RefusedError, match="symbolic link"):
        open_dataset(remote)
    (tmp_path / "cache" / "data").unlink()
    (tmp_path / "secret").write_bytes(b"mine")
    (ShardCache(Remote(remote)).path / SHARDS[0]).symlink_to(tmp_path / "secret")
    with pytest.raises(RefusedError, match="symbolic link"):
        open_dataset(remote).train.column("answer")


@pytest.mark.parametrize("text", ["many", "0", "-1", "inf", "nan"])
def test_a_limit_must_be_a_number_of_gigabytes(text, remote, monkeypatch, cli):
    monkeypatch.setenv(LIMIT, text)
    cli("info", remote).refuses(f"{LIMIT}={text}")
