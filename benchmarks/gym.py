"""Prompts a second of the gym, and the memory that it takes.

    python benchmarks/gym.py [--levels 1,2,...,12] [--n 20000] [--processes 2] [--out FILE]

Each process makes its share of n tasks of a level: street, question, pictures of 224x224 pixels, PNG, base64
and messages. A row a level:

prompts/s           of all processes together, without their first 64 tasks
per CPU second      prompts of one process, whatever else the machine does
KB                  the data URLs of a prompt's pictures, mean
first, last MB      the most memory of a process after a tenth of its tasks, and after all

Writes benchmarks/results/gym.csv.
"""

from __future__ import annotations

import resource
import sys
from itertools import islice
from time import perf_counter, process_time

from machine import RESULTS, Apart, Rows, machine, options

from simtown.gym import LEVELS, Street


class Share:
    """The tasks of one process."""

    def __init__(self, level: int, rank: int, ranks: int) -> None:
        self.tasks = iter(Street(level, seed=0).shard(rank, ranks))

    def make(self, n: int) -> tuple[int, float, float]:
        """Bytes of the pictures of the next n tasks, CPU seconds, and the most MB of this process so far."""
        begun, size = process_time(), 0
        for task in islice(self.tasks, n):
            parts = task.messages[0]["content"]
            size += sum(len(part["image_url"]["url"]) for part in parts if part["type"] == "image_url")
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return size, process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    levels = list(range(1, len(LEVELS) + 1))
    args = options(__doc__, levels=levels, n=20_000, processes=2, out=RESULTS / "gym.csv")
    rows = Rows(args.out, f"{args.n} prompts, {args.processes} processes; {machine('numpy')}", "level")
    own = args.n // args.processes
    parts = own // 10, own - own // 10
    for level in args.levels:
        shares = [Apart(Share, level, rank, args.processes) for rank in range(args.processes)]
        for share in shares:
            share.call("make", 64)
        begun, made = perf_counter(), []
        for n in parts:
            calls = [share.submit("make", n) for share in shares]
            made.append([call.result() for call in calls])
        seconds = perf_counter() - begun
        for share in shares:
            share.end()
        prompts = sum(parts) * args.processes
        size, busy = (sum(call[column] for part in made for call in part) for column in (0, 1))
        first, last = (max(call[2] for call in part) for part in made)
        row = {"level": level, "prompts/s": round(prompts / seconds), "per CPU second": round(prompts / busy)}
        row |= {"KB": round(size / prompts / 1000, 1), "first MB": round(first), "last MB": round(last)}
        rows.add(row)


if __name__ == "__main__":
    main()
