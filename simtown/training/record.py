"""What a run records: the kind and the range of every value in run.json that is used later.

The file may be anybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

#: The files of a run directory that are read without PyTorch, and what run.json calls itself.
RUN, TEST, FORMAT = "run.json", "test.npz", "simtown-run"
#: Questions of the largest test set.
LARGEST_TEST = 10_000_000
#: Examples of the largest training set, and kinds of vehicles of the largest world.
LARGEST_TRAIN, LARGEST_WORLD = 1_000_000_000, 1_000
#: Steps of the longest run.
LONGEST_RUN = 1_000_000_000
#: Characters of the longest name of a model or a setting, and of a text such as a path.
LONGEST_NAME, LONGEST_TEXT = 200, 5_000
#: Characters that a message shows of a value that a file holds.
_SHOWN = 60

#: Raises ValueError if a value, whose key is the second argument, is not of this kind.
Kind = Callable[[Any, str], None]


def brief(value: Any) -> str:
    """A value from a file for a message: at most some 60 characters, whatever it is."""
    if isinstance(value, dict | list | tuple):
        return f"a {'table' if isinstance(value, dict) else 'list'} of {len(value):,}"
    if isinstance(value, int) and value.bit_length() > 200:
        return "a huge number"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN + 2 else f"{text[:_SHOWN]}…"


def cut(value: Any, longest: int = LONGEST_NAME) -> str:
    """The beginning of a value that was checked, for a message or a figure."""
    text = str(value)
    return text if len(text) <= longest else f"{text[:longest]}…"


def _kind(words: str, fits: Callable[[Any], bool]) -> Kind:
    def check(value: Any, key: str) -> None:
        if not fits(value):
            raise ValueError(f"{key}: {brief(value)} where {words} belongs")

    return check


def _is_text(value: Any, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and value.isprintable()


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and value.bit_length() < 64)


def whole(low: int, high: int) -> Kind:
    """A whole number of this range."""
    return _kind(
        f"a whole number from {low:,} to {high:,}" if low else f"a whole number up to {high:,}",
        lambda value: type(value) is int and low <= value <= high,
    )


def number(low: float, high: float) -> Kind:
    """A number of this range."""
    return _kind(
        f"a number from {low:g} to {high:g}", lambda value: _is_number(value) and low <= value <= high
    )


def one_of(*choices: str) -> Kind:
    """One of a few words."""
    return _kind(f"one of {', '.join(choices)}", lambda value: isinstance(value, str) and value in choices)


def maybe(kind: Kind) -> Kind:
    """Null, or a value of a kind."""

    def check(value: Any, key: str) -> None:
        if value is not None:
            kind(value, key)

    return check


def each(kind: Kind, most: int = 1_000) -> Kind:
    """A table with any names whose values are all of a kind."""

    def check(values: Any, key: str) -> None:
        if not isinstance(values, dict) or len(values) > most:
            raise ValueError(f"{key}: {brief(values)} where a table of at most {most:,} belongs")
        for name, value in values.items():
            NAME(name, f"a name in {key}")
            kind(value, f"{key}.{name}")

    return check


def listed(kind: Kind, most: int = 100) -> Kind:
    """A list whose values are all of a kind."""

    def check(values: Any, key: str) -> None:
        if not isinstance(values, list) or len(values) > most:
            raise ValueError(f"{key}: {brief(values)} where a list of at most {most:,} belongs")
        for number, value in enumerate(values):
            kind(value, f"{key}[{number}]")

    return check


def table(**kinds: Kind) -> Kind:
    """A table with these keys, any of which may be missing; others are not looked at."""

    def check(values: Any, key: str) -> None:
        if not isinstance(values, dict):
            raise ValueError(f"{key}: {brief(values)} where a table belongs")
        for name, kind in kinds.items():
            if name in values:
                kind(values[name], f"{key}.{name}" if key else name)

    return check


NAME = _kind("a text of one line", lambda value: _is_text(value, LONGEST_NAME))
TEXT = _kind("a text of one line", lambda value: _is_text(value, LONGEST_TEXT))
FLAG = _kind("true or false", lambda value: isinstance(value, bool))
SEED = _kind("a whole number", lambda value: type(value) is int and value.bit_length() <= 64)
COUNT, SHARE, SECONDS = whole(0, LONGEST_RUN), number(0, 1), number(0, 1e12)
#: A loss, which may be no number where a run diverged; what is larger than this, a figure cannot show.
_LOSS = _kind("a number", lambda value: _is_number(value) and not 1e30 < abs(value) < inf)
_SCALAR = maybe(
    _kind(
        "a text of one line, a number up to 1e9, true or false",
        lambda value: (
            isinstance(value, bool)
            or _is_text(value, LONGEST_TEXT)
            or (_is_number(value) and abs(value) <= 1e9)
        ),
    )
)


def _option(value: Any, key: str) -> None:
    """What a model's option may be."""
    (listed(_row) if isinstance(value, list) else _SCALAR)(value, key)


def _row(value: Any, key: str) -> None:
    """A value in a list of these, or a list of such values."""
    (listed(_SCALAR) if isinstance(value, list) else _SCALAR)(value, key)


_TESTED = whole(0, LARGEST_TEST)
_SHARES = table(accuracy=SHARE, low=SHARE, high=SHARE, n=_TESTED, effective_n=number(0, LARGEST_TEST))


def _measure(value: Any, key: str) -> None:
    (_SHARES if isinstance(value, dict) else maybe(SHARE))(value, key)


#: Settings of a run (:class:`simtown.training.fit_settings.FitSettings`).
SETTINGS = {
    "model": NAME, "train_size": whole(1, LARGEST_TRAIN), "seed": SEED, "options": each(_option, 100),
    "protocol": NAME, "min_steps": COUNT, "patience": COUNT, "batch": COUNT, "learning_rate": number(0, 10),
    "max_steps": COUNT, "stream": FLAG, "device": NAME, "precision": NAME, "compile": FLAG,
}  # fmt: skip
#: Settings of its data set (:class:`simtown.datasets.settings.Settings`).
_SIDE = whole(1, 4_096)
DATA = {
    "entities": whole(1, LARGEST_WORLD), "width": _SIDE, "height": _SIDE, "distractor": FLAG,
    "seed": SEED, "test_seed": maybe(SEED), "world_seed": SEED, "val": _TESTED, "test": _TESTED,
    "catalogue": whole(1, 1_000), "relations": listed(NAME), "weathers": listed(NAME),
    "frequencies": TEXT, "paint": TEXT, "phrasing": NAME, "jitter": number(0, 1),
}  # fmt: skip
#: A row of metrics, and the best of them.
METRICS = {
    "epoch": COUNT,
    "step": COUNT,
    "objective": _LOSS,
    "train_loss": _LOSS,
    "train_accuracy": SHARE,
    "val_loss": _LOSS,
    "val_accuracy": SHARE,
    "images_per_second": _LOSS,
}
BEST = table(epoch=COUNT, step=COUNT, val_accuracy=SHARE, val_loss=_LOSS)

_RECORD = table(
    format=NAME,
    status=one_of("running", "failed", "done"),
    model=NAME,
    train_size=SETTINGS["train_size"],
    seed=SEED,
    settings=table(**SETTINGS),
    data=table(**DATA, examples=each(NAME), test_id=NAME, sha256=NAME),
    simtown=NAME,
    libraries=each(NAME),
    machine=table(device=NAME, threads=COUNT, system=TEXT),
    seconds=SECONDS,
    error=TEXT,
    epochs=COUNT,
    steps=COUNT,
    stopped=NAME,
    restarts=COUNT,
    best=BEST,
    test=table(
        accuracy=SHARE, low=SHARE, high=SHARE, n=_TESTED, loss=_LOSS,
        relations=each(maybe(_SHARES)), deciles=each(maybe(_SHARES)),
        seen=maybe(_SHARES), unseen=maybe(_SHARES), validation=_measure, reweighted=_measure,
    ),
    references=each(SHARE),
    parameters=whole(0, 2**62),
)  # fmt: skip
#: What a finished run says; older ones too.
FINISHED = (
    *("epochs", "steps", "stopped", "best.epoch", "references"),
    *(f"test.{name}" for name in ("accuracy", "low", "high", "n", "relations", "deciles")),
)


def check(record: Any) -> None:
    """Compare a run.json, or the same in the small file of a cell, with what may stand there.

    Raises ValueError, which names the key.
    """
    _RECORD(record, "")
    settings = record.get("settings", {})
    for name in ("model", "train_size", "seed"):
        if name in settings and name in record and settings[name] != record[name]:
            raise ValueError(f"settings.{name}: {brief(settings[name])}, but {name}: {brief(record[name])}")


def require(record: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Raises KeyError for the first of these keys, written as "test.n", that is missing.

    The error names what is missing.
    """
    for key in keys:
        part: Any = record
        names = key.split(".")
        for depth, name in enumerate(names, 1):
            if not isinstance(part, Mapping) or name not in part:
                raise KeyError(".".join(names[:depth]))
            part = part[name]
