"""Ctrl-C, SIGTERM and SIGHUP, to a command alone or to its process group, end it alike at any moment.

One line, an exit code of 128 + the signal's number, no process left, no temporary file left; and the same
command finishes the work.
"""

import os
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass

import pytest

from simtown.datasets.making.generate import generate
from simtown.datasets.settings import Settings
from tests.conftest import HANGS, Outcome
from tests.datasets.conftest import Moment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: processes are found in /proc")

SETTINGS = Settings(entities=20, n=120, val=0, test=0, width=32, height=32, shard=10)
WORDS = ["generate", "--entities", 20, "--n", 120, "--val", 0, "--test", 0, "--size", 32, "--shard", 10]
SHARD, BEGUN_SHARD = r"train-\d+\.h5", r"\.train-\d+\.h5\.[0-9a-f]{16}\.tmp"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
#: With one process: imports, before and after anything is written, in a shard, and after the last one.
IMPORTS = ("typer", r"simtown\.datasets\.making\.generate", "h5py")
ALONE = [Moment("parent", "import", name) for name in IMPORTS]
ALONE += [Moment("parent", "open", BEGUN_SHARD, 2), Moment("parent", "os.rename", SHARD, 3)]
ALONE += [Moment("parent", "os.rename", name) for name in (r"timings\.json", r"preview\.png")]
#: With two workers: while they start, while they work, and while the parent writes down what they did.
WITH_WORKERS = [Moment("worker", "import", name) for name in (r"multiprocessing\.spawn", "h5py")]
WITH_WORKERS += [Moment("worker", "open", BEGUN_SHARD, 2), Moment("worker", "os.rename", SHARD, 2)]
WITH_WORKERS += [Moment("parent", "os.rename", r"manifest\.json", 2)]


def ways(subjects, senders=("the group",)):
    """Each subject with one signal and one receiver, in turn; every second one is for the slow tests."""
    cases = []
    for number, subject in enumerate(subjects):
        how = senders[number % len(senders)], SIGNALS[number // 2 % len(SIGNALS)]
        cases.append(pytest.param(subject, *how, marks=[pytest.mark.slow] if number % 2 else []))
    return cases


@dataclass
class Command:
    """A started command that will be stopped."""

    process: subprocess.Popen
    mark: str
    marked: object

    def send(self, number, whom):
        (os.killpg if whom == "the group" else os.kill)(self.process.pid, number)

    def ended(self, number, at_once=False):
        """At once: before its streams are read, which would wait for every process, none of them is left."""
        if at_once:
            os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
            assert self.marked(self.mark) == []
        out, err = self.process.communicate(timeout=HANGS)
        assert self.marked(self.mark) == [], "its processes are gone before it is"
        Outcome(self.process.returncode, "", err).refuses("stopped", code=128 + number)
        return out


@pytest.fixture
def begun(started, marked):
    """Start a command that will be stopped."""

    def start(*words, **more):
        mark = uuid.uuid4().hex
        return Command(started(*words, mark=mark, **more), mark, marked)

    return start


def temporaries(directory):
    return [p.name for p in directory.rglob(".*")] if directory.exists() else []


ALL_WAYS = {1: ways(ALONE), 2: ways(WITH_WORKERS, ["the parent", "the group"])}
CASES = [pytest.param(n, *case.values, marks=case.marks) for n, cases in ALL_WAYS.items() for case in cases]


@pytest.mark.parametrize(("workers", "moment", "whom", "number"), CASES)
def test_a_command_stops_with_one_line_and_can_be_continued(
    workers, moment, number, whom, tmp_path, gate, begun, until, cli, assert_whole
):
    stop, directory = gate(moment), tmp_path / "town"
    command = begun(*WORDS, "--workers", workers, "--out", directory)
    until(lambda: len(stop.waiting()) == (2 if moment.role == "worker" else 1))
    command.send(number, whom)
    command.ended(number, at_once=(moment.role, moment.event) == ("worker", "os.rename"))
    assert temporaries(directory) == []
    cli(*WORDS, "--workers", 1, "--out", directory).succeeds()
    assert_whole(directory, SETTINGS)


def test_a_signal_while_a_worker_is_being_started_is_not_lost(tmp_path, gate, begun, until):
    """The parent waits in the middle of starting its first worker: it reads __main__'s name for it."""
    stop = gate(Moment("parent", "import", r"multiprocessing\.popen_spawn_posix"))
    command = begun(*WORDS, "--workers", 2, "--out", tmp_path / "town")
    until(stop.waiting)
    command.send(signal.SIGTERM, "the parent")
    stop.open()
    command.ended(signal.SIGTERM)
    assert list(tmp_path.glob("town/*.h5")) == []


def test_a_second_signal_while_a_command_stops_changes_nothing(tmp_path, gate, begun, until):
    """A worker that waits keeps its parent waiting: time for another Ctrl-C, or two."""
    stop = gate(Moment("worker", "os.rename", SHARD, 2))
    command = begun(*WORDS, "--workers", 2, "--out", tmp_path / "town")
    until(lambda: len(stop.waiting("worker")) == 2)
    for _ in range(3):
        command.send(signal.SIGINT, "the group")
    command.ended(signal.SIGINT)
    assert temporaries(tmp_path / "town") == []


def test_a_signal_that_was_ignored_from_the_beginning_stays_ignored(tmp_path, gate, started, until):
    """nohup does that, and a shell for what runs in the background."""
    stop = gate(Moment("parent", "os.rename", SHARD, 2))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    process = started(*WORDS, "--workers", 1, "--out", tmp_path / "town")
    signal.signal(signal.SIGHUP, before)
    until(stop.waiting)
    process.send_signal(signal.SIGHUP)
    stop.open()
    assert process.wait(timeout=HANGS) == 0


GRID = """
version = 1
[[grid]]
study = "physical"
data = "nowhere"
model = ["majority", "glove:nothing.txt"]
"""


@pytest.mark.parametrize("whom", ["the parent", "the group"])
@pytest.mark.slow
def test_a_grid_of_studies_stops_with_one_line(whom, tmp_path, gate, begun, until):
    """Each study is a command of its own: a signal to the grid alone ends it as well."""
    pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")
    (tmp_path / "grid.toml").write_text(GRID)
    stop = gate(Moment("worker", "import", r"simtown\.cli\.study_commands"))
    command = begun("probe", "grid", "grid.toml", "--out", "out", "--jobs", 2, cwd=tmp_path)
    until(lambda: len(stop.waiting()) == 2)
    assert command.process.pid not in stop.waiting()
    command.send(signal.SIGTERM, whom)
    command.ended(signal.SIGTERM)
    assert temporaries(tmp_path) == []


SWEEP = """
version = 1
size = "32"
[[grid]]
entities = [3]
distractor = [false]
models = ["question-only"]
train_sizes = [20]
seeds = [0]
[data]
val = 20
test = 20
[fit]
protocol = "paper"
batch = 16
max_steps = 6
"""


@pytest.mark.slow
def test_a_sweep_stops_with_one_line_and_its_runs_continue(tmp_path, gate, begun, until):
    pytest.importorskip("torch", reason="needs torch: pip install '.[train]'")
    from simtown.training.plan import read
    from simtown.training.sweep import dataset_path

    preset = tmp_path / "mine.toml"
    preset.write_text(SWEEP)
    (settings,) = read(str(preset), "cpu").data()
    generate(settings, dataset_path(tmp_path / "out", settings), workers=1)
    stop = gate(Moment("worker", "os.rename", r"state\.safetensors"))
    command = begun("sweep", "--preset", preset, "--device", "cpu", "--jobs", 1, "--out", "out", cwd=tmp_path)
    until(lambda: stop.waiting("worker"))
    command.send(signal.SIGTERM, "the parent")
    command.ended(signal.SIGTERM)
    assert temporaries(tmp_path) == []


WRITES = """
import os, signal, sys
from pathlib import Path
from simtown.core import stopping
from simtown.datasets.making import shards
from simtown.datasets.making.generate import generate
from simtown.datasets.settings import Settings

class Interrupted(shards._Target):
    left = 0

    def write(self, data):
        Interrupted.left -= 1
        if Interrupted.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return super().write(data)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
shards._Target, out, nth = Interrupted, Path(sys.argv[1]), 0
while Interrupted.left <= 0:  # until there are fewer writes than that
    nth += 1
    Interrupted.left = nth
    stopping.catch_signals()
    try:
        generate(Settings(entities=20, n=2, val=0, test=0, width=32, height=32), out / str(nth), workers=1)
    except stopping.Stopped:
        assert [p.name for p in (out / str(nth)).iterdir()] == ["manifest.json"]
    else:
        assert Interrupted.left > 0, "it was lost"
print(nth)
"""


def test_a_signal_while_hdf5_writes_is_not_lost_and_leaves_no_shard(tmp_path):
    """HDF5 calls back to write, also from where Python can pass no exception on."""
    words = [sys.executable, "-c", WRITES, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANGS)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 10


#: What other commands are called with, and a moment of each.
OTHERS = {
    "export": (["--to", "png", "--out", "out"], Moment("parent", "open", r"000003\.png")),
    "audit": ([], Moment("parent", "import", r"simtown\.datasets\.audit\.small_models")),
    "captions": (["--out", "out"], Moment("parent", "open", r"\.out\.[0-9a-f]{16}\.tmp")),
    "verify": ([], Moment("parent", "open", r"train-00000\.h5")),
}


@pytest.mark.parametrize(("command", "whom", "number"), ways(OTHERS))
def test_other_commands_stop_with_one_line_too(
    command, whom, number, plain, tmp_path, gate, begun, until, contents
):
    words, moment = OTHERS[command]
    before, stop = contents(plain), gate(moment)
    running = begun(command, plain, *words, cwd=tmp_path)
    until(lambda: stop.waiting() or running.process.poll() is not None)
    running.send(number, whom)
    running.ended(number)
    assert list(tmp_path.iterdir()) == []
    assert contents(plain) == before
