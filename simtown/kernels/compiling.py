"""Compiling the kernels: when simtown is installed, and by tests with other flags.

The compiler is ziglang's clang, or `CXX` where that is set. The build hook runs this file alone, so it
imports the standard library only.
"""

from __future__ import annotations

import hashlib
import os
import platform
import runpy
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
LIBRARIES = HERE / "lib"
#: Every operation rounds by itself, in the order that is written: the same bytes from every compiler.
FLAGS = (
    *("-std=c++17", "-O3", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fwrapv"),
    *("-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-w"),
)
#: Processors, the best first: what they must have, and their names for ziglang and for other compilers.
LEVELS = {
    "x86-64-v4": ("avx512f avx512bw avx512cd avx512dq avx512vl", "x86_64_v4", "x86-64-v4"),
    "x86-64-v3": ("avx2 bmi2 fma f16c", "x86_64_v3", "x86-64-v3"),
    "x86-64-v2": ("", "x86_64_v2", "x86-64-v2"),
    "arm64": ("", "generic", "armv8-a"),
}


def machine() -> str:
    """This machine's architecture: x86-64 or arm64."""
    name = platform.machine().lower()
    return {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "arm64"}.get(name, name)


def features_here() -> set[str]:
    """Features of this processor as Linux names them, and its vendor; empty where they are unknown."""
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").lower().splitlines()
        told = [line for line in lines if line.startswith(("flags", "vendor_id"))]
        return {word for line in told[:2] for word in line.split(":", 1)[1].split()}
    if sys.platform == "darwin" and machine() == "x86-64":
        command = ["sysctl", "-n", "machdep.cpu.features", "machdep.cpu.leaf7_features"]
        return set(subprocess.run(command, capture_output=True, text=True).stdout.lower().split())
    return set()


def levels_here() -> list[str]:
    """The levels that this processor runs, the best first."""
    features = features_here()
    fits = {name: features.issuperset(needs.split()) for name, (needs, *_) in LEVELS.items()}
    return [name for name, fit in fits.items() if fit and name.startswith(machine())]


def name_of(level: str) -> str:
    """The library's file for a level: another one whenever a source, an entry point or an option changes."""
    sources = [HERE / "entries.py", HERE / "compiling.py", *sorted(HERE.glob("[cp]*/*.[ch]pp"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    return f"{level}-{digest}.so"


def compile_kernels(
    target: Path,
    level: str,
    flags: Sequence[str] = (),
    zig_target: str | None = None,
    sources: Sequence[Path] = (),
    header: str | None = None,
) -> None:
    """Write a shared library for a level of processors.

    Args:
        target: the file.
        level: one of LEVELS.
        flags: more of them, such as a sanitizer's.
        zig_target: of another system, such as "aarch64-macos"; by default this one.
        sources: other files than the kernels'; they may include the kernels' headers.
        header: the text of entries.hpp for them.

    Raises:
        RuntimeError: the compiler is missing, or it refuses the source.
    """
    chosen = os.environ.get("CXX")
    _, zig_name, march = LEVELS[level]
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        text = header or runpy.run_path(str(HERE / "entries.py"))["header"]()
        Path(folder, "entries.hpp").write_text(text, encoding="utf-8")
        command = [*(shlex.split(chosen) if chosen else (sys.executable, "-m", "ziglang", "c++"))]
        if chosen:
            command += [f"-march={march}"]
        else:
            command += [f"-mcpu={zig_name}", "-nostdlib++", "-nostdinc++"]
        command += ["-target", zig_target] if zig_target else []
        command += [*FLAGS, *flags, f"-I{folder}", *(f"-I{HERE / part}" for part in ("common", "processor"))]
        command += [*map(str, sources or sorted((HERE / "processor").glob("*.cpp"))), "-o"]
        made = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            done = subprocess.run([*command, str(made), "-lm"], capture_output=True, text=True)
        except OSError as error:
            raise RuntimeError(f"the compiler {command[0]} cannot be run: {error}") from error
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed:\n{done.stderr[-4000:]}")
        os.replace(made, target)


if __name__ == "__main__":
    best = levels_here()[0]
    compile_kernels(LIBRARIES / name_of(best), best)
