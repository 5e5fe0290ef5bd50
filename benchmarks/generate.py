"""How fast a data set is made, end to end and stage by stage.

    python benchmarks/generate.py [--n 8000] [--sizes 128,256] [--workers 1,2] [--repeats 3]
        [--device cpu] [--out FILE]

Makes the default world (60 entities, all weathers) into a temporary directory with every combination of
picture size and worker count, in rounds so that a slow minute of the machine hits all alike, and writes
medians to benchmarks/results/generate.csv (generate-cuda.csv where a card draws). Stages: sample (entities,
places, weather, street), question (proposals, distractor, words), render, encode (compression into HDF5) and
write (flush, fsync, rename). Compilation happens before the clock starts.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter

from machine import RESULTS, Rows, machine, options

from simtown.datasets.making.generate import generate
from simtown.datasets.making.manifests import TIMINGS
from simtown.datasets.settings import Settings


def make(n: int, size: int, workers: int, device: str, distractor: bool) -> dict[str, float]:
    """Make a data set once; speed, bytes an example, and the share of every stage of the workers' time."""
    settings = Settings(n=n, val=0, test=0, shard=1000, distractor=distractor, width=size, height=size)
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "set"
        begun = perf_counter()
        manifest = generate(settings, target, workers, device=device)
        seconds = perf_counter() - begun
        shares = json.loads((target / TIMINGS).read_text())["runs"][0]["stage_shares"]
    per_example = sum(entry["bytes"] for entry in manifest["shards"].values()) / n
    return {"examples_per_second": n / seconds, "seconds": seconds, "bytes_per_example": per_example} | shares


def main() -> None:
    defaults = {"n": 8000, "sizes": [128, 256], "workers": [1, 2], "repeats": 3}
    args = options(__doc__, **defaults, device="cpu", distractor=False, out="")
    how = args.device, args.distractor
    make(100, 128, 1, *how)  # compiles
    runs = defaultdict(list)
    for _, size, workers in product(range(args.repeats), args.sizes, args.workers):
        runs[size, workers].append(make(args.n, size, workers, *how))
    name = "generate.csv" if args.device == "cpu" else "generate-cuda.csv"
    described = f"{machine('numpy', 'h5py', 'hdf5plugin')}, drawn on {args.device}"
    described += f"; {args.n} examples, {args.repeats} rounds, medians"
    rows = Rows(Path(args.out or RESULTS / name), described)
    for (size, workers), measured in runs.items():
        medians = {key: round(median(run[key] for run in measured), 4) for key in measured[0]}
        rows.add({"size": size, "workers": workers, **medians})


if __name__ == "__main__":
    main()
