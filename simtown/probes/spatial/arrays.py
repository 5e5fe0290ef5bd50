"""NumPy's .npy files, read without unpickling: nothing that a file names is imported or called.

The release holds plain arrays, and a dictionary of arrays, which NumPy could only write as a pickle.
:func:`read_dictionary` follows the instructions of that pickle itself. It knows those that strings, tuples,
dictionaries and arrays of numbers need, and refuses all others.
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.arrays import map_npy
from simtown.core.files import DamagedError, RefusedError, read_bytes

#: Bytes of the largest array that is read: those of the release have 140,000 and 240,000. Of a pickle, which
#: is followed step by step: the release's has 30,000.
LARGEST, LARGEST_PICKLE = 64_000_000, 1_000_000
_ITEM_TYPES = ("f4", "f8")
_BYTE_ORDERS = ("<", ">", "=", "|")
#: Instructions that push their argument, that push a fixed value, and that take so many values into a tuple.
_PUSHES = ("BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1")
_VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK = object()


def read_array(path: Path) -> np.ndarray:
    """The array of a .npy file.

    Raises:
        DamagedError: the file is none, or an array of Python objects.
    """
    try:
        array = map_npy(path, follow=False)
    except RefusedError:
        raise
    except (ValueError, EOFError) as error:
        raise DamagedError(f"{path} is no .npy file of numbers or words ({error}): fetch it again") from error
    if array.nbytes > LARGEST:
        raise DamagedError(
            f"{path} has {array.nbytes:,} bytes, more than any array of the release: fetch it again"
        )
    return array


def read_dictionary(path: Path) -> dict[str, np.ndarray]:
    """{name: array of floats} of a .npy file to which a dictionary was saved.

    Raises:
        DamagedError: the file is anything else.
    """
    file = BytesIO(read_bytes(path, LARGEST_PICKLE, follow=False))
    try:
        version = np.lib.format.read_magic(file)
        read_header = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read_header(file)
        if shape != () or not dtype.hasobject:
            raise ValueError("no dictionary was saved to it")
        saved = _follow(file.read())
        (content,) = saved.state[-1]  # an array of objects, of one object
        return {str(name): _array(value) for name, value in content.items()}
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise DamagedError(
            f"{path} ends too early or holds no dictionary of arrays ({error}): fetch it again"
        ) from error


@dataclass
class _Built:
    """What the pickle would have a function make: the function's name, its arguments, and the state that is
    put into the result.
    """

    function: str
    arguments: tuple[Any, ...]
    state: Any = None


def _follow(pickled: bytes) -> Any:
    """What the instructions build, with functions and classes by name only.

    Raises:
        ValueError: an instruction is not known.
    """
    stack: list[Any] = []
    memory: dict[Any, Any] = {}
    encoded = 0

    def marked() -> list[Any]:
        start = max(i for i, value in enumerate(stack) if value is _MARK)
        values = stack[start + 1 :]
        del stack[start:]
        return values

    for instruction, argument, _ in pickletools.genops(pickled):
        name: str = instruction.name
        if name in _PUSHES:
            stack.append(argument)
        elif name in _VALUES:
            stack.append(_VALUES[name])
        elif name in _TUPLES:
            stack[-_TUPLES[name] :] = [tuple(stack[-_TUPLES[name] :])]
        elif name == "GLOBAL":
            stack.append(str(argument).rpartition(" ")[2])
        elif name == "MARK":
            stack.append(_MARK)
        elif name == "TUPLE":
            stack.append(tuple(marked()))
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "EMPTY_DICT":
            stack.append({})
        elif name == "APPEND":
            value = stack.pop()
            stack[-1].append(value)
        elif name == "SETITEMS":
            values = marked()
            stack[-1].update(zip(values[::2], values[1::2], strict=True))
        elif name in ("BINPUT", "LONG_BINPUT"):
            memory[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memory[argument])
        elif name == "REDUCE":
            arguments = stack.pop()
            if stack[-1] != "encode":
                stack[-1] = _Built(stack[-1], arguments)
                continue
            text, encoding = arguments  # the bytes of an array, written as a text
            encoded += len(text)
            if encoding != "latin1" or encoded > len(pickled):
                raise ValueError("its bytes are written in another way than NumPy's")
            stack[-1] = text.encode("latin1")
        elif name == "BUILD":
            state = stack.pop()
            stack[-1].state = state
        elif name not in ("PROTO", "STOP"):
            raise ValueError(f"its pickle has the instruction {name}")
    return stack.pop()


def _array(built: _Built) -> np.ndarray:
    """The float64 array that was pickled. Its state is (version, shape, type of an item, stored by columns,
    bytes); the type's (version, byte order, ...)."""
    _, shape, item, by_columns, content = built.state
    sound = built.function == "_reconstruct" and item.function == "dtype" and item.state[1] in _BYTE_ORDERS
    if not sound or item.arguments[0] not in _ITEM_TYPES:
        raise ValueError("a value is no array of floats")
    flat = np.frombuffer(content, dtype=item.state[1] + item.arguments[0])
    return flat.reshape(shape, order="F" if by_columns else "C").astype(np.float64)
