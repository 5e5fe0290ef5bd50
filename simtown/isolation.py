"""Nothing is imported, and no settings are read, from the working directory: it may be a folder from a stranger.

numba and matplotlib read a file of settings from the working directory when they are imported, and numba again whenever it compiles. Such a
file names folders of compiled code to run, and libraries to load. So these modules get an `os.path.exists` that does not find it. Nothing
else changes for them: variables of the environment and files in the home directory are the user's own.

The package imports this module first of all, so that the guard stands before anything imports either library. What both modules import
Python has loaded by then, whatever lies in the working directory.
"""

import builtins
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Modules that read settings from the working directory, and the names of these files.
SETTINGS = {
    "matplotlib": "matplotlibrc",
    "numba.core.config": ".numba_config.yaml",
    "numba.cuda.core.config": ".numba_config.yaml",
    "numba_cuda.numba.cuda.core.config": ".numba_config.yaml",
}
#: The folder that holds this package.
HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def guard() -> None:
    """From now on neither library finds settings in the working directory."""
    sys.meta_path.insert(0, _Finder)
    for name, file in SETTINGS.items():
        if name in sys.modules:  # what it read while it was imported cannot be undone: that was before simtown was
            sys.modules[name].__dict__["os"] = _os_without(file)


def leave_working_directory(path: "list[str]") -> None:
    """Take from the path of modules what `python -m` put first on it, unless simtown itself lies there."""
    if path and not sys.flags.safe_path and path[0] == os.getcwd() and not _is_home(path[0]):
        del path[0]


def homes(paths: "Sequence[str]") -> "list[str]":
    """Those of some folders from which simtown itself was imported."""
    return [path for path in paths if _is_home(path)]


def _is_home(folder: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(HOME)


def _os_without(name: str) -> ModuleType:
    """A copy of the module `os`, to which no file `name` exists in the working directory."""
    copy, path = ModuleType("os"), ModuleType("os.path")
    copy.__dict__.update(os.__dict__)
    path.__dict__.update(os.path.__dict__)

    def exists(file: "Any") -> bool:
        return file != name and os.path.exists(file)

    path.__dict__["exists"] = exists
    copy.__dict__["path"] = path
    return copy


class _Loader(SourceFileLoader):
    """Loads a module in which `import os` means a copy that does not find its settings."""

    def exec_module(self, module: ModuleType) -> None:
        blind = _os_without(SETTINGS[module.__name__])

        def load(name: str, *scope: "Any", **more: "Any") -> "Any":
            return blind if name == "os" else builtins.__import__(name, *scope, **more)

        module.__dict__["__builtins__"] = {**builtins.__dict__, "__import__": load}
        super().exec_module(module)


class _Finder:
    """Finds these modules where the other finders do, and has them loaded by :class:`_Loader`."""

    @staticmethod
    def find_spec(name: str, path: "Sequence[str] | None", target: "ModuleType | None" = None) -> "ModuleSpec | None":
        if name not in SETTINGS:
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Finder else finder.find_spec(name, path, target)
            if spec is not None:
                if isinstance(spec.loader, SourceFileLoader):
                    spec.loader = _Loader(spec.loader.name, spec.loader.path)
                return spec
        return None
