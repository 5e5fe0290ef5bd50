"""Builds what PyPI would get, checks it, and runs it in a fresh environment: python -m tools.package.

In out/package: the source archive, and the wheel that is built from it. Both must hold every file of the
package, and the links of the description lead somewhere from PyPI. Then `uv tool run` (uvx) installs the
wheel with the versions of constraints.txt in an environment of its own: it makes a data set and verifies it.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

from simtown import __version__

ROOT = Path(__file__).parents[1]
#: What a link or a picture of a description may begin with.
ABSOLUTE = ("https://", "#")


def uv(*words: str | Path, cwd: Path = ROOT) -> str:
    """What uv prints on stdout. Its caches are the user's."""
    command = [sys.executable, "-m", "uv", *map(str, words)]
    fresh = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=cwd, env=fresh, check=True, stdout=subprocess.PIPE, text=True).stdout


def problems(wheel: Path, source: Path) -> list[str]:
    """What is wrong with the two archives."""
    files = set(subprocess.check_output(["git", "ls-files", "simtown"], cwd=ROOT, text=True).split())
    with zipfile.ZipFile(wheel) as archive, tarfile.open(source) as sources:
        packed = set(archive.namelist())
        moved = {f"simtown/gym/adapters/{name}" for name in packed}  # one is: pyproject.toml says why
        unpacked = {name.partition("/")[2] for name in sources.getnames()}
        text = archive.read(f"simtown-{__version__}.dist-info/METADATA")
    found = [f"{wheel.name} lacks {name}" for name in sorted(files - packed - moved)]
    found += [f"{source.name} lacks {name}" for name in sorted(files - unpacked)]
    strange = re.compile(r"simtown/|simtown_street\.py|simtown-[^/]+\.dist-info/")
    found += [f"{wheel.name} holds {name}" for name in sorted(packed) if not strange.match(name)]
    if not any("kernels/lib/" in name for name in packed):
        found.append(f"{wheel.name} holds no kernels")
    description = Metadata.from_email(text, validate=True).description or ""
    links = re.findall(r"\]\(([^)\s]+)|src=\"([^\"]+)", re.sub(r"(?s)```.*?```", "", description))
    found += [f"the description links to {a or b}" for a, b in links if not (a or b).startswith(ABSOLUTE)]
    return found


def main() -> int:
    """Build, check and run; returns the exit code."""
    out = ROOT / "out" / "package"
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        uv("build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", out)
        (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
        print(f"{wheel.name} {wheel.stat().st_size:,} bytes, {source.name} {source.stat().st_size:,} bytes")
        if found := problems(wheel, source):
            print("\n".join(found))
            return 1
        pins = ("--constraints", ROOT / "constraints.txt")
        run = ("tool", "run", "--isolated", *pins, "--from", wheel, "simtown")
        for words in ("--version", "generate --entities 5 --n 40 --size 64 --out town", "verify town"):
            print(f"simtown {words}: {uv(*run, *words.split(), cwd=Path(folder)).strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
