"""Whether the disk has room for what a command is about to write."""

import shutil
from pathlib import Path

from simtown.core.amounts import size


class RoomError(ValueError):
    """The disk has less room than a command will fill."""


def require_room(directory: Path, needed: float) -> None:
    """Raises RoomError if about `needed` bytes do not fit on the disk of a directory, which may be new."""
    existing = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise RoomError(
            f"this needs about {size(int(needed))} of room at {existing}, where {size(free)} are free: make "
            "room there, or give another `directory`"
        )
