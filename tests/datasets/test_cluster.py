"""A Ray cluster of several nodes on this machine makes the bytes that one process makes, whatever dies meanwhile."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("ray")

from simtown.cluster import Cluster
from simtown.datasets.engines import OnCluster
from simtown.datasets.job import Silent, generate
from simtown.datasets.settings import Settings
from simtown.datasets.stores import Remote, store_of
from simtown.language.sampler import ImpossibleError
from simtown.processes import WorkerError
from tests.datasets.s3 import bucket

SETTINGS = Settings(entities=20, n=40, val=10, test=10, width=32, height=32, shard=10)
WORDS = ["--entities", 20, "--n", 40, "--val", 10, "--test", 10, "--size", 32, "--shard", 10]
LARGE = Settings(entities=20, n=3_000, val=20, test=20, width=64, height=64, masks=True, shard=50)
MADE_AFTER = ("timings.json", "preview.png")
#: Of every node: no processors at the head, so that whatever dies is no piece of the cluster's own.
NODE = {"object_store_memory": 80_000_000, "include_dashboard": False}


@contextlib.contextmanager
def nodes(count):
    """A cluster with a head and so many nodes of one processor; the processes it starts are marked in their environment."""
    from ray.cluster_utils import Cluster as Nodes

    before, mark = os.environ.get("SIMTOWN_TEST"), uuid.uuid4().hex
    os.environ["SIMTOWN_TEST"] = mark
    cluster = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, **NODE})
    try:
        yield cluster, [cluster.add_node(num_cpus=1, **NODE) for _ in range(count)], mark
    finally:
        cluster.shutdown()
        os.environ.pop("SIMTOWN_TEST") if before is None else os.environ.update(SIMTOWN_TEST=before)


def workers_of(mark, marked):
    """Processes of the cluster that are at work on a piece."""
    found = []
    for pid in marked(mark):
        with contextlib.suppress(OSError):
            if b"ray::_call" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


class Witness(Silent):
    """Counts what it is told."""

    def __init__(self):
        self.total = self.made = 0

    def started(self, total, done):
        self.total, self.made = total, done

    def advanced(self, examples, seconds):
        self.made += examples


@pytest.fixture
def undisturbed(tmp_path, contents):
    generate(SETTINGS, tmp_path / "alone", workers=1)
    return contents(tmp_path / "alone", besides=MADE_AFTER)


def test_a_cluster_makes_the_bytes_of_one_process(tmp_path, contents, cli, undisturbed):
    """The command on a cluster of two nodes; then what is missing of it; then what cannot be made."""
    with nodes(2) as (cluster, _, _):
        words = ["generate", *WORDS, "--engine", "ray", "--address", cluster.address, "--out"]
        assert "40 train" in cli(*words, tmp_path / "town").succeeds().out
        assert contents(tmp_path / "town", besides=MADE_AFTER) == undisturbed
        assert json.loads((tmp_path / "town" / "timings.json").read_text())["runs"][0]["workers"] == 2
        (tmp_path / "town" / "train-00002.h5").unlink()
        (tmp_path / "town" / ".val-00000.h5.99.tmp").touch()
        assert "10 examples in" in cli(*words, tmp_path / "town").succeeds().out
        assert contents(tmp_path / "town", besides=MADE_AFTER) == undisturbed
        with Cluster(cluster.address) as there:
            pieces = dict(there.map(_power, range(20), (3,)))
            assert pieces == {i: i**3 for i in range(20)}
            ((_, refused),) = there.map(_refuse, [7], ())
            assert type(refused) is ImpossibleError
            assert str(refused) == "no place for 7"
            ((_, dead),) = there.map(_die, [0], (), retries=1)
            assert type(dead) is WorkerError
            assert "died 2 times" in str(dead)


def _power(piece, exponent):
    return piece**exponent


def _refuse(piece):
    raise ImpossibleError(f"no place for {piece}")


def _die(piece):
    os.kill(os.getpid(), signal.SIGKILL)


def disturb(cluster, there, mark, marked, made, done):
    """When a tenth is made, kill a worker; when a third is, a whole node; then a second worker; `done` stops waiting."""

    def until(count):
        while made() < count and not done.is_set():
            time.sleep(0.05)

    def kill_a_worker():
        while not (found := workers_of(mark, marked)) and not done.is_set():
            time.sleep(0.02)  # all are between two pieces
        for pid in found[:1]:
            os.kill(pid, signal.SIGKILL)
            killed.append(("worker", made()))

    killed = []
    until(6)
    kill_a_worker()
    until(20)
    cluster.remove_node(there[0], allow_graceful=False)
    killed.append(("node", made()))
    until(30)
    kill_a_worker()
    return killed


@pytest.mark.slow
@pytest.mark.parametrize("where", ["a shared directory", "S3"])
def test_a_worker_and_a_node_die_and_nothing_is_lost_or_doubled(where, tmp_path, contents, marked):
    generate(LARGE, tmp_path / "alone", workers=1)
    with bucket() if where == "S3" else contextlib.nullcontext(str(tmp_path)) as base, nodes(3) as (cluster, there, mark):
        place, witness, done, killed = f"{base}/town", Witness(), threading.Event(), []
        store = store_of(place)

        def made():
            return sum(name.endswith(".h5") and not name.startswith(".") for name in store.sizes()) if witness.total else 0

        storm = threading.Thread(target=lambda: killed.extend(disturb(cluster, there, mark, marked, made, done)))
        storm.start()
        try:
            with Cluster(cluster.address) as connected:
                manifest = generate(LARGE, place, watcher=witness, engine=OnCluster(connected))
        finally:
            done.set()
            storm.join()
        assert [what for what, _ in killed] == ["worker", "node", "worker"]
        assert all(count < 62 for _, count in killed), "the kills came too late to show anything"
        assert witness.made == witness.total == 3_040
        assert len(manifest["shards"]) == 62
        town = tmp_path / "town"
        if isinstance(store, Remote):
            town.mkdir()
            for name in store.sizes():
                store.get(name, town / name)
        assert contents(town, besides=MADE_AFTER) == contents(tmp_path / "alone", besides=MADE_AFTER)


@pytest.mark.slow
def test_a_driver_that_is_killed_is_continued(tmp_path, contents, started, cli):
    settings = replace(LARGE, n=1_000)
    generate(settings, tmp_path / "alone", workers=1)
    words = ["generate", "--entities", 20, "--n", 1_000, "--val", 20, "--test", 20, "--size", 64, "--masks", "--shard", 50,
             "--engine", "ray", "--out", tmp_path / "town"]  # fmt: skip
    with nodes(2) as (cluster, _, _):
        words += ["--address", cluster.address]
        process = started(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(list((tmp_path / "town").glob("*.h5"))) < 4:
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
        cli(*words).succeeds()
    assert contents(tmp_path / "town", besides=MADE_AFTER) == contents(tmp_path / "alone", besides=MADE_AFTER)


def test_without_an_answer_there_is_one_line(tmp_path, cli):
    for address, *said in (("127.0.0.1:9", "no Ray cluster answers at 127.0.0.1:9"), ("ray://127.0.0.1:9", "no Ray cluster answers"),
                           ("somewhere", "is no address")):  # fmt: skip
        cli("generate", *WORDS, "--engine", "ray", "--address", address, "--out", tmp_path / "town").refuses(*said)
    cli("generate", *WORDS, "--engine", "slurm", "--out", tmp_path / "town").refuses("unknown --engine slurm", "local or ray")
    cli("generate", *WORDS, "--address", "127.0.0.1:9", "--out", tmp_path / "town").refuses("--engine ray")
    cli("generate", *WORDS, "--engine", "ray", "--workers", 0, "--out", tmp_path / "town").refuses("at least 1 worker")
    assert not (tmp_path / "town").exists()


def test_without_ray_there_is_one_line_and_local_work_does_not_import_it(tmp_path):
    script = (
        "import sys; sys.modules['ray'] = None\n"
        "from simtown.cli import main\n"
        f"sys.argv = ['simtown', 'generate', *{[str(w) for w in WORDS]}, '--workers', '1', '--out', {str(tmp_path / 'town')!r}]\n"
        "sys.argv += sys.orig_argv[-1].split()\n"
        "main()"
    )
    refused = subprocess.run([sys.executable, "-c", script, "--engine ray"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert refused.stderr == "simtown: --engine ray needs Ray: pip install 'simtown[cluster]'\n"
    fine = subprocess.run([sys.executable, "-c", script, "--engine local"], capture_output=True, text=True)
    assert fine.returncode == 0, fine.stderr
