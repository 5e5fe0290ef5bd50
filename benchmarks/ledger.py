"""Six short measures of this checkout and of a pinned commit, in pairs: a ledger of how fast simtown is.

    python benchmarks/ledger.py [--rounds 9]      appends medians to benchmarks/results/ledger.csv
    python benchmarks/ledger.py --count           counts instructions instead; fails if one loses a tenth
    python benchmarks/ledger.py --clone           seconds to 1,000 verified examples, from the clone

Two processes, one for each commit, do the same in turns on one thread, and only processor time counts: what
else the machine does weighs on both. Draw: a picture of 128 x 128. Sample: an example of the default world.
Ask: a question of any family. Read: a stored picture. Step: an example of a training step of the PBN at
64 x 32. Score: a reply of a model.

Instructions are counted by `perf` where the processor lets it, else by `valgrind`, for all but the step,
which is PyTorch's. --clone clones, installs into a new environment, generates and verifies.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from machine import RESULTS, Apart, Rows, machine, options

HERE = Path(__file__).parents[1]
PINNED = "6528a84845da3b4e3a5c15cd4862af7d1cce8b37"
#: The level of processors whose kernels valgrind can run.
_COUNTED_LEVEL = "x86-64-v3"
#: More instructions than at the pinned commit from which on a count fails.
_LOSS = 1.1
#: A piece of work, and how many items it makes.
Work = tuple[Callable[[], Any], int]


def draw() -> Work:
    from simtown.datasets.settings import Settings
    from simtown.datasets.source import source_of
    from simtown.render.raster import Raster

    scenes, raster = source_of(Settings()).draw("train", np.arange(256)).scene, Raster()
    return lambda: raster.render(scenes, 128, 128, geometry=False), 256


def sample(**settings: Any) -> Work:
    from simtown.datasets.settings import Settings
    from simtown.datasets.source import source_of

    source, index = source_of(Settings(**settings)), np.arange(512)
    return lambda: source.draw("train", index), len(index)


def ask() -> Work:
    return sample(questions=("all",), crowd="3-6")


def read() -> Work:
    pictures = _dataset(128, 128).train
    order = np.random.default_rng(0).permutation(len(pictures))
    return lambda: pictures.images(order), len(order)


def step() -> Work:
    import torch

    from simtown.training.fit import loss_of, new_model
    from simtown.training.fit_settings import FitSettings
    from simtown.training.sources import open_stream

    torch.set_num_threads(1)
    data = _dataset(64, 32)
    batch = next(iter(open_stream(data, 64, torch.device("cpu")).batches([np.arange(64)])))
    model, optimizer = new_model(FitSettings(model="pbn", device="cpu"), data.settings)

    def learn() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss_of(model, batch)[0].backward()
        optimizer.step()

    return learn, len(batch)


def score() -> Work:
    from simtown.gym import Street

    tasks = [Street(level=5, seed=0)[number] for number in range(64)]
    replies = [f"I count them. The answer is {task.answer}." for task in tasks]
    return lambda: [task.score(reply) for task, reply in zip(tasks, replies, strict=True)], len(tasks)


def _dataset(width: int, height: int) -> Any:
    from simtown.datasets.making.generate import generate
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.settings import Settings

    folder = Path(os.environ["LEDGER_FOLDER"]) / f"{os.getpid()}-{width}"
    generate(Settings(n=256, val=0, test=0, width=width, height=height), folder, workers=1)
    return open_dataset(folder)


WORKS: dict[str, Callable[[], Work]] = {
    work.__name__: work for work in (draw, sample, ask, read, step, score)
}


class Checkout:
    """The simtown of a checkout, which is imported into a process of its own."""

    def __init__(self, checkout: Path) -> None:
        sys.path.insert(0, str(checkout))
        import simtown

        assert Path(simtown.__file__).parents[1] == checkout
        self.works: dict[str, Work] = {}

    def microseconds(self, name: str) -> float:
        """Processor time of an item."""
        if name not in self.works:
            self.works[name] = WORKS[name]()
            self.works[name][0]()
        work, items = self.works[name]
        begun = process_time()
        work()
        return (process_time() - begun) / items * 1e6


def _pairs(checkouts: list[Path], rounds: int) -> Iterator[dict[str, object]]:
    """A row of medians for each work."""
    both = [Apart(Checkout, checkout, OMP_NUM_THREADS="1") for checkout in checkouts]
    for name in WORKS:
        taken = np.zeros((rounds, 2))
        for turn, place in np.ndindex(rounds, 2):
            which = (turn + place) % 2  # neither always goes first
            taken[turn, which] = both[which].call("microseconds", name)
        here, pinned = np.median(taken, axis=0)
        ratio = median(taken[:, 0] / taken[:, 1])
        yield {"measure": name, "here": round(here, 1), "pinned": round(pinned, 1), "ratio": round(ratio, 3)}
    for each in both:
        each.end()


def _count(checkout: Path, name: str) -> float:
    """Instructions of one more time of a work, in millions."""
    return (_instructions(checkout, name, 3) - _instructions(checkout, name, 1)) / 2e6


def _instructions(checkout: Path, name: str, times: int) -> int:
    """Instructions of a process that does a work so many times. Raises SystemExit if nothing counts them."""
    command = [sys.executable, __file__, "--only", name, "--times", str(times), "--checkout", str(checkout)]
    environment = {"SIMTOWN_KERNELS": _COUNTED_LEVEL, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    counters = {
        "perf stat -x, -e instructions:u": r"(\d+),,instructions",
        "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null": r"I\s+refs:\s+([\d,]+)",
    }
    for counter, pattern in counters.items():
        try:
            done = subprocess.run(
                [*counter.split(), *command], env=os.environ | environment, capture_output=True, text=True
            )
        except FileNotFoundError:
            continue
        if number := re.search(pattern, done.stderr):
            return int(number[1].replace(",", ""))
    raise SystemExit("neither perf nor valgrind counts instructions here: install valgrind")


def _counts(checkouts: list[Path]) -> Iterator[dict[str, object]]:
    """A row of millions of instructions for each work."""
    for name in [name for name in WORKS if name != "step"]:
        here, pinned = (_count(checkout, name) for checkout in checkouts)
        row = {"measure": f"{name}, instructions", "here": round(here, 1), "pinned": round(pinned, 1)}
        yield row | {"ratio": round(here / pinned, 3)}


def _from_the_clone() -> Iterator[dict[str, object]]:
    """Two rows: seconds to 1,000 verified examples by the clock, and of processors."""
    with TemporaryDirectory() as folder:
        begun, before, bin_ = perf_counter(), os.times(), Path(folder, "venv", "bin")
        for command in (
            ["git", "clone", "--quiet", str(HERE), "simtown"],
            [sys.executable, "-m", "venv", "venv"],
            [bin_ / "pip", "install", "--quiet", "./simtown"],
            [bin_ / "simtown", "generate", "--n", "1000", "--val", "0", "--test", "0", "--out", "town"],
            [bin_ / "simtown", "verify", "town"],
        ):
            own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            subprocess.run(command, cwd=folder, env=own, check=True)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        for measure, seconds in (("clone", perf_counter() - begun), ("clone, processors", used)):
            yield {"measure": measure, "here": round(seconds, 1), "pinned": "", "ratio": ""}


@contextmanager
def _pinned(commit: str, level: str | None) -> Iterator[Path]:
    """A folder with the files of a commit, and its kernels."""
    with TemporaryDirectory() as folder:
        files = subprocess.run(["git", "archive", commit], cwd=HERE, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(files)) as archive:
            archive.extractall(folder, filter="data")
        os.environ["LEDGER_FOLDER"] = folder
        for checkout in (HERE, Path(folder)):
            compile_ = (
                f"import compiling as c; l = {level!r} or c.levels_here()[0]; p = c.LIBRARIES / c.name_of(l)"
            )
            compile_ += "; p.exists() or c.compile_kernels(p, l)"
            kernels = checkout / "simtown" / "kernels"
            subprocess.run(
                [sys.executable, "-c", compile_], cwd=kernels, env=os.environ | {"PYTHONPATH": ""}, check=True
            )
        yield Path(folder)


def main() -> None:
    defaults = {"pinned": PINNED, "out": str(RESULTS / "ledger.csv"), "count": False, "clone": False}
    args = options(__doc__, rounds=9, **defaults, only="", times=1, checkout="")
    if args.only:  # the process whose instructions are counted
        Checkout(Path(args.checkout))
        work, _ = WORKS[args.only]()
        for _ in range(args.times):
            work()
        return
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout.strip()
    rows = Rows(Path(args.out), "", "commit", "machine", "measure")
    same = {"commit": commit, "against": args.pinned[:8], "machine": machine("numpy")}
    if args.clone:
        for row in _from_the_clone():
            rows.add(same | row)
        return
    losses = []
    with _pinned(args.pinned, _COUNTED_LEVEL if args.count else None) as pinned:
        for row in _counts([HERE, pinned]) if args.count else _pairs([HERE, pinned], args.rounds):
            rows.add(same | row)
            losses += [row["measure"]] if args.count and row["ratio"] > _LOSS else []
    if losses:
        raise SystemExit(
            f"more instructions than {_LOSS:g} times those of {args.pinned[:8]}: {', '.join(losses)}"
        )


if __name__ == "__main__":
    main()
