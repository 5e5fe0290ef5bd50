"""What a kernel takes of a card: registers, stack, spills, shared memory and SASS instructions, by NVRTC,
ptxas and nvdisasm.

They come from PyPI (nvidia-cuda-nvrtc, nvidia-cuda-nvcc and nvidia-cuda-nvdisasm) and need no card.
"""

import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.cuda.compiler import compile_cubin

_PACKAGES = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}


@dataclass(frozen=True)
class Resources:
    """Of one kernel; of each thread: registers and bytes, of each block: shared memory."""

    registers: int
    stack: int  #: bytes of local memory, spills among them
    spill_stores: int  #: bytes
    spill_loads: int  #: bytes
    shared: int  #: bytes of static shared memory
    sass: int  #: instructions, with the routines that it calls
    body: int  #: instructions without them


@cache
def measure(text: str, entry: str | None = None, arch: str = "sm_90") -> Resources:
    """Assemble a module in PTX with ptxas, and measure one kernel of it: `entry`, or the only one.

    Raises:
        FileNotFoundError: ptxas or nvdisasm is missing; the message names the package.
        RuntimeError: ptxas refuses the module.
    """
    log, code = _assemble(text, arch)
    return _read(log, _disassemble(code), entry)


@cache
def measure_source(source: str, entry: str | None = None, arch: str = "sm_90") -> Resources:
    """Measure one kernel in CUDA C++ as NVRTC makes it, which a card runs. Its assembler may be of another
    version than ptxas.

    Raises:
        FileNotFoundError: nvdisasm is missing.
        RuntimeError: the source has an error.
    """
    code, log = compile_cubin(source, arch)
    return _read(log, _disassemble(code), entry)


def _read(log: str, sections: dict[str, str], entry: str | None) -> Resources:
    """From what the assembler reports, and the disassembled code of every kernel."""
    if entry is None:
        (entry,) = re.findall(r"Compiling entry function '([\w$]+)'", log)
    mine = log[log.index(f"Function properties for {entry}") :]
    used = re.search(r"Used \d+ registers.*", mine)[0]
    # divisions and roots, called, stand behind it
    body = re.split(r"^\$__internal", sections[entry], maxsplit=1, flags=re.M)[0]
    return Resources(
        registers=_number(r"Used (\d+) registers", used),
        stack=_number(r"(\d+) bytes stack frame", mine),
        spill_stores=_number(r"(\d+) bytes spill stores", mine),
        spill_loads=_number(r"(\d+) bytes spill loads", mine),
        shared=_number(r"(\d+) bytes smem", used),
        sass=_instructions(sections[entry]),
        body=_instructions(body),
    )


@cache
def _assemble(text: str, arch: str) -> tuple[str, bytes]:
    """What ptxas reports, and the machine code."""
    with tempfile.TemporaryDirectory() as scratch:
        ptx, cubin = Path(scratch) / "module.ptx", Path(scratch) / "module.cubin"
        ptx.write_text(text)
        done = subprocess.run(
            [_tool("ptxas"), "-v", f"-arch={arch}", str(ptx), "-o", str(cubin)],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"ptxas: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout + done.stderr, cubin.read_bytes()


@cache
def _disassemble(code: bytes) -> dict[str, str]:
    """The SASS of every kernel."""
    with tempfile.TemporaryDirectory() as scratch:
        cubin = Path(scratch) / "module.cubin"
        cubin.write_bytes(code)
        listing = subprocess.run(
            [_tool("nvdisasm"), "-c", str(cubin)], check=True, capture_output=True, text=True
        ).stdout
    return {
        match[1]: match[2]
        for match in re.finditer(r"^//-+ \.text\.([\w$]+)(.*?)(?=^//-|\Z)", listing, re.M | re.S)
    }


@cache
def _tool(name: str) -> str:
    """Where a program is: among this Python's packages, or on the path."""
    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    tool = next(map(str, sorted(packages.glob(f"**/bin/{name}"))), None) or shutil.which(name)
    if not tool:
        raise FileNotFoundError(f"{name} is missing: pip install {_PACKAGES[name]}")
    return tool


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def _instructions(code: str) -> int:
    return sum("NOP" not in line for line in re.findall(r"^\s*/\*[0-9a-f]{4,}\*/.*", code, re.M))
