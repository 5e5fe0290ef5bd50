"""Kinds of vehicles of one's own: their names, and the files or the program that hold their meshes.

They join the town when :mod:`simtown.assets.entities` is imported. The variable SIMTOWN_KINDS names the
folders and programs, so that worker processes have the same kinds; --kinds and :func:`use_kinds` set it.
:mod:`simtown.assets.own_mesh` reads the meshes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from simtown.core.files import KindsError
from simtown.core.own_code import own_code
from simtown.core.untrusted import cause, inside, read_bytes, read_toml

if TYPE_CHECKING:
    from simtown.assets.mesh import Mesh, VehicleKind

#: The environment variable: folders and ``package.module:NAME``, separated by commas.
VARIABLE = "SIMTOWN_KINDS"
#: Most letters of a name.
LONGEST = 24
#: A name: one to three words, so that the longest question has room for two of them.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9'-]*( [A-Za-z0-9'-]+){0,2}")


@dataclass(frozen=True)
class OwnKind:
    """A kind of one's own.

    Its digest is the SHA-256 of its files, or of the mesh that a program makes; its source is the folder or
    the program. `read` gives its mesh, and the paint of its body, which a scene may exchange if the kind is
    paintable. An empty plural is made by the rules of English.
    """

    name: str
    plural: str
    group: str
    digest: str
    source: str
    paintable: bool
    read: Callable[[], tuple[Mesh, str]]

    @property
    def record(self) -> str:
        """Manifest entry: the name and the digest."""
        return f"{self.name} {self.digest}"


def use_kinds(*places: str | Path) -> None:
    """Take kinds of vehicles of one's own into the town of this process, and of its workers.

    Args:
        places: folders with a GLB or OBJ file and a TOML file for each kind, or programs as
            ``package.module:KINDS``, a dict of :class:`~simtown.assets.mesh.VehicleKind` by name. Without
            any, the town is as it comes.

    Raises:
        KindsError: the town is imported already, with other kinds.

    >>> import pathlib, simtown, trimesh
    >>> pathlib.Path("kinds").mkdir()
    >>> mesh = trimesh.creation.box((1.8, 1.4, 4.2)).export("kinds/cargo box.glb")
    >>> size = pathlib.Path("kinds/cargo box.toml").write_text("length = 4.2")
    >>> simtown.use_kinds("kinds")
    >>> simtown.Town().place("cargo box", x=1.0)
    <Thing cargo box: x=1.00, y=-1.85, z=0.00, yaw=0.00>
    """
    value = ",".join(os.path.abspath(place) if os.path.isdir(place) else str(place) for place in places)
    if "simtown.assets.entities" in sys.modules and value != os.environ.get(VARIABLE, ""):
        raise KindsError("the town is imported already: call simtown.use_kinds before all else of simtown")
    os.environ[VARIABLE] = value


def _places() -> list[str]:
    """Raises KindsError for "a,,b"."""
    value = os.environ.get(VARIABLE, "")
    places = value.split(",") if value else []
    if not all(map(str.strip, places)):
        raise KindsError(f"{VARIABLE}={value} has an empty name: write one comma between two names")
    return places


def own_options() -> list[str]:
    """The words of a command that give the kinds of this process to another one."""
    return [word for place in _places() for word in ("--kinds", place)]


def load(catalogue: Iterable[str]) -> tuple[OwnKind, ...]:
    """The kinds that SIMTOWN_KINDS names, in its order; those of a folder in the order of their TOML files.

    Raises:
        KindsError: a folder, a program or a kind cannot be used.
    """
    kinds, taken = [], {name.lower() for name in catalogue}
    for place in _places():
        kinds += _from_program(place) if re.fullmatch(r"[\w.]+:\w+", place) else _from_folder(Path(place))
    for kind in kinds:
        for noun in (kind.name, kind.plural or kind.name, kind.group):
            if not _NAME.fullmatch(noun) or len(noun) > LONGEST:
                rule = f"use one to three words of letters, digits, ' and -, at most {LONGEST} letters in all"
                raise KindsError(f"{kind.source}: {noun[: 2 * LONGEST]!r} cannot name a kind: {rule}")
        if kind.name.lower() in taken:
            raise KindsError(f"{kind.source}: there is a {kind.name} already: give your kind another name")
        taken.add(kind.name.lower())
    return tuple(kinds)


def require_kinds(records: Iterable[str], kinds: Sequence[OwnKind], file: str) -> None:
    """Raises KindsError if the kinds that a file records are not the first of these, or have changed."""
    for place, record in enumerate(records):
        name, _, digest = record.rpartition(" ")
        here = [kind for kind in kinds[place : place + 1] if kind.name == name]
        if not here:
            give = "give the folders and programs of its kinds, in order, to --kinds or simtown.use_kinds"
            raise KindsError(f"{file} has the kind '{name}' as number {place + 1} of one's own: {give}")
        if here[0].digest != digest:
            other = f"another mesh or TOML file of '{name}' than {here[0].source} has"
            raise KindsError(f"{file} was made with {other}: put those files back")


def _from_folder(folder: Path) -> list[OwnKind]:
    files = sorted(folder.glob("[!.]*.toml"))
    if not files:
        raise KindsError(f"{folder} is not a folder with a TOML file for each kind, nor package.module:KINDS")
    return [_from_file(inside(folder, file.name)) for file in files]


def _from_file(file: Path) -> OwnKind:
    """The kind of a TOML file; its mesh is not read yet."""
    from simtown.assets.own_mesh import KindFile, files_of, read

    try:
        about = msgspec.convert(read_toml(file), KindFile)
    except ValueError as error:
        raise KindsError(f"{file} cannot be read: {cause(error)}") from error
    names = [about.mesh] if about.mesh else [f"{file.stem}.glb", f"{file.stem}.obj"]
    meshes = [mesh for name in names if (mesh := inside(file.parent, name)).is_file()]
    if len(meshes) != 1 or meshes[0].suffix.lower() not in (".glb", ".obj"):
        raise KindsError(f"{file}: name its mesh as mesh: {' or '.join(names)} is not one GLB or OBJ file")
    contents = [read_bytes(file, follow=False), *files_of(meshes[0]).values()]
    digest = sha256(b"".join(sha256(content).digest() for content in contents)).hexdigest()
    name, make = about.name or file.stem, partial(read, file, about, meshes[0])
    return OwnKind(name, about.plural, about.group, digest, str(file), about.paint is not None, make)


def _from_program(place: str) -> list[OwnKind]:
    from simtown.assets.own_mesh import made

    module, _, attribute = place.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    with own_code(lambda words: KindsError(f"--kinds {place} cannot be imported: {words}")):
        kinds: dict[str, VehicleKind] = dict(getattr(import_module(module), attribute))
    found = []
    for name, kind in kinds.items():
        mesh = made(f"{place}, {name}", kind)
        said = f"{name} {kind.plural} {kind.group} {kind.body} ".encode()
        arrays = (mesh.vertices, mesh.triangles, mesh.materials)
        digest = sha256(said + b"".join(array.tobytes() for array in arrays)).hexdigest()
        read = partial(lambda *both: both, mesh, kind.body)
        found.append(OwnKind(name, kind.plural, kind.group, digest, place, True, read))
    return found
