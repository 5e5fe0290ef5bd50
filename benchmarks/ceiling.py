"""How much faster a training step can still become: the part of it that multiplies, and how fast that is.

    python benchmarks/ceiling.py [--steps 20]

A child process trains a model on one thread while oneDNN reports the time of each of its operations
(ONEDNN_VERBOSE): it computes PyTorch's convolutions, matrix products and LSTMs on a processor. The rest of a
step is batch norm, activations, dropout, Adam, memory and Python. The rate of the multiplying part is set
beside that of one large matrix product in the same number format, which is about the most that the processor
can do. Each step is timed with PyTorch's layers too. Run it on a quiet machine. Writes its rows to
benchmarks/results/ceiling.csv, in place of those of the same machine.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from itertools import product
from time import perf_counter

from machine import RESULTS, machine, options

from simtown.core.tables import Table

RESULT = RESULTS / "ceiling.csv"
MODELS, SIZES, PRECISIONS = ("pbn", "cnn-lstm"), ("64x32", "128x128"), ("float32", "bf16")
#: Steps that are not counted, and the side of the large matrices.
WARM_UP, SIDE = 5, 2_048
#: What stands before the child's own line, among those of oneDNN.
MARK = "ceiling:"


def train(model: str, size: str, precision: str, layers: str, steps: int) -> None:
    """In the child: some steps; prints where counting begins, and seconds and operations of a step."""
    import torch
    from models import BATCH, ENTITIES, Contestant

    from simtown.core.processes import keep_memory
    from simtown.language.questions import vocabulary
    from simtown.training.fit import loss_of
    from simtown.training.models import layers as models_layers
    from simtown.training.world import World

    if layers == "pytorch":
        models_layers.applies = lambda maps, norm: False
    torch.set_num_threads(1)
    keep_memory()
    width, height = map(int, size.split("x"))
    contestant = Contestant(model, World(ENTITIES, width, height, len(vocabulary())))

    def step() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss, _ = loss_of(contestant.model, contestant.batch)
        contestant.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        contestant.optimizer.step()

    for _ in range(WARM_UP):
        step()
    print(MARK, "begin", flush=True)
    begun = perf_counter()
    for _ in range(steps):
        step()
    seconds = (perf_counter() - begun) / steps
    operations = contestant.operations * BATCH * 3 * 2  # forward, two products backward; two operations each
    print(MARK, json.dumps({"seconds": seconds, "operations": operations}), flush=True)


def peak(precision: str) -> float:
    """Operations a second of one large matrix product on one thread, the best of ten."""
    import torch

    torch.set_num_threads(1)
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    left, right = (torch.randn(SIDE, SIDE).to(dtype) for _ in range(2))
    best = 0.0
    for _ in range(10):
        begun = perf_counter()
        left @ right
        best = max(best, 2 * SIDE**3 / (perf_counter() - begun))
    return best


def measure(model: str, size: str, precision: str, layers: str, steps: int) -> tuple[float, float, float]:
    """Seconds of a step, seconds of it within oneDNN, and operations of a step."""
    child = subprocess.run(
        [sys.executable, __file__, "--child", model, size, precision, layers, str(steps)],
        env={**os.environ, "ONEDNN_VERBOSE": "profile_exec", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    lines = child.stdout.splitlines()
    counted = lines[lines.index(f"{MARK} begin") :]
    milliseconds = sum(float(line.rpartition(",")[2]) for line in counted if ",exec," in line)
    totals = json.loads(counted[-1].removeprefix(MARK))
    return totals["seconds"], milliseconds / 1e3 / steps, totals["operations"]


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        train(*sys.argv[2:6], int(sys.argv[6]))
        return
    steps = options(__doc__, steps=20).steps
    here, peaks = machine("torch"), {precision: peak(precision) for precision in PRECISIONS}
    kept: list[dict[str, str]] = []
    if RESULT.exists():
        with open(RESULT, newline="", encoding="utf-8") as file:
            kept = [row for row in csv.DictReader(file) if row["machine"] != here]
    rows: list[dict[str, object]] = []
    for size, model, precision in product(SIZES, MODELS, PRECISIONS):
        plain, _, _ = measure(model, size, precision, "pytorch", steps)
        step, multiplying, operations = measure(model, size, precision, "ours", steps)
        milliseconds = {"pytorch_step_ms": plain, "step_ms": step, "multiplying_ms": multiplying}
        rates = {"gflops": operations / multiplying, "peak_gflops": peaks[precision]}
        about = {"model": model, "size": size, "precision": precision}
        rows.append(
            about
            | {
                **{name: round(seconds * 1e3, 1) for name, seconds in milliseconds.items()},
                "multiplying_share": round(multiplying / step, 3),
                **{name: round(rate / 1e9) for name, rate in rates.items()},
                "machine": here,
            }
        )
        print(*(f"{name} {value}" for name, value in rows[-1].items()), sep=", ", flush=True)
    RESULT.write_text(Table.of_records([*kept, *rows]).csv(), encoding="utf-8")


if __name__ == "__main__":
    main()
