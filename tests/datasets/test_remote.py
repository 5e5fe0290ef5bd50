"""Data sets behind URLs: a real S3 server on this machine holds the bytes that a directory holds."""

import itertools
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.datasets.addresses import path_of, url_of
from simtown.datasets.making import shards
from simtown.datasets.making.generate import generate
from simtown.datasets.proving.verify import verify
from simtown.datasets.reading.locate import find
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.remote import DirectoryStore, Remote, store_of
from simtown.datasets.settings import Settings

pytest.importorskip("s3fs", reason="needs s3fs: pip install '.[cluster]'")
pytest.importorskip("moto.server", reason="needs moto and flask: pip install '.[dev]'")

import fsspec

from tests.datasets.s3 import bucket

SETTINGS = Settings(entities=20, n=20, val=4, test=4, width=32, height=32, shard=10)
WORDS = ["--entities", 20, "--n", 20, "--val", 4, "--test", 4, "--size", 32, "--shard", 10, "--workers", 1]


@pytest.fixture(scope="module")
def s3():
    with bucket() as url:
        yield url


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def local(tmp_path, contents):
    generate(SETTINGS, tmp_path / "local", workers=1)
    return contents(tmp_path / "local", besides=("timings.json", "preview.png"))


@pytest.fixture
def town(s3, request):
    """A URL nothing lies behind."""
    return f"{s3}/{request.node.name}"


def fetched(url, tmp_path):
    target = tmp_path / "fetched"
    shutil.rmtree(target, ignore_errors=True)
    fsspec.filesystem("s3").get(url, str(target), recursive=True)
    return target


def test_generate_writes_the_same_bytes_behind_a_url(town, tmp_path, local, contents, cli):
    told = cli("generate", *WORDS, "--out", town).succeeds()
    assert told.out.startswith(f"{town}: 20 train")
    assert f"{town}/preview.png" in told.out
    there = fetched(town, tmp_path)
    assert contents(there, besides=("timings.json", "preview.png")) == local
    assert {p.name for p in there.iterdir()} - set(local) == {"timings.json", "preview.png"}
    said = "28 examples match their settings; all 28 pictures drawn again, identical"
    assert cli("verify", town).succeeds().out == f"{town}: OK, 20 entities, seed 0: {said}\n"
    assert town in cli("info", town).succeeds().out.replace("\n", "")
    assert open_dataset(town).test[3].question in cli("info", f"{town}/test:3").succeeds().out
    assert "nothing was missing" in cli("generate", *WORDS, "--out", town).succeeds().out
    cli("generate", *WORDS, "--seed", 3, "--out", town).refuses("--seed 0, now 3")


def test_what_is_missing_is_made_again_and_nothing_else(town, tmp_path, local, contents, monkeypatch):
    manifest = generate(SETTINGS, town, workers=1)
    files = fsspec.filesystem("s3")
    files.rm(f"{town}/train-00001.h5")
    del manifest["shards"]["test-00000.h5"], manifest["summary"]["test"]
    manifest["complete"] = False
    Remote(town).save_manifest(manifest)
    making, written = Remote.making, []
    monkeypatch.setattr(Remote, "making", lambda self, name: (written.append(name), making(self, name))[1])
    generate(SETTINGS, town, workers=1)
    assert contents(fetched(town, tmp_path), besides=("timings.json",)) == local
    assert set(written) == {"train-00001.h5", "manifest.json", "timings.json"}


def test_shards_lie_in_folders_behind_a_url_too(town, tmp_path, contents, monkeypatch):
    """A split of more than three shards, as one of more than a thousand."""
    monkeypatch.setattr(shards, "FOLDER", 3)
    settings = replace(SETTINGS, shard=4)
    generate(settings, town, workers=1)
    generate(settings, tmp_path / "local", workers=1)
    names = {name for name in Remote(town).listing()[0] if name.endswith(".h5")}
    train = {f"train/{i // 3:05d}/train-{i:05d}.h5" for i in range(5)}
    assert names == train | {"test-00000.h5", "val-00000.h5"}
    here, there = tmp_path / "local", fetched(town, tmp_path)
    assert contents(here, ("timings.json",)) == contents(there, ("timings.json",))
    assert verify(town).problems == []
    data, same = open_dataset(town), open_dataset(tmp_path / "local")
    assert np.array_equal(data.train.images([17, 0, 9]), same.train.images([17, 0, 9]))
    split, row, _ = find(f"{town}/train:17")
    assert split.rows(("index",), [row])["index"].tolist() == [17]
    files = fsspec.filesystem("s3")
    foreign = ("train/00001/notes.txt", "train/00007/train-00021.h5", "val/00000/val-00000.h5")
    for name in foreign:
        files.pipe_file(f"{town}/{name}", b"milk")
    files.rm(f"{town}/train/00001/train-00004.h5")
    named = ["train/00001/notes.txt", "train/00007", "val", "train/00001/train-00004.h5"]
    assert [line.split(":")[0] for line in verify(town).problems] == named
    for name in foreign:
        files.rm(f"{town}/{name}")
    generate(settings, town, workers=1)
    assert verify(town).problems == []


def test_reading_fetches_each_shard_once_and_only_when_it_is_needed(town, tmp_path, cache):
    generate(SETTINGS, town, workers=1)
    generate(SETTINGS, tmp_path / "local", workers=1)
    data, same = open_dataset(town), open_dataset(tmp_path / "local")

    def shards():
        return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in cache.rglob("*.h5")}

    assert not shards()
    assert np.array_equal(data.val.images([2, 0]), same.val.images([2, 0]))
    assert list(shards()) == ["val-00000.h5"]
    assert data.train[13].question == same.train[13].question
    assert sorted(shards()) == ["train-00001.h5", "val-00000.h5"]
    assert np.array_equal(data.train.column("answer"), same.train.column("answer"))
    before = shards()
    copied = pickle.loads(pickle.dumps(data.train))
    assert np.array_equal(copied.images([19]), same.train.images([19]))
    assert np.array_equal(open_dataset(town).train.column("tokens"), same.train.column("tokens"))
    assert shards() == before


def test_damage_behind_a_url_is_found(town):
    generate(SETTINGS, town, workers=1)
    files = fsspec.filesystem("s3")
    whole = files.cat_file(f"{town}/val-00000.h5")
    files.pipe_file(f"{town}/val-00000.h5", whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(DamagedError, match="checksum"):
        open_dataset(town).val.images([0])
    assert verify(town).problems == ["val-00000.h5: it does not match its checksum: a byte of it was changed"]
    files.pipe_file(f"{town}/notes/list.txt", b"milk")
    files.pipe_file(f"{town}/copy.h5", b"HDF5")
    assert [line.split(":")[0] for line in verify(town).problems] == ["copy.h5", "notes", "val-00000.h5"]
    manifest = files.cat_file(f"{town}/manifest.json")
    files.pipe_file(f"{town}/manifest.json", manifest.replace(b'"seed": 0', b'"seed": 8'))
    with pytest.raises(DamagedError, match=f"{town}/manifest.json"):
        verify(town)
    files.pipe_file(f"{town}/manifest.json", manifest)
    files.rm(f"{town}/test-00000.h5")
    with pytest.raises(DamagedError, match=r"test-00000\.h5"):
        open_dataset(town).test.images([0])
    files.pipe_file(f"{town}/val-00000.h5", whole[:-1])
    with pytest.raises(DamagedError, match="checksum"):
        generate(SETTINGS, town, workers=1)


def test_a_data_set_behind_a_plain_web_server_is_verified(web, local, cli):
    pytest.importorskip("aiohttp", reason="needs aiohttp: pip install '.[cluster]'")
    cli("verify", f"{web}/local").succeeds()


def test_a_url_that_leads_nowhere_is_one_line(s3, cli):
    for url in ("s3://no-such-bucket-here/town", "nowhere://town/x"):
        cli("generate", *WORDS, "--out", url).refuses(url.split("/")[2])
    cli("info", "s3://no-such-bucket-here/town").refuses("no-such-bucket-here")


def test_every_spelling_of_a_url_is_one_place(s3, cli):
    generate(SETTINGS, f"S3{s3[2:]}/a//./b#1?x", workers=1)
    town = f"{s3}/a/b#1?x"
    assert f"{town.removeprefix('s3://')}/manifest.json" in fsspec.filesystem("s3").ls(town)
    assert cli("verify", f"{s3}//a/./b#1?x").succeeds().out.startswith(f"{town}: OK, 20 entities")
    assert find(f"{s3}/a//b#1?x/train:1")[2] == "b-1-x-train-1"
    assert open_dataset(Path(f"{s3}/a//b#1?x")).name == "b-1-x"


@pytest.mark.parametrize("scheme", ["reference", "hf", "dir", "gist", "github", "memory"])
def test_a_url_without_what_its_file_system_needs_is_one_line(scheme, cli):
    for command, rest in itertools.product(("info", "fit"), ("", "x", "/x")):
        cli(command, f"{scheme}://{rest}").refuses(f"{scheme}://{rest}")


def test_places_by_their_words(tmp_path):
    assert url_of("s3://b/x") == url_of(path_of("s3://b/x")) == url_of("S3://b//./x/") == "s3://b/x"
    assert url_of("out/demo") is url_of("/abs/x") is url_of("file:///abs/x") is None
    assert isinstance(store_of("FILE:///abs/x"), DirectoryStore)
    assert str(store_of("file:///abs/x")) == "/abs/x"
    assert str(store_of("s3://b/x/")) == "s3://b/x"
