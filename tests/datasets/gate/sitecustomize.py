"""Runs first in each Python started while a Gate (tests/datasets/conftest.py) stands: it waits at moments.

A moment is named by what sys.audit tells of: "import" of a module, "open" of a file, "os.rename" to a name.
"""

import fcntl
import json
import os
import re
import sys
import time


def _role():
    """Whether this is a worker (of multiprocessing or Ray, a study of a grid) or what starts the workers."""
    words = " ".join(sys.orig_argv)
    if "resource_tracker" in words:
        return "tracker"
    workers = "--multiprocessing-fork", "default_worker.py", " probe physical "
    return "worker" if any(each in words for each in workers) else "parent"


def _stand():
    place, role, busy = os.environ["SIMTOWN_GATE"], _role(), []
    with open(f"{place}/moments.json") as file:
        moments = [moment for moment in json.load(file) if moment["role"] == role]
    seen = [0] * len(moments)

    def look(event, arguments):
        if busy or event not in ("import", "open", "os.rename"):
            return
        subject = arguments[1 if event == "os.rename" else 0]
        if isinstance(subject, int) or subject is None:
            return
        name = os.path.basename(os.fsdecode(subject))
        for i, moment in enumerate(moments):
            if event == moment["event"] and re.fullmatch(moment["name"], name):
                seen[i] += 1
                if seen[i] >= moment["nth"]:
                    busy.append(True)
                    try:
                        _pass(place, role)
                    finally:
                        busy.pop()

    if moments:
        sys.addaudithook(look)


def _pass(place, role):
    """Wait here as long as the gate is shut; "PID.ROLE" says that somebody waits.

    It asks again and again. A flock() that blocks would wait for ever if a signal came just before it: Python
    calls handlers between its own instructions, so not before flock() returns.
    """
    handle, sign = os.open(f"{place}/gate", os.O_RDWR), f"{place}/{os.getpid()}.{role}"
    try:
        while not _is_open(handle):
            if not os.path.exists(sign):
                os.close(os.open(sign, os.O_CREAT | os.O_WRONLY))
            time.sleep(0.01)
        if os.path.exists(sign):
            os.unlink(sign)
    finally:
        os.close(handle)


def _is_open(handle):
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if "SIMTOWN_GATE" in os.environ:
    _stand()
