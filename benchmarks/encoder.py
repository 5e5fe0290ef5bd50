"""Train a tiny image encoder on pictures of the town, as an encoder for simtown fit --model head.

    OMP_NUM_THREADS=1 python benchmarks/encoder.py encoders/town [--steps 1000]

The encoder is a ViT of transformers for pictures of 64 x 32 pixels. It learns, patch by patch, which of 31
kinds of vehicles stands there: no question, no relation and no place is among its examples. They are of the
world of seed 0, and no run has them: their seed is 1,000. Writes a directory that transformers opens, and
prints how often it names the kind right on patches of vehicles; some two minutes on one core.
"""

from time import process_time

import numpy as np
import torch
from machine import options
from torch import nn
from transformers import ViTConfig, ViTImageProcessor, ViTModel

from simtown.datasets.settings import Settings
from simtown.render.raster import Raster
from simtown.training.sources import FreshExamples
from simtown.training.world import Batch

KINDS, BATCH, PATCH, WIDTH, HEIGHT = 31, 128, 8, 64, 32
TOWN = Settings(entities=KINDS, seed=1_000, world_seed=0, width=WIDTH, height=HEIGHT)


def kinds_of_patches(batch: Batch) -> torch.Tensor:
    """(b, patches) int64: 1 + the rank of the nearer vehicle in whose box a patch's middle lies, or 0."""
    y, x = ((torch.arange(0, size, PATCH) + PATCH / 2) / size for size in (HEIGHT, WIDTH))
    middles = torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1).view(1, 1, -1, 2)
    centre, extent = batch.boxes[:, :, None].split(2, dim=-1)
    inside = ((middles - centre).abs() < extent / 2).all(-1)
    lower = centre[..., 1] + extent[..., 1] / 2  # the lower edge of the nearer one is lower in the picture
    nearer = (inside * (1 + lower)).max(dim=1)
    ranks = torch.stack([batch.subject, batch.object], dim=1)
    return torch.where(nearer.values > 0, 1 + ranks.gather(1, nearer.indices), 0)


def main() -> None:
    args = options(__doc__, "out", steps=1_000)
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    encoder = ViTModel(
        ViTConfig(image_size=(HEIGHT, WIDTH), patch_size=PATCH, **sizes), add_pooling_layer=False
    )
    classify = nn.Linear(sizes["hidden_size"], 1 + KINDS)
    parameters = [*encoder.parameters(), *classify.parameters()]
    adam = torch.optim.AdamW(parameters, lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, 2e-3, total_steps=args.steps)
    stream, begun = FreshExamples(TOWN, Raster(), torch.device("cpu")), process_time()
    steps = (np.arange(step * BATCH, (step + 1) * BATCH) for step in range(args.steps))
    hits, count = 0.0, 0
    for step, batch in enumerate(stream.batches(steps)):
        kinds = kinds_of_patches(batch)
        logits = classify(encoder(pixel_values=batch.image).last_hidden_state[:, 1:])
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), kinds)
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()
        there = kinds > 0
        hits += float((logits.argmax(-1) == kinds)[there].sum())
        count += int(there.sum())
        if step % 100 == 99 or step == args.steps - 1:
            right = f"{hits / count:.3f} of the vehicles' patches"
            print(f"step {step + 1:,}: loss {loss.item():.3f}, the right kind on {right}")
            hits, count = 0.0, 0
    encoder.save_pretrained(args.out)
    size = {"height": HEIGHT, "width": WIDTH}
    ViTImageProcessor(size=size, image_mean=[0.5] * 3, image_std=[0.5] * 3).save_pretrained(args.out)
    weights = sum(parameter.numel() for parameter in encoder.parameters())
    print(f"{args.out}: {weights:,} weights, {process_time() - begun:.0f} s")


if __name__ == "__main__":
    main()
