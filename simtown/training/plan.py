"""Which runs a sweep is made of: presets, read from TOML, and the cells of their grids."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from simtown.datasets.settings import Settings, SettingsError
from simtown.training.models import options
from simtown.training.run import FitSettings

PRESETS = ("paper", "small", "tiny")
VERSION = 1
#: Choices of a data set that a preset's [data] may make; the others are the grid's.
_DATA = {"seed", "frequencies", "relations", "phrasing", "weathers", "jitter", "val", "test"}
#: Choices of a run that a preset's [fit] may make.
_FIT = {f.name for f in fields(FitSettings)} - {"model", "train_size", "seed", "options", "device", "stream"}
_AXES = ("entities", "distractor", "models", "train_sizes", "seeds")


@dataclass(frozen=True)
class Cell:
    """One run of a sweep: its data set and its settings."""

    data: Settings
    fit: FitSettings

    @property
    def name(self) -> str:
        """Directory of the run, such as "pbn-15-distractor-2000-seed0"."""
        third = "-distractor" if self.data.distractor else ""
        model = self.fit.model.replace(":", ".").replace("/", ".")
        return f"{model}-{self.data.entities}{third}-{self.fit.train_size}-seed{self.fit.seed}"


@dataclass(frozen=True)
class Plan:
    """Cells in the order in which they are run.

    Attributes:
        preset: name of the preset, or its file's.
        cells: all different.
    """

    preset: str
    cells: list[Cell] = field(default_factory=list)

    def data(self) -> list[Settings]:
        """The data sets needed, each once."""
        return list(dict.fromkeys(cell.data for cell in self.cells))


def read(preset: str, device: str) -> Plan:
    """The plan of a preset by its name, or of a TOML file. Raises SettingsError for one that cannot be read, naming the line or key."""
    try:
        if preset in PRESETS:
            text = (files("simtown.training") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
        else:
            text = Path(preset).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingsError(f"there is no preset or file '{preset}': choose among {', '.join(PRESETS)}, or give a TOML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {preset}: {error}") from error
    try:
        return _plan(preset, tomllib.loads(text), device)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{preset} cannot be read as TOML: {error}") from error
    except KeyError as error:
        raise SettingsError(f"{preset}: a [[grid]] lacks the key {error}; it needs {', '.join(_AXES)}") from error
    except (TypeError, AttributeError) as error:
        raise SettingsError(f"{preset} cannot be read as a preset: a value has the wrong kind ({error}); see simtown sweep -h") from error


def _plan(preset: str, told: dict[str, Any], device: str) -> Plan:
    if told.pop("version", None) != VERSION:
        raise SettingsError(f"{preset} lacks the line version = {VERSION}, the form of presets that this simtown reads")
    width, height = _size(preset, told.pop("size", "128"))
    data, fit, grids = told.pop("data", {}), told.pop("fit", {}), told.pop("grid", [])
    unknown = [*told, *(f"data.{k}" for k in set(data) - _DATA), *(f"fit.{k}" for k in set(fit) - _FIT)]
    unknown += [f"grid.{k}" for grid in grids for k in set(grid) - set(_AXES)]
    if unknown or not grids:
        raise SettingsError(f"{preset} has {'no [[grid]]' if not unknown else 'unknown keys: ' + ', '.join(sorted(unknown))}")
    for key, value in fit.items():
        usual = getattr(FitSettings("", 2), key)
        if type(value) is not type(usual) and not (isinstance(usual, float) and type(value) is int):
            raise SettingsError(f"{preset}: fit.{key} must be a value like {usual!r}, not {value!r}")
    chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    base = Settings(width=width, height=height, **chosen)
    asked = [cell for grid in grids for cell in _cells(base, FitSettings("", 2, device=device, **fit), grid)]
    needed: dict[tuple[int, bool], int] = {}  # one data set a world serves all sizes: its first n examples are the smaller set
    for cell in asked:
        world = (cell.data.entities, cell.data.distractor)
        needed[world] = max(needed.get(world, 0), cell.fit.train_size)
    whole = [replace(c, data=replace(c.data, n=needed[c.data.entities, c.data.distractor])) for c in asked]
    return Plan(preset, list({cell.name: cell for cell in whole}.values()))


def _size(preset: str, text: str) -> tuple[int, int]:
    parts = str(text).split("x")
    if len(parts) > 2 or not all(p.isdigit() for p in parts):
        raise SettingsError(f'{preset}: size = "{text}" is not a size of pictures: write "128" or, as width and height, "64x32"')
    return int(parts[0]), int(parts[-1])


def _cells(base: Settings, fit: FitSettings, grid: dict[str, Any]) -> list[Cell]:
    """A grid's product: seeds outermost, then worlds, then the largest sets first, so that the last to run are short."""
    cells = []
    for seed, entities, distractor, n, model in product(
        *(grid[axis] for axis in ("seeds", "entities", "distractor")), sorted(grid["train_sizes"], reverse=True), grid["models"]
    ):
        data = replace(base, entities=entities, distractor=distractor)
        data.check()
        cells.append(Cell(data, replace(fit, model=model, options=options(model, {}), train_size=n, seed=seed)))
    return cells
