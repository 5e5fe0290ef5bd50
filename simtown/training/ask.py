"""Asking a trained model: on another data set, or a question about one picture."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from torch import nn

from simtown.assets.catalogue import ENTITIES
from simtown.assets.entities import with_article
from simtown.core.amounts import counted
from simtown.core.callbacks import ProgressCallback
from simtown.core.files import DamagedError
from simtown.core.notebook import OBJECT, SUBJECT
from simtown.core.options import SettingsError
from simtown.core.untrusted import open_picture
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import check_names, source_of
from simtown.language.meaning.programs import Form
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words import grammar, questions, tokens
from simtown.language.words.questions import FAMILIES, text
from simtown.scenes.camera import WIDEST
from simtown.training import identity, run_directory
from simtown.training.fit import precision
from simtown.training.fit_settings import FitSettings
from simtown.training.models import build, finds_boxes, require_allowed
from simtown.training.run_scores import logits_of, scores_of
from simtown.training.sources import ExampleSource, as_input, open_split
from simtown.training.world import Batch, World

#: A run's model, the settings of its data, and its run.json.
OpenedRun = tuple[nn.Module, Settings, dict[str, Any]]


def open_run(directory: Path, allow_model: Collection[str] = ()) -> OpenedRun:
    """The trained model of a run, in evaluation mode on the CPU; the settings of its data; its run.json.

    Of models besides simtown's own it runs the code of those in `allow_model` only (package.module:Class).

    Raises:
        FileNotFoundError: it holds no run or no weights.
        DamagedError: a file of the run is damaged.
        ForeignDirectoryError: another program wrote it.
        ModelError: it names a model that is not allowed, or that cannot be made.
        SettingsError: its world is impossible.
    """
    run = run_directory.load(directory)
    settings = FitSettings(**run["settings"])
    trained = identity.settings_of(run)
    check_names(trained)
    require_allowed(settings.model, directory / run_directory.RUN, allow_model)
    model = build(settings.model, World.of(trained, run_directory.language_in(run)), settings.options)
    run_directory.load_weights(model, directory)
    return model.eval(), trained, run


def evaluate(
    directory: Path,
    data: str | Path,
    device: torch.device,
    allow_model: Collection[str] = (),
    callback: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Test a run's model on a data set of its picture size and its kinds.

    Returns what "test" in run.json holds, and references; `callback` counts examples. Raises SettingsError if
    the model cannot be asked about the data set, and what :func:`open_run` raises.
    """
    dataset = open_dataset(data)
    splits = [name for name in dataset.splits if name != "train" and len(dataset[name])]
    logits, run = _logits(directory, dataset, splits, device, allow_model, callback)
    language = run_directory.language_in(run)
    size, digest = run["train_size"], run["data"].get("examples", {}).get("train")
    held = not FitSettings(**run["settings"]).stream and size <= len(dataset.train)
    trained_on = held and dataset.train.digests([size])[size] == digest
    scores = scores_of(dataset, language.get("answers"))
    return {**scores.measure(logits, size if trained_on else None), "references": scores.references()}


def right_answers(
    directory: Path, dataset: Dataset, device: torch.device, allow_model: Collection[str] = ()
) -> np.ndarray:
    """(n,) bool: which test questions of a data set a run answers right; raises as :func:`evaluate`."""
    logits, run = _logits(directory, dataset, ["test"], device, allow_model, None)
    answers = run_directory.language_in(run).get("answers")
    return scores_of(dataset, answers).right(dataset.test, logits["test"])


def _logits(
    directory: Path,
    dataset: Dataset,
    splits: Sequence[str],
    device: torch.device,
    allow_model: Collection[str],
    callback: ProgressCallback | None,
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Logits of a run's model on whole splits of a data set, and its run.json."""
    model, trained, run = open_run(directory, allow_model)
    language = run_directory.language_in(run)
    _require_comparable(trained, language, dataset)
    world = {name: getattr(trained, name) for name in ("entities", "world_seed", "own_kinds")}
    shown = replace(dataset.settings, **world)
    callback = callback or ProgressCallback()
    callback.on_begin(sum(len(dataset[name]) for name in splits))
    model.to(device)
    logits = {}
    with precision(FitSettings(**run["settings"])):
        for name in splits:
            split = dataset[name]
            source: ExampleSource = open_split(split, len(split), shown, device)
            if language:
                source = Renumbered(source, dataset.names, language)
            logits[name], _ = logits_of(model, source, len(split), callback.on_progress)
    return logits, run


class Renumbered:
    """Examples with the numbers that a run has for their families and answers, -1 for unknown ones."""

    def __init__(
        self, source: ExampleSource, names: Mapping[str, Sequence[str]], language: Mapping[str, Sequence[str]]
    ) -> None:
        self._source = source
        self._numbers = [
            torch.tensor([{text: i for i, text in enumerate(language[name])}.get(t, -1) for t in names[name]])
            for name in ("families", "answers")
        ]

    def batches(self, numbers: Iterable[np.ndarray]) -> Iterator[Batch]:
        """See :class:`simtown.training.sources.ExampleSource`."""
        for batch in self._source.batches(numbers):
            families, answers = (table.to(batch.answer.device) for table in self._numbers)
            yield replace(batch, family=families[batch.family], answer=answers[batch.answer])


def _require_comparable(trained: Settings, language: Mapping[str, Sequence[str]], dataset: Dataset) -> None:
    """Raises SettingsError if the data set has other pictures, kinds or questions than the run, or nothing to
    test.
    """
    other, families = dataset.settings, tuple(language.get("families", ["paper"]))
    asking = f"--questions {'all' if families == FAMILIES else ','.join(families)}"
    size, its = (f"{each.width}x{each.height}" for each in (trained, other))
    both = "the paper's questions", "questions of families"
    if other.has_families != trained.has_families:
        problem, like = (
            f"asks {both[other.has_families]}, the run learned {both[trained.has_families]}",
            asking,
        )
    elif other.has_families and dataset.vocabulary != language["vocabulary"]:
        problem, like = "was made by another simtown, whose words have other numbers", asking
    elif unknown := [name for name in dataset.names.get("families", []) if name not in families]:
        problem, like = f"asks what the run has not learned ({unknown[0]})", asking
    elif not len(dataset.test):
        problem, like = "has no test examples", "--test 1000"
    elif size != its:
        problem, like = f"has pictures of {its}, the run was trained on {size}", f"--size {size}"
    elif trained.shots != other.shots:
        problem = f"shows {counted(other.shots, 'picture')} an example, the run saw {trained.shots}"
        like = f"--sequence {trained.sequence} --pictures {trained.shots}" if trained.sequence else asking
    elif unseen := [kind for kind in other.kinds if kind not in trained.kinds]:
        problem = f"has vehicles that the run has not seen ({with_article(ENTITIES[unseen[0]])})"
        like = f"--entities {trained.entities} --world-seed {trained.world_seed}"
    else:
        return
    raise SettingsError(f"{dataset.path} {problem}: give a data set that simtown generate {like} makes")


#: Least pixels of the longer side of a drawn answer.
_DRAWN = 512
#: Two boxes that share more than this of their union cover one place.
_SAME = 0.3

_EXAMPLE = text(ENTITIES[0], RELATION_NAMES[0], ENTITIES[1])
_LIKE = f"ask like '{_EXAMPLE}', about vehicles of simtown preview --entity all"


@dataclass(frozen=True)
class ModelAnswer:
    """The answer of a model.

    Attributes:
        yes: probability of yes.
        boxes: (2, 4) x0, y0, x1, y1 in pixels where the model thinks subject and object are, if it says so.
        frame: x0, y0, x1, y1 in pixels of the part of the picture that the model was shown.
        cut: whether that is less than the whole picture.
        vehicles: names of subject and object.
        accuracy: share of its test questions that the model answered right; None if it was not tested yet.
        picture: what was asked about, whole.
        answer: of a question of families: the answer, of which `yes` is the probability.
    """

    yes: float
    boxes: np.ndarray | None
    frame: tuple[float, float, float, float]
    cut: bool = False
    vehicles: tuple[str, str] = ("subject", "object")
    accuracy: float | None = None
    picture: Image.Image | None = field(default=None, repr=False, compare=False)
    answer: str = ""

    def doubts(self) -> list[str]:
        """Reasons to doubt that the boxes hold two vehicles; without any, they may still be wrong."""
        if self.boxes is None:
            return []
        low = np.maximum(self.boxes[:, :2], self.frame[:2])
        high = np.minimum(self.boxes[:, 2:], self.frame[2:])
        seen = zip(("subject", "object"), (high - low).min(axis=1), strict=True)
        doubts = [
            f"nothing of the {name}'s box is seen: the model found none" for name, side in seen if side < 1
        ]
        shared = np.maximum(high.min(axis=0) - low.max(axis=0), 0).prod()
        areas = np.maximum(high - low, 0).prod(axis=1)
        if not doubts and shared > _SAME * (areas.sum() - shared):
            doubts.append("both boxes cover the same place: they can hardly hold two vehicles")
        return doubts


def framed(size: tuple[int, int], trained: Settings) -> tuple[float, float, float, float]:
    """The part of a picture that shows what the pictures of a run show: x0, y0, x1, y1 in pixels.

    The camera anchors a picture's lower edge and the width of the road (:mod:`simtown.scenes.camera`), so a
    taller picture shows more sky and one wider than 16:9 more street at both sides. What is more is cut off.

    Raises:
        SettingsError: the picture shows less than those of the run.
    """
    width, height = size
    scale = min(width, WIDEST * height) / min(trained.width, WIDEST * trained.height)
    seen = trained.width * scale, trained.height * scale
    if seen[0] > width + 1 or seen[1] > height + 1:
        less, times = "street" if seen[0] > width + 1 else "sky", max(1, round(width / trained.width))
        shape = f"simtown render --size {times * trained.width}x{times * trained.height}"
        theirs = f"less {less} than the run's pictures of {trained.width}x{trained.height}"
        raise SettingsError(f"the picture ({width}x{height}) shows {theirs}: draw it in that shape ({shape})")
    left, top = max((width - seen[0]) / 2, 0), max(height - seen[1], 0)
    return left, top, min(left + seen[0], width), height


@torch.inference_mode()
def predict(
    directory: Path,
    image: Path | Image.Image | Sequence[Path | Image.Image],
    question: str,
    allow_model: Collection[str] = (),
    opened: OpenedRun | None = None,
) -> ModelAnswer:
    """Ask a run's model one question about one picture, or about all pictures of a sequence in their order.

    A picture, a PNG or JPEG file, is cut (:func:`framed`) and scaled to the size that the model knows. The
    question may have any phrasing of data sets. With `opened`, from :func:`open_run`, no file of the run is
    read.

    Raises:
        SettingsError: the question is not understood (the message says which word), a file is not a
            picture, a picture shows less than those of the run, there are more or fewer pictures than the
            run saw of an example, or the model needs the true boxes.
        Others: see :func:`open_run`.
    """
    model, trained, run = opened or open_run(directory, allow_model)
    if getattr(model, "needs_true_boxes", False):
        needs = f"the model {run['model']} needs the true boxes, which no picture holds"
        raise SettingsError(f"{directory}: {needs}: ask another run")
    if run["model"] == "picture-only":
        raise SettingsError(f"{directory}: the model {run['model']} reads no question: ask another run")
    language = run_directory.language_in(run)
    inputs, vehicles = _told(question, trained, language)
    images = image if isinstance(image, Sequence) else [image]
    if len(images) != trained.shots:
        saw = f"the run saw {counted(trained.shots, 'picture')} of an example"
        raise SettingsError(f"{directory}: {saw}, and {len(images)} were given: give {trained.shots}")
    pictures = [_opened(each) for each in images]
    frame = left, top, right, bottom = framed(pictures[0].size, trained)
    none = torch.zeros(1, dtype=torch.int64)
    inputs = dict.fromkeys(("subject", "relation", "object", "family"), none) | inputs
    batch = Batch(_input(pictures, trained), boxes=torch.zeros(1, 2, 4), answer=torch.zeros(1), **inputs)
    boxes = None
    if finds_boxes(model):
        shares = _corners(model.boxes(batch)[:, 0].numpy())
        boxes = shares * [right - left, bottom - top, right - left, bottom - top] + [left, top, left, top]
    logits, said = model(batch), ""
    yes = float(torch.sigmoid(logits)[0]) if logits.dim() == 1 else float(logits.softmax(1).max())
    if language:
        said = language["answers"][int(logits.argmax())]
    cut = right - left + 1 <= pictures[0].width or bottom - top + 1 <= pictures[0].height
    if not np.isfinite(yes) or (boxes is not None and not np.isfinite(boxes).all()):
        remedy = "run simtown fit again with another directory"
        raise DamagedError(f"{directory} holds weights that answer NaN: {remedy}")
    accuracy = run.get("test", {}).get("accuracy")
    return ModelAnswer(yes, boxes, frame, cut, vehicles, accuracy, pictures[0], said)


def _opened(image: Path | Image.Image) -> Image.Image:
    """A picture. Raises SettingsError if a file is none."""
    try:
        return image if isinstance(image, Image.Image) else open_picture(image)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{image} cannot be read as a picture: {error}") from error


def _input(pictures: Sequence[Image.Image], trained: Settings) -> torch.Tensor:
    """A batch of one example's pictures, cut and scaled to the size that a run knows.

    Raises SettingsError if a picture shows less.
    """
    size = trained.width, trained.height
    small = [each.resize(size, Image.Resampling.BOX, box=framed(each.size, trained)) for each in pictures]
    pixels = torch.from_numpy(np.stack([np.asarray(each) for each in small]))
    return as_input(pixels[None] if trained.sequence else pixels)


def _corners(found: np.ndarray) -> np.ndarray:
    """(n, 4) corners of boxes, of (n, 4) middles and extents as a model regresses them."""
    middle, extent = np.split(found, 2, axis=1)
    extent = np.maximum(extent, 0)  # a regression may well say otherwise
    return np.concatenate([middle - extent / 2, middle + extent / 2], axis=1)


def _told(
    question: str, trained: Settings, language: Mapping[str, Sequence[str]]
) -> tuple[dict[str, torch.Tensor], tuple[str, str]]:
    """The encoded question for a model, and the names of its vehicles if it is one of the paper's."""
    words, length = (tokens.words, tokens.LENGTH) if language else (questions.words, questions.LENGTH)
    vocabulary = language.get("vocabulary") or source_of(trained).vocabulary()
    place = {word: number for number, word in enumerate(vocabulary)}
    remedy = "ask in other words" if language else _LIKE
    if unknown := [word for word in words(question) if word not in place]:
        raise SettingsError(f"the question's word '{unknown[0]}' is unknown to the run: {remedy}")
    spoken = [place[word] for word in words(question)] + [questions.PAD] * length
    inputs = {"tokens": torch.tensor([spoken[:length]])}
    if trained.sequence:  # the grammar is of one moment
        return inputs, ("", "")
    try:
        form, *_ = grammar.parse(ENTITIES, question)
    except grammar.QuestionError as error:
        raise SettingsError(f"{str(error).partition(':')[0]}: {remedy}") from None
    if language:
        return inputs, ("", "")
    subject, relation, obj = triple(form, trained)
    numbers = {"relation": relation, "subject": trained.ranks[subject], "object": trained.ranks[obj]}
    inputs |= {name: torch.tensor([int(number)]) for name, number in numbers.items()}
    return inputs, (ENTITIES[subject], ENTITIES[obj])


def triple(form: Form, trained: Settings) -> tuple[int, int, int]:
    """The catalogue number of the subject, the relation's number, and the catalogue number of the object.

    Raises SettingsError if a question of this form is none of the paper's, or about what a run of these
    settings has not learned.
    """
    match form:
        case Form(
            "holds",
            (
                Form("a" | "the", (Form("all", (subject,)),)),
                Form("related", (relation, Form("a" | "the", (Form("all", (obj,)),)))),
            ),
        ) if {subject, obj} <= {*ENTITIES}:
            pass
        case _:
            raise SettingsError(f"the question is not understood: {_LIKE}")
    if relation not in trained.relations:
        learned = ", ".join(trained.relations)
        raise SettingsError(f"the run learned {learned}: it cannot be asked what is {relation}")
    numbers = ENTITIES.index(subject), RELATION_NAMES.index(relation), ENTITIES.index(obj)
    if unseen := [kind for kind in numbers[::2] if kind not in trained.kinds]:
        vehicles = ", ".join(ENTITIES[kind] for kind in trained.kinds)
        unknown_vehicle = with_article(ENTITIES[unseen[0]])
        raise SettingsError(f"the run has not seen {unknown_vehicle}: its world holds {vehicles}")
    return numbers


def draw(picture: Image.Image, answer: ModelAnswer) -> Image.Image:
    """The picture with the boxes found: subject blue, object orange; what the model did not see is darker.

    A small one is enlarged to at least 512 pixels, and the boxes have names.
    """
    left, top, right, bottom = (round(edge) for edge in answer.frame)
    dark = picture.point(lambda level: level // 2)
    dark.paste(picture.crop((left, top, right, bottom)), (left, top))
    scale = -(-_DRAWN // max(picture.size))
    dark = dark.resize((scale * dark.width, scale * dark.height), Image.Resampling.NEAREST)
    pen, far, font = ImageDraw.Draw(dark), 2 * max(dark.size), ImageFont.load_default(max(dark.size) // 36)
    boxes = [] if answer.boxes is None else (scale * answer.boxes).clip(-far, far).tolist()
    for role, name, box, colour in zip(
        ("subject", "object"), answer.vehicles, boxes, (SUBJECT, OBJECT), strict=False
    ):
        pen.rectangle(box, outline=colour, width=max(dark.size) // 200)
        _, _, x1, y1 = pen.textbbox((0, 0), label := f" {name} ({role}) ", font=font)
        x = min(max(box[0], 0), dark.width - x1)
        y = box[1] - y1 if role == "subject" and box[1] > y1 else min(box[3], dark.height - y1)
        pen.rectangle((x, y, x + x1, y + y1 + 2), fill=colour)
        pen.text((x, y), label, fill="white", font=font)
    return dark
