"""What the card's kernels would cost, without a card: counted on an emulator of their PTX, and estimated from
the counts.

    python benchmarks/emulated.py [--sizes 64,128,256,512] [--scenes 28]

The emulator (tests/cuda) runs what NVRTC makes of the kernels on streets of all weathers in equal parts,
counts the instructions that warps issue, and compares every picture with the processor's, byte for byte.
Counted instructions are PTX; they are weighed by kind and scaled to the length that a kernel has in SASS,
which may be wrong by 15 %. An estimate of frames/s needs a card's clock and multiprocessors (those of an
H200: 132 at 1.755 GHz, four instructions a cycle each), and the share of issue slots that kernels use, which
nothing here can tell: a quarter to a half is usual. Writes benchmarks/results/emulated.csv, a line a kernel
and size.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from machine import machine

from simtown.render.cuda.compiler import source
from simtown.render.cuda.engine import Cuda
from simtown.render.raster import Raster
from tests.cuda.emulated_card import EmulatedCard
from tests.cuda.resources import measure_source
from tests.render.streets import streets

RESULT = Path(__file__).parent / "results" / "emulated.csv"
SLOTS = 132 * 1.755e9 * 4  # instructions of warps a second, if every slot of an H200 were used
SHARES = (0.25, 0.33, 0.5)


def counted(size: int, scenes: int) -> list[dict[str, object]]:
    """A row a kernel, each figure a frame's. Raises SystemExit if a picture is not the processor's."""
    batch, card = streets(scenes), EmulatedCard(megabytes=4000, check=False)
    engine = Cuda(card)
    engine.launch = 10**6
    found, expected = engine.render(batch, size, size), Raster().render(batch, size, size)
    if any(getattr(found, name).tobytes() != values.tobytes() for name, values in vars(expected).items()):
        raise SystemExit(f"a picture of {size} x {size} is not the processor's")
    rows: list[dict[str, object]] = []
    for name, counters in card.launches:
        taken = measure_source(source(name), name)
        rows.append(
            {
                "size": size,
                "scenes": scenes,
                "kernel": name,
                "ptx": round(counters.instructions / scenes),
                "sass": round(counters.sass / scenes),
                "lanes": round(counters.active, 1),
                "read_sectors": round(counters.global_sectors[0] / scenes),
                "written_sectors": round(counters.global_sectors[1] / scenes),
                "shared_turns": round(sum(counters.shared_waves) / scenes),
                "registers": taken.registers,
                "spilled_bytes": taken.spill_stores + taken.spill_loads,
                "static_shared_bytes": taken.shared,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="64,128,256,512")
    parser.add_argument("--scenes", type=int, default=28)
    args = parser.parse_args()
    rows: list[dict[str, object]] = []
    print(
        "| pixels | instructions a frame | "
        + " | ".join(f"frames/s at {share:.0%}" for share in SHARES)
        + " |"
    )
    print("| --- | ---: |" + " ---: |" * len(SHARES))
    for size in map(int, args.sizes.split(",")):
        rows += (made := counted(size, args.scenes))
        whole = sum(int(str(row["sass"])) for row in made)
        print(
            f"| {size} × {size} | {whole:,} | "
            + " | ".join(f"{SLOTS * share / whole:,.0f}" for share in SHARES)
            + " |",
            flush=True,
        )
    print("\n| kernel, a frame | " + " | ".join(list(rows[0])[3:]) + " |")
    for row in rows:
        print(
            f"| {row['kernel']}, {row['size']} | "
            + " | ".join(f"{v:,}" for v in list(row.values())[3:])
            + " |"
        )
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {machine('cuda-core', 'nvidia-cuda-nvrtc', 'nvidia-cuda-nvcc', 'numpy')}\n")
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
