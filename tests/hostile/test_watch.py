"""The watch sees every kind of offence: here the command's place is taken by code that commits it."""

import sys

import pytest

from tests.hostile.cases import Case
from tests.hostile.commands import DATA

CASE = Case(DATA[0])


def test_an_honest_command_is_acquitted(light):
    verdict = light.run(CASE)
    assert not verdict.offences
    assert verdict.code == 0
    assert "town" in verdict.out


@pytest.mark.parametrize(
    ("offence", "code"),
    [
        ("traceback: RuntimeError: oh", "raise RuntimeError('oh')"),
        ("exit code 7", "raise SystemExit(7)"),
        ("crash: signal 11", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"),
        ("memory: 1.", "x = bytearray(1_200_000_000); x[::4096] = bytes(len(x[::4096]))"),
        (
            "memory: Unable",
            "import sys; sys.exit(print('simtown: Unable to allocate 9 GB', file=sys.stderr) or 2)",
        ),
        (
            "no single line",
            "import sys; sys.exit(print('simtown: one\\nsimtown: two', file=sys.stderr) or 2)",
        ),
        ("no single line", "import sys; sys.exit(print('oh no', file=sys.stderr) or 1)"),
        ("a message of 1009", "import sys; sys.exit(print('simtown: ' + 'x' * 1000, file=sys.stderr) or 2)"),
        ("control character", "print('\\x1b[31m')"),
        ("write outside: outside/x made", "open('{root}/outside/x', 'w')"),
        ("write outside: work/x made", "open('x', 'w')"),
        (
            "write outside: secret/keep/letter.txt deleted",
            "import os; os.unlink('{root}/secret/keep/letter.txt')",
        ),
        ("write outside: work/town/manifest.json changed", "open('town/manifest.json', 'a').write(' ')"),
        ("secret: it is in log/out", "print(open('{root}/secret/secret.txt').read())"),
        ("secret: it is in out/x", "import shutil; shutil.copy('{root}/secret/secret.txt', '../out/x')"),
        ("read outside: ", "open('{root}/secret/secret.txt')"),
        ("read outside: the directory", "import os; os.listdir('{root}/secret')"),
        ("code ran: marks/helper.py", "import sys; sys.path.insert(0, ''); import helper"),
        ("code ran: ('true'", "import subprocess; subprocess.run('true')"),
        ("code ran: os.getpid", "import pickle; pickle.loads(b'cos\\ngetpid\\n(tR.')"),
        ("network", "import socket; socket.getaddrinfo('example.invalid', 80)"),
    ],
)
def test_an_offence_is_seen(light, offence, code):
    assert any(found.startswith(offence) for found in light.run(CASE, offend=code).offences)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: inotify")
def test_what_a_library_reads_is_seen(light):
    """Python tells nothing of files that HDF5 opens by itself."""
    code = "import h5py; h5py.File('{root}/secret/secret.h5')"
    assert "read outside: secret/secret.h5" in light.run(CASE, offend=code).offences


@pytest.mark.parametrize(("offence", "code"), [("hangs", "open('pipe')"), ("slow", "while True: pass")])
def test_what_does_not_end_is_ended(light, monkeypatch, offence, code):
    if offence == "hangs":
        monkeypatch.setattr(light, "wall", 1)
    else:
        monkeypatch.setattr(light, "seconds", 1)
    verdict = light.run(CASE, offend=f"import os; os.mkfifo('pipe'); {code}" if offence == "hangs" else code)
    assert any(found.startswith(offence) for found in verdict.offences)
