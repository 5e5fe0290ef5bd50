"""What several folders of tests share: commands in and out of this process, and small data sets made once."""

import atexit
import contextlib
import ctypes
import functools
import gc
import hashlib
import http.server
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import hdf5plugin  # noqa: F401  (tests read shards with HDF5 alone, too)
import hypothesis
import pytest

# A verdict depends on the program alone: not on who runs the tests, from which shell and with which settings
# at home, ...
_OTHERS = (
    "AWS_", "CLICOLOR", "COLUMNS", "FORCE_COLOR", "FSSPEC_", "HF_", "IPYTHON", "JUPYTER", "LANG", "LC_",
    "LINES", "MATPLOTLIB", "MPL", "NO_COLOR", "NLTK_", "PIP_", "PYTHONIOENCODING", "PYTHONUTF8",
    "PYTHONWARNINGS", "RAY_", "TERM", "TORCH", "TRANSFORMERS_", "TTY_", "XDG_", "_SIMTOWN", "_TYPER",
)  # fmt: skip
for _name in [name for name in os.environ if name.startswith(_OTHERS)]:
    del os.environ[_name]
os.environ.update({"LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1", "TERM": "dumb", "COLUMNS": "80"})
# ... and one thread adds up each sum: threads that wait for each other on a busy machine take many times as
# long as one.
os.environ.update({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
# ... nor from where: under nohup, or behind a shell, the commands that tests stop would ignore the signal.
# They inherit SIG_IGN, and no handler.
for _signal in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)
if "PYTEST_XDIST_WORKER" not in os.environ:  # the workers of this process share its home
    os.environ["HOME"] = tempfile.mkdtemp(prefix="simtown-tests-")
    atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)

from simtown.core import stopping  # noqa: E402
from simtown.core.progress import PREFIX  # noqa: E402
from simtown.datasets.making.generate import generate  # noqa: E402  (NumPy reads its variables when it is first imported)
from simtown.datasets.settings import Settings  # noqa: E402
from simtown.language.meaning.relations import RELATION_NAMES  # noqa: E402

# ... nor on how busy the machine is or what hypothesis found here before.
_steady = {"deadline": None, "derandomize": True, "print_blob": True, "max_examples": 40}
_patient = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("simtown", suppress_health_check=_patient, **_steady)
hypothesis.settings.load_profile("simtown")

#: Seconds after which something is taken to hang. Far more than anything here takes on the busiest machine:
#: nothing waits for it to pass.
HANGS = 1800

#: glibc keeps freed memory, hundreds of megabytes in a worker, until it is asked; elsewhere nothing is.
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", int)

_HERE = Path(sys.executable).with_name("simtown")
SIMTOWN = [str(_HERE)] if _HERE.exists() else [sys.executable, "-c", "from simtown.cli import main; main()"]


@dataclass
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def messages(self) -> list[str]:
        """The lines of stderr without those of progress, which only a slow machine prints."""
        return [line for line in self.err.splitlines() if not line.startswith(PREFIX)]

    def refuses(self, *words: str, code: int = 2) -> None:
        """One message from the program with the words, nothing on stdout, and this exit code."""
        (line,) = self.messages
        assert line.startswith("simtown: "), self.err
        assert (self.code, self.out) == (code, ""), self.err
        assert [word for word in words if word not in line] == [], self.err

    def succeeds(self) -> "Outcome":
        assert self.code == 0, self.err
        assert "Traceback" not in self.err, self.err
        return self


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    """Modules and thousands of collected tests stay until the end: the garbage collector passes them over."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)  # more seldom than 700, 10, 10: what is left to go through is little


@pytest.fixture(scope="module", autouse=True)
def frozen():
    """So does what the tests of a module leave to others; what they freed goes back to the system."""
    yield
    gc.collect()
    gc.freeze()
    _TRIM(0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """One line at the very end: what was not tested, and how to have it tested."""
    result = yield
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        listed = "; ".join(f"{n} x {reason}" for reason, n in sorted(reasons.items()))
        terminalreporter.write_line(f"not tested: {listed}")
    return result


@pytest.fixture(scope="session")
def simtown():
    """The words that start the command line in a process of its own."""
    return SIMTOWN


def every_command():
    """{"vg prepare": what Typer makes of it} of all commands and groups; the program itself is ""."""
    from simtown.cli.program import program

    commands, waiting = {}, [("", program())]
    while waiting:
        name, command = waiting.pop()
        command = command.load() if hasattr(command, "load") else command
        commands[name] = command
        inner = getattr(command, "commands", {}).items()
        waiting += [(f"{name} {word}".strip(), below) for word, below in inner]
    return commands


@pytest.fixture
def cli(monkeypatch):
    """cli("info", path) runs a command in this process; other exceptions than SystemExit fail the test."""
    from simtown.cli import main

    def run(*words):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["simtown", *map(str, words)])
        redirected = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with redirected[0], redirected[1], pytest.raises(SystemExit) as end:
            main()
        return Outcome(end.value.code or 0, out.getvalue(), err.getvalue())

    handlers = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    hooks = sys.unraisablehook, sys.excepthook
    yield run
    sys.unraisablehook, sys.excepthook = hooks
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def no_card(monkeypatch):
    """No graphics card draws in this process, whatever the machine has."""
    from simtown.render.cuda import card
    from simtown.render.frames import CardError

    def check():
        raise CardError("there is no CUDA driver on this machine: install one")

    monkeypatch.setattr(card, "check_card", check)


@pytest.fixture
def shell():
    """Run a command in a process of its own; keyword arguments go to subprocess.run."""

    def run(*words, **more):
        command = [*SIMTOWN, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, **more)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


#: Runs several commands, and writes how each ended into a file: libraries may write to stdout.
_SEVERAL = """
import contextlib, io, json, sys
place, (without, calls) = sys.argv[1], json.load(sys.stdin)
sys.modules.update(dict.fromkeys(without))
import functools, typer.main
from simtown.cli import main
typer.main.get_params_from_function = functools.cache(typer.main.get_params_from_function)
for words in calls:
    out, err, sys.argv = io.StringIO(), io.StringIO(), ["simtown", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        with open(place, "a") as file:
            print(json.dumps([end.code or 0, out.getvalue(), err.getvalue()]), file=file)
"""


@pytest.fixture(scope="session")
def together(tmp_path_factory):
    """Run lists of words as commands, one after the other, in a process that cannot import some modules."""

    def run(*calls, without=(), cwd=None):
        place = tmp_path_factory.mktemp("together") / "outcomes"
        given = json.dumps([without, [[str(word) for word in words] for words in calls]])
        command = [sys.executable, "-c", _SEVERAL, place]
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=HANGS, cwd=cwd)
        outcomes = [Outcome(*json.loads(line)) for line in place.read_text().splitlines()]
        ended = f"ended with {done.returncode} at command {len(outcomes)}: {done.stderr}"
        assert (done.returncode, len(outcomes)) == (0, len(calls)), ended
        return outcomes

    return run


def _until(condition, seconds=HANGS, pause=0.03):
    """Wait for a condition, and return what it gave; fails the test if it never comes."""
    end = time.monotonic() + seconds
    while not (outcome := condition()):
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(pause)
    return outcome


@pytest.fixture(scope="session")
def until():
    """until(condition): an event instead of a sleep."""
    return _until


@pytest.fixture
def started():
    """Start a command in a session of its own, which :func:`marked` finds; killed with the test."""
    running = []

    def start(*words, mark=None, **more):
        env = {**os.environ, "SIMTOWN_TEST": mark or uuid.uuid4().hex}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
        # A shell's background jobs ignore Ctrl-C, so the signal gets its own meaning again.
        restore = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        own = {"env": env, "start_new_session": True, "preexec_fn": restore}
        process = subprocess.Popen([*SIMTOWN, *map(str, words)], **own, **pipes)
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _marked(mark: str) -> list[int]:
    """Processes of this machine that were started with this mark, or by one that was."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"SIMTOWN_TEST={mark}".encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
    return found


@pytest.fixture(scope="session")
def marked():
    return _marked


def _contents(directory: Path, besides: tuple[str, ...] = ()) -> dict[str, str]:
    """SHA-256 of every file under a directory, by its name."""
    files = (p for p in sorted(Path(directory).rglob("*")) if p.is_file() and p.name not in besides)
    return {str(p.relative_to(directory)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture(scope="session")
def contents():
    return _contents


@pytest.fixture(scope="session")
def reference_data():
    """reference_data(name): a file or folder of the reference data; skips where there is none."""

    def find(name):
        folder = os.environ.get("SIMTOWN_REFERENCE_DATA")
        if not folder:
            pytest.skip("needs the reference data: SIMTOWN_REFERENCE_DATA=FOLDER (docs/reference-data.md)")
        path = Path(folder) / name
        if not path.exists():
            pytest.skip(f"needs {name} in the reference data: docs/reference-data.md")
        return path

    return find


@pytest.fixture(scope="session")
def dataset_of(tmp_path_factory):
    """dataset_of(settings): the folder of a data set, made once; a test that changes it makes a `copy`."""

    @functools.cache
    def make(settings):
        directory = tmp_path_factory.mktemp("made") / "town"
        generate(settings, directory, workers=1)
        return directory

    return make


@pytest.fixture(scope="session")
def rich(dataset_of):
    """A data set with everything: other kinds, three vehicles, masks, depth, 64x32, shards of 10."""
    sizes = {"entities": 40, "n": 24, "val": 8, "test": 6, "width": 64, "height": 32, "shard": 10}
    seeds = {"seed": 5, "test_seed": 9, "world_seed": 27}
    looks = {"frequencies": "zipf:0.5", "phrasing": "varied", "distractor": True, "jitter": 0.5}
    return dataset_of(Settings(**sizes, **seeds, **looks, masks=True, depth=True))


@pytest.fixture(scope="session")
def plain(dataset_of):
    """A data set of the default kind: two vehicles, no masks, 48x48, one shard a split."""
    return dataset_of(Settings(entities=20, n=20, val=4, test=4, width=48, height=48))


@pytest.fixture(scope="session")
def many(dataset_of):
    """A data set large enough to count in: five entities, all relations, 32x32."""
    small = {"entities": 5, "n": 600, "val": 100, "test": 600, "width": 32, "height": 32, "shard": 150}
    return dataset_of(Settings(**small, relations=RELATION_NAMES))


@pytest.fixture(scope="session")
def families_town(dataset_of):
    """A data set of three families of questions, 64x64."""
    sizes = {"entities": 20, "n": 60, "val": 0, "test": 4, "width": 64, "height": 64}
    return dataset_of(Settings(**sizes, questions=("exist", "distance", "kind")))


@pytest.fixture
def copy(tmp_path):
    """A copy of a data set that the test may damage."""

    def make(directory, name="copy"):
        return Path(shutil.copytree(directory, tmp_path / name))

    return make


@pytest.fixture
def web(tmp_path):
    """The address of a plain web server, whose lists tell no sizes, before the test's folder."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, 1440 x 900, driven by selenium; the processor draws WebGL."""
    selenium = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install '.[dev]'")
    places = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if None in places:
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
    options = selenium.ChromeOptions()
    options.binary_location = places[0]
    words = "headless=new no-sandbox disable-dev-shm-usage window-size=1440,900 force-device-scale-factor=1 "
    words += "use-angle=swiftshader enable-unsafe-swiftshader disable-background-networking"
    for word in words.split():
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = selenium.Chrome(options=options, service=selenium.ChromeService(executable_path=places[1]))
    driver.set_script_timeout(HANGS)
    driver.set_page_load_timeout(HANGS)
    yield driver
    driver.quit()


@pytest.fixture
def screen(browser):
    """screen(width, height): a window of so many pixels, also below those that Chromium opens."""

    def resize(width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    yield resize
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
