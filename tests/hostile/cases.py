"""A case: a command, the honest folder it reads, and what a stranger did to it.

Its verdict names every offence.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtown.core.progress import PREFIX
from tests.hostile import mutations
from tests.hostile.commands import COMMANDS, Command, filled
from tests.hostile.mutations import Mutation, Scene
from tests.hostile.seeds import Store
from tests.hostile.server import Watch

#: What a case may take: bytes of memory beside what an idle process has, seconds of a processor, seconds that
#: it may wait for something.
MEMORY, SECONDS, WALL = 1_000_000_000, 20, 60
#: Characters of a message. The paths of a case are in it, and a few values.
LONGEST = 1_000
#: Bytes of address space that a case may take; libraries reserve some that they never use.
ADDRESSES = 2_500_000_000
_NO_MEMORY = re.compile(
    r"out of memory|unable to allocate|memoryerror|bad_alloc|cannot allocate|not enough memory|"
    r"malloc of size|realloc of size",
    re.I,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Case:
    """A command and the mutations of the folder that it reads."""

    command: Command
    mutations: tuple[Mutation, ...] = ()

    def script(self) -> str:
        """What makes the same case again: python -m tests.hostile 'SCRIPT'."""
        return json.dumps(
            [" ".join(self.command.words), *([m.kind, m.file, m.where, m.what] for m in self.mutations)]
        )

    @classmethod
    def read(cls, script: str) -> Case:
        line, *changes = json.loads(script)
        command = next((c for c in COMMANDS if " ".join(c.words) == line), Command(tuple(line.split())))
        return cls(command, tuple(Mutation(*change) for change in changes))


@dataclass(frozen=True)
class Verdict:
    """How a case ended: its offences, none if all is well, and what the command printed."""

    offences: tuple[str, ...]
    out: str = ""
    err: str = ""
    code: int = 0
    seconds: float = 0.0
    memory: int = 0


class Server:
    """A server process, and the directory that its cases lie in.

    Attributes:
        seconds, wall: what a case may take, as SECONDS and WALL.
    """

    seconds, wall = SECONDS, WALL

    def __init__(self, store: Store, directory: Path, warm: tuple[Command, ...] = ()) -> None:
        self.store, self.directory = store, directory
        alone = environment({"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"})
        (directory / "log").mkdir(parents=True)
        with open(directory / "log" / "server", "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.hostile.server"],
                env=alone,
                text=True,
                stderr=log,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=directory,
            )
        made = directory / "warm"
        made.mkdir()
        lines = []
        for number, command in enumerate(warm):
            for name in command.items:
                if not (made / name).exists():
                    store.copy(name, made)
            (made / f"out{number}").mkdir()
            lines.append(words_of(command, f"{made}/out{number}"))
        self._ask({"store": str(made), "warm": lines})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, (self.directory / "log" / "server").read_text()
        return dict(json.loads(line))

    def run(self, case: Case, offend: str | None = None, keep: bool = False) -> Verdict:
        """The verdict of a case.

        `offend` is Python code to run in the command's place; `keep` leaves the folder there.
        """
        with scene_of(case, self.store, self.directory, keep) as scene:
            request = {
                "root": str(scene.root),
                "words": words_of(case.command, "../out"),
                "memory": ADDRESSES,
                "seconds": self.seconds,
                "wall": self.wall,
            }
            if offend is not None:
                request["offend"] = offend.replace("{root}", str(scene.root))
            before = snapshot(scene.root)
            ended = self._ask(request)
            return judged(scene, case.command, before, ended)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


#: Puts no folder but its own first on Python's path, as the script simtown does that pip installs.
_SCRIPT = "import sys\nfrom simtown.cli import main\n\nif __name__ == '__main__':\n    sys.exit(main())\n"


def in_process(case: Case, store: Store, directory: Path) -> Verdict:
    """The verdict of a case whose command runs in a process of its own, so that it imports everything in the
    case's folder.
    """
    with scene_of(case, store, directory) as scene:
        root = scene.root
        for place in (
            scene.work,
            *(scene.work / item for item in case.command.items if (scene.work / item).is_dir()),
        ):
            for name in mutations.PLANTED:
                mutations.plant(scene, place, name)
        for name in (".numba_config.yaml", "matplotlibrc", "pyvenv.cfg"):
            mutations.plant(scene, scene.work, name)
        (root / "bin").mkdir()
        (root / "bin" / "simtown").write_text(_SCRIPT)
        before = snapshot(root)
        watch = Watch(root / "secret")
        here = {
            "HOME": f"{root}/home",
            "TMPDIR": f"{root}/tmp",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
        }
        words = [sys.executable, f"{root}/bin/simtown", *words_of(case.command, "../out")]
        with open(root / "log" / "out", "wb") as out, open(root / "log" / "err", "wb") as err:
            done = subprocess.run(
                words, cwd=scene.work, env=environment(here), stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )
        ended = {
            "code": done.returncode,
            "hangs": False,
            "seconds": 0.0,
            "wall": 0.0,
            "memory": 0,
            "events": [],
            "opened": watch.opened(),
        }
        return judged(scene, case.command, before, ended, home=True)


def environment(more: dict[str, str]) -> dict[str, str]:
    """Of a process that imports this checkout."""
    paths = [os.environ.get("PYTHONPATH"), str(Path(__file__).parents[2])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def words_of(command: Command, out: str) -> list[str]:
    """The command line, in the working directory that the items lie in.

    An underscore within a question stands for a blank.
    """
    return [
        word.replace("_", " ") if word.endswith("?") else word
        for word in filled(command.words, lambda name: out if name == "out" else name)
    ]


def named_by(command: Command) -> frozenset[str]:
    """What the command line names: the items, and files inside them."""
    words = [re.sub(r"^[a-z]+:|:\d+$", "", word) for word in words_of(command, "../out")]
    return frozenset([*command.items, *words])


@contextmanager
def scene_of(case: Case, store: Store, directory: Path, keep: bool = False) -> Iterator[Scene]:
    """The folders of a case: work, the stranger's; secret and home, the person's; out and tmp; marks, where
    planted code leaves one.
    """
    root = Path(tempfile.mkdtemp(dir=directory, prefix="case-"))
    try:
        for name in ("work", "secret", "secret/keep", "home", "out", "tmp", "marks", "log", "outside"):
            (root / name).mkdir()
        token = secrets.token_hex(16)
        (root / "secret" / "secret.txt").write_text(f"{token}\n" * 500)
        (root / "secret" / "keep" / "letter.txt").write_text(token)
        (root / "log" / "token").write_text(token)
        shutil.copyfile(store.path("town") / "train-00000.h5", root / "secret" / "secret.h5")
        for name in case.command.items:
            store.copy(name, root / "work")
        scene = Scene(root, named_by(case.command), set())
        mutations.plant(scene, scene.work, "helper.py")
        mutations.apply(scene, case.mutations)
        yield scene
    finally:
        if not keep:
            shutil.rmtree(root, ignore_errors=True)


def snapshot(root: Path) -> dict[str, tuple[Any, ...]]:
    """What lies below a directory, links not followed: kind, and size, content or target."""
    found: dict[str, tuple[Any, ...]] = {}
    for place, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(place, name)
            told = path.lstat()
            kind = stat.S_IFMT(told.st_mode)
            if stat.S_ISREG(kind):
                content = (
                    hashlib.sha256(path.read_bytes()).digest()
                    if told.st_size < 20_000_000
                    else told.st_mtime_ns
                )
                found[str(path.relative_to(root))] = (kind, told.st_size, content)
            else:
                found[str(path.relative_to(root))] = (kind, os.readlink(path) if stat.S_ISLNK(kind) else "")
    return found


def judged(
    scene: Scene,
    command: Command,
    before: dict[str, tuple[Any, ...]],
    ended: dict[str, Any],
    home: bool = False,
) -> Verdict:
    """The verdict on how a child ended and what it left. `home`: libraries may keep caches at home."""
    root = scene.root
    out, err = ((root / "log" / name).read_bytes().decode(errors="replace") for name in ("out", "err"))
    offences = [
        *_of_ending(ended),
        *_of_messages(ended["code"], out, err),
        *_of_files(root, command, before, snapshot(root), home),
    ]
    token = (root / "log" / "token").read_text().encode()
    leaking = [path for path in _files(root) if token in path.read_bytes()]
    offences += [f"secret: it is in {path.relative_to(root)}" for path in leaking]
    kinds = {"read": "read outside", "code": "code ran", "process": "code ran", "network": "network"}
    offences += [f"{kinds[event[0]]}: {' '.join(event[1:])}" for event in ended["events"]]
    offences += [
        f"read outside: {Path(name).relative_to(root)}"
        for name in ended["opened"]
        if name.startswith(str(root))
    ]
    return Verdict(tuple(dict.fromkeys(offences)), out, err, ended["code"], ended["seconds"], ended["memory"])


def _files(root: Path) -> Iterator[Path]:
    """What the command wrote or printed; what the person owns has the token by right."""
    for name in ("work", "out", "log/out", "log/err", "tmp", "home"):
        place = root / name
        for path in [place] if place.is_file() else place.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 50_000_000:
                yield path


def _of_ending(ended: dict[str, Any]) -> Iterator[str]:
    if ended["hangs"]:
        yield f"hangs: longer than {WALL} s"
    elif ended["code"] in (-signal.SIGXCPU, -signal.SIGKILL):
        yield f"slow: ended after {ended['seconds']:.0f} s"
    elif ended["code"] < 0:
        yield f"crash: signal {-ended['code']} after {ended['seconds']:.0f} s"
    elif ended["code"] not in (0, 1, 2):
        yield f"exit code {ended['code']}"
    if ended["seconds"] > SECONDS:
        yield f"slow: {ended['seconds']:.0f} s"
    if ended["memory"] > MEMORY:
        yield f"memory: {ended['memory'] / 1e9:.1f} GB"


def _of_messages(code: int, out: str, err: str) -> Iterator[str]:
    for name, text in (("stdout", out), ("stderr", err)):
        if found := _CONTROL.search(text.replace("\r\n", "\n")):
            yield f"control character {found[0]!r} on {name}"
        if "Traceback" in text:
            yield f"traceback: {text.rstrip().rpartition(chr(10))[2][:200]}"
    if found := _NO_MEMORY.search(err):
        yield f"memory: {found[0]}"
    if code in (1, 2) and "Traceback" not in err:
        lines = [line for line in err.splitlines() if not line.startswith(PREFIX)]
        last = lines[-1] if lines else ""
        if not last.startswith("simtown: ") or (code == 2 and len(lines) > 1):
            yield f"no single line: {err[:300]!r}"
        if len(last) > LONGEST:
            yield f"a message of {len(last)} characters"


def _of_files(
    root: Path,
    command: Command,
    before: dict[str, tuple[Any, ...]],
    after: dict[str, tuple[Any, ...]],
    home: bool,
) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if (
            before.get(name) == after.get(name)
            or name.startswith(("log/", "tmp/"))
            or (home and name.startswith("home/."))
        ):
            continue
        inside = name.partition("/")[2]
        change = "made" if name not in before else "deleted" if name not in after else "changed"
        if name.startswith("marks/"):
            yield f"code ran: {name}"
        elif name.startswith("out/"):
            if change != "made" and before[name][0] == stat.S_IFLNK:
                continue  # a link in the place of an output gives way to it
        elif not (
            name.startswith("work/")
            and any(inside == one or inside.startswith(f"{one}/") for one in command.writes)
        ):
            yield f"write outside: {name} {change}"
