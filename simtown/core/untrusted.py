"""Files and texts of others. This is the only module that treats them as untrusted; all readers call it.

Whatever a folder holds:

1. Nothing in it is executed or imported. No file is unpickled, and no file names a module to import.
2. Nothing outside the output is written or deleted.
3. Nothing outside the folder is read. Symbolic links in it, HDF5's external storage and its virtual data sets
   are refused.
4. What is printed, or put into a page, a table or a figure, is text.

Besides, a size that a file of ours declares is compared with the file's own size before memory is allocated.
"""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import unicodedata
import warnings
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    import sqlite3

    import h5py
    import numpy as np
    from PIL import Image

#: Bytes of the longest name that becomes part of a path, and characters of the longest name in a figure.
LONGEST_NAME, LONGEST_LABEL = 200, 120
#: Bytes of the largest TOML file that is read, and how deeply a value of JSON or TOML may be nested.
LARGEST_TOML, DEEPEST = 1_000_000, 64
#: Parts of a key of TOML with dots between, more than are read.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
#: Unicode's categories that a terminal obeys instead of showing: controls, formats (order of writing, zero
#: width), surrogates (of file names that are not UTF-8), and separators of lines and paragraphs.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: User and password before the host of a URL, and what follows its path: signatures and tokens. In URLs of
#: other kinds than http, "?" and "#" are letters of a name unless "=" follows; "openai:" has a model there.
_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*:/{1,2})[^/?#\s]*@", re.IGNORECASE)
_QUERY = re.compile(
    r"((?:\b(openai:)|(?<!openai:)\b)(?:(https?)|[a-z][a-z0-9+.-]*):/{1,2}[^\s?#'\"]+)"
    r"(?(2)\?|[?#])(?(3)|(?=[^\s'\"]*=))"
    r"(?:[^\s'\"]*[^\s'\":;,.)])?",
    re.IGNORECASE,
)
#: What a spreadsheet takes for the beginning of a formula, also in the wide forms of East Asian text.
_FORMULA = tuple("=+-@＝＋－＠")
#: A number with what may stand around it in a table: an error, an interval, a unit.
_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?([ ±\d.,%;\[\]+-]|to)*", re.ASCII)
#: What begins a file that Git LFS has not fetched.
_POINTER = b"version https://git-lfs"
#: What libraries say of a file, as patterns, and our words; kinds of values stand in angle brackets.
_OF_LIBRARIES = {
    r"^Error while deserializing.*": "cannot be read as safetensors",
    r".*allow_pickle.*": "cannot be read as arrays of NumPy",
    r"^Object missing required field `(.*)`": r"lacks '\1'",
    r"^Object contains unknown field `(.*)`": r"has an unknown key '\1'",
    r"^Invalid (?:enum )?value (.*)": r"cannot be \1",
    r"^Expected `(.+?)`, got `(.+?)`": r"must be <\1>, not <\2>",
    r"^Expected `(.+?)`": r"must be <\1>",
    r"^(Number|Integer value) out of range": "is a number beyond all limits",
    r"^Image size .(\d+) pixels. exceeds limit of (\d+) pixels.*": r"has \1 pixels, and \2 are the most",
    r"^(JSON is malformed|Input data was truncated).*": "is not JSON",
}
_FORMS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_LATEX = {
    **{sign: f"\\{sign}" for sign in "{}&%$#_"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "μ": r"$\mu$",
}


class RefusedError(ValueError):
    """A file or a name that is not used since it could do harm; the message names it and says why."""


# Paths


def check_name(name: str, what: str) -> str:
    """The name, if it can be one part of a path: no separator, no dot first, no invisible character.

    `what` says whose name it is. Raises RefusedError.
    """
    unsafe = not name or name.startswith(".") or "/" in name or "\\" in name or not name.isprintable()
    if unsafe or len(name.encode()) > LONGEST_NAME:
        wrong = f"{what} {name[:LONGEST_NAME]!r} cannot be the name of a file"
        raise RefusedError(f"{wrong}: use letters, digits, '.', '-' and '_'")
    return name


def inside(directory: Path, name: str) -> Path:
    """The path of `name` in a directory. Raises RefusedError if it leads out, or passes a symbolic link."""
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name:
        raise RefusedError(f"{name!r} is not the name of a file inside {directory}")
    path = directory
    for part in parts:
        path = path / part
        if path.is_symlink():
            leads = f"which may lead out of {directory}"
            raise RefusedError(f"{path} is a symbolic link, {leads}: put the file there")
    return path


def folder(directory: Path, name: str) -> Path:
    """The folder `name` of a directory, made if need be. Raises RefusedError as :func:`inside` does."""
    path = inside(directory, name)
    path.mkdir(parents=True, exist_ok=True)
    return path


# Reading


def open_regular(path: Path, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        path: of the file.
        follow: whether the path may be a symbolic link: True for a file that the user named, False for one in
            a directory that the user named.

    Raises:
        RefusedError: a directory, a device, a pipe, a pointer of Git LFS, or a link that is not followed.
        OSError: it cannot be opened.
    """
    return os.fdopen(_open(path, os.O_RDONLY, follow), "rb")


def open_to_append(path: Path) -> BinaryIO:
    """Open a regular file to read it and to write at its end; it is made if it is missing.

    Raises:
        RefusedError: a link, a device or a pipe.
        OSError: it cannot be opened.
    """
    return os.fdopen(_open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, follow=False), "r+b")


def open_database(path: Path) -> sqlite3.Connection:
    """Open an SQLite file to read and change it; it is made if it is missing.

    SQLite itself follows no link to the files that it keeps beside it. Raises as :func:`open_to_append`.
    """
    import sqlite3

    open_to_append(path).close()
    database = sqlite3.connect(path, timeout=60.0, isolation_level=None)
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _open(path: Path, flags: int, follow: bool) -> int:
    """Open a regular file; the handle of it. Raises as :func:`open_regular`."""
    flags |= os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags, 0o666)
    except OSError:
        if not follow and path.is_symlink():
            raise RefusedError(f"{path} is a symbolic link: put the file itself there") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise RefusedError(f"{path} is not a regular file")
    if os.pread(handle, len(_POINTER), 0) == _POINTER:
        os.close(handle)
        raise RefusedError(f"{path} is a pointer of Git LFS: fetch the file itself, with git lfs pull")
    return handle


def read_bytes(path: Path, follow: bool = True) -> bytes:
    """The content of a regular file. Raises RefusedError or OSError, as :func:`open_regular` does."""
    with open_regular(path, follow) as file:
        return file.read()


def read_text(path: Path, follow: bool = True, encoding: str = "utf-8") -> str:
    """The text of a regular file. Raises ValueError too, if it is not UTF-8."""
    return _decoded(read_bytes(path, follow), encoding, str(path))


def read_json(path: Path, follow: bool = False) -> Any:
    """The content of a JSON file. Raises ValueError (RefusedError is one) or OSError."""
    return parse_json(read_bytes(path, follow))


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError, also if it is nested too deeply."""
    return _parse(json.loads, text)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises ValueError (RefusedError is one) or OSError."""
    return parse_toml(read_toml_text(path))


def read_toml_text(path: Path) -> str:
    """The text of a TOML file. Raises as :func:`read_toml`."""
    with open_regular(path) as file:
        content = file.read(LARGEST_TOML + 1)
    if len(content) > LARGEST_TOML:
        raise RefusedError(f"{path} has more than {LARGEST_TOML:,} bytes")
    return _decoded(content, "utf-8-sig", str(path))


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError, also if it is nested too deeply."""
    import tomllib

    if _LONG_KEY.search(text):  # the square of its length is what Python takes for it, in time and memory
        raise ValueError("it has a key of too many parts")
    tables: dict[str, Any] = _parse(tomllib.loads, text)
    return tables


def _decoded(content: bytes, encoding: str, name: str = "it") -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text") from None


def _parse(parser: Callable[[Any], Any], text: str | bytes) -> Any:
    """The value of a text. Raises ValueError, also if it is nested too deeply for recursive functions."""
    try:
        value = parser(text if isinstance(text, str) else _decoded(text, json.detect_encoding(text)))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"wrong JSON at character {error.pos + 1}") from None
    except ValueError as error:
        if "int_max_str_digits" in str(error):
            raise ValueError("it holds a number of thousands of digits") from None
        if place := re.search(r"\(at (line \d+|end)", str(error)):
            what = "a name twice" if re.search("overwrite|declare|mutate", str(error)) else "wrong TOML"
            raise ValueError(f"{what}, at {place[1].replace('end', 'its end')}") from None
        raise
    layer = [value]
    for _ in range(DEEPEST):
        inner = (v.values() if isinstance(v, dict) else v for v in layer if isinstance(v, dict | list))
        layer = list(chain.from_iterable(inner))
    if layer:
        raise ValueError("it is nested too deeply")
    return value


def cause(error: BaseException) -> str:
    """Why a reader of a file failed, in one line; Python's words for values of other types say nothing."""
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, IndexError | TypeError | AttributeError | OverflowError):
        return "it holds a value of another form than was written"
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or _of_form(str(error).partition("\n")[0])


def _of_form(problem: str) -> str:
    """What a library says of a file, in our words; another text as it is."""
    said, _, place = problem.partition(" - at `")
    for pattern, words in _OF_LIBRARIES.items():
        said, found = re.subn(pattern, words, said)
        if found:
            subject = re.sub(r"[$`]\.?", "", place) or "it"
            forms = re.sub("<(.+?)>", lambda kinds: re.sub(r"\w+", _form, kinds[1]), said)
            return f"{subject} {forms.replace(' | ', ' or ')}"
    return problem


def _form(kind: re.Match[str]) -> str:
    return _FORMS.get(kind[0], kind[0])


def load_array(path: Path, follow: bool = True, mmap_mode: Literal["r", "r+"] | None = None) -> np.ndarray:
    """The array of a .npy file, read at once, or mapped by `mmap_mode`.

    Raises ValueError if it is damaged, or holds Python objects. Others as :func:`open_regular`.
    """
    import numpy as np

    handle = _open(path, os.O_RDWR if mmap_mode == "r+" else os.O_RDONLY, follow)
    try:
        opened = f"/dev/fd/{handle}"  # the file itself, wherever the path leads by now
        # mapping it for reading compares the size that it declares with the file's
        array: np.ndarray = np.load(opened, mmap_mode="r", allow_pickle=False)
        if mmap_mode is None:
            return np.array(array)
        return array if mmap_mode == "r" else np.load(opened, mmap_mode=mmap_mode)
    except (EOFError, OverflowError) as error:
        raise ValueError(f"it is damaged ({error})") from error
    finally:
        os.close(handle)


def open_picture(path: Path) -> Image.Image:
    """The picture of a PNG or JPEG file, upright as its EXIF data says, in three colours of 8 bits each.

    Of an animation it is the first one. Pillow reads some forty other formats, and starts another program for
    one of them.

    Raises:
        RefusedError: it is not such a file, or too large; the message does not name it.
        OSError: it cannot be read.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    with open_regular(path) as file:
        try:
            with Image.open(file, formats=("PNG", "JPEG")) as picture:
                upright = ImageOps.exif_transpose(picture)
            return eight_bits(upright).convert("RGB")
        except UnidentifiedImageError:
            raise RefusedError("it is not a PNG or JPEG file") from None
        except (Image.DecompressionBombError, SyntaxError, ValueError, struct.error) as error:
            raise RefusedError(f"it is damaged or too large ({cause(error)})") from error


def eight_bits(picture: Image.Image) -> Image.Image:
    """The picture, but 16 bits of grey, which Pillow would clip, as 8 bits."""
    import numpy as np
    from PIL import Image

    if not picture.mode.startswith("I"):
        return picture
    return Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8))


def parse_picture(content: bytes, name: str) -> Image.Image:
    """The picture in the content of a PNG or JPEG file; its pixels are read when they are first used.

    Raises RefusedError, which names it, for another format or too many pixels.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):
            return Image.open(BytesIO(content), formats=("PNG", "JPEG"))
    except UnidentifiedImageError:
        raise RefusedError(f"the {name} is not a PNG or JPEG file") from None
    except Image.DecompressionBombError as error:
        raise RefusedError(f"the {name} is too large: {cause(error)}") from None


def open_hdf5(path: Path) -> h5py.File:
    """Open an HDF5 file for reading; raises as :func:`open_regular`. :func:`array_in` opens its arrays."""
    import h5py

    open_regular(path, follow=False).close()
    return h5py.File(path, "r", rdcc_nbytes=0)  # a cache of chunks for each array would fill the memory


def array_in(file: h5py.File, name: str) -> h5py.h5d.DatasetID:
    """An array that lies in this HDF5 file, by its full name.

    Raises:
        RefusedError: it is missing, or lies in another file (a link, external storage, a virtual data set).
    """
    from h5py import h5d, h5l

    parts = name.split("/")
    try:
        for depth in range(1, len(parts) + 1):
            if file.id.links.get_info("/".join(parts[:depth]).encode()).type != h5l.TYPE_HARD:
                raise RefusedError(f"the array '{name}' is a link: it must lie in this file")
        array = h5d.open(file.id, name.encode())
    except (KeyError, RuntimeError, TypeError) as error:
        raise RefusedError(f"the array '{name}' is missing ({error})") from None
    properties = array.get_create_plist()
    # Reading even the shape of a virtual array would open the other file.
    if properties.get_layout() == h5d.VIRTUAL or properties.get_external_count():
        raise RefusedError(f"the array '{name}' lies in another file: it must lie in this one")
    return array


# Texts


def printable(text: str, block: bool = False) -> str:
    r"""A text to print: without secrets in URLs, and with escapes such as \x1b for what a terminal obeys.

    A block keeps its newlines and tabs.
    """
    if ":/" in text:
        text = _QUERY.sub(r"\1", _USER.sub(r"\1", text))
    if text.isprintable():
        return text
    kept = "\n\t" if block else ""
    hidden = {c for c in text if c not in kept and unicodedata.category(c) in _HIDDEN}
    return "".join(c.encode("unicode_escape").decode() if c in hidden else c for c in text)


def markdown(text: str) -> str:
    """A text in Markdown: without HTML, links, columns or lines of its own."""
    escaped = printable(text).replace("](", "]\\(").replace("|", "&#124;")
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", escaped)


def latex(text: str) -> str:
    """A text in LaTeX."""
    return "".join(_LATEX.get(c, c) for c in printable(text))


def figure_text(text: str) -> str:
    """A text in a figure, with its newlines."""
    # matplotlib sets text between dollar signs as mathematics, and leaves labels with a first "_" out
    cut = text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…"
    label = printable(cut, block=True).replace("$", r"\$")
    return f" {label}" if label.startswith("_") or not label else label


def spreadsheet_cell(value: object) -> object:
    """A value in a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def page_policy(page: str, **sources: str) -> str:
    """The Content-Security-Policy of a page: its own <script> and <style> blocks, and these sources.

    No attribute of it may hold a style or a handler of events. A source is such as img="'self' data:".
    """
    script, style = (_block_hashes(page, tag) for tag in ("script", "style"))
    others = "".join(f"; {name}-src {source}" for name, source in sources.items() if name != "script")
    scripts = " ".join(filter(None, (script, sources.get("script"))))
    own = f"default-src 'none'; script-src {scripts}; style-src {style}"
    return f"{own}{others}; base-uri 'none'; form-action 'none'"


def _block_hashes(page: str, tag: str) -> str:
    blocks = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    hashes = [b64encode(sha256(block.encode()).digest()).decode() for block in blocks]
    return " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
