"""What a model costs: parameters, operations of one example, and how fast it trains.

    OMP_NUM_THREADS=1 python benchmarks/models.py [--rounds 5]

All models take turns on one thread, at 64 x 32 and 128 x 128 pixels, in a world of 31 entities: a step is
loss, gradient and Adam on a batch of 128. The speed is images in a second of processor time, so other jobs on
the machine disturb it less; the median of the rounds counts. Operations are multiply-accumulates of
convolutions and matrix products in one forward pass with a question of 16 words, the longest, counted by
PyTorch; what is done number by number (activations, normalisation) is left out. All in float32. Writes
benchmarks/results/models.csv and prints the table of docs/models.md; a minute or two.
"""

from time import process_time

import numpy as np
import torch
from machine import RESULTS, Rows, machine, options
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from simtown.core.processes import keep_memory
from simtown.datasets.settings import Settings
from simtown.language.words.questions import LENGTH, vocabulary
from simtown.render.raster import Raster
from simtown.training.fit import loss_of
from simtown.training.models import MODELS, build
from simtown.training.sources import FreshExamples
from simtown.training.world import Batch, World

ENTITIES, BATCH = 31, 128
SIZES = ((64, 32), (128, 128))


def examples(world: World, b: int) -> Batch:
    """The first training examples of a world like this."""
    size = {"width": world.width, "height": world.height}
    settings = Settings(entities=world.entities, frequencies="uniform", **size)
    stream = FreshExamples(settings, Raster(), torch.device("cpu"))
    return next(stream.batches([np.arange(b)]))


@torch.no_grad()
def operations(model: nn.Module, world: World) -> int:
    """Multiply-accumulates of one example whose question has LENGTH words.

    Libraries' own kernels, which PyTorch does not look into, are switched off meanwhile.
    """
    model.train()  # in evaluation PyTorch's transformer is one such kernel
    for part in model.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.eval()  # the statistics of a single cell do not exist
    example = examples(world, 1)
    example.tokens = torch.ones(1, LENGTH, dtype=torch.int64)
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        model(example)
    return counter.get_total_flops() // 2


class Contestant:
    """A model in training."""

    def __init__(self, name: str, world: World) -> None:
        torch.manual_seed(0)
        self.model = build(name, world, {}).to(memory_format=torch.channels_last)
        self.operations = operations(self.model, world)
        self.parameters = sum(parameter.numel() for parameter in self.model.parameters())
        self.model.train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)
        self.batch = examples(world, BATCH)

    def rate(self) -> float:
        """Images a second of one step."""
        begun = process_time()
        loss, _ = loss_of(self.model, self.batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return BATCH / (process_time() - begun)


def main() -> None:
    args = options(__doc__, rounds=5, out=RESULTS / "models.csv")
    torch.set_num_threads(1)
    keep_memory()
    table, rows, where = {name: f"| `{name}` |" for name in MODELS}, Rows(args.out, ""), machine("torch")
    for width, height in SIZES:
        world = World(ENTITIES, width, height, len(vocabulary()))
        contestants = {name: Contestant(name, world) for name in MODELS}
        rounds = [[model.rate() for model in contestants.values()] for _ in range(1 + args.rounds)]
        rates = np.median(rounds[1:], axis=0).round().astype(int)  # the first warms up
        for (name, model), rate in zip(contestants.items(), rates, strict=True):
            costs = {"parameters": model.parameters, "operations": model.operations}
            size = f"{width}x{height}"
            rows.add({"model": name, "size": size, **costs, "images_per_second": rate, "machine": where})
            if (width, height) == SIZES[0]:
                table[name] += f" {model.parameters:,} | {model.operations / 1e6:.1f} |"
            table[name] += f" {rate:,} |"
    print(*table.values(), sep="\n")


if __name__ == "__main__":
    main()
