"""Messages for files that do not exist: what was looked for, and similar names."""

from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

#: Most names that a message suggests.
_MOST = 3


def no_path(path: Path, kind: str = "file") -> str:
    """The message where no file is, or no file or folder."""
    return f"there is no {kind} {path}{_suggestion(path, Path.exists)}"


def no_record(path: Path, what: str, record: str, command: str) -> str:
    """The message where a directory should hold `what`, and does not: it has no file of the name `record`."""

    def holds(folder: Path) -> bool:
        return (folder / record).is_file()

    if path.is_dir():
        problem = f"{path} holds no {what} (no {record})"
        held = sorted(folder for folder in path.iterdir() if holds(folder))[:_MOST]
        suggestion = f": did you mean {' or '.join(map(str, held))}?" if held else ""
    else:
        problem = f"{path} is a file, and no directory" if path.exists() else f"there is no folder {path}"
        suggestion = _suggestion(path, holds)
    return f"{problem}{suggestion or f': give a directory made by {command}'}"


def _suggestion(path: Path, suits: Callable[[Path], bool]) -> str:
    """ ": did you mean A or B?": names beside the path that begin like it or are spelled nearly so."""
    with suppress(OSError):
        names = sorted(sibling.name for sibling in path.parent.iterdir())
        begun = [name for name in names if path.name and name.startswith((path.name, path.stem + "."))]
        near = dict.fromkeys([*begun, *get_close_matches(path.name, names, 9, 0.7)])
        found = [str(path.with_name(name)) for name in near if suits(path.with_name(name))][:_MOST]
        if found:
            return f": did you mean {' or '.join(found)}?"
    return ""
