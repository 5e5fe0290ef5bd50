"""Templates of questions: programs with slots, and texts that mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

import msgspec

from simtown.language.meaning.forms import Form, fill, parsed

#: Forms whose values may be too close to say, with the parts that they begin with.
_CLOSE = (
    ("related",),
    ("compared",),
    ("nth",),
    ("most",),
    ("utmost",),
    ("query", "hidden"),
    ("query", "box"),
)


class FamilyError(ValueError):
    """A family of questions cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Template:
    """A program with slots, and texts that mean the same."""

    program: str
    slots: tuple[str, ...]
    texts: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]

    @property
    def form(self) -> Form:
        """The program, in which numbers stand for slots."""
        return cast(Form, parsed(self.program))


def slots_of(template: Template, form: Form) -> list[Any]:
    """The values of a template's slots in a program. Raises FamilyError if it is not of the template."""
    values: list[Any] = [None] * len(template.slots)
    _unify(fill(template.program, range(len(values))), form, values)
    return values


def _unify(pattern: Any, part: Any, values: list[Any]) -> None:
    if isinstance(pattern, int):
        values[pattern] = part
    elif isinstance(pattern, Form) and isinstance(part, Form) and len(pattern.parts) == len(part.parts):
        for inner, other in zip((pattern.name, *pattern.parts), (part.name, *part.parts), strict=True):
            _unify(inner, other, values)
    elif pattern != part:
        raise FamilyError(f"{part} is not what {pattern} stands for")


@dataclass(frozen=True)
class Family:
    """Questions with one type of answer, a key of ANSWERS, in streets of up to `vehicles` or more."""

    answer: str
    templates: Annotated[tuple[Template, ...], msgspec.Meta(min_length=1)]
    vehicles: Annotated[int, msgspec.Meta(ge=2, le=8)] = 2
    name: str = ""

    @property
    def clear(self) -> bool:
        """Whether some of its programs are never, or hardly ever, too close to say."""
        return not all("one" in t.slots or may_be_close(t.form) for t in self.templates)


@dataclass(frozen=True)
class SequenceFamily(Family):
    """Questions about sequences of a mode, of so many `pictures` at least."""

    sequence: str = "time"
    pictures: int = 2


def may_be_close(program: Form) -> bool:
    """Whether the value of a program may be too close to say."""
    return any((form.name,) in _CLOSE or (form.name, *form.parts[:1]) in _CLOSE for form in program.forms())
