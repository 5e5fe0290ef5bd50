"""A process that has imported what commands need, and forks a child for each case: a case costs milliseconds,
not seconds.

It reads a request a line from stdin and answers with a line on stdout. Everything that the child does is
watched.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

#: What Python says of code that is unpickled, and must not.
_HARMFUL = (
    "os",
    "posix",
    "nt",
    "subprocess",
    "importlib",
    "runpy",
    "pty",
    "shutil",
    "socket",
    "webbrowser",
    "code",
    "pdb",
)
_IN_OPEN, _IN_NONBLOCK = 0x20, 0o4000


class Watch:
    """Linux tells of every file of a directory that is opened, by whatever library; elsewhere nothing is
    told.
    """

    def __init__(self, directory: Path) -> None:
        self._handle, self._names = -1, dict[int, Path]()
        if sys.platform != "linux":
            return
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.inotify_init1(_IN_NONBLOCK | os.O_CLOEXEC)
        for place in [directory, *(p for p in directory.rglob("*") if p.is_dir())]:
            self._names[libc.inotify_add_watch(self._handle, os.fsencode(place), _IN_OPEN)] = place

    def opened(self) -> list[str]:
        """Names of what was opened, each once; the watch ends."""
        if self._handle < 0:
            return []
        found, data = set(), b""
        while True:
            try:
                data += os.read(self._handle, 1 << 16)
            except BlockingIOError:
                break
        os.close(self._handle)
        while data:
            number, _, _, length = struct.unpack_from("iIII", data)
            name = data[16 : 16 + length].rstrip(b"\0").decode(errors="replace")
            found.add(str(self._names.get(number, Path("?")) / name))
            data = data[16 + length :]
        return sorted(found)


def _audit(root: str, report: int) -> None:
    """Report what a command must not do, as Python itself tells it."""
    secret, work = f"{root}/secret", f"{root}/work"
    busy = False

    def tell(*words: object) -> None:
        os.write(
            report, ("\t".join(repr(str(word))[1:-1][:300] for word in words) + "\n").encode(errors="replace")
        )

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal busy
        if busy:
            return
        busy = True
        try:
            if event == "open" and isinstance(args[0], str | bytes):
                path = os.path.abspath(os.fsdecode(args[0]))
                if path.startswith(secret):
                    tell("read", path)
                if path.startswith(work) and path.endswith((".py", ".pyc", ".so")):
                    tell("code", path)
            elif event in ("os.listdir", "os.scandir") and isinstance(args[0], str | os.PathLike):
                if os.path.realpath(os.fspath(args[0])).startswith(secret):
                    tell("read", f"the directory {args[0]}")
            elif (
                event == "ctypes.dlopen"
                and args[0]
                and os.path.abspath(os.fsdecode(args[0])).startswith(root)
            ):
                tell("code", args[0])
            elif (
                event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn") and args[0] != "uname"
            ):  # of platform.processor
                tell("process", args[:2])
            elif event == "pickle.find_class" and str(args[0]).partition(".")[0] in _HARMFUL:
                tell("code", f"{args[0]}.{args[1]} of a pickle")
            elif (
                event == "socket.connect"
                and isinstance(args[1], tuple)
                and not str(args[1][0]).startswith(("127.", "::1"))
            ):
                tell("network", args[1])
            elif event == "socket.getaddrinfo" and args[0] not in (None, "localhost", "127.0.0.1"):
                tell("network", args[0])
        except (TypeError, ValueError, IndexError, OSError):
            pass
        finally:
            busy = False

    sys.addaudithook(hook)


def limit(memory: int, seconds: int) -> None:
    """This process may take so much more memory than now, and so many seconds of a processor."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    if pages:
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _child(request: dict[str, Any], report: int) -> None:
    """Run the command; never returns."""
    code = 70
    try:
        root = request["root"]
        os.setsid()
        os.chdir(f"{root}/work")
        for number, name in enumerate(("in", "out", "err")):
            handle = os.open(
                os.devnull if name == "in" else f"{root}/log/{name}", os.O_RDWR | os.O_CREAT, 0o600
            )
            os.dup2(handle, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        os.environ.update({"HOME": f"{root}/home", "TMPDIR": f"{root}/tmp"})
        import tempfile

        tempfile.tempdir = None
        limit(request["memory"], request["seconds"])
        os.write(report, f"rss\t{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}\n".encode())
        _audit(root, report)
        sys.argv = ["simtown", *request["words"]]
        if "offend" in request:  # what the tests of the watch itself ask for
            exec(request["offend"], {})
        else:
            from simtown.cli import main

            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Fork a child for a request, wait for it, and tell how it ended."""
    root = Path(request["root"])
    watch = Watch(root / "secret")
    reader, writer = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
    began = time.monotonic()
    child = os.fork()
    if not child:
        os.close(reader)
        _child(request, writer)
    os.close(writer)
    told, ended = b"", False
    while not ended and (left := began + request["wall"] - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            more = os.read(reader, 1 << 16)
            told, ended = told + more, not more
    os.close(reader)
    if not ended:
        _kill(child)
    _, status, usage = os.wait4(child, 0)
    _kill(child)  # what it may have started
    lines = [line.split("\t") for line in told.decode(errors="replace").splitlines()]
    scale = 1 if sys.platform == "darwin" else 1024
    before = next((int(line[1]) for line in lines if line[0] == "rss"), usage.ru_maxrss)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "hangs": not ended,
        "seconds": usage.ru_utime + usage.ru_stime,
        "wall": time.monotonic() - began,
        "memory": max(0, usage.ru_maxrss - before) * scale,
        "events": [line for line in lines if line[0] != "rss"],
        "opened": watch.opened(),
    }


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _prepare(store: str, warm: list[list[str]]) -> None:
    """Import and compile before the first fork.

    A command that is run here finds honest folders in the store.
    """
    from tests.hostile import commands

    os.chdir(store)
    for words in warm:
        code, _, err = commands.call(words)
        if code:
            sys.stderr.write(f"{' '.join(words)}: {err}")
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        if "store" in request:
            _prepare(request["store"], request["warm"])
            answer: dict[str, Any] = {"ready": True}
        else:
            answer = run(request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
