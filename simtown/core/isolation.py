"""Nothing of the working directory is imported, read as settings or linked: it may be a stranger's.

numba and matplotlib read a file of settings from the working directory when they are imported, and numba
again whenever it compiles. Such a file names folders of compiled code to run, and libraries to load. So these
modules get an `os.path.exists` that does not find it. OpenCV leaves an `LD_LIBRARY_PATH` behind that ends
with a colon: then the system looks for the libraries of every child process in the working directory. So it
is put back. Nothing else changes: variables of the environment and files in the home directory are the user's
own.

The package imports this module first of all, so that the guard stands before anything imports one of these
libraries. What both modules import Python has loaded by then, whatever lies in the working directory.
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
_SETTINGS = {
    "matplotlib": "matplotlibrc",
    "numba.core.config": ".numba_config.yaml",
    "numba.cuda.core.config": ".numba_config.yaml",
    "numba_cuda.numba.cuda.core.config": ".numba_config.yaml",
}
#: The variable that OpenCV changes. For this process it has no effect; for its children it does.
_LIBRARIES = "LD_LIBRARY_PATH"
#: The folder that holds this package.
HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def guard() -> None:
    """Keep these libraries from looking for settings or libraries in the working directory."""
    sys.meta_path.insert(0, _Finder)
    # What they did when they were imported before simtown cannot be undone, but what they would still do can.
    for name, file in _SETTINGS.items():
        if sys.modules.get(name):
            sys.modules[name].__dict__["os"] = _os_without(file)
    if sys.modules.get("cv2") and _LIBRARIES in os.environ:
        os.environ[_LIBRARIES] = ":".join(filter(None, os.environ[_LIBRARIES].split(":")))


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


class _Blindly(SourceFileLoader):
    """Loads a module in which `import os` means a copy that does not find its settings."""

    def exec_module(self, module: ModuleType) -> None:
        blind = _os_without(_SETTINGS[module.__name__])

        def load(name: str, *scope: "Any", **more: "Any") -> "Any":
            return blind if name == "os" else builtins.__import__(name, *scope, **more)

        module.__dict__["__builtins__"] = {**builtins.__dict__, "__import__": load}
        super().exec_module(module)


class _Cleanly(SourceFileLoader):
    """Loads a module and puts back what it did to the search for libraries."""

    def exec_module(self, module: ModuleType) -> None:
        before = os.environ.get(_LIBRARIES)
        try:
            super().exec_module(module)
        finally:
            if before is not None:
                os.environ[_LIBRARIES] = before
            else:
                os.environ.pop(_LIBRARIES, None)


#: The loaders of modules by name.
_LOADERS: "dict[str, type[SourceFileLoader]]" = {**dict.fromkeys(_SETTINGS, _Blindly), "cv2": _Cleanly}


class _Finder:
    """Finds these modules where the other finders do, and names the loader for them."""

    @staticmethod
    def find_spec(
        name: str, path: "Sequence[str] | None", target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if name not in _LOADERS:
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Finder else finder.find_spec(name, path, target)
            if spec is not None:
                if isinstance(spec.loader, SourceFileLoader):
                    spec.loader = _LOADERS[name](spec.loader.name, spec.loader.path)
                return spec
        return None
