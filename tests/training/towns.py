"""What the tests of training share: batches of noise, runs in small, and models that misbehave."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from simtown.core.callbacks import FitCallback
from simtown.datasets.settings import Settings
from simtown.language.words.questions import ask, vocabulary
from simtown.training.fit_settings import FitSettings
from simtown.training.models import options
from simtown.training.world import Batch, World

#: What a run's directory may hold in other words each time it is made.
MACHINE = ("seconds", "machine", "libraries", "simtown")
HERE = "tests.training.towns"
#: A run of a second: five epochs of four steps, a validation after each.
SMALL = FitSettings("pbn", 60, protocol="paper", batch=16, max_steps=20, device="cpu")
TOWN = Settings(entities=3, n=60, val=40, test=40, width=32, height=32)


def small(model="pbn", **changes):
    """SMALL with other choices; the model's options are its defaults unless given."""
    chosen = options(model, {}) | changes.pop("options", {})
    return replace(SMALL, model=model, options=chosen, **changes)


def world(entities=5, width=32, height=32):
    return World(entities, width, height, len(vocabulary()))


def noise(sizes, b=8, seed=0):
    """b examples that mean nothing: questions of a world, boxes and pictures at random."""
    rng = np.random.default_rng(seed)
    subject, obj = rng.integers(0, sizes.entities, (2, b))
    relation = rng.integers(0, sizes.relations, b)
    tokens = ask(subject, relation, obj, rng.integers(0, 5, b))[1].astype(np.int64)
    image = rng.uniform(-1, 1, (b, 3, sizes.height, sizes.width)).astype(np.float32)
    boxes, answer = rng.uniform(0, 1, (b, 2, 4)).astype(np.float32), rng.integers(0, 2, b).astype(np.float32)
    columns = image, tokens, subject, relation, obj, boxes, answer, np.zeros(b, np.int64)
    return Batch(*map(torch.from_numpy, columns))


def result(directory):
    """What a finished run says that must not depend on when, where and in how many sittings it was made."""
    directory = Path(directory)
    run = {k: v for k, v in json.loads((directory / "run.json").read_text()).items() if k not in MACHINE}
    rows = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    for row in rows:
        del row["images_per_second"]
    with np.load(directory / "test.npz") as test:
        items = {name: test[name].tobytes() for name in test.files}
    return run, rows, items, hashlib.sha256((directory / "weights.safetensors").read_bytes()).hexdigest()


def snapshot(directory):
    """The bytes of every file under a directory, and when each was written."""
    return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in Path(directory).rglob("*") if p.is_file()}


def preset(path, models=("question-only",), entities=(3,), sizes=(10,), seeds=(0,), top="", data="", fit=""):
    """Write a preset of runs of four steps; `top`, `data` and `fit` are further lines."""
    axes = {"entities": entities, "distractor": [False], "models": models}
    axes |= {"train_sizes": sizes, "seeds": seeds}
    grid = [f"{name} = {json.dumps(list(values))}" for name, values in axes.items()]
    lines = ["version = 1", 'size = "32"', top, "[[grid]]", *grid, "[data]", "val = 40", "test = 40", data]
    lines += ["[fit]", 'protocol = "paper"', "batch = 16", "max_steps = 4", fit, ""]
    path.write_text("\n".join(lines))
    return path


class Interrupter(FitCallback):
    """Presses Ctrl-C after so many steps, or so many validations."""

    def __init__(self, steps=0, validations=0):
        self.steps, self.validations, self.rows = steps, validations, []

    def on_step(self, epoch, step, examples, loss):
        self.steps -= 1
        if self.steps == 0:
            raise KeyboardInterrupt

    def on_validation(self, row, best):
        self.rows.append((row, best))
        self.validations -= 1
        if self.validations == 0:
            raise KeyboardInterrupt


class Entities(nn.Module):
    """A bias for each subject: the smallest model that learns something."""

    def __init__(self, world, scale: float = 1.0):
        super().__init__()
        self.scale, self.bias = scale, nn.Embedding(world.entities, 1)

    def forward(self, batch):
        return self.bias(batch.subject).squeeze(1) * self.scale


class Broken(Entities):
    """The loss is NaN after step `last`."""

    last = 1_000_000

    def __init__(self, world):
        super().__init__(world)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, batch):
        if self.training:
            self.steps += 1
        return super().forward(batch) * (float("nan") if self.training and self.steps > self.last else 1.0)


class Mortal(Entities):
    """Born dead, all logits alike, but for a chance."""

    chance = 0.4
    alive: torch.Tensor

    def __init__(self, world):
        super().__init__(world)
        self.register_buffer("alive", torch.rand(()) < self.chance)

    def forward(self, batch):
        return super().forward(batch) * self.alive


class Tied(Entities):
    """Two names of one tensor."""

    def __init__(self, world):
        super().__init__(world)
        self.one, self.other = nn.Linear(1, 1), nn.Linear(1, 1)
        self.other.weight = self.one.weight

    def forward(self, batch):
        logits = super().forward(batch)
        return logits + self.other(self.one(torch.ones(len(batch), 1))).squeeze(1)


class Nested(Entities):
    """An option that is a table of numbers, and one that is a flag."""

    def __init__(self, world, sizes=((4, 8), (8, 16)), sharp: bool = False):
        super().__init__(world)


class Hungry(Entities):
    """Cannot learn from more than `most` examples at once."""

    def __init__(self, world, most: int = 10):
        super().__init__(world)
        self.most = most

    def forward(self, batch):
        if self.training and len(batch) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 80 GiB")
        return super().forward(batch)


class Scripted(nn.Module):
    """Its validation accuracy is what `script` says, one number a validation; beyond its end the last."""

    script: tuple[float, ...] = ()
    truth: torch.Tensor

    def __init__(self, world):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.register_buffer("asked", torch.zeros((), dtype=torch.int64))

    def forward(self, batch):
        if self.training:
            return self.weight.expand(len(batch))
        wanted = self.script[min(int(self.asked), len(self.script) - 1)]
        self.asked += 1
        right = torch.arange(len(batch)) < round(wanted * len(batch))
        return torch.where(right == (batch.answer > 0.5), 1.0, -1.0)
