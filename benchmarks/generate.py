"""How fast a data set is made, end to end and stage by stage.

    python benchmarks/generate.py [--n 8000] [--sizes 128,256] [--workers 1,2] [--repeats 3] [--device
        cpu] [--out FILE]

Makes the default world (60 entities, all weathers) into a temporary directory with every combination of
picture size and worker count, in rounds so that a slow minute of the machine hits all alike, and writes
medians to benchmarks/results/generate.csv (generate-cuda.csv where a card draws). Stages: sample (entities,
places, weather, street), question (proposals, distractor, words), render, encode (compression into HDF5) and
write (flush, fsync, rename). Compilation happens before the clock starts.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

from machine import machine
from rich.console import Console
from rich.table import Table

from simtown.datasets.job import generate
from simtown.datasets.manifests import TIMINGS
from simtown.datasets.settings import Settings
from simtown.datasets.shards import STAGES

RESULT = Path(__file__).parent / "results" / "generate.csv"


def one_run(settings: Settings, workers: int, device: str) -> dict[str, float]:
    """Make the data set once; examples/s, bytes an example, and the share of every stage of the workers'
    time.
    """
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "set"
        begun = perf_counter()
        manifest = generate(settings, target, workers, device=device)
        seconds = perf_counter() - begun
        shares = json.loads((target / TIMINGS).read_text())["runs"][0]["stage_shares"]
    examples = sum(settings.counts().values())
    size = sum(entry["bytes"] for entry in manifest["shards"].values())
    return {
        "examples_per_second": examples / seconds,
        "seconds": seconds,
        "bytes_per_example": size / examples,
        **shares,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=8000)
    parser.add_argument("--sizes", default="128,256")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--distractor", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    plain = Settings(n=args.n, val=0, test=0, shard=1000, distractor=args.distractor)
    cases = [(int(s), int(w)) for s in args.sizes.split(",") for w in args.workers.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        generate(replace(plain, n=100), Path(scratch) / "warm", 1, device=args.device)
    runs: dict[tuple[int, int], list[dict[str, float]]] = {case: [] for case in cases}
    for _ in range(args.repeats):
        for size, workers in cases:
            runs[size, workers].append(one_run(replace(plain, width=size, height=size), workers, args.device))
    rows = [
        {"size": s, "workers": w, **{k: round(median(r[k] for r in got), 4) for k in got[0]}}
        for (s, w), got in runs.items()
    ]
    described = f"{machine('numpy', 'numba', 'h5py', 'hdf5plugin')}, drawn on {args.device}"
    table = Table("size", "workers", "examples/s", "KiB/example", *STAGES, title=described)
    for row in rows:
        shares = [f"{row[stage]:.1%}" for stage in STAGES]
        rate, kib = f"{row['examples_per_second']:,.0f}", f"{row['bytes_per_example'] / 1024:.1f}"
        table.add_row(str(row["size"]), str(row["workers"]), rate, kib, *shares)
    Console(width=120).print(table)
    path = args.out or (RESULT if args.device == "cpu" else RESULT.with_stem("generate-cuda"))
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {described}; {args.n} examples, {args.repeats} rounds, medians\n")
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    print(f"written to {path}")


if __name__ == "__main__":
    main()
