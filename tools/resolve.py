"""Whether simtown with all extras resolves for each Python and platform that it supports; installs nothing.

    python tools/resolve.py            # resolve with and without constraints.txt; exit code 1 on failure
    python tools/resolve.py --write    # update constraints.txt, then write requirements/

The first uses PyPI's wheels. The second keeps pins that still fit, so delete those to renew; requirements/
holds the same versions with the hashes of their files.

uv resolves, since pip evaluates markers for the Python that runs it whatever --python-version says. Only
wheels count, so that nothing here needs a compiler; SOURCE_ONLY names the exceptions, which are pure Python.
uv sees PyPI alone: no configuration, no local wheels.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

from uv import find_uv_bin

UV = find_uv_bin()
ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
HASHED = ROOT / "requirements"
#: Debian 12's own Python is 3.11.2: some packages want 3.11.4.
PYTHONS = ("3.11.2", "3.12", "3.13", "3.14")
PLATFORMS = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux aarch64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
}
#: uv's options for one answer that fits all of these.
EVERYWHERE = ("--universal", "--fork-strategy", "fewest", "--python-version", PYTHONS[0])
#: Pure Python without a wheel: pip builds them without a compiler.
SOURCE_ONLY = ("pyopengl", "jsonpath-rw")
HEAD = """\
# Exact versions that work together: CPython 3.11 (3.11.2 and newer) to 3.14; Linux, macOS and Windows. Every install uses this file:
#   pip install -c constraints.txt -e '.[dev]'
# It installs nothing by itself; it says which version, where something is wanted. `make constraints` brings it up to date in one go,
# `make resolve` shows that every extra resolves with it.
# PyPI's torch for Linux has CUDA, and decides the versions of the CUDA packages. Its builds for processors alone have the same number.
# requirements/ has the versions that make and CI install once more, with the hashes of their files.
"""  # noqa: E501
HASHED_HEAD = """\
# {about}
# Made by `make constraints` from constraints.txt: pip refuses a file with another hash.
#   pip install --require-hashes --no-deps -r requirements/{name}.txt
"""


class Hashed(NamedTuple):
    """A file of requirements/: its first line, packages, and extras of simtown (None: not even its core)."""

    about: str
    packages: tuple[str, ...]
    extras: tuple[str, ...] | None = None


#: pip compares the hashes of everything that a command installs or of nothing, and a folder with sources has
#: no hash: so these files are installed first, and simtown alone after them, with the packages that build it
#: (hatchling and ziglang; editables for `pip install -e`).
FILES = {
    "demo": Hashed("What make demo installs before simtown itself.", ("hatchling", "ziglang"), ()),
    "build": Hashed(
        "What make test installs first: pip, and what builds the packages without a wheel.",
        ("pip", "setuptools"),
    ),
    "test": Hashed(
        "What make test installs before simtown itself: all but PyTorch.",
        ("hatchling", "ziglang", "editables", "sympy"),
        ("dev",),
    ),
    "audit": Hashed("What CI looks for known vulnerabilities with.", ("pip-audit",)),
}
#: Not in requirements/, nor are the CUDA packages that only it needs: a machine gets the build with CUDA, or
#: one from another index. What every build needs is in requirements/test.txt; sympy is there for nothing
#: else.
WITHOUT_HASH = "torch"


class UnresolvableError(Exception):
    """uv's reason, in its own words."""


def compile_requirements(*options: str, extras: Sequence[str] | None, packages: Sequence[str] = ()) -> str:
    """Versions of the core with these extras (None: nothing of simtown) and of these packages.

    Returns:
        Lines of a requirements file.

    Raises:
        UnresolvableError: there is no solution.
    """
    sources = [] if extras is None else [str(ROOT / "pyproject.toml")]
    words = [UV, "pip", "compile", *sources, "-", "--no-config", "--quiet", "--no-annotate", "--no-header"]
    words += ["--index-url", "https://pypi.org/simple", "--only-binary", ":all:", *options]
    words += [word for name in SOURCE_ONLY for word in ("--no-binary", name)]
    words += [word for name in extras or () for word in ("--extra", name)]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name == "UV_CACHE_DIR" or not name.startswith(("UV_", "PIP_"))
    }
    environment["MACOSX_DEPLOYMENT_TARGET"] = "14.0"
    done = subprocess.run(words, input="\n".join(packages), capture_output=True, text=True, env=environment)
    if done.returncode:
        raise UnresolvableError(" ".join(done.stderr.split()))
    return done.stdout


def resolve(extras: Sequence[str], python: str, platform: str, constrained: bool) -> str:
    """The reason why these extras do not resolve together there, or "" if they do."""
    target = ("--python-version", python, "--python-platform", PLATFORMS[platform])
    constraints = ("--constraints", str(CONSTRAINTS)) if constrained else ()
    try:
        compile_requirements(*target, *constraints, extras=extras)
    except UnresolvableError as error:
        return str(error)
    return ""


def check(extras: Sequence[str]) -> int:
    """Resolve everything everywhere, print a line for each case, and return how many do not resolve."""
    cases = list(product(PYTHONS, PLATFORMS, (True, False)))
    print(f"Resolving {len(extras)} extras {len(cases)} times over; minutes at first.", flush=True)
    with ThreadPoolExecutor(4) as pool:
        reasons = list(pool.map(lambda case: resolve(extras, *case), cases))
    for (python, platform, constrained), reason in zip(cases, reasons, strict=True):
        which = f"Python {python}, {platform}, {'with' if constrained else 'without'} constraints.txt"
        print(f"{which}: {reason[:1000] or 'all extras resolve'}")
    return sum(map(bool, reasons))


def write_constraints(extras: Sequence[str]) -> None:
    """Write constraints.txt: one version of each package, which fits every Python and platform; torch stays
    at its pin.
    """
    pins = CONSTRAINTS.read_text(encoding="utf-8")
    packages = sorted({name for file in FILES.values() for name in file.packages})
    with tempfile.TemporaryDirectory() as folder:
        draft, kept = Path(folder, "draft.txt"), Path(folder, "torch.txt")
        draft.write_text(pins, encoding="utf-8")  # uv keeps the pins of the output file
        kept.write_text(next(line + "\n" for line in pins.splitlines() if line.startswith("torch==")))
        files = ("--constraints", str(kept), "--output-file", str(draft))
        compile_requirements(*EVERYWHERE, *files, extras=extras, packages=packages)
        lines = [line.split(" ;")[0].strip() for line in draft.read_text(encoding="utf-8").splitlines()]
    lines = sorted({line for line in lines if "==" in line}, key=str.lower)
    versions = Counter(line.split("==")[0] for line in lines)
    if twice := sorted(name for name, count in versions.items() if count > 1):
        cure = "delete these lines of constraints.txt and try again"
        raise UnresolvableError(f"no one version of {', '.join(twice)} fits everywhere: {cure}")
    CONSTRAINTS.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def write_hashed(name: str) -> None:
    """Write requirements/NAME.txt: the versions of constraints.txt, each with the hashes of all its files on
    PyPI.
    """
    file = FILES[name]
    with tempfile.TemporaryDirectory() as folder:
        excluded = Path(folder, "excluded.txt")
        excluded.write_text(WITHOUT_HASH + "\n", encoding="utf-8")
        options = ("--generate-hashes", "--constraints", str(CONSTRAINTS), "--excludes", str(excluded))
        text = compile_requirements(*EVERYWHERE, *options, extras=file.extras, packages=file.packages)
    HASHED.mkdir(exist_ok=True)
    head = HASHED_HEAD.format(about=file.about, name=name)
    (HASHED / f"{name}.txt").write_text(head + text, encoding="utf-8")


def main() -> int:
    """Resolve or write; returns the exit code."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    about = "bring constraints.txt and requirements/ up to date instead"
    parser.add_argument("--write", action="store_true", help=about)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = list(project["optional-dependencies"])
    if not parser.parse_args().write:
        return min(check(extras), 1)
    try:
        write_constraints(extras)
        for name in FILES:
            write_hashed(name)
    except UnresolvableError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
