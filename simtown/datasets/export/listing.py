"""Large JSON objects, written entry by entry."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any


@contextmanager
def listing(path: Path, head: dict[str, Any], *keys: str) -> Iterator[list[Callable[[Any], None]]]:
    """A JSON file: the keys of `head`, then a list under each of `keys`, an entry a line; a function for each list adds to it."""
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "w", encoding="utf-8"))
        lists = [stack.enter_context(TemporaryFile("w+", encoding="utf-8", dir=path.parent)) for _ in keys]

        def adder(target: Any) -> Callable[[Any], None]:
            between = "\n"

            def add(entry: Any) -> None:
                nonlocal between
                target.write(between + json.dumps(entry))
                between = ",\n"

            return add

        yield [adder(target) for target in lists]
        file.write("{\n" + "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items()))
        for key, target in zip(keys, lists, strict=True):
            target.seek(0)
            file.write(f"{json.dumps(key)}: [")
            shutil.copyfileobj(target, file)
            file.write("\n]" + ("\n}\n" if key == keys[-1] else ",\n"))
