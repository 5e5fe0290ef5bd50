"""What every command takes as a data set grows: time an example, and memory.

    python benchmarks/growth.py [--sizes 10000,100000] [--commands info,verify] [--folder DIR]

Makes data sets of pictures of 64 x 32 with 20 entities, 1,000 examples each to validate and to test, and runs
every command on them, each in processes of its own, with as many workers as it takes by default. Memory is
the largest sum over all processes of a command at one time, looked at five times a second; pages that several
processes share count once (Linux's proportional set size). The data set lies in a temporary directory, of DIR
if one is named. Rows of benchmarks/results/growth.csv that are not measured again stay.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from machine import RESULTS, Rows, machine, options

SIZES = [10_000, 100_000, 1_000_000, 2_000_000]
#: Seconds between two looks at the memory of a command.
LOOK = 0.2
#: Python with simtown's library, for what has no command: opening a data set, and an epoch over it.
LIBRARY = {
    "open": """
import sys
from simtown.datasets.reader import open_dataset
open_dataset(sys.argv[1]).train[0]
""",
    "epoch": """
import sys
from torch.utils.data import DataLoader
from simtown.datasets.reader import open_dataset
from simtown.datasets.shuffled import Shuffled
for batch in DataLoader(Shuffled(open_dataset(sys.argv[1]).train, 128), batch_size=None): pass
""",
}
FORMATS = ("png", "coco", "clevr", "yolo", "webdataset", "parquet")
#: By name: the arguments of simtown behind which the data set stands, those behind it, and what is written.
COMMANDS = {
    "info": ("info", "", ""),
    "preview": ("preview", "", "out.png"),
    "verify --quick": ("verify", "--quick", ""),
    "verify": ("verify", "", ""),
    "audit": ("audit", "", ""),
    "captions": ("captions", "", "out.txt"),
    "gallery": ("gallery", "", "out"),
    "gallery --all": ("gallery", "--all", "out"),
    **{f"export {to}": ("export", f"--to {to}", "out") for to in FORMATS},
    "fit --no-cache": ("fit", "--model pbn --max-steps 100 --no-cache", "out"),
    "fit": ("fit", "--model pbn --max-steps 100", "out"),
}


def processes(process: int) -> list[int]:
    """A process and all that it started, and they."""
    tree = [process]
    for parent in tree:
        with contextlib.suppress(OSError):  # it has ended since
            for thread in Path(f"/proc/{parent}/task").iterdir():
                tree += map(int, (thread / "children").read_text().split())
    return tree


def memory(process: int) -> int:
    """Bytes of memory of a process; 0 of one that has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


def measured(arguments: list[str]) -> tuple[float, int]:
    """Seconds that Python takes with these arguments, and bytes of memory."""
    begun, largest = time.perf_counter(), 0
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen([sys.executable, *arguments], stdout=output, stderr=output) as process,
    ):
        while process.poll() is None:
            largest = max(largest, sum(map(memory, processes(process.pid))))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK)
        seconds = time.perf_counter() - begun
        if process.returncode:
            output.seek(0)
            raise RuntimeError(f"{arguments} ended with code {process.returncode}: {output.read()[-2000:]!r}")
    return seconds, largest


def commands(n: int, scratch: Path) -> Iterator[tuple[str, list[str], Path]]:
    """Names, arguments of Python and what is written of everything that is measured."""
    town, nothing = str(scratch / "town"), scratch / "nothing"
    world = ["--entities", "20", "--val", "1000", "--test", "1000", "--size", "64x32"]
    yield "generate", ["-m", "simtown", "generate", *world, "--n", str(n), "--out", town], scratch / "town"
    for name, code in LIBRARY.items():
        yield name, ["-c", code, town], nothing
    for name, (command, rest, output) in COMMANDS.items():
        out = scratch / output if output else nothing
        words = [command, town, *rest.split(), *(["--out", str(out)] if output else [])]
        yield name, ["-m", "simtown", *words], out


def main() -> None:
    args = options(__doc__, sizes=SIZES, commands="", folder="", out=RESULTS / "growth.csv")
    rows = Rows(args.out, machine("numpy", "h5py", "torch"), "examples", "command")
    wanted = args.commands.split(",") if args.commands else []
    for n in args.sizes:
        with tempfile.TemporaryDirectory(dir=args.folder or None) as scratch:
            for name, arguments, out in commands(n, Path(scratch)):
                if wanted and name not in ("generate", *wanted):
                    continue
                seconds, largest = measured(arguments)
                written = sum(p.stat().st_size for p in (out, *out.rglob("*")) if p.is_file())
                rows.add(
                    {
                        "examples": n,
                        "command": name,
                        "seconds": f"{seconds:.1f}",
                        "microseconds_per_example": f"{1e6 * seconds / n:.1f}",
                        "megabytes": f"{largest / 1e6:.0f}",
                        "written_megabytes": f"{written / 1e6:.1f}",
                    }
                )
                if name != "generate" and out.is_dir():
                    shutil.rmtree(out)


if __name__ == "__main__":
    main()
