"""A Ray cluster of several nodes makes the bytes that one process makes, whatever dies meanwhile."""

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor
from unittest.mock import patch

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install '.[cluster]'")

from simtown.core.callbacks import ProgressCallback
from simtown.core.cluster import Cluster
from simtown.core.processes import WorkerError
from simtown.datasets.export import export
from simtown.datasets.making.generate import generate
from simtown.datasets.proving.verify import verify
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.remote import Remote, store_of
from simtown.datasets.settings import Settings
from simtown.language.asking.paper import ImpossibleError
from simtown.render.raster import Raster
from tests.datasets.conftest import Moment
from tests.datasets.s3 import bucket

SETTINGS = Settings(entities=20, n=40, val=10, test=10, width=32, height=32, shard=10)
WORDS = ["--entities", 20, "--n", 40, "--val", 10, "--test", 10, "--size", 32, "--shard", 10]
LARGE = Settings(entities=20, n=3_000, val=20, test=20, width=64, height=64, masks=True, shard=50)
#: Of every node: no processors at the head, so that whatever dies is no piece of the cluster's own.
NODE = {"object_store_memory": 80_000_000, "include_dashboard": False}


class Nodes:
    """A head and nodes, in a process of their own: what they leave in one crashes its later forks (3.13)."""

    @classmethod
    def start(cls, count, processors):
        from ray.cluster_utils import Cluster as Machines

        cls.all = Machines(initialize_head=True, head_node_args={"num_cpus": 0, **NODE})
        cls.workers = [cls.all.add_node(num_cpus=processors, **NODE) for _ in range(count)]
        return cls.all.address

    @classmethod
    def remove_one(cls):
        cls.all.remove_node(cls.workers[0], allow_graceful=False)

    @classmethod
    def stop(cls):
        cls.all.shutdown()


@contextlib.contextmanager
def nodes(count, processors=1):
    """The address of a cluster with a head and so many nodes, and what removes a node.

    Its folder is its own, for every user of the machine, and its name is short: sockets demand that.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as own,
        patch.dict(os.environ, RAY_TMPDIR=own),
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as there,
    ):
        try:
            address = there.submit(Nodes.start, count, processors).result()
            yield address, lambda: there.submit(Nodes.remove_one).result()
        finally:
            there.submit(Nodes.stop).result()


class Witness(ProgressCallback):
    """Counts what it is told."""

    def __init__(self):
        self.total = self.begun = self.made = 0

    def on_begin(self, total, done):
        self.total, self.begun, self.made = total, done, done

    def on_progress(self, examples, seconds):
        self.made += examples


@pytest.mark.slow
def test_a_cluster_makes_the_bytes_of_one_process(tmp_path, contents, cli, assert_whole):
    """By the command, on a node of two processors; then what is missing of it; then what cannot be made."""
    with nodes(1, processors=2) as (address, _):
        words = ["generate", *WORDS, "--engine", "ray", "--address", address, "--out"]
        assert "40 train" in cli(*words, tmp_path / "town").succeeds().out
        assert_whole(tmp_path / "town", SETTINGS)
        assert json.loads((tmp_path / "town" / "timings.json").read_text())["runs"][0]["workers"] == 2
        (tmp_path / "town" / "train-00002.h5").unlink()
        (tmp_path / "town" / ".val-00000.h5.0123456789abcdef.tmp").touch()
        with Cluster(address) as pool:
            witness = Witness()
            generate(SETTINGS, tmp_path / "town", callback=witness, pool=pool)
            assert (witness.begun, witness.made, witness.total) == (50, 60, 60)
            assert_whole(tmp_path / "town", SETTINGS)
            assert dict(pool.outcomes(_power, range(20), (3,))) == {i: i**3 for i in range(20)}
            ((_, refused),) = pool.outcomes(_refuse, [7])
            assert (type(refused), str(refused)) == (ImpossibleError, "no place for 7")
            ((_, dead),) = pool.outcomes(_die, [0], retries=1)
            assert type(dead) is WorkerError
            assert "died 2 times" in str(dead)
            report = verify(tmp_path / "town", Raster(), pool=pool)
            assert report.summary.endswith("all 60 pictures drawn again, identical")
            data = open_dataset(tmp_path / "town")
            export(data, "coco", [], tmp_path / "coco", pool=pool)
        export(data, "coco", [], tmp_path / "alone-coco")
        assert contents(tmp_path / "coco") == contents(tmp_path / "alone-coco")


def _power(piece, report, exponent):
    return piece**exponent


def _refuse(piece, report):
    raise ImpossibleError(f"no place for {piece}")


def _die(piece, report):
    os.kill(os.getpid(), signal.SIGKILL)


SHARD = r"(train|val|test)-\d+\.h5"


class Disturber(Witness):
    """At each of its counts of examples it shuts the gate; a thread kills what comes there and opens it."""

    def __init__(self, gate, until, deeds):
        super().__init__()
        self.gate, self.until, self.deeds, self.done, self.thread = gate, until, dict(deeds), [], None

    def on_progress(self, examples, seconds):
        super().on_progress(examples, seconds)
        if self.deeds and self.made >= min(self.deeds):
            self.finish()
            self.gate.shut()
            self.thread = threading.Thread(target=self._do, args=self.deeds.pop(min(self.deeds)))
            self.thread.start()

    def _do(self, workers, deed):
        """Once so many workers wait, each with a whole shard that has no name yet."""
        try:
            self.until(lambda: len(self.gate.waiting("worker")) >= workers)
            deed(self.gate.waiting("worker"))
            self.done.append(deed)
        finally:
            self.gate.open()

    def finish(self):
        if self.thread:
            self.thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["a shared directory", "S3"])
def test_a_worker_and_a_node_die_and_nothing_is_lost_or_doubled(where, tmp_path, assert_whole, gate, until):
    """A worker dies when a tenth is made, a node when a third is, then another worker; each is at work."""
    stop = gate(Moment("worker", "os.rename", SHARD))
    stop.open()
    base = bucket() if where == "S3" else contextlib.nullcontext(str(tmp_path))
    with base as folder, nodes(3) as (address, remove_one):
        place = f"{folder}/town"

        def kill_a_worker(waiting):
            os.kill(waiting[0], signal.SIGKILL)

        def remove_a_node(waiting):
            remove_one()

        deeds = {300: (3, kill_a_worker), 1_000: (3, remove_a_node), 1_500: (2, kill_a_worker)}
        witness = Disturber(stop, until, deeds)
        try:
            with Cluster(address) as connected:
                manifest = generate(LARGE, place, callback=witness, pool=connected)
        finally:
            witness.finish()
        assert witness.done == [kill_a_worker, remove_a_node, kill_a_worker]
        assert witness.made == witness.total == 3_040
        assert len(manifest["shards"]) == 62
        town, store = tmp_path / "town", store_of(place)
        if isinstance(store, Remote):
            town.mkdir()
            for name in store.listing()[0]:
                store.get(name, town / name)
        assert_whole(town, LARGE)


def test_without_an_answer_there_is_one_line(tmp_path, cli):
    words = ["generate", *WORDS, "--out", tmp_path / "town"]
    with socket.socket() as silent:  # it has a port and does not listen there
        silent.bind(("127.0.0.1", 0))
        nobody = "{}:{}".format(*silent.getsockname())
        cli(*words, "--engine", "ray", "--address", nobody).refuses(f"no Ray cluster answers at {nobody}")
        cli(*words, "--engine", "ray", "--address", f"ray://{nobody}").refuses("no Ray cluster answers")
    cli(*words, "--engine", "ray", "--address", "somewhere").refuses("cannot be read")
    cli(*words, "--engine", "slurm").refuses("--engine slurm")
    cli(*words, "--address", "127.0.0.1:9").refuses("--engine ray")
    assert not (tmp_path / "town").exists()


def test_without_ray_there_is_one_line_and_local_work_does_not_import_it(tmp_path, together):
    words = ["generate", *WORDS, "--workers", 1, "--out", tmp_path / "town", "--engine"]
    refused, fine = together([*words, "ray"], [*words, "local"], without=["ray"])
    refused.refuses("the package ray: pip install '.[cluster]'")
    fine.succeeds()
