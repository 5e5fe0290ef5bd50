"""Random examples of any settings, and why each of them was accepted; its twin beside it."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.datasets import asked, shards
from simtown.datasets.settings import Settings
from simtown.language.families import ANSWERS
from simtown.language.forms import Form
from simtown.language.programs import decode
from simtown.language.questions import with_article
from simtown.language.relations import DEFAULT_RELATIONS, RELATION_NAMES
from simtown.language.sampler import Examples
from simtown.language.twins import ADDED, THING, WEATHER
from simtown.play.drawn import encoded
from simtown.render.raster import Raster
from simtown.scenes.placement import LEAST_VISIBLE
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import DEFAULT_WEATHERS, WEATHERS
from simtown.town.explaining import reason
from simtown.town.reasons import listed

#: Width and height of the pictures, pixels; the most examples at once, and the most answers that are listed.
SIZE, MOST, _LISTED = (384, 216), 12, 6
#: What is said of an edit of a vehicle, in the order of EDITS.
_EDITED = (
    "{the} faces the other way", "{the} has another paint", "{the} stands elsewhere",
    "{the} is exchanged for {other}", "{the} is gone", "{a} is added",
)  # fmt: skip


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    """What is drawn: settings of a data set, and how many of its training examples."""

    entities: int = 20
    seed: int = 0
    questions: tuple[str, ...] = ("paper",)
    crowd: str = ""
    weathers: tuple[str, ...] = DEFAULT_WEATHERS
    relations: tuple[str, ...] = DEFAULT_RELATIONS
    paint: str = "own"
    distractor: bool = False
    twins: bool = False
    count: int = 4


def draw(request: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The first training examples of a data set, as JSON holds them.

    Args:
        request: any of the settings entities, seed, questions, crowd, weathers, relations, paint, distractor
            and twins, and `count`, up to MOST.

    Returns:
        "examples": for each its picture (a data URL), question, answer, and why it was accepted. With twins
        its `twin`: picture, answer, and what is changed there. Of the twins' two questions it is the first.

    Raises:
        ValueError: no examples can be made; the message is one line.
    """
    given = msgspec.structs.asdict(msgspec.convert(request, _Request))
    count = min(max(given.pop("count"), 1), MOST)
    settings = Settings(n=4, val=0, test=0, **given)
    settings.check()
    index = np.arange(count)
    if settings.twins:
        index = np.stack([4 * index, 4 * index + 1], axis=1).ravel()
    batch = shards.draw(shards.recipe_of(settings, "train"), index)
    rows = shards.columns(batch, index, settings) | {"streets": np.ones(len(index), dtype=int)}
    rows["reply"] = np.where(rows["answer"], "yes", "no")
    if not isinstance(batch, Examples):
        rows |= {"streets": batch.tried[:, 0], "reply": np.array(asked.answers(settings))[rows["value"]]}
    pictures = [encoded(picture, ".jpg") for picture in Raster().render(batch.scene, *SIZE).rgb]
    examples = []
    for i in range(0, len(index), 1 + settings.twins):
        row = {name: values[i] for name, values in rows.items()}
        example = {"picture": pictures[i], "question": row["question"].decode(), "answer": str(row["reply"])}
        other = str(rows["reply"][i + 1]) if settings.twins else ""
        example["why"] = " ".join(
            f"{s[0].upper()}{s[1:]}." for s in _why(batch.scene, i, row, other, settings)
        )
        if settings.twins:
            change = _change(batch.scene[i : i + 2], int(row["edit"]), int(row["edited"]))
            example["twin"] = {"picture": pictures[i + 1], "answer": other, "change": change}
            example["why"] += f" In the twin {change}."
        examples.append(example)
    return {"examples": examples}


def _why(scenes: SceneBatch, i: int, row: dict[str, Any], other: str, settings: Settings) -> list[str]:
    """Why the example i was accepted, whose twin has the `other` answer: sentences."""
    if settings.asks:
        form, family = decode(row["program"]), asked.asked(settings)[row["family"]]
        texts = [ANSWERS[family.answer][number] for number in asked.fair_answers(settings, "train", family)]
    else:
        one, two = (Form("the", (Form("all", (ENTITIES[row[role]],)),)) for role in ("subject", "object"))
        form, texts = (
            Form("holds", (one, Form("related", (RELATION_NAMES[row["relation"]], two)))),
            ["no", "yes"],
        )
    because = reason(scenes.scene(i), form, row["visible"], row["boxes"])
    answer, others = row["reply"], [text for text in texts if text != row["reply"]]
    likely = listed(others, "or") if len(others) < _LISTED else f"each of {len(others)} other answers"
    fair = f"'{answer}' was drawn first, as likely as {likely}"
    if other:
        fair = f"'{answer}' here and '{other}' in its twin were drawn first, or as likely the other way round"
    tried = f"the first of {row['streets']} streets" if row["streets"] > 1 else "the first street"
    then = f"{tried} with this answer was taken" if settings.asks else "then a question that has this answer"
    slots = np.flatnonzero(scenes.entity[i] >= 0)
    slot = slots[row["visible"][slots].argmin()]
    seen = f"{row['visible'][slot]:.0%} of the {ENTITIES[scenes.entity[i, slot]]} is visible"
    clear = f"the least clear relation is so by {abs(row['margin']):.2f} m, enough not to be too close to say"
    sentences = [
        because,
        f"{fair}; {then}",
        clear if settings.asks and row["margin"] == row["margin"] else "",
    ]
    least = f"{seen}, the least of all vehicles, and {LEAST_VISIBLE:.0%} must be"
    return [sentence for sentence in (*sentences, least) if sentence]


def _change(scenes: SceneBatch, edit: int, slot: int) -> str:
    """How the second of two scenes differs from the first."""
    if edit == WEATHER:
        before, after = (WEATHERS[number] for number in scenes.weather)
        return f"the weather is {after}, not {before}"
    if edit == THING:
        before, after = scenes.prop[:, slot].tolist()
        return f"{with_article(PROPS[max(before, after)])} is {'gone' if after < 0 else 'added'}"
    kinds = [ENTITIES[kind] for kind in scenes.entity[:, slot].tolist()]
    first, other = kinds[::-1] if edit == ADDED else kinds
    return _EDITED[edit].format(the=f"the {first}", a=with_article(first), other=with_article(other))
