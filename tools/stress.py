"""The tests where they could fail for another reason than the program: a busy machine, another order, another
processor's arithmetic.

    python -m tools.stress [RUN ...]     # all runs, or those named; exit code 1 if a run failed

It prints a line for each run, and a table.

A run that passed with the sources as they are is not done again: stop this at any time and start it again.
Results and the output of failed runs are kept in out/stress.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import machine

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out" / "stress"
SOURCES = ("simtown", "tests", "pyproject.toml", "constraints.txt")
#: The tests in which floats are added up by PyTorch, NumPy and BLAS, each in an order of the processor's own.
ARITHMETIC = ("tests/training", "tests/probes", "tests/render")
#: What makes a processor count as another, or as an older one.
OTHERS = (
    ("ATEN_CPU_CAPABILITY", "default"),
    ("ONEDNN_MAX_CPU_ISA", "SSE41"),
    ("MKL_CBWR", "COMPATIBLE"),
    ("OPENBLAS_CORETYPE", "Prescott"),
)
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(10**6))"


@dataclass(frozen=True)
class Run:
    """One way to run tests: how many busy processes beside them, pytest's arguments, and variables."""

    what: str
    busy: int = 0
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)


RUNS = {
    "busy": Run("all tests beside four busy processes", busy=4),
    **{
        f"order-{seed}": Run(
            "all tests in random order", arguments=("-p", "randomly", f"--randomly-seed={seed}")
        )
        for seed in (1, 2, 3)
    },
    **{
        f"{name}={value}": Run(
            "training, probes and rendering", arguments=ARITHMETIC, variables={name: value}
        )
        for name, value in OTHERS
    },
}


def digest() -> str:
    """What the verdict is about: the sources, as they are now."""
    files = [ROOT / name for name in SOURCES if (ROOT / name).is_file()]
    files += [
        path
        for name in SOURCES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:12]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes of the same priority that do nothing but take time."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def attempt(name: str, sources: str) -> dict[str, object]:
    """Do one run and return its result."""
    run, report, log = RUNS[name], OUT / f"{name}.xml", OUT / f"{name}.log"
    report.unlink(missing_ok=True)
    words = [sys.executable, "-m", "pytest", "-n", "2", "-q", f"--junitxml={report}", *run.arguments]
    begin = time.monotonic()
    with busy(run.busy), log.open("w") as output:
        code = subprocess.run(
            words, cwd=ROOT, env={**os.environ, **run.variables}, stdout=output, stderr=subprocess.STDOUT
        ).returncode
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    if report.exists():
        for suite in ET.parse(report).getroot().iter("testsuite"):
            counts = {word: counts[word] + int(suite.get(word, 0)) for word in counts}
    failed = counts["failures"] + counts["errors"]
    if not code:
        log.unlink()
    return {
        "run": name,
        "what": run.what,
        "sources": sources,
        "passed": counts["tests"] - failed - counts["skipped"],
        "failed": failed,
        "skipped": counts["skipped"],
        "code": code,
        "minutes": round((time.monotonic() - begin) / 60, 1),
    }


def line(result: dict[str, object]) -> str:
    verdict = "passes" if not result["code"] else f"FAILS: out/stress/{result['run']}.log"
    numbers = (
        f"{result['passed']:>5} passed {result['failed']:>3} failed {result['skipped']:>4} skipped "
        f"{result['minutes']:>6} min"
    )
    return f"{result['run']:<28} {result['what']:<38} {numbers}  {verdict}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"of {', '.join(RUNS)}; by default all")
    names = parser.parse_args().runs or list(RUNS)
    unknown = [name for name in names if name not in RUNS]
    if unknown:
        parser.error(f"no run is called {unknown[0]}: choose of {', '.join(RUNS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    results = []
    for name in names:
        path, sources = OUT / f"{name}.json", digest()
        result = json.loads(path.read_text()) if path.exists() else {}
        if result.get("sources") != sources or result.get("code") != 0:
            print(f"{name}: {RUNS[name].what} ...", flush=True)
            result = attempt(name, sources)
            path.write_text(json.dumps(result, indent=1) + "\n")
        print(line(result), flush=True)
        results.append(result)
    print(f"\n{machine('numpy', 'torch')}; sources {digest()}")
    print("\n".join(line(result) for result in results))
    return int(any(result["code"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
