"""Settings are dataclasses: a field says what it means, which values it takes and what its option is called.

::

    @dataclass(frozen=True)
    class FitSettings:
        batch: int = option(128, "Examples in each step.", low=1)
        learning_rate: float = option(1e-3, "Learning rate of Adam.", above=0, below=10, flag="lr")

:func:`check` validates an object; `simtown.cli.command` makes the options of a command.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from typing import Any, get_type_hints

#: Of more choices than these, a message names only those that are like what was given.
_MANY = 20


class SettingsError(ValueError):
    """A setting has an impossible value.

    With a `setting`, the message begins with its name: `SettingsError("must be at least 1, not 0", "batch")`
    says "batch must be at least 1, not 0". The command line writes "--batch must be ..." instead.

    Attributes:
        problem: what is wrong, as a whole sentence or as one that the name of the setting begins.
        setting: the name of the setting; "" if the problem is not about a single one.
    """

    def __init__(self, problem: str, setting: str = "") -> None:
        super().__init__(problem, setting)
        self.problem, self.setting = problem, setting

    def __str__(self) -> str:
        return f"{self.setting} {self.problem}".strip()


@dataclass(frozen=True)
class Option:
    """The description of a setting in its field.

    Attributes:
        help: what ``--help`` says.
        low: least value; of a tuple, the least number of entries.
        high: largest value.
        above: a number that the value must exceed.
        below: a number that the value must stay under.
        even: whether the value must be even.
        choices: all possible values, or values of the entries of a tuple.
        flag: the name of the option without its dashes, if it is not that of the field.
        test: a function that says what is wrong with a value, "" if nothing is.
        recorded: whether the value decides the results, so that those of another value are not continued.
    """

    help: str
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    even: bool = False
    choices: tuple[str, ...] = ()
    flag: str = ""
    test: Callable[[Any], str] = lambda value: ""
    recorded: bool = True


def option(default: Any = MISSING, help: str = "", *, decides: str = "", **about: Any) -> Any:
    """A field of a settings dataclass, required if it has no default; :class:`Option` has the keywords.

    `decides` is a word for what the value decides, by which :func:`deciding` finds the field.
    """
    return field(default=default, metadata={Option: Option(help, **about), "decides": decides})


def no_option(default: Any, *, decides: str) -> Any:
    """A field of a settings dataclass that no option of a command sets."""
    return field(default=default, metadata={"decides": decides})


@cache
def deciding(settings: type, *what: str) -> tuple[str, ...]:
    """The names of the fields of a settings dataclass that decide one of these."""
    return tuple(field.name for field in fields(settings) if field.metadata.get("decides") in what)


def options_of(settings: type) -> dict[str, tuple[Any, Option]]:
    """{field: (its type, what it says)} of a settings dataclass; fields of other kinds are left out."""
    types, described = get_type_hints(settings), [f for f in fields(settings) if Option in f.metadata]
    return {field.name: (types[field.name], field.metadata[Option]) for field in described}


def recorded(settings: Any) -> dict[str, Any]:
    """The values that decide the results."""
    options = options_of(type(settings)).items()
    return {name: getattr(settings, name) for name, (_, about) in options if about.recorded}


def check(settings: Any) -> None:
    """Raises SettingsError for a value that is impossible by what its field says; None is always possible."""
    for name, (_, about) in options_of(type(settings)).items():
        value = getattr(settings, name)
        if value is not None and (problem := _problem(value, about)):
            raise SettingsError(problem, name)


def _problem(value: Any, about: Option) -> str:
    """The problem of a value; "" if nothing is."""
    if about.choices:
        entries = value if isinstance(value, tuple) else (value,)
        unknown = [entry for entry in entries if entry not in about.choices]
        if unknown:
            similar = get_close_matches(unknown[0], about.choices) if len(about.choices) > _MANY else ()
            return f"{unknown[0]} is unknown: choose among {', '.join(similar or about.choices)}"
    if isinstance(value, tuple):
        return "names nothing" if len(value) < (about.low or 0) else about.test(value)
    possible = (
        (about.low is None or value >= about.low)
        and (about.high is None or value <= about.high)
        and (about.above is None or value > about.above)
        and (about.below is None or value < about.below)
        and not (about.even and value % 2)
    )
    return about.test(value) if possible else f"must be {_range(about)}, not {value}"


def _range(about: Option) -> str:
    """The possible values in words: "an even number from 2 to 100", "above 0 and below 10"."""
    number = "an even number " if about.even else ""
    if about.low is not None and about.high is not None:
        return f"{number}from {about.low} to {about.high}"
    least = f"of at least {about.low}" if about.even else f"at least {about.low}"
    limits = {least: about.low, f"above {about.above}": about.above}
    limits |= {f"at most {about.high}": about.high, f"below {about.below}": about.below}
    return number + " and ".join(words for words, limit in limits.items() if limit is not None)
