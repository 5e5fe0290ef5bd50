"""A command is a function of settings: the fields of its settings dataclasses are its options.

::

    @command
    def prepare(
        relationships: Annotated[Path, "The released file."],
        settings: PrepareSettings,
        *,
        out: Annotated[Path, "The directory to write."],
    ) -> None: ...

Names, defaults and help of the options stand in the fields (:mod:`simtown.core.options`). What is not a
setting stays in the signature: a positional parameter is an argument of the command, a keyword-only one is an
option, and the text beside its type is its help. A second text is the option's name, if it is not the
parameter's; functions behind it check what is given, before the command imports anything that takes long.
What they return, if anything, is what the command receives: "latest" becomes the newest data set.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from inspect import isfunction
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from simtown.core.options import Option, SettingsError, check, options_of

BAD_INPUT, DAMAGED = 2, 1
#: Modules whose commands take kinds of one's own. The program reads the option before it imports the module.
WITH_KINDS = ("generate_commands", "dataset_commands", "training_commands", "sweep_commands", "play_commands")
_KINDS = (
    "Vehicles of your own, which come first: a folder of GLB or OBJ files with a TOML file each, or "
    "package.module:KINDS. May be given again. See docs/own-kinds.md."
)


class RefusalError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


def command(function: Callable[..., None], *, optional: bool = False) -> Callable[..., None]:
    """The function that Typer calls: it takes options in place of each settings dataclass, and checks them.

    A message of an error names options as they are typed: `batch=8` becomes --batch 8.

    Args:
        function: its parameters with a settings dataclass as type become options.
        optional: whether what is required may be left out; it is then None.
    """
    hints = get_type_hints(function, include_extras=True)
    checks = [(name, about) for name, kind in hints.items() for about in get_args(kind) if isfunction(about)]
    settings: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            settings[parameter.name] = kind  # type: ignore[assignment]
            parameters += _parameters(kind, optional)  # type: ignore[arg-type]
        else:
            if optional and parameter.default is inspect.Parameter.empty:
                parameter = parameter.replace(default=None)
            kind = _documented(parameter, kind)
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
    if function.__module__.rpartition(".")[2] in WITH_KINDS:
        option = typer.Option("--kinds", metavar="FOLDER", help=_KINDS)
        kind = Annotated[list[str] | None, option]
        parameters.append(
            inspect.Parameter("kinds", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        )
    flags = {parameter.name: _flag(parameter) for parameter in parameters}
    flags |= dict.fromkeys(("directory", "path"), flags["out"]) if "out" in flags else {}

    def run(**values: Any) -> None:
        values.pop("kinds", None)
        try:
            for name, kind in settings.items():
                values[name] = kind(**_read(kind, values))
                check(values[name])
            for name, check_value in checks:
                given = values.get(name)
                if isinstance(given, list):
                    values[name] = [check_value(each) or each for each in given]
                elif given is not None:
                    values[name] = check_value(given) or given
            function(**values)
        except (ValueError, RuntimeError, FileNotFoundError) as error:
            from simtown.core.files import DamagedError  # --help needs none

            is_damage = isinstance(error, DamagedError)
            named = flags.get(getattr(error, "setting", ""), "")
            problem = f"{named} {error.problem}" if named and isinstance(error, SettingsError) else f"{error}"
            as_typed = re.sub(r"`(\w+)(?:=([^`]+))?`", partial(_as_typed, flags), problem)
            if as_typed == f"{error}" or (isinstance(error, RuntimeError) and not is_damage):
                raise
            raise RefusalError(as_typed, DAMAGED if is_damage else BAD_INPUT) from error

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _as_typed(flags: dict[str, str], found: re.Match[str]) -> str:
    """`name` or `name=value` of a message, written as on the command line."""
    name, value = found.groups()
    if name not in flags:
        return found[0]
    flag = flags[name].replace("--", "--no-", 1) if value == "False" else flags[name]
    return f"{flag} {value}" if value not in (None, "True", "False") else flag


def _read(settings: type, values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a settings dataclass, from the values of its options, which are taken out of `values`."""
    read: dict[str, Any] = {}
    for field, (kind, about) in options_of(settings).items():
        read[field] = given = values.pop(field)
        if kind == tuple[str, ...]:
            names = "" if given == "none" else given
            read[field] = parse_names(names, field, about.choices) if _joined(about) else tuple(given or ())
    return read


def _joined(about: Option) -> bool:
    """Whether an option takes several names with commas between; it is given several times otherwise."""
    return bool(about.choices) or about.low is not None


def _documented(parameter: inspect.Parameter, kind: Any) -> Any:
    """The type of a parameter with what Typer reads beside it, in place of its text."""
    if get_origin(kind) is not Annotated or not isinstance(kind.__metadata__[0], str):
        return kind
    text, *flags = (about for about in kind.__metadata__ if not isfunction(about))
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        flags = flags or [f"--{parameter.name.replace('_', '-')}"]
        return Annotated[kind.__origin__, typer.Option(*flags, help=text)]
    return Annotated[kind.__origin__, typer.Argument(help=text)]


def _parameters(settings: type, optional: bool) -> list[inspect.Parameter]:
    """The options for the fields of a settings dataclass."""
    defaults = {field.name: field.default for field in fields(settings)}
    parameters = []
    for name, (kind, about) in options_of(settings).items():
        default = defaults[name]
        if default is MISSING:
            default = None if optional else inspect.Parameter.empty
        if kind == tuple[str, ...]:
            assert isinstance(default, tuple)
            kind, default = (str, ",".join(default)) if _joined(about) else (list[str] | None, None)
        elif default is None:
            kind = kind | None
        info = typer.Option(f"--{about.flag or name.replace('_', '-')}", help=about.help)
        keyword, typed = inspect.Parameter.KEYWORD_ONLY, Annotated[kind, info]
        parameters.append(inspect.Parameter(name, keyword, default=default, annotation=typed))
    return parameters


def _flag(parameter: inspect.Parameter) -> str:
    """A parameter, written as on the command line."""
    for info in get_args(parameter.annotation)[1:]:
        if isinstance(info, OptionInfo) and isinstance(info.default, str):  # where Annotated has the name
            return info.default.partition("/")[0]
    return f"--{parameter.name.replace('_', '-')}"


def parse_names(text: str, setting: str, everything: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of "a, b"; everything for "all". Raises SettingsError, about a setting, for "a,,b"."""
    if text == "all" and everything:
        return everything
    names = tuple(map(str.strip, text.split(","))) if text.strip() else ()
    if "" in names:
        raise SettingsError(f"{text} has an empty name: write one comma between two names", setting)
    return names


def parse_numbers(
    text: str, flag: str, example: str, kind: Callable[[str], Any] = float, low: float = 0
) -> list[Any]:
    """The numbers of "0.9,0.75", each at least `low`; RefusalError, which shows the example, for others."""
    try:
        numbers = [kind(part) for part in text.split(",")]
        if min(numbers) >= low:
            return numbers
    except ValueError:
        pass
    raise RefusalError(f"{flag} {text} cannot be read as numbers with commas between: write {example}")


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of "128" or "64x32"."""
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isascii() and part.isdigit() for part in parts):
        forms = "write one number for a square, such as 128, or width x height, such as 64x32"
        raise RefusalError(f"--size {text} cannot be read: {forms}")
    from simtown.render.frames import check_size

    width, height = int(parts[0]), int(parts[-1])
    check_size(width, height)
    return width, height
