"""What a cluster adds to making shards: Ray's own cost a piece of work, and the manifest's, which one process
writes and each reader reads.

    python benchmarks/cluster.py [--pieces 2000] [--shards 500,50000,500000]

Writes benchmarks/results/cluster.csv. Pieces of work do nothing, on a Ray cluster of
this machine with one worker; manifests list shards as large data sets do. A data set of 100 million examples
is one whose shards are holes in files.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

from machine import RESULTS, Rows, machine, options

from simtown.core.cluster import Cluster
from simtown.datasets import manifests
from simtown.datasets.generate import generate
from simtown.datasets.settings import Settings
from simtown.datasets.shards import tasks


def nothing(piece: int, report: object) -> int:
    return piece


def manifest_of(shards: int) -> tuple[float, float, float]:
    """(megabytes, processor seconds to write, processor seconds to read and check) of a manifest of so many
    shards.
    """
    settings = Settings(entities=20, n=2_000 * shards, val=0, test=0, shard=2_000)
    manifest = manifests.fresh(settings)
    tried = {"entity": (2150, 2000), "placement": (4213, 2000), "question": (4021, 2000)}
    for task in tasks(settings):
        manifest["shards"][task.name] = {
            "sha256": "0" * 64,
            "bytes": 30_773_332,
            "examples": task.count,
            "tried": tried,
        }
    with tempfile.TemporaryDirectory() as scratch:
        begun = process_time()
        manifests.save(Path(scratch), manifest)
        written = process_time() - begun
        size = (Path(scratch) / manifests.NAME).stat().st_size
        begun = process_time()
        manifests.load(Path(scratch))
        return size / 1e6, written, process_time() - begun


OPEN = """
import re, sys, time
from pathlib import Path
from simtown.datasets.reader import open_dataset
def megabytes(what):
    status = Path("/proc/self/status").read_text()
    return int(re.search(what + r":\\s+(\\d+)", status)[1]) / 1e3
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before, begun = megabytes("VmRSS"), time.perf_counter()
assert len(open_dataset(sys.argv[1]).train) == int(sys.argv[2])
print(time.perf_counter() - begun, megabytes("VmHWM") - before)
"""


def opened(examples: int) -> tuple[float, float]:
    """Seconds and megabytes to open a data set of so many examples, 5,000 a shard, in a process that has
    imported the library.
    """
    settings = Settings(entities=20, n=5_000, val=0, test=0, width=64, height=32, shard=5_000)
    with tempfile.TemporaryDirectory() as scratch:
        small, large = Path(scratch, "small"), Path(scratch, "large")
        made = generate(settings, small)
        (listed,) = made["shards"].values()
        shard = {**listed, "summary": made["summary"]["train"]}
        settings = replace(settings, n=examples)
        manifest = manifests.fresh(settings)
        for task in tasks(settings):
            manifests.enter(manifest, task, shard)
            (large / task.name).parent.mkdir(parents=True, exist_ok=True)
            with open(large / task.name, "wb") as file:
                file.truncate(listed["bytes"])
        manifest |= {"complete": True, "acceptance": manifests.acceptance(manifest["shards"])}
        manifests.save(large, manifest)
        printed = subprocess.run(
            [sys.executable, "-c", OPEN, large, str(examples)], check=True, capture_output=True, text=True
        ).stdout
    seconds, megabytes = map(float, printed.split())
    return seconds, megabytes


def main() -> None:
    args = options(__doc__, pieces=2000, shards=[500, 50_000, 500_000])
    with Rows(RESULTS / "cluster.csv", f"{machine('ray', 'h5py')}; {args.pieces} pieces") as rows:

        def add(what: str, measured: float) -> None:
            rows.add({"what": what, "measured": round(measured, 4)})

        for count in args.shards:
            for part, value in zip(("MB", "s to write", "s to read"), manifest_of(count), strict=True):
                add(f"manifest of {count:,} shards: {part}", value)
        for part, value in zip(("s", "MB"), opened(100_000_000), strict=True):
            add(f"100,000,000 examples: {part} to open", value)
        with Cluster(workers=1) as cluster:
            list(cluster.outcomes(nothing, range(20)))
            wall, busy = perf_counter(), process_time()
            list(cluster.outcomes(nothing, range(args.pieces)))
            wall, busy = perf_counter() - wall, process_time() - busy
        add("Ray: ms a piece of work, wall, one worker", wall / args.pieces * 1e3)
        add("Ray: ms a piece of work, driver's processor", busy / args.pieces * 1e3)


if __name__ == "__main__":
    main()
