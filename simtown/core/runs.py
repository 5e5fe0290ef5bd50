"""Run directories: a command writes one, continues it if the settings match, and refuses any other directory.

A JSON file in the directory, its record, says which command made it and with which settings. A directory
without a record belongs to nobody, and a command writes only into an empty one.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from simtown.core import files
from simtown.core.files import DamagedError, ForeignDirectoryError, as_json
from simtown.core.missing import no_record
from simtown.core.untrusted import cause, read_json

#: Characters that a message shows of a setting's value.
_LONGEST_VALUE = 200


def require_keys(path: Path, content: Mapping[str, Any], form: Mapping[str, Any]) -> None:
    """Check that the content of a JSON file has the keys of `form`, with values of the same types.

    Raises DamagedError, which names the key.
    """
    for key, value in form.items():
        if value is not None and not isinstance(content.get(key), type(value)):
            raise _damaged(path, f"its '{key}' is {_in_words(content.get(key))}")


def _damaged(path: Path, problem: str) -> DamagedError:
    return DamagedError(f"{path} is damaged ({problem}): put back a copy of it, or give another `directory`")


def load_json(path: Path, form: str, command: str) -> dict[str, Any]:
    """A JSON file that `command` wrote and whose key "format" has the value `form`.

    Raises:
        DamagedError: it cannot be read.
        ForeignDirectoryError: it has another format.
    """
    try:
        content = read_json(path)
    except (OSError, ValueError) as error:
        remedy = f"put back a copy of it, or run {command} again with another --out"
        raise DamagedError(f"{path} is damaged: it cannot be read as JSON ({error}); {remedy}") from error
    if not isinstance(content, dict) or content.get("format") != form:
        reason = f"its format is not '{form}'"
        raise ForeignDirectoryError(f"{path} was not made by {command} ({reason}): give another directory")
    return content


def changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The settings whose values differ, such as "patience 10, now 7", in the order of `now`.

    A setting that only one side has counts as null on the other side.
    """
    names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    return [f"{name} {_in_words(before.get(name))}, now {_in_words(now.get(name))}" for name in names]


def _in_words(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def require_same_settings(
    directory: Path | str, before: Mapping[str, Any], now: Mapping[str, Any], what: str = "results"
) -> None:
    """Check that a directory, which holds `what`, was begun with these settings.

    Raises ForeignDirectoryError, which names each that differs with its old and its new value.
    """
    if changes := changed_settings(before, now):
        other = f"{directory} holds {what} with other settings: {'; '.join(changes)}"
        raise ForeignDirectoryError(f"{other}; give another `directory`")


@dataclass(frozen=True)
class RunRecord:
    """The JSON file that says what a run directory is.

    Attributes:
        name: of the file, such as "run.json".
        form: the value of its key "format".
        command: that writes the directory, such as "simtown fit".
        owned: names of the files that the command writes.
        schema: the value of its key "schema"; None if it has no such key.
        what: the directory holds, in messages.
        content: the type of what it holds, as msgspec checks it.
    """

    name: str
    form: str
    command: str
    owned: frozenset[str]
    schema: int | None = None
    what: str = "results"
    content: Any = dict[str, Any]

    def load(self, directory: Path) -> dict[str, Any]:
        """Read the record.

        Raises:
            FileNotFoundError: the directory has none.
            DamagedError: it cannot be read.
            ForeignDirectoryError: another command, or another version of this one, wrote it.
        """
        path = directory / self.name
        if not path.is_file():
            raise FileNotFoundError(
                no_record(directory, self.what.removeprefix("a "), self.name, self.command)
            )
        content = load_json(path, self.form, self.command)
        if self.schema is not None and content.get("schema") != self.schema:
            other = f"{path} was made by another version of {self.command}"
            raise ForeignDirectoryError(f"{other}: run it again with another --out")
        try:
            msgspec.convert(content, self.content)
        except msgspec.ValidationError as error:
            raise _damaged(path, cause(error)) from error
        return content

    @contextlib.contextmanager
    def opened(
        self,
        directory: Path,
        fresh: Mapping[str, Any],
        settings_of: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda content: content["settings"],
        load: Callable[[Path], dict[str, Any]] | None = None,
        save: bool = True,
    ) -> Iterator[dict[str, Any]]:
        """Begin a run in an empty directory, or continue the run of the same settings.

        Other processes of the command cannot write there meanwhile.

        Args:
            directory: made if need be.
            fresh: the record of a run that begins; "format" and "schema" are added to it.
            settings_of: the settings in a record, by name. All of them have to match.
            load: reads and checks an existing record; :meth:`load` by default.
            save: whether the record of a run that begins is written at once. If not, the caller writes it
                last: the directory is whole when it has one.

        Yields:
            The record: `fresh` as JSON gives it back, or the existing one.

        Raises:
            ForeignDirectoryError: the directory holds something else or a run with other settings, or another
                process writes it.
            DamagedError: its record cannot be read.
        """
        with files.claimed(directory, self.command):
            content: dict[str, Any] = as_json(self._marked(fresh))
            if (directory / self.name).exists():
                existing = (load or self.load)(directory)
                require_keys(directory / self.name, existing, content)
                try:
                    before = settings_of(existing)
                except (LookupError, TypeError, AttributeError) as error:
                    raise _damaged(directory / self.name, cause(error)) from error
                require_same_settings(directory, before, settings_of(content), self.what)
                content = existing
            else:
                self._require_own_files(directory)
                if save:
                    self.save(directory, content)
            files.clear_leftovers(directory, self.owned.__contains__)
            yield content

    def _require_own_files(self, directory: Path) -> None:
        """Check that the command wrote every file; a temporary one counts as what it was to become."""
        names = (path.name for path in directory.iterdir())
        others = sorted(name for name in names if (files.becoming(name) or name) not in self.owned)
        if others:
            foreign = f"{directory} holds {others[0]}, which {self.command} did not make"
            raise ForeignDirectoryError(f"{foreign}: give another `directory`")

    def save(self, directory: Path, content: Mapping[str, Any]) -> None:
        """Write the record, whole or not at all."""
        files.save_json(directory / self.name, self._marked(content))

    def _marked(self, content: Mapping[str, Any]) -> dict[str, Any]:
        schema = {} if self.schema is None else {"schema": self.schema}
        return {"format": self.form, **schema, **content}
