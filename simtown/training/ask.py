"""Asking a trained model: on another data set, or a question about one picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw, UnidentifiedImageError
from torch import nn

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.preview import OBJECT, SUBJECT
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import SettingsError
from simtown.language.parsing import any_of, match
from simtown.language.questions import PHRASINGS, encode, text, vocabulary, with_article, words
from simtown.language.relations import RELATION_NAMES
from simtown.training import run as runs
from simtown.training.evaluation import logits_of, measure, references
from simtown.training.models import build
from simtown.training.run import FitSettings
from simtown.training.sources import as_input, open_split
from simtown.training.world import Batch, World


def open_run(directory: Path) -> tuple[nn.Module, World, dict[str, Any]]:
    """The trained model of a run, in evaluation mode on the CPU; its world; its run.json.

    Raises:
        FileNotFoundError, DamagedError, ForeignDirectoryError: as :func:`simtown.training.run.load` and ``load_weights``.
    """
    run = runs.load(directory)
    settings = FitSettings(**run["settings"])
    world = World(run["data"]["entities"], run["data"]["width"], run["data"]["height"], len(vocabulary()))
    model = build(settings.model, world, settings.options)
    runs.load_weights(model, directory)
    return model.eval(), world, run


def evaluate(directory: Path, data: Path, device: torch.device) -> dict[str, Any]:
    """A run's model on the test set of any data set of its picture size and no more entities: as "test" in run.json, and references.

    Raises:
        SettingsError: a data set that the model cannot be asked about.
    """
    model, world, run = open_run(directory)
    dataset = open_dataset(data)
    _comparable(world, dataset)
    logits = {
        name: logits_of(model.to(device), open_split(split, len(split), dataset.settings, device), len(split))[0]
        for name, split in (("test", dataset.test), ("val", dataset.val))
        if len(split)
    }
    if "test" not in logits:
        raise SettingsError(f"{data} has no test examples: generate it with some")
    same = runs.digest(dataset) == run["data"]["sha256"] and not run["settings"]["stream"]
    shares = measure(dataset, logits["test"], logits.get("val", np.zeros(0)), run["train_size"] if same else None)
    return {**shares, "references": references(dataset)}


def _comparable(world: World, dataset: Dataset) -> None:
    other = World.of(dataset)
    if (other.width, other.height) != (world.width, world.height):
        raise SettingsError(
            f"{dataset.path} has pictures of {other.width}x{other.height}, the run was trained on {world.width}x{world.height}"
        )
    if other.entities > world.entities:
        raise SettingsError(f"{dataset.path} has {other.entities} entities, the run knows {world.entities}")


_LIKE = f"ask like '{text(ENTITIES[0], RELATION_NAMES[0], ENTITIES[1])}', about vehicles of simtown preview --entity all"


@dataclass(frozen=True)
class Answer:
    """What a model says.

    Attributes:
        yes: probability of yes.
        boxes: (2, 4) x0, y0, x1, y1 in pixels where the model thinks subject and object are, if it says so.
    """

    yes: float
    boxes: np.ndarray | None


@torch.inference_mode()
def predict(directory: Path, image: Path, question: str) -> Answer:
    """Ask a run's model one question about one picture, which is scaled to the size the model knows.

    Raises:
        SettingsError: a question that is not understood (the message says which word), or a file that is no picture.
    """
    model, world, _ = open_run(directory)
    subject, relation, obj = parse(question, world.entities)
    try:
        with Image.open(image) as opened:
            size, small = opened.size, opened.convert("RGB").resize((world.width, world.height), Image.Resampling.BOX)
    except (UnidentifiedImageError, OSError) as error:
        raise SettingsError(f"{image} cannot be read as a picture: {error}") from error
    pixels = as_input(torch.from_numpy(np.asarray(small).copy())[None])
    tokens = torch.from_numpy(encode(question).astype(np.int64))[None]
    s, r, o = (torch.tensor([number]) for number in (subject, relation, obj))
    batch = Batch(pixels, tokens, s, r, o, boxes=torch.zeros(1, 2, 4), answer=torch.zeros(1))
    boxes = None
    if hasattr(model, "boxes"):
        middle, extent = np.split(model.boxes(batch)[:, 0].numpy(), 2, axis=1)
        extent = np.maximum(extent, 0)  # a regression may well say otherwise
        boxes = np.concatenate([middle - extent / 2, middle + extent / 2], axis=1) * [*size, *size]
    return Answer(float(torch.sigmoid(model(batch))[0]), boxes)


def parse(question: str, entities: int) -> tuple[int, int, int]:
    """Numbers of subject, relation and object of a question in any of the phrasings. Raises SettingsError."""
    unknown = [word for word in words(question) if word not in vocabulary()]
    if unknown:
        raise SettingsError(f"the question's word '{unknown[0]}' is unknown: {_LIKE}")
    names = {name.lower(): i for i, name in enumerate(ENTITIES)}
    slots = {"{s}": any_of(names, "s"), "{o}": any_of(names, "o"), "{r}": any_of(RELATION_NAMES, "r")}
    slots |= {"{a_s}": f"an? {slots['{s}']}", "{a_o}": f"an? {slots['{o}']}"}
    found = match(question, PHRASINGS, slots)
    if found:
        s, r, o = names[str(found["s"])], RELATION_NAMES.index(str(found["r"])), names[str(found["o"])]
        if max(s, o) >= entities:
            raise SettingsError(f"the run has not seen {with_article(ENTITIES[max(s, o)])}: its world holds the first {entities} vehicles")
        return s, r, o
    raise SettingsError(f"the question is not understood: {_LIKE}")


def draw(image: Path, answer: Answer) -> Image.Image:
    """The picture with the boxes the model found: subject blue, object orange, as in simtown preview."""
    with Image.open(image) as opened:
        picture = opened.convert("RGB")
    pen = ImageDraw.Draw(picture)
    for box, colour in zip([] if answer.boxes is None else answer.boxes.tolist(), (SUBJECT, OBJECT), strict=False):
        pen.rectangle(box, outline=colour, width=max(1, picture.width // 200))
    return picture
