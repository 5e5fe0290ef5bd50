"""Which runs a sweep is made of: presets, read from TOML, and the cells of their grids.

Every run of seed s has its own weights, its own examples and its own world: its data set has the seed s and
the world seed s. All models of a seed see the same data. A preset may keep the world (`same_world`) or all
data (`same_data`) the same for all seeds.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from simtown.core.options import SettingsError, deciding, options_of
from simtown.core.untrusted import cause, check_name, inside, parse_toml, read_toml
from simtown.datasets.settings import Settings
from simtown.training.fit_settings import FitSettings, precision_of
from simtown.training.models import options, require_allowed, require_serves

PRESETS = ("grid", "paper", "paper-rule", "small", "tiny")
#: Settings of a data set that a preset's [data] may choose.
_DATA = {"seed", "val", "test", *deciding(Settings, "examples", "families")} & {*options_of(Settings)}
#: Settings of a run that a preset's [fit] may choose, by the names of their options.
_FIT = {
    about.flag or name: name
    for name, (_, about) in options_of(FitSettings).items()
    if name in deciding(FitSettings, "results", "speed")
}
#: Training examples of the data sets of an adaptive sweep: a run reads the smallest that suffices.
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
    cells: list[SweepCell]
    targets: tuple[float, ...] = ()
    curves: list[SizeCurve] = field(default_factory=list)

    def data(self) -> list[Settings]:
        """The data sets of all cells, each once."""
        return list(dict.fromkeys(cell.data for cell in self.cells))


def read(
    preset: str,
    device: str,
    same_data: bool = False,
    targets: Sequence[float] | None = None,
    allow_model: Collection[str] = (),
) -> SweepPlan:
    """The plan of a preset by its name, or of a TOML file.

    `same_data` and `targets` (`adaptive`) take the place of what the preset says. Of models besides simtown's
    own it may name those in `allow_model` only (package.module:Class), whose code is run.

    Raises:
        ModelError: the preset names another model.
        RefusedError: the name of a cell cannot be that of a directory.
        SettingsError: it cannot be read; the message names the line or key.
    """
    from simtown.complexity.size_search import ladder
    from simtown.datasets.source import check_settings

    chosen, shared, settings = _parse(preset, device)
    models = dict.fromkeys(model for grid in chosen.grid for model in grid.models)
    for model in models:
        require_allowed(model, preset, allow_model)
        require_serves(model, shared.has_families)
    targets = tuple(dict.fromkeys(chosen.adaptive if targets is None else targets))
    check_targets(targets)
    fits = {model: replace(settings, model=model, options=options(model, {})) for model in models}

    def cell(seed: int, entities: int, distractor: bool, n: int, model: str) -> SweepCell:
        data = replace(shared, entities=entities, distractor=distractor)
        if not (same_data or chosen.same_data):
            world_seed = shared.world_seed if chosen.same_world else seed
            data = replace(data, seed=seed, world_seed=world_seed, test_seed=shared.seed)
        return SweepCell(data, replace(fits[model], train_size=n, seed=seed))

    cells: list[SweepCell] = []
    curves: list[SizeCurve] = []
    for grid in chosen.grid:
        if targets:  # conditions outermost, then worlds; every size that a search may visit
            for third, entities, model in product(grid.distractor, grid.entities, grid.models):
                sizes = {
                    n: [_on(_examples(n), cell(seed, entities, third, n, model)) for seed in grid.seeds]
                    for n in ladder(max(grid.train_sizes))
                }
                curves.append(SizeCurve(model, entities, third, sizes))
                cells += [cell for of_size in sizes.values() for cell in of_size]
        else:  # seeds outermost, then worlds, then sizes, the largest first
            largest_first = sorted(grid.train_sizes, reverse=True)
            axes = product(grid.seeds, grid.entities, grid.distractor, largest_first, grid.models)
            cells += [cell(*axis) for axis in axes]
    if not targets:  # a data set is as large as the largest size of its cells
        largest: dict[Settings, int] = {}
        for each in cells:
            largest[each.data] = max(largest.get(each.data, 0), each.fit.train_size)
        cells = [_on(largest[each.data], each) for each in cells]
    named = {check_name(each.name, "the run"): each for each in cells}
    plan = SweepPlan(preset, list(named.values()), targets, curves)
    for data in plan.data():
        check_settings(data)
    return plan


def check_preset(preset: str) -> None:
    """Raises SettingsError if there is neither a preset of this name nor a file."""
    if preset not in PRESETS and not Path(preset).is_file():
        choices = f"choose among {', '.join(PRESETS)}, or give a TOML file"
        raise SettingsError(f"there is no preset or file '{preset}': {choices}")


def check_targets(targets: Sequence[float]) -> None:
    """Raises SettingsError if no test accuracy can be that."""
    for target in targets:
        if not 0.5 < target < 1:
            raise SettingsError(f"a target accuracy lies above 0.5 (chance) and below 1: {target} does not")


def _parse(preset: str, device: str) -> tuple[_Preset, Settings, FitSettings]:
    """A preset, and what it says of all data sets and of all runs."""
    check_preset(preset)
    try:
        if preset in PRESETS:
            builtin = files("simtown.training") / "presets" / f"{preset}.toml"
            content = parse_toml(builtin.read_text(encoding="utf-8"))
        else:
            content = read_toml(Path(preset))
        chosen = msgspec.convert(content, _Preset)
        flags = {name: flag for flag, name in _FIT.items()}
        fit = {flags.get(name, name): value for name, value in chosen.fit.items()}  # learning_rate too
        for key, choices, known in (("data", chosen.data, _DATA), ("fit", fit, _FIT)):
            if unknown := sorted(set(choices) - set(known)):
                raise ValueError(f"{key}.{unknown[0]} is unknown; {key} takes {', '.join(sorted(known))}")
        size = re.fullmatch(r"([0-9]{1,5})(?:x([0-9]{1,5}))?", str(chosen.size))
        if not size:
            raise ValueError(f'size = {chosen.size} is not a size of pictures: write "128" or "64x32"')
        width, height = int(size[1]), int(size[2] or size[1])
        shared = msgspec.convert({"width": width, "height": height, **chosen.data}, Settings)
        named = {_FIT[flag]: value for flag, value in fit.items()}
        settings = msgspec.convert({"device": device, **named}, FitSettings)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{preset} cannot be read as a preset: {cause(error)}") from error

    def beside(name: str) -> str:
        """The path of a file in the preset's folder; none from elsewhere becomes part of a data set."""
        return str(inside(Path(preset).parent, name))

    chosen_data = replace(
        shared,
        frequencies=beside(shared.frequencies) if shared.table_from_file else shared.frequencies,
        paint=beside(shared.paint) if shared.paint_from_file else shared.paint,
        questions=tuple(beside(name) if name.endswith(".toml") else name for name in shared.questions),
    )
    from simtown.datasets.question_files import read_question_files  # which a misspelt preset needs not load

    shared = read_question_files(chosen_data)
    return chosen, shared, replace(settings, precision=precision_of(settings.precision, device))


def _on(examples: int, cell: SweepCell) -> SweepCell:
    """The cell on a data set of so many training examples."""
    return replace(cell, data=replace(cell.data, n=examples))


def _examples(n: int) -> int:
    """Training examples of the data set for runs of n: of n alone, so a sweep may be interrupted."""
    return next((size for size in _DATA_SIZES if size >= n), n)
