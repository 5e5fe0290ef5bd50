"""Random examples of any settings, and why each of them was accepted; its twin beside it."""

import shlex
from typing import Any

import msgspec
import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.entities import with_article
from simtown.core.options import options_of
from simtown.datasets import family_questions
from simtown.datasets.settings import Settings
from simtown.datasets.source import check_settings, source_of
from simtown.language.asking.paper import Examples
from simtown.language.asking.twins import EDITS, THING, WEATHER
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.programs import Form, decode
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.page.overlays import encoded
from simtown.render.raster import Raster
from simtown.scenes.paint import CHOICES
from simtown.scenes.placement import LEAST_VISIBLE
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS
from simtown.town.explaining import reason
from simtown.town.things import listed

#: Width and height of the pictures, pixels; how many there are, and the most answers that are listed.
SIZE, COUNT, _LISTED = (384, 216), 4, 6
#: The settings that may be chosen.
_CHOICES = {"entities", "seed", "questions", "crowd", "weathers", "relations", "paint", "distractor", "twins"}


def draw(request: dict[str, Any]) -> dict[str, Any]:
    """The first COUNT training examples of a data set, as JSON holds them.

    Args:
        request: any of the settings of _CHOICES; numbers may be texts.

    Returns:
        "command": the `simtown generate` that makes the data set. "examples": for each its picture (a data
        URL), question, answer, and why it was accepted. With twins its `twin`: picture and answer. Of the
        twins' two questions it is the first.

    Raises:
        ValueError: no examples can be made; the message is one line.
    """
    if unknown := request.keys() - _CHOICES:
        raise ValueError(f"{min(unknown)} cannot be chosen here")
    settings = msgspec.convert({"n": 4, "val": 0, "test": 0, **request}, Settings, strict=False)
    if settings.paint_from_file:  # a page names no files of this machine
        raise ValueError(f"paint is {settings.paint}: choose among {', '.join(CHOICES)}")
    check_settings(settings)
    index = np.arange(COUNT)
    if settings.twins:
        index = np.stack([4 * index, 4 * index + 1], axis=1).ravel()
    batch = source_of(settings).draw("train", index)
    rows = source_of(settings).columns(batch, index) | {"streets": np.ones(len(index), dtype=int)}
    rows["reply"] = np.where(rows["answer"], "yes", "no")
    if not isinstance(batch, Examples):
        rows |= {
            "streets": batch.tried[:, 0],
            "reply": np.array(family_questions.answers(settings))[rows["value"]],
        }
    pictures = [encoded(picture) for picture in Raster().render(batch.scene, *SIZE).rgb]
    examples = []
    for i in range(0, len(index), 1 + settings.twins):
        row = {name: values[i] for name, values in rows.items()}
        twin = {"picture": pictures[i + 1], "answer": str(rows["reply"][i + 1])} if settings.twins else {}
        sentences = _why(batch.scene, i, row, twin.get("answer", ""), settings)
        if twin:
            change = _change(batch.scene[i : i + 2], int(row["edit"]), int(row["edited"]))
            sentences.append(f"in the twin {change}")
        why = " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences if sentence)
        example = {
            "picture": pictures[i],
            "question": row["question"].decode(),
            "answer": str(row["reply"]),
        }
        examples.append(example | {"why": why, "twin": twin})
    return {"examples": examples, "command": _command(settings)}


def _command(settings: Settings) -> str:
    """The `simtown generate` of settings."""
    words = ["simtown generate --n 1000"]
    for name, (_, about) in options_of(Settings).items():
        value = getattr(settings, name)
        if name in _CHOICES and value != getattr(Settings, name):
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            words.append(f"--{about.flag or name}" + ("" if value is True else f" {shlex.quote(text)}"))
    return " ".join(words)


def _why(scenes: SceneBatch, i: int, row: dict[str, Any], other: str, settings: Settings) -> list[str]:
    """Why the example i was accepted, whose twin has the `other` answer: sentences, some of them empty."""
    if settings.has_families:
        form, family = decode(row["program"]), family_questions.families_of(settings)[row["family"]]
        texts = [
            ANSWERS[family.answer][number]
            for number in family_questions.fair_answers(settings, "train", family)
        ]
        then = "{} with this answer was taken"
    else:
        one, two = (Form("the", (Form("all", (ENTITIES[row[role]],)),)) for role in ("subject", "object"))
        form = Form("holds", (one, Form("related", (RELATION_NAMES[row["relation"]], two))))
        texts, then = ["no", "yes"], "then a question that has this answer"
    others = [text for text in texts if text != row["reply"]]
    likely = listed(others, "or") if len(others) < _LISTED else f"each of {len(others)} other answers"
    fair = f"'{row['reply']}' was drawn first, as likely as {likely}"
    if other:
        both = f"'{row['reply']}' here and '{other}' in its twin"
        fair = f"{both} were drawn first, or as likely the other way round"
    tried = f"the first of {row['streets']} streets" if row["streets"] > 1 else "the first street"
    slots = np.flatnonzero(scenes.entity[i] >= 0)
    slot = slots[row["visible"][slots].argmin()]
    seen = f"{row['visible'][slot]:.0%} of the {ENTITIES[scenes.entity[i, slot]]} is visible"
    return [
        reason(scenes.scene(i), form, row["visible"], row["boxes"]),
        f"{fair}; {then.format(tried)}",
        f"{seen}, the least of all vehicles, and {LEAST_VISIBLE:.0%} must be",
    ]


def _change(scenes: SceneBatch, edit: int, slot: int) -> str:
    """The difference between two scenes."""
    if edit == WEATHER:
        return f"the weather is {WEATHERS[scenes.weather[1]]}"
    names, kinds = (PROPS, scenes.prop) if edit == THING else (ENTITIES, scenes.entity)
    before, after = kinds[:, slot].tolist()
    done = EDITS[edit] if edit != THING else "removed" if after < 0 else "added"
    return f"{with_article(names[after if before < 0 else before])} is {done}"
