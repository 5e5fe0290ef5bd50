"""The build hooks: kernels for this machine, into a wheel or beside the sources; a README for PyPI.

A wheel knows no Python ABI: one serves every Python on a platform. SIMTOWN_LEVELS=all compiles for each level
of this machine's architecture, and SIMTOWN_TARGET, such as aarch64-macos, for another system.
"""

import os
import re
import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

#: Targets of ziglang with the architecture of their levels and the platform of their wheels.
TARGETS = {
    "x86_64-linux-gnu.2.28": ("x86-64", "manylinux_2_28_x86_64"),
    "aarch64-linux-gnu.2.28": ("arm64", "manylinux_2_28_aarch64"),
    "x86_64-macos": ("x86-64", "macosx_11_0_x86_64"),
    "aarch64-macos": ("arm64", "macosx_11_0_arm64"),
}


class Kernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles before a wheel is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell hatchling what to pack and how the wheel is called."""
        if self.target_name != "wheel":
            return
        package = Path(self.root, "simtown", "kernels")
        compiling = runpy.run_path(str(package / "compiling.py"))
        target = os.environ.get("SIMTOWN_TARGET")
        architecture, platform = TARGETS[target] if target else (compiling["machine"](), "")
        levels = [name for name in compiling["LEVELS"] if name.startswith(architecture)]
        if not target and os.environ.get("SIMTOWN_LEVELS") != "all":
            levels = compiling["levels_here"]()[:1]
        if not levels:
            raise RuntimeError(f"simtown has no kernels for {architecture}: x86-64 and arm64 are there")
        folder = package / "lib"
        if version != "editable":
            self._made = TemporaryDirectory()
            folder = Path(self._made.name)
        for level in levels:
            library = folder / compiling["name_of"](level)
            compiling["compile_kernels"](library, level, zig_target=target)
            if version != "editable":
                build_data["force_include"][str(library)] = f"simtown/kernels/lib/{library.name}"
        build_data["pure_python"] = False
        if platform:
            build_data["tag"] = f"py3-none-{platform}"
        else:
            import sysconfig

            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


class Readme(MetadataHookInterface):
    """The description of a package: README.md, whose links lead into the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme. A picture is the file itself, not GitHub's page about it."""
        repository = metadata["urls"]["Repository"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = re.sub(r'(!\[[^\]]*\]\(|src=")(?!https?:)', rf"\g<1>{repository}/raw/main/", text)
        text = re.sub(r"(?<=\]\()(?!https?:|#)", f"{repository}/blob/main/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
