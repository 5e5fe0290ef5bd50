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

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

from machine import RESULTS, Rows, machine, options

from simtown.datasets.generate import generate
from simtown.datasets.manifests import TIMINGS
from simtown.datasets.settings import Settings


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
    args = options(
        __doc__, n=8000, sizes=[128, 256], workers=[1, 2], repeats=3, device="cpu", distractor=False, out=""
    )
    plain = Settings(n=args.n, val=0, test=0, shard=1000, distractor=args.distractor)
    cases = [(size, workers) for size in args.sizes for workers in args.workers]
    with tempfile.TemporaryDirectory() as scratch:
        generate(replace(plain, n=100), Path(scratch) / "warm", 1, device=args.device)
    runs: dict[tuple[int, int], list[dict[str, float]]] = {case: [] for case in cases}
    for _ in range(args.repeats):
        for size, workers in cases:
            runs[size, workers].append(one_run(replace(plain, width=size, height=size), workers, args.device))
    name = "generate.csv" if args.device == "cpu" else "generate-cuda.csv"
    described = f"{machine('numpy', 'numba', 'h5py', 'hdf5plugin')}, drawn on {args.device}"
    described += f"; {args.n} examples, {args.repeats} rounds, medians"
    with Rows(Path(args.out or RESULTS / name), described) as rows:
        for (size, workers), measured in runs.items():
            medians = {key: round(median(run[key] for run in measured), 4) for key in measured[0]}
            rows.add({"size": size, "workers": workers, **medians})


if __name__ == "__main__":
    main()
