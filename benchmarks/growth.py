"""What every command takes as a data set grows: time an example, and memory.

    python benchmarks/growth.py [--sizes 10000,100000] [--commands info,verify] [--folder DIR]

Makes data sets of pictures of 64 x 32 with 20 entities, 1,000 examples each to validate and to test, and runs
every command on them, each in processes of its own, with as many workers as it takes by default. Memory is
the largest sum over all processes of a command at one time, looked at five times a second; pages that several
processes share count once (Linux's proportional set size). What a command wrote is deleted when it has ended,
the data set when all have. Rows of benchmarks/results/growth.csv that are not measured again stay.
"""

from __future__ import annotations

import contextlib
import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import RESULTS, machine, options

RESULT = RESULTS / "growth.csv"
SIZES = (10_000, 100_000, 1_000_000, 2_000_000)
#: Seconds between two looks at the memory of a command.
LOOK = 0.2
#: Python with simtown's library, for what has no command.
OPEN = "from simtown.datasets.reader import open_dataset; open_dataset({town!r}).train[0]"
EPOCH = """
from torch.utils.data import DataLoader
from simtown.datasets.reader import open_dataset
from simtown.datasets.shuffled import Shuffled
for batch in DataLoader(Shuffled(open_dataset({town!r}).train, 128), batch_size=None): pass
"""


def commands(town: Path, folder: Path, n: int) -> dict[str, list[str]]:
    """The arguments of every command, by name: of simtown, or after -c of Python.

    What a command writes, if anything, is its last argument.
    """
    world = ["--entities", "20", "--val", "1000", "--test", "1000", "--size", "64x32"]
    formats = ("png", "coco", "clevr", "yolo", "webdataset", "parquet")
    on_town = {
        "info": ["info"],
        "preview": ["preview", "--out", "out.png"],
        "verify --quick": ["verify", "--quick"],
        "verify": ["verify"],
        "audit": ["audit"],
        "captions": ["captions", "--out", "out.txt"],
        "gallery": ["gallery", "--out", "out"],
        "gallery --all": ["gallery", "--all", "--out", "out"],
        **{f"export {to}": ["export", "--to", to, "--out", "out"] for to in formats},
        "fit --no-cache": ["fit", "--model", "pbn", "--max-steps", "100", "--no-cache", "--out", "out"],
        "fit": ["fit", "--model", "pbn", "--max-steps", "100", "--out", "out"],
    }
    result = {
        "generate": ["generate", *world, "--n", str(n), "--out", str(town)],
        "open": ["-c", OPEN.format(town=str(town))],
        "epoch": ["-c", EPOCH.format(town=str(town))],
    }
    for name, (command, *more) in on_town.items():
        if "--out" in more:
            more[-1] = str(folder / more[-1])
        result[name] = [command, str(town), *more]
    return result


def tree(process: int) -> list[int]:
    """A process and all that it started, and they."""
    found = [process]
    for parent in found:
        try:
            for thread in Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
        except OSError:  # it has ended since
            continue
    return found


def proportional(process: int) -> int:
    """Bytes of memory of a process; 0 of one that has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def measured(arguments: list[str]) -> tuple[float, int]:
    """Seconds that a command takes, and bytes of memory. Raises RuntimeError if it fails."""
    words = [sys.executable, *([] if arguments[0] == "-c" else ["-m", "simtown"]), *arguments]
    begun, largest = time.perf_counter(), 0
    with tempfile.TemporaryFile() as said, subprocess.Popen(words, stdout=said, stderr=said) as process:
        while process.poll() is None:
            largest = max(largest, sum(map(proportional, tree(process.pid))))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK)
        seconds = time.perf_counter() - begun
        if process.returncode:
            said.seek(0)
            raise RuntimeError(
                f"{' '.join(arguments)} ended with code {process.returncode}: {said.read()[-2000:].decode()}"
            )
    return seconds, largest


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a directory."""
    return sum(p.stat().st_size for p in (path, *path.rglob("*")) if p.is_file())


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def kept() -> dict[tuple[int, str], dict[str, str]]:
    """The rows of an earlier run, by examples and command."""
    with open(RESULT, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(int(row["examples"]), row["command"]): row for row in rows}


def save(rows: dict[tuple[int, str], dict[str, str]]) -> None:
    with open(RESULT, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {machine('numpy', 'h5py', 'torch')}\n")
        writer = csv.DictWriter(file, next(iter(rows.values())))
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows, key=lambda key: key[0]))


def main() -> None:
    args = options(__doc__, sizes=list(SIZES), commands="", folder="")
    rows = kept()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.folder or scratch)
        for n in args.sizes:
            town = folder / f"town-{n}"
            there = town.exists()
            for name, arguments in commands(town, folder, n).items():
                wanted = not args.commands or name in args.commands.split(",")
                if there if name == "generate" else not wanted:
                    continue
                seconds, memory = measured(arguments)
                out = Path(arguments[-1]) if "--out" in arguments else folder / "nothing"
                written = size_of(out)
                if out != town:
                    remove(out)
                rows[n, name] = {
                    "examples": str(n),
                    "command": name,
                    "seconds": f"{seconds:.1f}",
                    "microseconds_per_example": f"{1e6 * seconds / n:.1f}",
                    "megabytes": f"{memory / 1e6:.0f}",
                    "written_megabytes": f"{written / 1e6:.1f}",
                }
                print(*rows[n, name].values(), sep="\t", flush=True)
                save(rows)
            if not there:
                remove(town)


if __name__ == "__main__":
    main()
