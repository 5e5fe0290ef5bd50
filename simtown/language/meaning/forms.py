"""The logical forms of questions, which print as programs: ``count(filter(all(bus), has(colour, red)))``.

Forms about things are of three kinds, which nest:

- sets: ``all(noun)``, ``filter(set, predicate)``, ``most(order, set)`` or ``most(order, set, phrase)``,
  ``nth(number, order, set)``, ``union(phrase, phrase)``; and phrases, which are sets with a quantifier:
  ``the(set)``, ``a(set)``, ``every(set)``, ``no(set)``;
- predicates of one thing: ``related(relation, phrase)`` or ``related(between, phrase, phrase)``,
  ``has(attribute, value)``, ``same(attribute, phrase)``, ``compared(order, phrase)``, ``among(phrase)``;
- questions: ``holds(phrase, predicate)``, ``exist(set)``, ``count(set)``, ``which(set)``,
  ``query(attribute, phrase)``, ``query(distance, phrase, phrase)``, ``query(weather)``,
  ``weather(kind, ...)``, and ``equal``, ``more``, ``fewer``, ``least`` (at least) and ``utmost`` (at most)
  of two counts or numbers.

``not``, ``and`` and ``or`` join predicates or questions; ``and`` and ``or`` join phrases, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

#: How places in an order are counted.
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, repr=False)
class Form:
    """A logical form: its name and its parts, which are forms, words or numbers."""

    name: str
    parts: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parts))})"

    __repr__ = __str__

    def map(self, change: Callable[[Any], Any]) -> Form:
        """The same form of other words and numbers."""
        parts = [part.map(change) if isinstance(part, Form) else change(part) for part in self.parts]
        return Form(self.name, tuple(parts))

    def exchange(self, old: Form, new: Form) -> Form:
        """The same form with another form in the place of one."""
        if self == old:
            return new
        parts = [part.exchange(old, new) if isinstance(part, Form) else part for part in self.parts]
        return Form(self.name, tuple(parts))

    def has(self, name: str, *first: Any) -> bool:
        """Whether this form or one in it has a name, and begins with some parts."""
        return any(form.name == name and form.parts[: len(first)] == first for form in self.forms())

    @cached_property
    def words(self) -> frozenset[str]:
        """The names of this form and of all forms in it, and their words and numbers."""
        parts = (part for form in self.forms() for part in (form.name, *form.parts))
        return frozenset(str(part) for part in parts if not isinstance(part, Form))

    def forms(self) -> Iterator[Form]:
        """This form and all forms in it, from the outside in."""
        yield self
        for part in self.parts:
            if isinstance(part, Form):
                yield from part.forms()


def fill(template: str, values: Sequence[Any]) -> Any:
    """The form that a text such as "count(filter(1, 2))" spells, its numbers replaced by values from 1 on."""

    def filled(part: Any) -> Any:
        return values[part - 1] if isinstance(part, int) else part

    form = parsed(template)
    return form.map(filled) if isinstance(form, Form) else filled(form)


@lru_cache(maxsize=4096)
def parsed(template: str) -> Any:
    """The form that a text spells; its numbers stand for values."""
    stack: list[list[Any]] = [[]]
    for token, name, bracket in re.findall(r"\s*(([^(),]*)(\()?|\)|,)", template):
        if bracket:
            stack.append([name])
        elif token == ")":
            head, *parts = stack.pop()
            stack[-1].append(Form(head, tuple(parts)))
        elif name:
            stack[-1].append(int(name) if name.isdigit() else name)
    return stack[0][0]
