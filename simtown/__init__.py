"""simtown: a cartoon street that asks how visual question answering scales with the world.

The verbs: :func:`generate` makes a data set, :func:`open_dataset` reads one, :func:`fit` trains a model on it
(extra "train"); :class:`Town` is one street to play with; :mod:`needs <simtown.complexity.needs>` says how
many examples any learner needs. Nothing heavy is imported until one is used.
"""

from importlib import import_module

from simtown.core.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from simtown.assets.own import use_kinds
    from simtown.complexity import needs
    from simtown.datasets.making.generate import generate
    from simtown.datasets.making.hand_made import write_dataset
    from simtown.datasets.question_files import read_question_files
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.settings import Settings
    from simtown.page.server import play
    from simtown.scenes.camera import Camera
    from simtown.scenes.scene import Scene, SceneBatch, Weather
    from simtown.town.town import Town
    from simtown.training.fit import fit
    from simtown.training.fit_settings import FitSettings

__all__ = [
    "Camera",
    "FitSettings",
    "Scene",
    "SceneBatch",
    "Settings",
    "Town",
    "Weather",
    "fit",
    "generate",
    "needs",
    "open_dataset",
    "play",
    "read_question_files",
    "use_kinds",
    "write_dataset",
]

_HOMES = {
    "generate": "simtown.datasets.making.generate",
    "write_dataset": "simtown.datasets.making.hand_made",
    "open_dataset": "simtown.datasets.reading.reader",
    "Settings": "simtown.datasets.settings",
    "read_question_files": "simtown.datasets.question_files",
    "Camera": "simtown.scenes.camera",
    "Scene": "simtown.scenes.scene",
    "SceneBatch": "simtown.scenes.scene",
    "Weather": "simtown.scenes.scene",
    "Town": "simtown.town.town",
    "fit": "simtown.training.fit",
    "FitSettings": "simtown.training.fit_settings",
    "play": "simtown.page.server",
    "use_kinds": "simtown.assets.own",
    "needs": "simtown.complexity.needs",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'simtown' has no attribute '{name}'")
    home = import_module(_HOMES[name])
    return getattr(home, name, home)  # or the module itself


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
