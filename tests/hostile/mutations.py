"""What a stranger does to an honest folder: one mutation is a kind, a file, and two numbers that choose where
and what.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shutil
import socket
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile import bombs

#: Put into every case: a module that a file may name, or that lies where Python would look for another.
EVIL = (
    "import pathlib\npathlib.Path({mark!r}).mkdir(parents=True, exist_ok=True)\n\n\nclass Evil:\n    pass\n"
)
PLANTED = (
    "helper.py",
    "typer.py",
    "pickle.py",
    "numpy.py",
    "sitecustomize.py",
    "usercustomize.py",
    "conftest.py",
    "torch.py",
    "h5py.py",
    "rich/__init__.py",
    "json.py",
    "simtown.py",
    "yaml.py",
    "matplotlib.py",
    "random.py",
    "ray.py",
    "numba.py",
    "multiprocessing.py",
    "simtown_plugin.py",
    "evil.py",
    "transformers.py",
    "tqdm.py",
    "_typer.py",
    "signal.py",
    "code.py",
)
#: With what is no module: settings of libraries, and a model that names its own code.
PLANTS = (*PLANTED, ".numba_config.yaml", "matplotlibrc", "pyvenv.cfg", "auto_map")
_DEEP = 100_000
#: Texts that stand for themselves in a file: too deep or too long for a parser's output.
RAW = {
    "@deep@": "[" * _DEEP + "]" * _DEEP,
    "@deeper@": '{"a":' * 2_000 + "1" + "}" * 2_000,
    "@long@": "9" * 5_000,
    "@huge@": "1" + "0" * 400,
    "@exponent@": "1e999",
    "@surrogate@": '"\\ud800"',
    "@million@": "[" + "0," * 1_000_000 + "0]",
}
#: Values that no honest file has, by what they try. {secret} and {outside} become absolute paths.
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2,
    0.5,
    10**6,
    10**9,
    2 * 10**9,
    2**31,
    2**63,
    10**30,
    -(10**30),
    1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    "",
    " ",
    "x",
    "a" * 100_000,
    "1" * 5_000,
    "١٢٣",
    "²",
    "1_000",
    "999999999999x999999999999",
    "\x1b]0;owned\x07\x1b[31mred",
    "[bold red]markup[/]",
    "[/nope]",
    "a\nb\rc",
    "a\u202eb\u2028c",
    "\x00",
    "../../outside",
    "../secret",
    "../secret/secret.txt",
    "{secret}",
    "{secret}/secret.txt",
    "{outside}",
    "0/../../../outside",
    "=1+1",
    "-1+1|cmd",
    "<script>alert(1)</script>",
    "%s%n{0.__class__}",
    "0-2000000000",
    "zipf:1e999",
    "zipf:nan",
    "helper:Evil",
    "hf:../secret",
    "s3://evil/x",
    "http://user:password@127.0.0.1:9/x",
    [],
    {},
    [[]],
    [None],
    [1, "x"],
    ["../../outside"],
    [[1, 2], [3]],
    [10**30] * 3,
    {"": 0},
    {"a": {"b": [1]}},
    {"format": 1},
    *RAW,
)


@dataclass(frozen=True)
class Mutation:
    """One change of a case's folder.

    Attributes:
        kind: a name of KINDS.
        file: what is changed, a path below the working directory; what is planted lies beside it.
        where: chooses the place in the file: a number, or its name with dots between keys.
        what: chooses what is put there: a number; a name of REPLACEMENTS, SHARD_EDITS or PLANTED; or a value
            as JSON.
    """

    kind: str
    file: str
    where: int | str = 0
    what: int | str = 0

    @property
    def number(self) -> int:
        """Which one of several, where a name says nothing."""
        return self.what if isinstance(self.what, int) else 0


@dataclass
class Scene:
    """Where a case plays: `work` is the stranger's folder, everything else in `root` is the person's.

    Attributes:
        named: paths below `work` that the command line names: a link there is the person's choice.
        changed: files whose checksums have to be entered in manifests anew.
    """

    root: Path
    named: frozenset[str]
    changed: set[Path]

    @property
    def work(self) -> Path:
        return self.root / "work"

    def mark(self, name: str) -> Path:
        """A directory that is there only if planted code ran."""
        return self.root / "marks" / name.replace("/", "-")

    def fill(self, text: str) -> str:
        return text.replace("{secret}", str(self.root / "secret")).replace(
            "{outside}", str(self.root / "outside")
        )


def _pick(choices: Any, which: int | str) -> Any:
    """A choice by its number, which may be too large, or by its name: of pairs the first says what it is."""
    if isinstance(which, str):
        return next(choice for choice in choices if which in (choice, choice[0]))
    return choices[which % len(choices)]


def value(scene: Scene, what: int | str) -> Any:
    """The hostile value of this number, or of this JSON."""
    chosen = json.loads(what) if isinstance(what, str) else _pick(VALUES, what)
    return scene.fill(chosen) if isinstance(chosen, str) else chosen


# --- structured text
# ------------------------------------------------------------------------------------------------------------


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every node: keys before what is in them, of a long list the first and last elements."""
    if path:
        yield path
    if isinstance(content, dict):
        for key in content:
            yield from _places(content[key], (*path, key))
    elif isinstance(content, list):
        for i in range(len(content)) if len(content) <= 6 else (0, 1, len(content) - 1):
            yield from _places(content[i], (*path, i))


def _holder(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        content = content[key]
    return content


def _json(content: Any) -> str:
    text = json.dumps(content)
    for sign, raw in RAW.items():
        text = text.replace(f'"{sign}"', raw)
    return text


def _toml(content: Any) -> str:
    if isinstance(content, dict):
        return (
            "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in content.items()) + "}"
        )
    if isinstance(content, list):
        return "[" + ", ".join(_toml(item) for item in content) + "]"
    if isinstance(content, float):
        return str(content)
    if content is None:
        return '"none"'
    return json.dumps(content).replace("\\u2028", "\u2028")


def _toml_file(content: dict[str, Any]) -> str:
    text = "\n".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in content.items()) + "\n"
    for sign, raw in RAW.items():
        text = text.replace(f'"{sign}"', raw)
    return text


def _changed(content: Any, change: Callable[[Any, Any], None], where: int | str) -> Any:
    """The content after a change of the holder and key of one node."""
    if not (places := list(_places(content))):
        return content
    path = tuple(where.split(".")) if isinstance(where, str) else _pick(places, where)
    change(_holder(content, path), path[-1])
    return content


def _edit_text(text: str, form: str, change: Callable[[Any, Any], None], where: int | str, seal: bool) -> str:
    """A JSON, JSONL, TOML, CSV or other text with one node changed."""
    if form == "json":
        content = _changed(json.loads(text), change, where)
        if seal and isinstance(content, dict) and "shards" in content:
            return _sealed(content)
        return _json(content)
    if form == "toml":
        return _toml_file(_changed(tomllib.loads(text), change, where))
    if form == "jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
        return "".join(_json(row) + "\n" for row in _changed(rows, change, where))
    delimiter = {"csv": ",", "tsv": "\t"}.get(form, " ")
    cells = [line.split(delimiter) for line in text.splitlines()]
    out = io.StringIO()
    for row in _changed(cells, change, where):
        line = row if isinstance(row, list) else [row]
        texts = [_raw(cell) for cell in line]
        if form in ("csv", "tsv"):
            csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow(
                [t.replace("\0", "") for t in texts]
            )
        else:
            out.write(" ".join(texts) + "\n")
    return out.getvalue()


def _raw(cell: Any) -> str:
    return RAW.get(cell, cell) if isinstance(cell, str) else str(cell)


def _sealed(content: Any) -> str:
    """As a deceiver would: the manifest's checksum of itself is right again."""
    from simtown.datasets import manifests

    text = _json(content)
    try:
        return _json(manifests.sealed(json.loads(text)))
    except (ValueError, RecursionError):
        return text


FORMS = {
    ".json": "json",
    ".toml": "toml",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "text",
    ".vocab": "text",
}


def _structured(scene: Scene, path: Path, change: Callable[[Any, Any], None], where: int | str) -> None:
    """Change one node of a file that is text, packed or not, or has a text in it."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        path.write_bytes(gzip.compress(_as_text(path, gzip.decompress(content), change, where), 1))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, member in members.items():
                archive.writestr(name, _as_text(Path(name), member, change, where))
    elif path.suffix == ".safetensors":
        size = int.from_bytes(content[:8], "little")
        header = _edit_text(content[8 : 8 + size].decode(), "json", change, where, False).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])
    else:
        path.write_bytes(_as_text(path, content, change, where))


def _as_text(path: Path, content: bytes, change: Callable[[Any, Any], None], where: int | str) -> bytes:
    form = FORMS.get(path.suffix) or ("json" if content[:1] in b"[{" else "text")
    return _edit_text(content.decode(), form, change, where, True).encode("utf-8", "surrogatepass")


def _value(scene: Scene, mutation: Mutation) -> None:
    """Another value in the place of one."""
    path = scene.work / mutation.file
    hostile = value(scene, mutation.what)
    if path.suffix == ".parquet":
        return _parquet(path, hostile, int(mutation.where))
    if path.suffix in (".npy", ".npz"):
        return _numpy(scene, path, mutation)

    def change(holder: Any, key: Any) -> None:
        holder[key] = hostile

    _structured(scene, path, change, mutation.where)


def _key(scene: Scene, mutation: Mutation) -> None:
    """A node is removed, repeated, or gets a neighbour or a hostile name."""
    hostile = value(scene, mutation.number // 4)

    def change(holder: Any, key: Any) -> None:
        kind = mutation.number % 4
        if kind == 0:
            del holder[key]
        elif isinstance(holder, dict):
            name = ("strange", str(hostile)[:5_000], f"{key} ")[kind - 1]
            holder[name] = holder.pop(key) if kind == 2 else hostile
        else:
            holder[key:key] = [holder[key]] * (1, 2, 1_000)[kind - 1]

    _structured(scene, scene.work / mutation.file, change, mutation.where)


def _parquet(path: Path, hostile: Any, where: int) -> None:
    """A column of other values, or of another name, or none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pq.read_table(path)
    index = where % rows.num_columns
    name = rows.column_names[index]
    kind = where // rows.num_columns % 4
    if kind == 0:
        rows = rows.drop_columns([name])
    elif kind == 1:
        rows = rows.rename_columns(
            [str(hostile)[:200] if i == index else n for i, n in enumerate(rows.column_names)]
        )
    elif kind == 2:
        plain = (
            hostile
            if isinstance(hostile, str | float | bool | None)
            or (isinstance(hostile, int) and abs(hostile) < 2**63)
            else [1]
        )
        rows = rows.set_column(index, name, pa.array([plain] * rows.num_rows))
    else:
        rows = rows.slice(0, 0) if where % 2 else pa.concat_tables([rows, rows])
    pq.write_table(rows, path)


def _numpy(scene: Scene, path: Path, mutation: Mutation) -> None:
    """Arrays of other shapes and types, objects, and headers that lie."""
    import numpy as np

    evil = bombs.npy_pickled(scene.mark("npy"))
    choices: list[bytes] = [
        evil,
        bombs.npy(),
        bombs.npy("(-1,)"),
        bombs.npy("(1000000000000000000000,)", "<f8"),
        bombs.npy("(3,)", "|V0"),
        bombs.npy("(2, 3)", "[('a', '<f4')]"),
        bombs.npy("(" * 500 + ")" * 500),
        bombs.npy("()"),
        bombs.npy("(0, 5)", "<f4"),
    ]
    for array in (
        np.array([np.nan] * 4),
        np.arange(4),
        np.array(["a", "\x1b[31m"]),
        np.zeros((3, 3, 3)),
        np.array(True),
        np.zeros(0),
        np.array([2**62]),
        np.array([1j]),
    ):
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        choices.append(file.getvalue())
    chosen = _pick(choices, mutation.what)
    if path.suffix == ".npy":
        path.write_bytes(chosen)
        return
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = _pick(sorted(members), mutation.where)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, content in members.items():
            archive.writestr(other, chosen if other == name else content)


# --- bytes and whole files
# ------------------------------------------------------------------------------------------------------------


def _bytes(scene: Scene, mutation: Mutation) -> None:
    """Bytes are flipped, cut off, added or repeated."""
    path = scene.work / mutation.file
    content = bytearray(path.read_bytes())
    if not content:
        return
    where, kind = int(mutation.where), mutation.number % 5
    place = where * 7919 % len(content)
    if kind == 0:
        content[place] ^= 1 << mutation.number // 5 % 8
    elif kind == 1:
        del content[place:]
    elif kind == 2:
        content += random.Random(mutation.number).randbytes(1 + where % 4096)
    elif kind == 3:
        content[place:place] = content[place : place + 64] or b"\0"
    else:
        content[place : place + 8] = b"\xff" * 8
    path.write_bytes(bytes(content))
    scene.changed.add(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _link(target: str) -> Callable[[Scene, Path], None]:
    def make(scene: Scene, path: Path) -> None:
        path.symlink_to(scene.fill(target) if target != "itself" else path.name)

    return make


def _content(make: Callable[[Scene, Path], bytes]) -> Callable[[Scene, Path], None]:
    return lambda scene, path: path.write_bytes(make(scene, path)) and None


def _sparse(scene: Scene, path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(6_000_000_000)


def _socket(scene: Scene, path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


_EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n%%EndComments\nshowpage\n%%EOF\n"
REPLACEMENTS: tuple[tuple[str, Callable[[Scene, Path], None]], ...] = (
    ("nothing", lambda scene, path: None),
    ("empty", _content(lambda scene, path: b"")),
    ("directory", lambda scene, path: path.mkdir()),
    ("FIFO", lambda scene, path: os.mkfifo(path)),
    ("socket", _socket),
    ("link to the secret", _link("{secret}/secret.txt")),
    ("link to a directory", _link("{secret}")),
    ("link to /dev/zero", _link("/dev/zero")),
    ("link to itself", _link("itself")),
    ("link to nothing", _link("{outside}/nothing")),
    ("sparse", _sparse),
    ("deep JSON", _content(lambda scene, path: RAW["@deep@"].encode())),
    ("deep TOML", _content(lambda scene, path: b"a = " + RAW["@deep@"].encode())),
    ("TOML of many keys", _content(lambda scene, path: b".".join([b"a"] * 20_000) + b" = 1\n")),
    ("long line", _content(lambda scene, path: b"a " * 15_000_000)),
    ("many lines", _content(lambda scene, path: b"a\n" * 2_000_000)),
    ("UTF-16", _content(lambda scene, path: "{}".encode("utf-16"))),
    ("list", _content(lambda scene, path: b"[1, 2]")),
    ("number", _content(lambda scene, path: b"NaN")),
    ("gzip bomb", _content(lambda scene, path: bombs.packed())),
    ("gzip bomb of a text", _content(lambda scene, path: bombs.packed(b"", fill=b"a"))),
    ("gzip bomb of lines", _content(lambda scene, path: bombs.packed(b"", fill=b"\n"))),
    ("zip bomb", _content(lambda scene, path: bombs.zipped(("x.json",)))),
    ("npz bomb", _content(lambda scene, path: bombs.npz(("correct", "logits", "answers")))),
    ("picture bomb", _content(lambda scene, path: bombs.png())),
    ("picture bomb of few rows", _content(lambda scene, path: bombs.png(12_000))),
    ("EPS", _content(lambda scene, path: _EPS)),
    ("Parquet bomb", _content(lambda scene, path: bombs.parquet(("count", "subject")))),
    ("pickle", _content(lambda scene, path: bombs.pickled(scene.mark("pickle")))),
    ("pickled .npy", _content(lambda scene, path: bombs.npy_pickled(scene.mark("npy")))),
    ("pickled .pt", _content(lambda scene, path: bombs.pt_pickled(scene.mark("pt")))),
    ("GIF", _content(lambda scene, path: _picture("GIF"))),
    ("TIFF", _content(lambda scene, path: _picture("TIFF"))),
    ("BMP", _content(lambda scene, path: _picture("BMP"))),
)
_LINKS = ("link to the secret", "link to a directory", "link to /dev/zero")


def _picture(form: str) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (64, 48)).save(file, format=form)
    return file.getvalue()


def _replace(scene: Scene, mutation: Mutation) -> None:
    """Something else in the file's place.

    What the person named is no link: that would be the person's own choice.
    """
    choices = [pair for pair in REPLACEMENTS if mutation.file not in scene.named or pair[0] not in _LINKS]
    path = scene.work / mutation.file
    _remove(path)
    _pick(choices, mutation.what)[1](scene, path)


def _plant(scene: Scene, mutation: Mutation) -> None:
    """Code with the name of a module, or a library's settings, where Python or a library may look for it."""
    name = _pick(PLANTS, mutation.what)
    places = (scene.work, (scene.work / mutation.file).parent)
    plant(scene, _pick(places, mutation.where), name)


def plant(scene: Scene, directory: Path, name: str) -> None:
    """Plant one of those."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == ".numba_config.yaml":
        path.write_text(f"cache_dir: {scene.mark('numba')}\n")
    elif name == "matplotlibrc":
        path.write_text("backend: module://helper\n")
    elif name == "pyvenv.cfg":
        path.write_text("home = .\n")
    elif name == "auto_map":
        _remote(scene, directory)
    else:
        path.write_text(EVIL.format(mark=str(scene.mark(name))))


def _remote(scene: Scene, directory: Path) -> None:
    """A model's own code, which transformers would run if it were told to."""
    config = directory / "config.json"
    try:
        told = json.loads(config.read_text())
    except (OSError, ValueError):
        return
    mapped = dict.fromkeys(
        ("AutoConfig", "AutoModel", "AutoModelForMaskedLM", "AutoModelForCausalLM"), "evil.Evil"
    )
    if isinstance(told, dict):
        config.write_text(json.dumps(told | {"model_type": "evil", "auto_map": mapped}))
        (directory / "evil.py").write_text(EVIL.format(mark=str(scene.mark("remote"))))
        (directory / "tokenizer_config.json").write_text(
            json.dumps(
                {
                    "tokenizer_class": "EvilTokenizer",
                    "auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]},
                }
            )
        )


def _temporary(scene: Scene, mutation: Mutation) -> None:
    """Names that temporary files and directories have, or had, as links to what is the person's own."""
    outputs = [
        "a.png",
        "sheet.png",
        "gallery",
        "coco",
        "study",
        "run",
        "vg",
        "lm",
        "captions.txt",
        "found.png",
        "told.json",
        "mined",
    ]
    name = Path(mutation.file).name
    beside = [(scene.root / "out", one) for one in outputs] + [
        (scene.work, "town-gallery"),
        (scene.work, "town-clevr"),
        (scene.work, "old-preview.png"),
        (scene.work, "rich-marginals.png"),
        ((scene.work / mutation.file).parent, name),
    ]
    directory, name = _pick(beside, mutation.where)
    random16 = "0123456789abcdef"
    forms = (
        f".{name}.simtown-partial",
        f".{name}.{random16}.simtown-partial",
        f".{name}.{random16}.tmp",
        f".{name}.tmp",
        f".{name}.{os.getpid()}.tmp",
        name,
        f".{name}.partial",
    )
    path = directory / _pick(forms, mutation.what)
    if path.exists() and (
        path.is_dir()
        or str(path.relative_to(scene.root / "work" if directory != scene.root / "out" else scene.root))
        in scene.named
    ):
        return
    _remove(path)
    path.symlink_to(scene.root / "secret" / ("secret.txt" if mutation.number // len(forms) % 2 else "."))


_NAMES = (
    "a\x1b[31mred",
    "[bold]a[/]",
    "=1+1",
    "-rf",
    "a\nb",
    "..a",
    "a" * 200,
    "\u202ea",
    "<b>a",
    "%s",
    "a b",
    ".hidden",
    "\udcff",
    "CON",
)


def _sparse_ones(directory: str, names: list[str]) -> list[str]:
    """Files that are too large to be copied."""
    return [name for name in names if os.lstat(os.path.join(directory, name)).st_size > 10**8]


def _neighbour(scene: Scene, mutation: Mutation) -> None:
    """Beside a file, or beside its folder: a copy under a hostile name, or a link to where nothing should be
    looked for.
    """
    path = scene.work / mutation.file
    if int(mutation.where) % 2 and path.parent != scene.work:
        path = path.parent
    number, kind = divmod(mutation.number, 5)
    beside = path.with_name(_pick(_NAMES, number) + (path.suffix if number % 2 else ""))
    if beside.exists() or beside.is_symlink():
        return
    if kind < 2 and path.is_dir():
        shutil.copytree(path, beside, symlinks=True, ignore=_sparse_ones)
    elif kind < 2:
        shutil.copyfile(path, beside, follow_symlinks=False)
    else:
        beside.symlink_to((scene.root / "secret", "..", scene.root / "secret" / "secret.txt")[kind - 2])


# --- shards
# ------------------------------------------------------------------------------------------------------------


def _shard(scene: Scene, mutation: Mutation) -> None:
    """An array of a shard is stored in another way, or is another array."""
    import h5py
    import hdf5plugin  # noqa: F401  (registers the filters)

    path = scene.work / mutation.file
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visititems(lambda name, found: names.append(name) if isinstance(found, h5py.Dataset) else None)
        name = _pick(sorted(names), mutation.where)
        _pick(SHARD_EDITS, mutation.what)[1](scene, file, name)
    scene.changed.add(path)


def _remade(make: Callable[[Scene, Any, str, Any], None]) -> Callable[[Scene, Any, str], None]:
    """An edit that puts something else in an array's place; it is given what the array held."""

    def edit(scene: Scene, file: Any, name: str) -> None:
        stored = file[name][()]
        del file[name]
        make(scene, file, name, stored)

    return edit


def _external(target: str) -> Callable[[Scene, Any, str], None]:
    def make(scene: Scene, file: Any, name: str, stored: Any) -> None:
        place = [(scene.fill(target), 0, max(1, stored.nbytes))]
        file.create_dataset(name, shape=stored.shape, dtype=stored.dtype, external=place)

    return _remade(make)


def _virtual(scene: Scene, file: Any, name: str, stored: Any) -> None:
    import h5py

    layout = h5py.VirtualLayout(shape=stored.shape, dtype=stored.dtype)
    layout[...] = h5py.VirtualSource(str(scene.root / "secret" / "secret.h5"), name, shape=stored.shape)
    file.create_virtual_dataset(name, layout)


def _soft(scene: Scene, file: Any, name: str, stored: Any) -> None:
    import h5py

    file[name] = h5py.SoftLink("/answer")


def _external_link(scene: Scene, file: Any, name: str, stored: Any) -> None:
    import h5py

    file[name] = h5py.ExternalLink(str(scene.root / "secret" / "secret.h5"), name)


def _tall(rows: int, **how: Any) -> Callable[[Scene, Any, str], None]:
    """The array declares more rows, none of which is stored."""

    def make(scene: Scene, file: Any, name: str, stored: Any) -> None:
        file.create_dataset(name, shape=(rows, *stored.shape[1:]), dtype=stored.dtype, **how)

    return _remade(make)


def _as_type(dtype: Any) -> Callable[[Scene, Any, str], None]:
    def make(scene: Scene, file: Any, name: str, stored: Any) -> None:
        file.create_dataset(name, shape=stored.shape, dtype=dtype)

    return _remade(make)


def _filled(number: Any) -> Callable[[Scene, Any, str], None]:
    def edit(scene: Scene, file: Any, name: str) -> None:
        import numpy as np

        stored = file[name]
        kind = stored.dtype.kind
        if kind == "S":
            stored[...] = {True: b"\x1b[31m\xff\x00", False: b"<script>alert(1)</script>"}[number == -1]
        elif kind in "iu":
            limits = np.iinfo(stored.dtype)
            stored[...] = int(min(max(number if number == number else 0, limits.min), limits.max))
        elif kind == "b":
            stored[...] = number == 1
        elif kind == "f":
            stored[...] = number

    return edit


def _one(number: Any) -> Callable[[Scene, Any, str], None]:
    """One element alone."""

    def edit(scene: Scene, file: Any, name: str) -> None:
        import numpy as np

        stored = file[name]
        rows = stored[()]
        flat = rows.reshape(-1)
        if not flat.size:
            return
        if rows.dtype.kind in "iu":
            limits = np.iinfo(rows.dtype)
            flat[-1] = int(min(max(number if number == number else 0, limits.min), limits.max))
        elif rows.dtype.kind in "fb":
            flat[-1] = number
        stored[...] = rows

    return edit


def _again(**how: Any) -> Callable[[Scene, Any, str], None]:
    def make(scene: Scene, file: Any, name: str, stored: Any) -> None:
        file.create_dataset(name, data=stored, **how)

    return _remade(make)


def _strings(scene: Scene, file: Any, name: str, stored: Any) -> None:
    import h5py

    file.create_dataset(name, shape=stored.shape, dtype=h5py.string_dtype())


def _references(scene: Scene, file: Any, name: str, stored: Any) -> None:
    import h5py

    file.create_dataset(name, shape=stored.shape, dtype=h5py.ref_dtype)


def _cycle(scene: Scene, file: Any, name: str) -> None:
    file["scene/again"] = file["/"]


def _attributes(scene: Scene, file: Any, name: str) -> None:
    file.attrs["summary"] = "{" * 30_000
    file[name].attrs["x"] = "\x1b[31m" * 1_000


def _every_attribute(scene: Scene, file: Any, name: str) -> None:
    for key in list(file.attrs):
        file.attrs[key] = scene.fill("{secret}\x1b[31m[bold]")


def _no_attributes(scene: Scene, file: Any, name: str) -> None:
    for key in list(file.attrs):
        del file.attrs[key]


SHARD_EDITS: tuple[tuple[str, Callable[[Scene, Any, str], None]], ...] = (
    ("external storage of the secret", _external("{secret}/secret.txt")),
    ("external storage of /dev/zero", _external("/dev/zero")),
    ("external storage of a sibling", _external("manifest.json")),
    ("virtual data set", _remade(_virtual)),
    ("soft link", _remade(_soft)),
    ("external link", _remade(_external_link)),
    ("a billion rows in chunks", _tall(10**9, chunks=True)),
    ("a billion rows in one piece", _tall(10**8)),
    ("a huge chunk", _tall(8, chunks=None, fillvalue=1)),
    ("a row more", _tall(9)),
    ("no row", _tall(0)),
    ("never written", _tall(8)),
    ("as float64", _as_type("f8")),
    ("as int8", _as_type("i1")),
    ("as big-endian", _as_type(">i4")),
    ("as a compound", _as_type([("a", "i4"), ("b", "f8")])),
    ("as opaque", _as_type("V7")),
    ("as complex", _as_type("c16")),
    ("as texts of any length", _remade(_strings)),
    ("as references", _remade(_references)),
    ("as a scalar", _remade(lambda scene, file, name, stored: file.create_dataset(name, data=1))),
    ("as nothing", _remade(lambda scene, file, name, stored: file.create_dataset(name, dtype="f4"))),
    ("as a group", _remade(lambda scene, file, name, stored: file.create_group(name))),
    ("removed", _remade(lambda scene, file, name, stored: None)),
    ("with a neighbour", lambda scene, file, name: file.create_dataset(f"{name}-more", data=[1, 2, 3])),
    ("with gzip", _again(chunks=True, compression="gzip", compression_opts=9)),
    ("with lzf and shuffle", _again(chunks=True, compression="lzf", shuffle=True)),
    ("with checksums", _again(chunks=True, fletcher32=True)),
    ("growing", _again(chunks=True, maxshape=None)),
    ("in a cycle", _cycle),
    ("hostile attributes", _attributes),
    ("every attribute", _every_attribute),
    ("no attributes", _no_attributes),
    *((f"filled with {n}", _filled(n)) for n in (-1, 0, 1, 200, 10**9, float("nan"), float("inf"), -1e30)),
    *((f"with one {n}", _one(n)) for n in (-1, 0, 7, 255, 10**9, float("nan"), float("inf"), 1e30)),
)


# --- all of them
# ------------------------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[Scene, Mutation], None]] = {
    "value": _value,
    "key": _key,
    "bytes": _bytes,
    "replace": _replace,
    "neighbour": _neighbour,
    "plant": _plant,
    "temporary": _temporary,
    "shard": _shard,
}
_VALUED = (*FORMS, ".gz", ".zip", ".safetensors")


def kinds_for(name: str) -> list[str]:
    """The kinds of mutations that a file of this name can have, those that reach deepest more often."""
    suffix = Path(name).suffix
    kinds = ["bytes", "replace", "neighbour", "plant", "temporary"]
    if suffix == ".h5":
        return ["shard"] * 8 + kinds
    if suffix in (".parquet", ".npy", ".npz"):
        return ["value"] * 4 + kinds
    if suffix in _VALUED:
        return ["value"] * 6 + ["key"] * 2 + kinds
    return kinds


def choices_for(kind: str) -> tuple[str, ...]:
    """The names of what a mutation of this kind can do, () if it goes by numbers."""
    named = {"replace": REPLACEMENTS, "shard": SHARD_EDITS}
    return PLANTS if kind == "plant" else tuple(name for name, _ in named.get(kind, ()))


def apply(scene: Scene, mutations: tuple[Mutation, ...]) -> None:
    """Do all of them, one after the other; one that an earlier one has made impossible is left out."""
    replaced: set[str] = set()  # what is there now may unpack to more than this process can hold
    for mutation in mutations:
        path = scene.work / mutation.file
        if mutation.file in replaced and mutation.kind not in ("replace", "plant", "temporary"):
            continue
        if mutation.kind == "replace":
            replaced.add(mutation.file)
        elif mutation.kind in ("value", "key", "bytes", "shard") and (
            path.is_symlink() or not path.is_file()
        ):
            continue
        try:
            KINDS[mutation.kind](scene, mutation)
        except (
            ValueError,
            LookupError,
            ArithmeticError,
            TypeError,
            AttributeError,
            OSError,
            RuntimeError,
            StopIteration,
            zipfile.BadZipFile,
            zlib.error,
            MemoryError,
        ):
            continue  # a file that is no longer of its kind, or too large by now
    for path in sorted(scene.changed):
        _enter_checksum(path)


def _enter_checksum(path: Path) -> None:
    """The manifest beside a shard lists what the shard has become."""
    from simtown.datasets.shards import checksum

    beside = path.with_name("manifest.json")
    if not path.is_file() or not beside.is_file() or beside.is_symlink():  # a pipe would be waited for
        return
    try:
        content = json.loads(beside.read_text())
        content["shards"][path.name].update(sha256=checksum(path), bytes=path.stat().st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        return
    beside.write_text(_sealed(content))
