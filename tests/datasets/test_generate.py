"""The generation job: shards are whole or absent, any interruption may come, what is not its own stays."""

import errno
import os
import resource
import signal
import subprocess
import uuid
from dataclasses import replace
from functools import partial

import pytest

from simtown.core.callbacks import ProgressCallback
from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.datasets.making import manifests
from simtown.datasets.making.generate import generate
from simtown.datasets.making.shards import tasks
from simtown.datasets.reading.shard_file import read_entry
from simtown.datasets.settings import Settings
from tests.conftest import HANGS, Outcome
from tests.datasets.conftest import Moment


def flags(n, val=20, test=20, size=32, shard=10):
    numbers = {"entities": 20, "n": n, "val": val, "test": test, "size": size, "shard": shard}
    return [f"--{name}={value}" for name, value in numbers.items()]


SETTINGS = Settings(entities=20, n=900, val=20, test=20, width=32, height=32, shard=10)
SHORT = flags(120)
TINY = Settings(entities=20, n=12, val=4, test=0, width=32, height=32, shard=4)
TINY_WORDS = [*flags(12, 4, 0, shard=4), "--workers=1"]
#: For what needs few interruptions.
FEWER = replace(SETTINGS, n=120)


@pytest.fixture
def tiny(tmp_path):
    directory = tmp_path / "tiny"
    generate(TINY, directory, workers=1)
    return directory


def hidden(directory):
    return [p.name for p in directory.iterdir() if p.name.startswith(".")]


def stamp(path):
    """Another one once the file was written or replaced, however coarse the clock of the file system is."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


SHARD, BEGUN_SHARD = r"(train|val|test)-\d+\.h5", r"\.(train|val|test)-\d+\.h5\.[0-9a-f]{16}\.tmp"
#: Workers stop before their fourth shard has its name, so that no job ends while a test looks elsewhere.
FOURTH = Moment("worker", "os.rename", SHARD, 4)
#: Where a job is killed. The first kills come before anything is there, the others may come in any order.
WRITTEN = Moment("parent", "os.rename", r"manifest\.json")
EARLY = [Moment("parent", "import", r"simtown\.datasets\.making\.generate"), WRITTEN]
LATER = [
    Moment("worker", "import", r"simtown\.render\.renderers"),
    *(Moment("worker", "open", BEGUN_SHARD, nth) for nth in (1, 2, 3)),
    *(Moment("worker", "os.rename", SHARD, nth) for nth in (1, 2, 3)),
    WRITTEN,
]
#: Before a shard has its name, and before the manifest knows it.
CHOSEN = LATER[6:]
EVERY = pytest.param([*EARLY, *LATER], 900, marks=pytest.mark.slow)


@pytest.mark.parametrize(("moments", "n"), [(CHOSEN, 120), EVERY], ids=["chosen", "all"])
def test_a_job_that_is_killed_again_and_again_ends_alike(
    moments, n, tmp_path, gate, started, marked, until, cli, assert_whole
):
    """Its workers die with it, also those that are still starting, and write nothing any more."""
    directory = tmp_path / "town"
    mark, words = uuid.uuid4().hex, ["generate", *flags(n), "--out", directory, "--workers"]
    for moment in moments:
        stop = gate(moment, FOURTH)
        process = started(*words, 2, mark=mark, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if moment.role == "worker":
            until(lambda stop=stop: len(stop.waiting("worker")) == 2)
        else:
            until(lambda stop=stop: stop.waiting("parent"))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        before = set(directory.glob("*"))  # workers that waited have no file of theirs half renamed
        stop.open()  # a worker that outlived its parent would go on now
        until(lambda: not marked(mark))
        assert moment.role == "parent" or set(directory.glob("*")) == before
        manifest = directory / "manifest.json"
        assert not manifest.exists() or manifest.read_text().endswith("}\n")
    assert f"{n} train + 20 val + 20 test" in cli(*words, 1).succeeds().out
    assert_whole(directory, replace(SETTINGS, n=n))


def test_workers_that_are_killed_are_reported_and_the_job_continues(
    tmp_path, gate, started, marked, until, cli, assert_whole
):
    mark, directory = uuid.uuid4().hex, tmp_path / "town"
    stop = gate(Moment("worker", "os.rename", SHARD, 3))
    process = started("generate", *SHORT, "--workers", 2, "--out", directory, mark=mark)
    until(lambda: len(stop.waiting("worker")) == 2)
    for worker in stop.waiting("worker"):
        os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(timeout=HANGS)
    assert "Traceback" not in err
    Outcome(process.returncode, out, err).refuses("a worker process was ended by SIGKILL", code=1)
    until(lambda: not marked(mark))
    cli("generate", *SHORT, "--workers", 1, "--out", directory).succeeds()
    assert_whole(directory, FEWER)


def test_a_finished_data_set_is_left_alone(tmp_path, cli):
    words = ["generate", *TINY_WORDS, "--out", tmp_path / "town"]
    cli(*words).succeeds()
    before = {p: (stamp(p), p.read_bytes()) for p in (tmp_path / "town").iterdir()}
    assert len(before) == 4 + 3
    again = cli(*words).succeeds()
    assert "nothing was missing" in again.out
    assert {p: (stamp(p), p.read_bytes()) for p in (tmp_path / "town").iterdir()} == before


@pytest.mark.parametrize("words", ["entities 21", "size 32x48", "relations behind", "masks", "test-seed 4"])
def test_other_settings_on_the_same_directory_are_refused_by_name(words, tiny, cli, contents):
    before, (flag, *value) = contents(tiny), words.split()
    outcome = cli(
        "generate", *TINY_WORDS, f"--{flag}", *value, "--out", tiny
    )  # the last of two options counts
    outcome.refuses("other settings", f"--{flag}")
    assert contents(tiny) == before


def test_a_data_set_that_another_version_began_is_refused(tiny):
    manifest = manifests.load(tiny)
    manifests.save(tiny, {**manifest, "simtown": "0.0.1", "complete": False})
    with pytest.raises(ForeignDirectoryError, match=r"0\.0\.1"):
        generate(TINY, tiny, workers=1)
    manifests.save(tiny, {**manifest, "simtown": "0.0.1"})
    assert generate(TINY, tiny, workers=1)["simtown"] == "0.0.1"


def test_a_second_job_on_the_same_directory_is_refused(tmp_path, gate, started, until, cli, assert_whole):
    directory, stop = tmp_path / "town", gate(Moment("parent", "os.rename", SHARD, 3))
    first = started("generate", *SHORT, "--workers", 1, "--out", directory)
    until(stop.waiting)
    cli("generate", *SHORT, "--workers", 1, "--out", directory).refuses("another simtown generate")
    stop.open()
    _, err = first.communicate(timeout=HANGS)
    assert first.returncode == 0, err
    assert_whole(directory, FEWER)


def taken_away(directory):
    (directory / "train-00001.h5").unlink()


def not_listed(directory):
    """The job was killed before it saved the manifest."""
    manifest = manifests.fresh(TINY)
    for task in tasks(TINY):
        if task.name != "train-00002.h5":
            manifests.enter(manifest, task, read_entry(directory / task.name, task))
    manifests.save(directory, manifest)


def left_over(directory):
    taken_away(directory)
    for name in ("train-00001.h5", "manifest.json", "preview.png"):
        (directory / f".{name}.0123456789abcdef.tmp").write_bytes(b"half")


@pytest.mark.parametrize("damage", [taken_away, not_listed, left_over])
def test_what_is_missing_is_made_again_and_nothing_else(damage, tiny, contents):
    before = contents(tiny, besides=("timings.json",))
    made = {name: stamp(tiny / name) for name in before if name not in ("train-00001.h5", "manifest.json")}
    damage(tiny)
    generate(TINY, tiny, workers=1)
    assert contents(tiny, besides=("timings.json",)) == before
    assert {name: stamp(tiny / name) for name in made} == made
    assert hidden(tiny) == []


@pytest.mark.parametrize("damage", ["flipped", "short", "garbage unheard of"])
def test_a_damaged_shard_stops_the_job_and_stays(damage, tiny, cli):
    path = tiny / "train-00001.h5"
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        data[len(data) // 2] ^= 1
    elif damage == "short":
        del data[-100:]
    else:
        manifest = manifests.load(tiny)
        del manifest["shards"][path.name]
        manifests.save(tiny, {**manifest, "complete": False})
        data = bytearray(b"not HDF5")
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=r"train-00001\.h5"):
        generate(TINY, tiny, workers=1)
    cli("generate", *TINY_WORDS, "--out", tiny).refuses("train-00001.h5", "move it away", code=1)
    assert path.read_bytes() == data


def test_a_callback_receives_every_example_once(tmp_path):
    class Listener(ProgressCallback):
        made, begun = 0, None

        def on_begin(self, total, done):
            self.begun = (total, done)

        def on_progress(self, examples, seconds):
            self.made += examples
            assert all(s >= 0 for s in seconds.values())

    def heard(workers):
        listener = Listener()
        generate(TINY, tmp_path, workers=workers, callback=listener)
        return listener.begun, listener.made

    (tmp_path / ".manifest.json.0123456789abcdef.tmp").write_bytes(b"half")
    assert heard(workers=1) == ((16, 0), 16)
    assert hidden(tmp_path) == []
    (tmp_path / "train-00002.h5").unlink()
    (tmp_path / "val-00000.h5").unlink()
    assert heard(workers=2) == ((16, 8), 8)
    assert heard(workers=2) == ((16, 16), 0)


def test_settings_are_checked_before_anything_is_written(tmp_path):
    for settings, workers in ((replace(TINY, n=3), 1), (TINY, 0), (TINY, -1)):
        with pytest.raises(ValueError, match="must be"):
            generate(settings, tmp_path / "town", workers=workers)
    assert not (tmp_path / "town").exists()


def test_a_limit_on_file_size_is_one_line_and_the_job_continues(tmp_path, shell, cli, assert_whole):
    """HDF5 would crash if it were told that it cannot write."""
    settings = Settings(entities=20, n=100, val=0, test=0, width=64, height=64, shard=50)
    words = ["generate", *flags(100, 0, 0, size=64, shard=50), "--workers", 1, "--out", tmp_path / "town"]
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    shell(*words, preexec_fn=limit).refuses()
    assert hidden(tmp_path / "town") == []
    cli(*words).succeeds()
    assert_whole(tmp_path / "town", settings)


def test_a_disk_that_is_full_for_a_while_is_one_line(tmp_path, cli, assert_whole, monkeypatch):
    """Some file systems say so when a file is synchronised: here the third shard's."""
    directory, sync, made = tmp_path / "town", os.fsync, []

    def fsync(handle):
        name = os.readlink(f"/proc/self/fd/{handle}")
        made.extend([name] if ".h5." in name else [])
        if len(made) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    words = ["generate", *SHORT, "--workers", 1, "--out", directory]
    monkeypatch.setattr(os, "fsync", fsync)
    cli(*words).refuses("disk is full")
    assert hidden(directory) == []
    assert len(list(directory.glob("*.h5"))) == 2
    monkeypatch.setattr(os, "fsync", sync)
    cli(*words).succeeds()
    assert_whole(directory, FEWER)
