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
from itertools import chain, product
from pathlib import Path
from typing import Any

from simtown.complexity.size_search import ladder
from simtown.core.untrusted import check_name, inside, read_toml
from simtown.datasets.settings import Settings, SettingsError
from simtown.training import record
from simtown.training.fit_settings import FitSettings, precision_of
from simtown.training.models import options, require_allowed

PRESETS = ("grid", "paper", "paper-rule", "small", "tiny")
VERSION = 1
#: Choices of a data set that a preset's [data] may make; the others are the grid's.
_DATA = {"seed", "frequencies", "relations", "phrasing", "weathers", "jitter", "val", "test"}
#: Choices of a run that a preset's [fit] may make.
_FIT = {f.name for f in fields(FitSettings)} - {"model", "train_size", "seed", "options", "device", "stream"}
#: Runs of the largest grid, and learning curves and targets of the largest adaptive one.
MOST_RUNS, MOST_CURVES = 20_000, 500
_AXES = {
    "entities": record.whole(1, record.LARGEST_WORLD),
    "distractor": record.FLAG,
    "models": record.NAME,
    "train_sizes": record.whole(2, record.LARGEST_TRAIN),
    "seeds": record.whole(0, 2**63 - 1),
}
#: Training examples of the data sets that an adaptive sweep makes: a run reads the smallest set that
#: suffices.
_DATA_SIZES = (200, 2_000, 7_000, 20_000, 60_000)


@dataclass(frozen=True)
class SweepCell:
    """One run of a sweep: its data set and its settings.

    Attributes:
        data: settings of its data set.
        fit: settings of its training.
    """

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
    try:
        if preset in PRESETS:
            content = tomllib.loads(
                (files("simtown.training") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
            )
        else:
            content = read_toml(Path(preset))
    except FileNotFoundError:
        raise SettingsError(
            f"there is no preset or file '{preset}': choose among {', '.join(PRESETS)}, or give a TOML file"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{preset} cannot be read as TOML: {error}") from error
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot read {preset}: {error}") from error
    changes = ({"same_data": True} if same_data else {}) | (
        {"adaptive": list(targets)} if targets is not None else {}
    )
    try:
        return _plan(preset, content | changes, device, allowed)
    except KeyError as error:
        raise SettingsError(
            f"{preset}: a [[grid]] lacks the key {error}; it needs {', '.join(_AXES)}"
        ) from error


def _plan(preset: str, content: dict[str, Any], device: str, allowed: Collection[str]) -> SweepPlan:
    if content.pop("version", None) != VERSION:
        raise SettingsError(
            f"{preset} lacks the line version = {VERSION}, the form of presets that this simtown reads"
        )
    width, height = _size(preset, content.pop("size", "128"))
    same_data, same_world = (
        _switch(preset, name, content.pop(name, False)) for name in ("same_data", "same_world")
    )
    targets = check_targets(content.pop("adaptive", []))
    data, fit, grids = _parts(preset, content)
    _refuse_too_many(preset, grids, targets)
    for model in chain.from_iterable(grid["models"] for grid in grids):
        require_allowed(model, preset, allowed)
    chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    shared = Settings(width=width, height=height, **chosen)
    if shared.table_from_file:  # nobody's preset makes a file from elsewhere part of a data set
        shared = replace(shared, frequencies=str(inside(Path(preset).parent, shared.frequencies)))

    def data_of(seed: int) -> Settings:
        if same_data:
            return shared
        return replace(
            shared, seed=seed, world_seed=shared.world_seed if same_world else seed, test_seed=shared.seed
        )

    settings = FitSettings("", 2, device=device, **fit)
    settings = replace(settings, precision=precision_of(settings.precision, device))
    if targets:
        curves = [curve for grid in grids for curve in _curves(data_of, settings, grid)]
        cells = (cell for curve in curves for of_size in curve.sizes.values() for cell in of_size)
        return SweepPlan(preset, _named(cells), targets, curves)
    return SweepPlan(preset, _sized([cell for grid in grids for cell in _cells(data_of, settings, grid)]))


def _parts(
    preset: str, content: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """[data], [fit] and the grids of a preset, every value of its kind.

    `content`: what the preset holds besides.
    """
    data, fit, grids = content.pop("data", {}), content.pop("fit", {}), content.pop("grid", [])
    try:
        for kind, part, key in (
            (_TABLE, data, "data"),
            (_TABLE, fit, "fit"),
            (record.listed(_TABLE, 1_000), grids, "grid"),
        ):
            kind(part, key)
        if content:
            raise SettingsError(f"{preset} has unknown keys: {record.cut(', '.join(sorted(content)))}")
        for key, part, known in (
            ("data", data, _DATA),
            ("fit", fit, _FIT),
            *(("grid", grid, set(_AXES)) for grid in grids),
        ):
            if unknown := sorted(f"{key}.{name}" for name in set(part) - known):
                raise SettingsError(
                    f"{preset} has unknown keys: {record.cut(', '.join(unknown))}; {key} takes "
                    f"{', '.join(sorted(known))}"
                )
        if not grids:
            raise SettingsError(f"{preset} has no [[grid]]")
        for key, value in fit.items():
            usual = getattr(FitSettings("", 2), key)
            if type(value) is not type(usual) and not (isinstance(usual, float) and type(value) is int):
                raise SettingsError(
                    f"{preset}: fit.{key} must be a value like {usual!r}, not {record.brief(value)}"
                )
        record.table(**record.DATA)(data, "data")
        record.table(**record.SETTINGS)(fit, "fit")
        for number, grid in enumerate(grids):
            record.table(**{axis: record.listed(kind, 10_000) for axis, kind in _AXES.items()})(
                grid, f"grid[{number}]"
            )
            if empty := [axis for axis in _AXES if not grid[axis]]:
                raise ValueError(f"grid[{number}].{empty[0]}: it is empty")
    except SettingsError:
        raise
    except ValueError as error:
        raise SettingsError(f"{preset} cannot be read as a preset: {error}") from error
    return data, fit, grids


def check_targets(targets: Any) -> tuple[float, ...]:
    """Target accuracies, each once. Raises SettingsError for one that is not between 0.5 and 1."""
    if not isinstance(targets, Sequence) or isinstance(targets, str):
        raise SettingsError(
            f"adaptive = {record.brief(targets)} is no list of target accuracies: write [0.9] or [0.9, 0.75]"
        )
    for target in targets:
        if isinstance(target, bool) or not isinstance(target, int | float) or not 0.5 < target < 1:
            raise SettingsError(
                f"a target accuracy lies above 0.5, which is chance, and below 1: "
                f"{record.brief(target)} does not"
            )
    return tuple(dict.fromkeys(map(float, targets)))


_TABLE = record.table()


def _refuse_too_many(preset: str, grids: list[dict[str, Any]], targets: tuple[float, ...]) -> None:
    """Raises SettingsError if a plan has too many runs, or curves of an adaptive plan.

    They are counted before they are made.
    """
    runs = curves = 0
    for grid in grids:
        worlds = len(grid["entities"]) * len(grid["distractor"]) * len(grid["models"])
        runs += (
            worlds
            * len(grid["seeds"])
            * (len(ladder(max(grid["train_sizes"]))) if targets else len(grid["train_sizes"]))
        )
        curves += worlds * len(targets)
    if runs > MOST_RUNS or curves > MOST_CURVES:
        what = (
            f"{runs:,} runs, more than {MOST_RUNS:,}"
            if runs > MOST_RUNS
            else f"{curves:,} searches, more than {MOST_CURVES:,}"
        )
        raise SettingsError(f"{preset} asks for {what}: give shorter lists, or several presets")


def _named(cells: Iterable[SweepCell]) -> list[SweepCell]:
    """The cells, each once. Raises RefusedError if a name cannot be that of a directory."""
    return list({check_name(cell.name, "the run"): cell for cell in cells}.values())


def _switch(preset: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{preset}: {name} must be true or false, not {record.brief(value)}")
    return value


def _sized(cells: list[SweepCell]) -> list[SweepCell]:
    """The cells, each once, on data sets as large as their largest size.

    The first n examples of a data set are the smaller set.
    """
    largest: dict[Settings, int] = {}
    for cell in cells:
        largest[cell.data] = max(largest.get(cell.data, 0), cell.fit.train_size)
    whole = [replace(cell, data=replace(cell.data, n=largest[cell.data])) for cell in cells]
    return _named(whole)


def _size(preset: str, text: Any) -> tuple[int, int]:
    match = re.fullmatch(
        r"(?P<width>[0-9]{1,5})(x(?P<height>[0-9]{1,5}))?", str(text) if isinstance(text, str | int) else ""
    )
    if not match:
        raise SettingsError(
            f'{preset}: size = {record.brief(text)} is not a size of pictures: write "128" or, as width and '
            'height, "64x32"'
        )
    return int(match["width"]), int(match["height"] or match["width"])


def _cells(data_of: Callable[[int], Settings], fit: FitSettings, grid: dict[str, Any]) -> list[SweepCell]:
    """The cells of a grid: seeds outermost, then worlds, then sizes, the largest first.

    So the last runs are short.
    """
    cells = []
    models = {model: replace(fit, model=model, options=options(model, {})) for model in grid["models"]}
    for seed, entities, distractor in product(*(grid[axis] for axis in ("seeds", "entities", "distractor"))):
        data = replace(data_of(seed), entities=entities, distractor=distractor)
        data.check()
        for n, model in product(sorted(grid["train_sizes"], reverse=True), grid["models"]):
            cells.append(SweepCell(data, replace(models[model], train_size=n, seed=seed)))
    return cells


def _curves(data_of: Callable[[int], Settings], fit: FitSettings, grid: dict[str, Any]) -> list[SizeCurve]:
    """The curves of a grid, on the ladder up to its largest size.

    Conditions are outermost, then worlds in the order of the list.
    """
    curves = []
    rungs = ladder(max(grid["train_sizes"]))
    for distractor, entities in product(grid["distractor"], grid["entities"]):
        worlds = {
            seed: replace(data_of(seed), entities=entities, distractor=distractor) for seed in grid["seeds"]
        }
        for world in worlds.values():
            world.check()
        for model in grid["models"]:
            chosen = replace(fit, model=model, options=options(model, {}))
            sizes = {
                n: [
                    SweepCell(replace(world, n=_examples(n)), replace(chosen, train_size=n, seed=seed))
                    for seed, world in worlds.items()
                ]
                for n in rungs
            }
            curves.append(SizeCurve(model, entities, distractor, sizes))
    return curves


def _examples(n: int) -> int:
    """Training examples of the data set for runs of n.

    A function of n alone, so an interrupted sweep makes the same data sets.
    """
    return next((size for size in _DATA_SIZES if size >= n), n)
