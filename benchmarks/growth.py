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
from pathlib import Path

from machine import RESULTS, Rows, machine, options

SIZES = [10_000, 100_000, 1_000_000, 2_000_000]
#: Seconds between two looks at the memory of a command.
LOOK = 0.2
#: Python with simtown's library, for what has no command: opening a data set, and an epoch over it.
LIBRARY = {
    "open": """
import sys
from simtown.datasets.reading.reader import open_dataset
open_dataset(sys.argv[1]).train[0]
""",
    "epoch": """
import sys
from torch.utils.data import DataLoader
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.shuffled import Shuffled
for batch in DataLoader(Shuffled(open_dataset(sys.argv[1]).train, 128), batch_size=None): pass
""",
}
FORMATS = ("png", "coco", "clevr", "yolo", "webdataset", "parquet")
#: By name: arguments of simtown, in which N, TOWN, OUT, PNG and TXT stand for the size and for places.
COMMANDS = {
    "generate": "generate --entities 20 --n N --val 1000 --test 1000 --size 64x32 --out TOWN",
    "open": "",
    "epoch": "",
    "info": "info TOWN",
    "preview": "preview TOWN --out PNG",
    "verify --quick": "verify TOWN --quick",
    "verify": "verify TOWN",
    "audit": "audit TOWN",
    "captions": "captions TOWN --out TXT",
    "gallery": "gallery TOWN --out OUT",
    "gallery --all": "gallery TOWN --all --out OUT",
    **{f"export {form}": f"export TOWN --to {form} --out OUT" for form in FORMATS},
    "fit --no-cache": "fit TOWN --model pbn --max-steps 100 --no-cache --out OUT",
    "fit": "fit TOWN --model pbn --max-steps 100 --out OUT",
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


def main() -> None:
    args = options(__doc__, sizes=SIZES, commands="", folder="", out=RESULTS / "growth.csv")
    rows = Rows(args.out, machine("numpy", "h5py", "torch"), "examples", "command")
    wanted = {"generate", *args.commands.split(",")} if args.commands else set(COMMANDS)
    for n in args.sizes:
        with tempfile.TemporaryDirectory(dir=args.folder or None) as scratch:
            town, made = Path(scratch, "town"), Path(scratch, "made")
            words = {"N": n, "TOWN": town, "OUT": made / "a", "PNG": made / "a.png", "TXT": made / "a.txt"}
            for name in (name for name in COMMANDS if name in wanted):
                made.mkdir()
                command = ["-m", "simtown", *(str(words.get(word, word)) for word in COMMANDS[name].split())]
                seconds, largest = measured(["-c", LIBRARY[name], str(town)] if name in LIBRARY else command)
                place = town if name == "generate" else made
                written = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
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
                shutil.rmtree(made)


if __name__ == "__main__":
    main()
