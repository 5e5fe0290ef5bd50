"""Data sets of scenes that somebody made: each question is a template of a family, in its own words."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.core.amounts import split_counts
from simtown.core.files import whole
from simtown.core.notebook import Described
from simtown.datasets.family_questions import read_question
from simtown.datasets.making import manifests
from simtown.datasets.making.shards import Clock, tasks, write_shard
from simtown.datasets.names import names
from simtown.datasets.reading.reader import Example, example_of
from simtown.datasets.reading.shard_file import read_entry
from simtown.datasets.settings import HandMade, Settings
from simtown.datasets.source import source_of
from simtown.language.asking.question import Questions
from simtown.language.asking.several import join
from simtown.language.meaning.evaluate import CLOSE, ILL_POSED, evaluate
from simtown.language.meaning.programs import Form, ProgramError, answer_type, encode, stored
from simtown.language.words.grammar import QuestionError
from simtown.render.raster import Raster
from simtown.scenes.scene import Scene, SceneBatch
from simtown.scenes.silhouette import visibility
from simtown.scenes.street import SLOTS
from simtown.scenes.weather import WEATHERS

#: The most vehicles in a scene, questions of a family, and bytes of a question.
MOST_VEHICLES, _QUESTIONS, _BYTES = 8, 256, 256


class HandMadeError(ValueError):
    """A scene or question cannot be an example of a data set; the message says why and what to change."""


def make_example(scene: Scene, question: str, size: tuple[int, int]) -> Example:
    """The example of one scene and question, in a picture of a width and height; its masks and depth too.

    Raises HandMadeError if it cannot be one.
    """
    settings, batch = _made([scene], [question], size)
    frames = Raster().render(batch.scene, *size)
    row = {
        name: values[0]
        for name, values in source_of(settings).columns(batch, np.zeros(1, dtype=np.int64)).items()
    }
    pictures = {"images": frames.rgb[0], "masks": frames.ids[0], "depth": frames.depth[0]}
    return example_of(row, pictures, batch.scene, names(settings))


def write_dataset(
    examples: Sequence[Example],
    directory: str | Path,
    val: Sequence[Example] = (),
    test: Sequence[Example] = (),
) -> Described:
    """Write examples as a data set, which everything that reads one reads, and return its manifest.

    `simtown verify` derives all answers from the scenes and draws the pictures again. How the scenes were
    chosen it cannot prove, and says so.

    Args:
        examples: of the training split, such as of :meth:`simtown.Town.example` or of another data set: all
            of them, with `val` and `test`, with pictures of one size.
        directory: does not exist yet, or is empty.
        val: of the validation split.
        test: of the test split.

    Raises:
        TypeError: something is not an example.
        HandMadeError: an example cannot be part of a data set.
        ForeignDirectoryError: the directory is not empty.

    >>> import simtown
    >>> town = simtown.Town.random(seed=3)
    >>> example = town.example("Is the kick scooter left of the mail van?")
    >>> simtown.write_dataset([example], "by-hand")
    by-hand: 1 train example, made by hand
    """
    every = [*examples, *val, *test]
    if other := [type(e).__name__ for e in every if not isinstance(e, Example)]:
        raise TypeError(f"examples must be such as town.example(question) makes, not of type {other[0]}")
    sizes = {(e.image.shape[1], e.image.shape[0]) for e in every}
    if not examples or len(sizes) > 1:
        pictures = " and ".join(f"{w}x{h}" for w, h in sorted(sizes)) or "none"
        raise HandMadeError(f"give training examples with pictures of one size, not {pictures}")
    settings, batch = _made([e.scene for e in every], [e.question for e in every], sizes.pop())
    masks, depth = (all(getattr(e, name) is not None for e in every) for name in ("mask", "depth"))
    n = len(examples)
    settings = replace(settings, n=n, val=len(val), test=len(test), masks=masks, depth=depth)
    first = {"train": 0, "val": n, "test": n + len(val)}
    manifest, renderer = manifests.fresh(settings), Raster()
    with whole(Path(directory), "write_dataset") as temporary:
        for task in tasks(settings):

            def given(index: np.ndarray, begin: int = first[task.split]) -> Questions:
                return join([batch], begin + index)

            write_shard(temporary, settings, task, renderer, Clock(), given=given)
            manifests.enter(manifest, task, read_entry(temporary / task.name, task))
        manifest["acceptance"] = manifests.acceptance(manifest["shards"])
        manifest["complete"] = True
        manifests.save(temporary, manifest)
    counts = {split: count for split, count in settings.counts().items() if count}
    return Described(manifest, f"{directory}: {split_counts(counts)}, made by hand")


def _made(scenes: list[Scene], questions: list[str], size: tuple[int, int]) -> tuple[Settings, Questions]:
    """Questions about scenes, answered, and the settings of their data set. Raises HandMadeError."""
    words, forms = zip(*map(_read, scenes, questions), strict=True)
    vehicles = max(2, *(len(scene.vehicles) for scene in scenes))
    props = max(len(scene.props) for scene in scenes)
    if vehicles > MOST_VEHICLES or props > SLOTS:
        most = f"leave at most {MOST_VEHICLES} vehicles and {SLOTS} others"
        raise HandMadeError(f"a scene has {vehicles} vehicles and {props} other things: {most}")
    batch = SceneBatch.of(scenes, vehicles, SLOTS)
    visible, programs = visibility(batch.entity, batch.pose, batch.camera), stored([encode(f) for f in forms])
    values = evaluate(batch, programs, visible, size, by_name=True)
    problems = {CLOSE: "is too close to say", ILL_POSED: "asks about what is not there, or not once"}
    for i, state in enumerate(values.state.tolist()):
        if state in problems:
            change = "paint it in a clear colour" if "colour" in words[i] else "move something"
            raise HandMadeError(f"'{words[i]}' {problems[state]}: {change} or ask something else")
        if hidden := [
            v.entity for v, share in zip(scenes[i].vehicles, visible[i], strict=False) if not share
        ]:
            raise HandMadeError(f"other vehicles hide the {hidden[0]}: move or remove one of them")
    toml, names, (family, template) = _families(forms, words)
    used = {*batch.entity.ravel().tolist()} - {-1}
    enough = (k for k in range(2, len(ENTITIES) + 1) if used <= {*Settings(entities=k).kinds})
    settings = HandMade(
        entities=next(enough), n=len(words), val=0, test=0, width=size[0], height=size[1],
        frequencies="uniform",
        weathers=tuple(WEATHERS[number] for number in np.unique(batch.weather)),
        paint="uniform" if (batch.paint >= 0).any() else "own", questions=tuple(names),
        crowd=str(vehicles), own_families=toml,
    )  # fmt: skip
    made = Questions(
        scene=batch, visible=visible, family=family, template=template, text=np.zeros_like(family),
        program=programs, words=list(words), answer=values.answer, values=values,
        tried=np.ones((len(words), 2), dtype=np.int64),
    )  # fmt: skip
    return settings, made


def _read(scene: Scene, question: str) -> tuple[str, Form]:
    """A question as it is stored, and its program. Raises HandMadeError."""
    printable = (c if c.isprintable() and c not in "{}" else " " for c in question)
    text = " ".join("".join(printable).split())
    text = text[:1].upper() + text[1:]
    try:
        form = read_question(scene, text)
        encode(form)
    except (QuestionError, ProgramError) as error:
        why = f" ({str(error).partition(':')[0]})" if isinstance(error, QuestionError) else ""
        example = "'Is the taxi left of the bus?' or 'How many red cars are there?'"
        raise HandMadeError(f"data sets do not ask '{text}'{why}: ask as in {example}") from error
    if len(text.encode()) > _BYTES:
        raise HandMadeError(f"'{text[:40]}...' has more than {_BYTES} bytes: ask in fewer words")
    return text, form


def _families(forms: Sequence[Form], words: Sequence[str]) -> tuple[str, list[str], np.ndarray]:
    """Every question as a template of a family, in which all questions have one type of answer.

    Returns:
        The families as TOML, their names, and (2, n) the family and the template of each question.
    """
    numbers: dict[str, dict[tuple[str, str], int]] = {}
    templates: dict[str, list[str]] = {}
    places = []
    for form, text in zip(forms, words, strict=True):
        answer = answer_type(form)
        known, slots = numbers.setdefault(answer, {}), list[str]()
        program = str(_numbered(form, slots))
        number = known.setdefault((str(form), text), len(known))
        part, template = divmod(number, _QUESTIONS)
        name = f"own-{answer}-{part + 1}" if part else f"own-{answer}"
        own = templates.setdefault(name, [f'[{name}]\nanswer = "{answer}"'])
        if template == len(own) - 1:
            parts = {"program": program, "slots": slots, "texts": [text]}
            listed = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in parts.items())
            own.append(f"[[{name}.templates]]\n" + "\n".join(listed))
        places.append((list(templates).index(name), template))
    toml = "\n".join("\n".join(lines) for lines in templates.values())
    return f"{toml}\n", list(templates), np.array(places).T


def _numbered(part: Any, slots: list[str]) -> Any:
    """A form whose numbers are slots, as templates have them."""
    if isinstance(part, Form):
        return Form(part.name, tuple([_numbered(inner, slots) for inner in part.parts]))
    if isinstance(part, int):
        slots.append(str(part))
        return len(slots)
    return part
