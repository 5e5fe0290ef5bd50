"""What a model is shown: the picture, a text that says what decides the question, both, or neither.

The texts of two twins hold the same words equally often. Where what decides cannot be said so, as of a
vehicle that is red in one picture and blue in the other, each text says of both what is so and what is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from simtown.core.streams import Stream
from simtown.datasets.family_questions import kinds_named
from simtown.language.meaning.answers import CANNOT_TELL
from simtown.language.words.scene_text import UNCLEAR, SceneText, describe_scene
from simtown.vlm.conditions import AskedExample, Condition
from simtown.vlm.vision_model import Query
from simtown.vlm.vlm_settings import VlmSettings

_SO, _NOT_SO = "This is so:", "This is not so:"


def chosen_shows(settings: VlmSettings) -> dict[str, Condition]:
    """The conditions that settings choose by name, the first one first."""
    names = settings.show or ("none",)
    return {name: partial(_show, name=name, settings=settings) for name in names}


def _show(one: AskedExample, name: str, settings: VlmSettings) -> list[Query]:
    query = one.query()
    if name in ("text", "both"):
        words = context(one, settings.text_as, settings.distractors)
        query = replace(query, text=f"{words}\n{query.text}", question=f"{words}\n{query.question}")
    return [query if name in ("picture", "both") else replace(query, pictures=())]


def context(one: AskedExample, style: str, distractors: int) -> str:
    """The text that is shown in the place of an example's picture.

    Args:
        one: the example.
        style: how places are said, one of :data:`simtown.language.words.scene_text.STYLES`.
        distractors: sentences that decide nothing, at most.
    """
    twin = one.twin
    own = _describe(one, style)
    other = own if twin is None else _describe(twin, style)
    number = one.number if twin is None else min(one.number, twin.number)
    luck = Stream(0, one.asked.split, "text").uniform(np.array([number]), 64)[0].tolist()
    shared = [line for line in own.others if line in other.others]
    shared = sorted(shared, key=dict(zip(sorted(shared), luck, strict=False)).__getitem__)
    lines = shared[:distractors] + [line for line in own.decisive if line in other.decisive]
    lines = [line for _, line in sorted(zip(luck, sorted(lines), strict=False))]
    mine, theirs = _without(own.decisive, lines), _without(other.decisive, lines)
    if _words(mine) != _words(theirs):
        parts = [[_SO, *mine], [_NOT_SO, *theirs]]
        mine = [line for part in (parts if luck[-1] < 0.5 else parts[::-1]) for line in part]
    return "\n".join([*lines, *mine])


def _describe(one: AskedExample, style: str) -> SceneText:
    example = one.example
    height, width, _ = example.image.shape
    text = describe_scene(one.form, kinds_named(one.form), one.scenes, one.shares, (width, height), style)
    return text._replace(decisive=[text.decisive[0], UNCLEAR]) if example.reply == CANNOT_TELL else text


def _without(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    return [line for line in lines if line not in others]


def _words(lines: Sequence[str]) -> Counter[str]:
    return Counter(re.findall(r"[\w'-]+(?:\.\d+)?", " ".join(lines).lower()))
