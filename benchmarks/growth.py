"""What every command takes as a data set grows: time an example, and memory.

    python benchmarks/growth.py [--sizes 10000,100000,1000000,2000000] [--commands generate,verify]
        [--folder DIR] [--out FILE]

Makes data sets of pictures of 64 x 32 with 20 entities, 1,000 examples each to validate and to test, and runs
every command on them, each in processes of its own, with as many workers as it takes by default. Memory is
the largest sum over all processes of a command at one time, looked at five times a second; pages that several
processes share count once (Linux's proportional set size). What a command wrote is deleted when it has ended,
the data set when all have. Rows of benchmarks/results/growth.csv that are not measured again stay.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import machine

RESULT = Path(__file__).parent / "results" / "growth.csv"
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


def commands(town: Path, out: Path, n: int) -> dict[str, list[str]]:
    """The arguments of every command, by name: of simtown, or after -c of Python."""
    formats = {
        f"export {to}": ["export", str(town), "--to", to, "--out", str(out)]
        for to in ("png", "coco", "clevr", "yolo", "webdataset", "parquet")
    }
    fit = ["fit", str(town), "--model", "pbn", "--max-steps", "100", "--out", str(out)]
    return {
        "generate": ["generate", "--entities", "20", "--n", str(n), "--val", "1000", "--test", "1000",
                     "--size", "64x32", "--out", str(town)],
        "open": ["-c", OPEN.format(town=str(town))],
        "epoch": ["-c", EPOCH.format(town=str(town))],
        "info": ["info", str(town)],
        "preview": ["preview", str(town), "--out", str(out)],
        "verify --quick": ["verify", str(town), "--quick"],
        "verify": ["verify", str(town)],
        "audit": ["audit", str(town)],
        "captions": ["captions", str(town), "--out", str(out)],
        "gallery": ["gallery", str(town), "--out", str(out)],
        "gallery --all": ["gallery", str(town), "--all", "--out", str(out)],
        **formats,
        "fit --no-cache": [*fit, "--no-cache"],
        "fit": fit,
    }  # fmt: skip


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
    return (
        sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
        if path.is_dir()
        else path.stat().st_size
        if path.exists()
        else 0
    )


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def kept(path: Path) -> dict[tuple[int, str], dict[str, str]]:
    """The rows of an earlier run, by examples and command."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {
            (int(row["examples"]), row["command"]): row
            for row in csv.DictReader(line for line in file if not line.startswith("#"))
        }


def save(path: Path, rows: dict[tuple[int, str], dict[str, str]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {machine('numpy', 'h5py', 'torch')}\n")
        writer = csv.DictWriter(
            file,
            ["examples", "command", "seconds", "microseconds_per_example", "megabytes", "written_megabytes"],
        )
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows, key=lambda key: key[0]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument(
        "--commands",
        default="",
        help="with commas between; by default all but generate's data set is made anyway",
    )
    parser.add_argument(
        "--folder", type=Path, help="where data sets are made; one that is there already is used"
    )
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    rows = kept(args.out)
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or Path(scratch)
        for n in map(int, args.sizes.split(",")):
            town = folder / f"town-{n}"
            before = (town / "manifest.json").exists()
            for name, arguments in commands(town, folder / "out", n).items():
                if name == "generate":
                    if before:
                        continue
                elif args.commands and name not in args.commands.split(","):
                    continue
                suffix = {"preview": ".png", "captions": ".txt"}.get(name, "")
                out = folder / f"out{suffix}"
                remove(out)
                seconds, memory = measured(
                    [str(out) if word == str(folder / "out") else word for word in arguments]
                )
                written = size_of(town if name == "generate" else out)
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
                save(args.out, rows)
            if not before:
                remove(town)


if __name__ == "__main__":
    main()
