"""Families of questions (families.toml, or a user's file), and whether a world has words for them."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, cast

import msgspec
import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.core.streams import Draws, Stream
from simtown.core.untrusted import cause, parse_toml
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.templates import (
    SLOTS,
    Drawer,
    Family,
    FamilyError,
    NoWordsError,
    SequenceFamily,
    Template,
    range_of,
)
from simtown.language.meaning.programs import Form, answer_type, check
from simtown.language.words import wording
from simtown.scenes.weather import WEATHERS


@cache
def families() -> dict[str, Family]:
    """Every family of the package, by its name."""
    return read_families(
        files("simtown.language.asking").joinpath("families.toml").read_text(encoding="utf-8"),
        "families.toml",
    )


@cache
def sequence_families() -> dict[str, SequenceFamily]:
    """Every family of questions about sequences, by its name."""
    text = files("simtown.language.asking").joinpath("sequences.toml").read_text(encoding="utf-8")
    return cast(dict[str, SequenceFamily], read_families(text, "sequences.toml", SequenceFamily))


def read_families(text: str, where: str, of: type[Family] = Family) -> dict[str, Family]:
    """The families of a TOML text. Raises FamilyError, which names where it comes from."""
    name_of_family = Annotated[str, msgspec.Meta(pattern=r"^[\w-]+$")]
    by_name: Any = dict[name_of_family, of]  # type: ignore[valid-type]
    try:
        tables: dict[str, Family] = msgspec.convert(parse_toml(text), by_name)
    except ValueError as error:
        raise FamilyError(f"{where} is not a TOML table of families: {cause(error)}") from None
    for name, family in tables.items():
        for template in family.templates:
            if problem := _problem(template, family.answer):
                raise FamilyError(f"{where}: a template of {name} {problem}")
    return {name: replace(family, name=name) for name, family in tables.items()}


def _problem(template: Template, answer: str) -> str:
    """The problem of a template whose answers are of a type; "" if nothing is."""
    for slot in template.slots:
        if slot not in SLOTS and not range_of(slot):
            return f"has a slot '{slot}': choose among {', '.join(SLOTS)}"
    every_kind = AskedWorld.of(np.ones(len(ENTITIES)), np.zeros(0), WEATHERS, 2, 8)
    try:
        form, values = _trial(every_kind, template)
        check(form)
    except (IndexError, AttributeError, RecursionError, TypeError, ValueError) as error:
        is_cut = isinstance(error, IndexError | AttributeError)
        why = "a bracket or a slot is missing" if is_cut else cause(error)
        return f"has the program '{template.program:.80}', which cannot be read: {why}"
    varied = {place for place, slot in enumerate(template.slots, 1) if not slot.isdigit()}
    for text in template.texts:
        if {*map(unicodedata.category, text)} & {"Cc", "Zl", "Zp"}:
            return f"has the text {text!r}, with a line break or a control character: take it out"
        named = {int(digits) for digits in re.findall(r"\{[^}]*?(\d+)\}", text)}
        if varied - named or "{" in wording.fill(text, values):
            return f"has the text '{text}': name each of its slots, as {{1}}, {{a 1}} or {{many 1}}"
    asked = answer_type(form)
    return "" if asked == answer else f"answers with {asked}, not with {answer}: {template.program}"


def problem(world: AskedWorld, family: Family) -> str:
    """Why a family cannot be asked here, "" if it can."""
    if world.most < family.vehicles:
        return f"needs streets of {family.vehicles} vehicles: allow so many with `crowd`"
    if len(world.answers[family.answer]) < 2:
        setting = "weathers" if family.answer == "weather" else "entities"
        return f"has one answer in this world: allow more `{setting}`"
    for template in family.templates:
        try:
            _trial(world, template)
        except NoWordsError:
            return f"has no words for '{template.texts[0]}' in this world: allow more `entities`"
    return ""


def _trial(world: AskedWorld, template: Template) -> tuple[Form, list[Any]]:
    """Some program of a template, and the values of its slots. Raises NoWordsError if none is found."""
    for numbers in Stream(0, "", "trial").uniform(np.arange(32), 64).tolist():
        with suppress(NoWordsError):
            return Drawer(world, Draws(numbers)).question(template)
    raise NoWordsError(f"there are no words for '{template.texts[0]}'")
