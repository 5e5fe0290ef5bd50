"""Which runs a sweep is made of: presets, read from TOML, and the cells of their grids.

Every run of seed s has its own weights, its own examples and its own world: its data set has the seed s and
the world seed s. All models of a seed see the same data. A preset may keep the world (`same_world`) or all
data (`same_data`) the same for all seeds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from simtown.complexity.size_search import ladder
from simtown.core.options import SettingsError
from simtown.core.untrusted import check_name, inside, read_toml
from simtown.datasets.settings import Settings
from simtown.training.fit_settings import FitSettings, precision_of
from simtown.training.models import options, require_allowed

PRESETS = ("grid", "paper", "paper-rule", "small", "tiny")
#: Settings of a data set that a preset's [data] may choose.
_DATA = {"seed", "frequencies", "relations", "phrasing", "weathers", "jitter", "val", "test"}
#: Settings of a run that a preset's [fit] may choose.
_FIT = {f.name for f in fields(FitSettings)} - {"model", "train_size", "seed", "options", "device", "stream"}
#: Training examples of the data sets that an adaptive sweep makes: a run reads the smallest set that
#: suffices.
_DATA_SIZES = (200, 2_000, 7_000, 20_000, 60_000)
Entry = TypeVar("Entry")
Entries = Annotated[list[Entry], msgspec.Meta(min_length=1)]


class _Grid(msgspec.Struct, forbid_unknown_fields=True):
    """A [[grid]] of a preset."""

    entities: Entries[int]
    distractor: Entries[bool]
    models: Entries[str]
    train_sizes: Entries[int]
    seeds: Entries[int]


class _Preset(msgspec.Struct, forbid_unknown_fields=True):
    """A preset's TOML file."""

    version: Literal[1]
    grid: Entries[_Grid]
    size: str | int = "128"
    same_data: bool = False
    same_world: bool = False
    adaptive: list[float] = []
    data: dict[str, Any] = {}
    fit: dict[str, Any] = {}


@dataclass(frozen=True)
class SweepCell:
    """One run of a sweep: the settings of its data set and of its training."""

    data: Settings
    fit: FitSettings

    @property
    def name(self) -> str:
        """Directory of the run, such as "pbn-15-distractor-2000-seed0"."""
        third = "-distractor" if self.data.distractor else ""
        model = self.fit.model.replace(":", ".").replace("/", ".")
        return f"{model}-{self.data.entities}{third}-{self.fit.train_size}-seed{self.fit.seed}"


@dataclass(frozen=True)
class SizeCurve:
    """The runs of one model in one world: every size that a grid may visit, with every seed.

    Attributes:
        model: its name.
        entities: size of the world.
        distractor: whether its scenes have a third vehicle.
        sizes: by training examples, ascending, the cells of all seeds.
    """

    model: str
    entities: int
    distractor: bool
    sizes: dict[int, list[SweepCell]] = field(hash=False)

    @property
    def name(self) -> str:
        """Such as "pbn, 15 entities, distractor"."""
        return f"{self.model}, {self.entities} entities{', distractor' if self.distractor else ''}"


@dataclass(frozen=True)
class SweepPlan:
    """The runs of a sweep.

    Attributes:
        preset: name of the preset, or its file's.
        cells: all different, in the order in which they are run. Of an adaptive plan: every cell that may be
            run.
        targets: accuracies around which an adaptive sweep places its sizes; () for a sweep that runs every
            cell.
        curves: of an adaptive plan, in the order in which they are searched.
    """

    preset: str
    cells: list[SweepCell] = field(default_factory=list)
    targets: tuple[float, ...] = ()
    curves: list[SizeCurve] = field(default_factory=list)

    def data(self) -> list[Settings]:
        """The data sets of all cells, each once."""
        return datasets(self.cells)


def datasets(cells: Iterable[SweepCell]) -> list[Settings]:
    """The data sets that cells read, each once."""
    return list(dict.fromkeys(cell.data for cell in cells))


def read(
    preset: str,
    device: str,
    same_data: bool = False,
    targets: Sequence[float] | None = None,
    allowed: Collection[str] = (),
) -> SweepPlan:
    """The plan of a preset by its name, or of a TOML file.

    Args:
        preset: its name, or the path of a TOML file.
        device: "cpu" or "cuda".
        same_data: all seeds share data and world, whatever the preset says.
        targets: take the place of the preset's `adaptive`.
        allowed: models besides simtown's own that the preset may name, as package.module:Class. Their code is
            run.

    Raises:
        ModelError: the preset names another model.
        SettingsError: it cannot be read; the message names the line or key.
    """
    folder = files("simtown.training") / "presets"
    try:
        if preset in PRESETS:
            content = tomllib.loads((folder / f"{preset}.toml").read_text(encoding="utf-8"))
        else:
            content = read_toml(Path(preset))
        chosen = msgspec.convert(content, _Preset)
        for key, choices, known in (("data", chosen.data, _DATA), ("fit", chosen.fit, _FIT)):
            if unknown := sorted(set(choices) - known):
                raise ValueError(f"{key}.{unknown[0]} is unknown; {key} takes {', '.join(sorted(known))}")
        size = re.fullmatch(r"([0-9]{1,5})(?:x([0-9]{1,5}))?", str(chosen.size))
        if not size:
            raise ValueError(f'size = {chosen.size} is not a size of pictures: write "128" or "64x32"')
        width, height = int(size[1]), int(size[2] or size[1])
        shared = msgspec.convert({"width": width, "height": height, **chosen.data}, Settings)
        settings = msgspec.convert({"device": device, **chosen.fit}, FitSettings)
    except FileNotFoundError:
        raise SettingsError(
            f"there is no preset or file '{preset}': choose among {', '.join(PRESETS)}, or give a TOML file"
        ) from None
    except (OSError, ValueError) as error:
        raise SettingsError(f"{preset} cannot be read as a preset: {error}") from error
    for model in (model for grid in chosen.grid for model in grid.models):
        require_allowed(model, preset, allowed)
    if shared.table_from_file:  # a file from elsewhere must not become part of a data set
        shared = replace(shared, frequencies=str(inside(Path(preset).parent, shared.frequencies)))

    def data_of(seed: int) -> Settings:
        if same_data or chosen.same_data:
            return shared
        world_seed = shared.world_seed if chosen.same_world else seed
        return replace(shared, seed=seed, world_seed=world_seed, test_seed=shared.seed)

    settings = replace(settings, precision=precision_of(settings.precision, device))
    accuracies = check_targets(chosen.adaptive if targets is None else targets)
    if accuracies:
        curves = [curve for grid in chosen.grid for curve in _curves(data_of, settings, grid)]
        all_cells = (cell for curve in curves for of_size in curve.sizes.values() for cell in of_size)
        return SweepPlan(preset, _named(all_cells), accuracies, curves)
    cells = [cell for grid in chosen.grid for cell in _cells(data_of, settings, grid)]
    return SweepPlan(preset, _sized(cells))


def check_targets(targets: Sequence[float]) -> tuple[float, ...]:
    """Target accuracies, each once. Raises SettingsError for one that is not between 0.5 and 1."""
    for target in targets:
        if not 0.5 < target < 1:
            raise SettingsError(
                f"a target accuracy lies above 0.5, which is chance, and below 1: {target} does not"
            )
    return tuple(dict.fromkeys(targets))


def _named(cells: Iterable[SweepCell]) -> list[SweepCell]:
    """The cells, each once. Raises RefusedError if a name cannot be that of a directory."""
    return list({check_name(cell.name, "the run"): cell for cell in cells}.values())


def _sized(cells: list[SweepCell]) -> list[SweepCell]:
    """The cells, each once, on data sets as large as their largest size."""
    largest: dict[Settings, int] = {}
    for cell in cells:
        largest[cell.data] = max(largest.get(cell.data, 0), cell.fit.train_size)
    return _named(replace(cell, data=replace(cell.data, n=largest[cell.data])) for cell in cells)


def _world(shared: Settings, entities: int, distractor: bool) -> Settings:
    """The settings of a data set. Raises SettingsError if they cannot be."""
    settings = replace(shared, entities=entities, distractor=distractor)
    settings.check()
    return settings


def _cells(data_of: Callable[[int], Settings], fit: FitSettings, grid: _Grid) -> list[SweepCell]:
    """The cells of a grid: seeds outermost, then worlds, then sizes, the largest first."""
    models = [replace(fit, model=model, options=options(model, {})) for model in grid.models]
    cells = []
    for seed, entities, distractor in product(grid.seeds, grid.entities, grid.distractor):
        data = _world(data_of(seed), entities, distractor)
        for n, model in product(sorted(grid.train_sizes, reverse=True), models):
            cells.append(SweepCell(data, replace(model, train_size=n, seed=seed)))
    return cells


def _curves(data_of: Callable[[int], Settings], fit: FitSettings, grid: _Grid) -> list[SizeCurve]:
    """The curves of a grid, on the ladder up to its largest size: conditions outermost, then worlds."""
    curves = []
    for distractor, entities, model in product(grid.distractor, grid.entities, grid.models):
        chosen = replace(fit, model=model, options=options(model, {}))
        worlds = {seed: _world(data_of(seed), entities, distractor) for seed in grid.seeds}
        sizes = {
            n: [
                SweepCell(replace(world, n=_examples(n)), replace(chosen, train_size=n, seed=seed))
                for seed, world in worlds.items()
            ]
            for n in ladder(max(grid.train_sizes))
        }
        curves.append(SizeCurve(model, entities, distractor, sizes))
    return curves


def _examples(n: int) -> int:
    """Training examples of the data set for runs of n: of n alone, so a sweep may be interrupted."""
    return next((size for size in _DATA_SIZES if size >= n), n)
