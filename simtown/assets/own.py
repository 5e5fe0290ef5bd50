"""Kinds of vehicles of one's own: their names, and the files or the program that hold their meshes.

They join the town when :mod:`simtown.assets.entities` is imported. The variable SIMTOWN_KINDS names the
folders and programs, so that worker processes have the same kinds; --kinds and :func:`use_kinds` set it.
:mod:`simtown.assets.own_mesh` reads the meshes.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core.files import KindsError
from simtown.core.untrusted import inside, read_bytes, read_toml

if TYPE_CHECKING:
    from simtown.assets.mesh import Mesh, VehicleKind

#: The environment variable: folders and ``package.module:NAME``, separated by commas.
VARIABLE = "SIMTOWN_KINDS"
#: Most kinds of one's own, and letters of a name.
MOST, LONGEST = 100, 24
#: A name: one to three words, so that the longest question has room for two of them.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9'-]*( [A-Za-z0-9'-]+){0,2}")
#: What a TOML file may say.
_KEYS = ("name", "plural", "group", "mesh", "node", "length", "forward", "up", "paint", "materials")
_TYPES: dict[str, tuple[Any, str]] = {
    "length": ((int, float), "a number of metres"),
    "materials": (dict, "a table"),
}


@dataclass(frozen=True)
class OwnKind:
    """A kind of one's own.

    Attributes:
        name: as questions name it.
        plural: of the name; "" if the rules of English make it.
        group: a noun that it shares with other kinds, such as "bus".
        digest: SHA-256 of its files, or of the mesh that the program makes.
        source: the folder or the program.
        paintable: whether a scene may exchange the paint of its body.
        read: gives its mesh, and the paint of its body.
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
        """What a manifest says of it: the name and the digest."""
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
    texts = [os.path.abspath(place) if os.path.isdir(place) else str(place) for place in places]
    if crowded := [text for text in texts if "," in text]:
        raise KindsError(f"the folder {crowded[0]} has a comma in its path: rename it")
    value = ",".join(texts)
    if "simtown.assets.entities" in sys.modules and value != os.environ.get(VARIABLE, ""):
        raise KindsError("the town is imported already: call simtown.use_kinds before all else of simtown")
    os.environ[VARIABLE] = value


def own_options() -> list[str]:
    """The words of a command that give the kinds of this process to another one."""
    places = filter(None, os.environ.get(VARIABLE, "").split(","))
    return [word for place in places for word in ("--kinds", place)]


def load(catalogue: Sequence[str]) -> tuple[OwnKind, ...]:
    """The kinds that SIMTOWN_KINDS names, in its order; those of a folder in the order of their TOML files.

    Raises:
        KindsError: a folder, a program or a kind cannot be used.
    """
    kinds: list[OwnKind] = []
    for place in filter(None, os.environ.get(VARIABLE, "").split(",")):
        found = _from_program(place) if _is_program(place) else _from_folder(Path(place))
        for kind in found:
            _check(kind, [*catalogue, *(other.name for other in kinds)])
            kinds.append(kind)
    if len(kinds) > MOST:
        raise KindsError(f"{len(kinds)} kinds of one's own are too many: give --kinds at most {MOST}")
    return tuple(kinds)


def require_kinds(records: Iterable[str], kinds: Sequence[OwnKind], file: str) -> None:
    """Raises KindsError if the kinds that a file records are not the first of these, or have changed."""
    for place, record in enumerate(records):
        name, _, digest = record.rpartition(" ")
        used = {kind.name: kind for kind in kinds}
        if name not in used:
            give = "give the folder or program that holds it with --kinds, or call simtown.use_kinds"
            raise KindsError(f"{file} has the kind '{name}', which is not simtown's own: {give}")
        if used[name].digest != digest:
            other = f"another mesh or TOML file of '{name}' than {used[name].source} has"
            digests = f"{digest[:8]}, not {used[name].digest[:8]}"
            raise KindsError(f"{file} was made with {other} ({digests}): put those files back")
        if used[name] not in kinds[place : place + 1]:
            order = f"'{name}' is number {place + 1} of one's own kinds in {file}, but not in --kinds"
            raise KindsError(f"{order}: give --kinds in the order of the data set")


def _is_program(place: str) -> bool:
    return not os.path.isdir(place) and all(map(str.isidentifier, re.split("[.:]", place))) and ":" in place


def _check(kind: OwnKind, taken: Sequence[str]) -> None:
    for what in (kind.name, kind.plural or "x", kind.group):
        if not _NAME.fullmatch(what) or len(what) > LONGEST:
            rule = f"use one to three words of letters, digits, ' and -, at most {LONGEST} letters in all"
            raise KindsError(f"{kind.source}: '{what[: 2 * LONGEST]}' cannot name a kind: {rule}")
    if kind.name.lower() in map(str.lower, taken):
        raise KindsError(f"{kind.source}: there is a {kind.name} already: give your kind another name")


def _from_folder(folder: Path) -> list[OwnKind]:
    if not folder.is_dir():
        raise KindsError(f"there is no folder {folder}: --kinds takes a folder, or package.module:KINDS")
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise KindsError(
            f"{folder} holds no kind: write a TOML file for each mesh, such as bus.toml for bus.glb"
        )
    return [_from_file(inside(folder, file.name)) for file in files]


def _from_file(file: Path) -> OwnKind:
    """The kind of a TOML file; its mesh is not read yet."""
    try:
        about = read_toml(file)
    except ValueError as error:
        raise KindsError(f"{file} cannot be read: {error}") from error
    _check_keys(file, about)
    names = [about["mesh"]] if "mesh" in about else [f"{file.stem}.glb", f"{file.stem}.obj"]
    found = [name for name in names if inside(file.parent, name).is_file()]
    if len(found) != 1 or not found[0].lower().endswith((".glb", ".obj")):
        raise KindsError(f"{file}: name its GLB or OBJ file as `mesh`: {' or '.join(names)} is not one file")
    contents = [read_bytes(file, follow=False), *_files(file.parent, found[0]).values()]
    digests = [hashlib.sha256(content).digest() for content in contents]
    return OwnKind(
        about.get("name", file.stem),
        about.get("plural", ""),
        about.get("group", "vehicle"),
        hashlib.sha256(b"".join(digests)).hexdigest(),
        str(file),
        "paint" in about,
        partial(_read, file, about, found[0]),
    )


def _check_keys(file: Path, about: Mapping[str, Any]) -> None:
    """Raises KindsError for a key that there is not, or a value of another type."""
    for key, value in about.items():
        if key not in _KEYS:
            raise KindsError(f"{file}: `{key}` is unknown: use {', '.join(_KEYS)}")
        wanted, text = _TYPES.get(key, (str, "a text"))
        fits = isinstance(value, wanted) and not isinstance(value, bool)
        if not fits or (key == "length" and not 0 < value < 100):
            raise KindsError(f"{file}: `{key}` must be {text}, not {value!r:.40}")


def _files(folder: Path, name: str) -> dict[str, bytes]:
    """The content of a mesh's file, and of the materials and pictures that an OBJ file names, by name."""
    files = {name: read_bytes(inside(folder, name), follow=False)}
    if name.lower().endswith(".obj"):
        for pattern in (rb"(?m)^mtllib[ \t]+(.+?)\s*$", rb"(?mi)^\s*map_Kd[ \t]+(.+?)\s*$"):
            for used in re.findall(pattern, b"\n".join(files.values())):
                part = used.decode("utf-8", "replace")
                if not inside(folder, part).is_file():
                    raise KindsError(f"{folder / name} needs {part}: put the file into {folder}")
                files[part] = read_bytes(inside(folder, part), follow=False)
    return files


def _read(file: Path, about: Mapping[str, Any], name: str) -> tuple[Mesh, str]:
    from simtown.assets.own_mesh import read

    return read(file, about, _files(file.parent, name))


def _from_program(place: str) -> list[OwnKind]:
    module, _, attribute = place.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        kinds = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise KindsError(f"--kinds {place} cannot be imported: {error}") from error
    from simtown.assets.mesh import VehicleKind

    if not isinstance(kinds, dict) or not all(isinstance(kind, VehicleKind) for kind in kinds.values()):
        raise KindsError(f"--kinds {place} is not a dict of simtown.assets.mesh.VehicleKind by name")
    return [_of_program(place, name, kind) for name, kind in kinds.items()]


def _of_program(place: str, name: str, kind: VehicleKind) -> OwnKind:
    from simtown.assets.own_mesh import made

    mesh = made(f"{place}, {name}", kind)
    content = b"".join(array.tobytes() for array in (mesh.vertices, mesh.triangles, mesh.materials))
    digest = hashlib.sha256(f"{name} {kind.plural} {kind.group} {kind.body} ".encode() + content).hexdigest()
    return OwnKind(name, kind.plural, kind.group, digest, place, True, lambda: (mesh, kind.body))
