"""A data set in tables and bars in the terminal, and one example of it in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from rich.table import Table

from simtown.assets.catalogue import ENTITIES
from simtown.core.console import PlainConsole, page, styled
from simtown.datasets.locate import find
from simtown.datasets.manifests import TIMINGS
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.remote import DirectoryStore, Remote, store_of
from simtown.datasets.settings import SPLITS, Settings
from simtown.datasets.shards import STAGES
from simtown.datasets.summaries import median_margin
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.scene import Scene

#: Characters of a bar: two of them and the longest word of the catalogue fit into 80 columns.
_BAR = 18
_ROLES = ("subject", "object")


def show(place: str | Path) -> None:
    """Print everything about a data set, in a directory or behind a URL.

    Raises what :func:`~simtown.datasets.reader.open_dataset` raises.
    """
    dataset = open_dataset(place)
    with page() as console:
        _print(store_of(place), dataset, console)


def _print(store: DirectoryStore | Remote, dataset: Dataset, console: PlainConsole) -> None:
    s = dataset.settings
    size = sum(e["bytes"] for e in dataset.manifest["shards"].values())
    about = f"{s.entities} entities, {s.width} x {s.height} pixels, {s.vehicles} vehicles a scene, {s.seeds}"
    origin = f"frequencies {s.frequencies}; {size / 1e6:,.1f} MB, simtown {dataset.manifest['simtown']}"
    console.print(styled(str(store), "bold") + styled(f": {about}, {origin}"))
    if s.world_seed:
        kinds = ", ".join(dataset.names["entities"][e] for e in s.kinds)
        console.print(styled(f"Its kinds of vehicles, the most frequent first: {kinds}."))
    console.print(_splits(dataset))
    console.print(_acceptance(dataset))
    made_in = _timings(store)
    if made_in:
        console.print(made_in)
    console.print(_frequencies(dataset))


def _splits(dataset: Dataset) -> Table:
    splits = {name: dataset.summary(name) for name in SPLITS if len(dataset[name])}
    table = Table("", *splits, title="Examples", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("examples", *(f"{sum(counts['answer']):,}" for counts in splits.values()))
    table.add_row(
        "answered yes", *(f"{counts['answer'][1] / sum(counts['answer']):.1%}" for counts in splits.values())
    )
    for counted, names in (("relation", dataset.names["relations"]), ("weather", dataset.names["weathers"])):
        for number, name in enumerate(names):
            if any(counts[counted][number] for counts in splits.values()):
                table.add_row(
                    name,
                    *(f"{counts[counted][number] / sum(counts[counted]):.1%}" for counts in splits.values()),
                )
    table.add_row("median |margin|, m", *(f"{median_margin(counts):.1f}" for counts in splits.values()))
    table.add_row(
        "hidden in part",
        *(f"{counts['hidden'][1] / sum(counts['hidden']):.1%}" for counts in splits.values()),
    )
    return table


def _acceptance(dataset: Dataset) -> Table:
    table = Table(title="Rejection sampling", title_justify="left")
    for head in ("loop", "proposed", "accepted", "rate"):
        table.add_column(head, justify="left" if head == "loop" else "right")
    for loop, total in dataset.manifest["acceptance"].items():
        table.add_row(loop, f"{total['proposed']:,}", f"{total['accepted']:,}", f"{total['rate']:.1%}")
    return table


def _timings(store: DirectoryStore | Remote) -> Table | None:
    table = Table(title="How it was made, and the share of each stage", title_justify="left")
    for head in ("made", "s", "workers", "per s", *STAGES):
        table.add_column(head, justify="right")
    try:
        for run in store.load_json(TIMINGS)["runs"]:
            examples, seconds, workers = (run[key] for key in ("examples", "wall_seconds", "workers"))
            shares = [f"{run['stage_shares'][stage]:.0%}" for stage in STAGES]
            rate = examples / max(seconds, 1e-9)
            table.add_row(f"{examples:,}", f"{seconds:.1f}", f"{workers:,}", f"{rate:,.0f}", *shares)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # made elsewhere, or copied without its timings
    return table


def _frequencies(dataset: Dataset) -> Table:
    """The share of every entity as subject and as object of the training questions.

    The bar marks its target (equation 4).
    """
    s: Settings = dataset.settings
    recorded = dataset.manifest["settings"]
    target = [
        _different(np.array(recorded[f"{a}_frequencies"]), np.array(recorded[f"{b}_frequencies"]))
        for a, b in (("subject", "object"), ("object", "subject"))
    ]
    shares = [np.array(dataset.summary("train")[role]) / len(dataset.train) for role in ("subject", "object")]
    top = max(max(t.max() for t in target), max(f.max() for f in shares))
    table = Table(title="Entities in the training questions, | marks the target", title_justify="left")
    for head in ("entity", "subject", "", "object", ""):
        table.add_column(head, justify="right" if head in ("subject", "object") else "left", no_wrap=not head)
    for rank, e in enumerate(s.kinds):
        cells = [
            cell
            for f, t in zip(shares, target, strict=True)
            for cell in (f"{f[e]:.2%}", _bar(f[e], t[rank], top))
        ]
        table.add_row(dataset.names["entities"][e], *cells)
    return table


def _different(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Marginal of the first of two draws, from p and from q, given that they differ."""
    result: np.ndarray = p * (1 - q) / (p * (1 - q)).sum()
    return result


def _bar(share: float, target: float, top: float) -> str:
    bar = ["█" if (i + 0.5) / _BAR * top < share else " " for i in range(_BAR)]
    bar[min(int(target / top * _BAR), _BAR - 1)] = "|"
    return "".join(bar)


def show_example(where: str) -> None:
    """Print the example at an address.

    Raises what :func:`simtown.datasets.locate.find` and :meth:`Address.scene` raise.
    """
    address = find(where)
    scene = address.scene().scene(0)
    row = {name: rows[0] for name, rows in address.columns().items()}
    with page() as console:
        shard, shard_row = address.split.address(address.row)
        console.print(styled(where, "bold") + styled(f": row {shard_row} of {shard}"))
        console.print(_question(row, scene))
        console.print(_vehicles(row, scene))


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else f"number {number}, which is none"


def _question(row: dict[str, np.ndarray], scene: Scene) -> Table:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    margin = float(row["margin"])
    subject, obj = (_name(ENTITIES, int(row[role])) for role in _ROLES)
    table.add_row("question", bytes(row["question"]).decode(errors="replace"))
    table.add_row("answer", "yes" if row["answer"] else "no")
    table.add_row("relation", f"{subject}, {_name(RELATION_NAMES, int(row['relation']))}, {obj}")
    table.add_row("margin", f"{margin:+.2f} m: the relation {'holds' if margin > 0 else 'does not hold'}")
    table.add_row("weather", f"{scene.weather.kind}, intensity {scene.weather.intensity:.2f}")
    table.add_row(
        "paint", ", ".join(f"{vehicle.entity} {vehicle.paint or 'own'}" for vehicle in scene.vehicles)
    )
    camera = scene.camera
    table.add_row(
        "camera",
        f"x {camera.x:.2f}, y {camera.y:.2f}, z {camera.z:.2f} m, yaw {np.degrees(camera.yaw) + 0.0:.1f}°",
    )
    counts = Counter(prop.kind for prop in scene.props)
    table.add_row(
        "in the street",
        ", ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in sorted(counts.items())) or "nothing",
    )
    return table


def _vehicles(row: dict[str, np.ndarray], scene: Scene) -> Table:
    table = Table(
        title="Vehicles: x and y in metres, heading in degrees, box (x0 y0 x1 y1) in pixels",
        title_justify="left",
    )
    for head in ("vehicle", "asked as", "x", "y", "heading", "visible", "box"):
        table.add_column(head, justify="left" if head in ("vehicle", "asked as") else "right")
    for slot, vehicle in enumerate(scene.vehicles):
        roles = [role for role in _ROLES if int(row[f"{role}_slot"]) == slot]
        box = " ".join(f"{x:.0f}" for x in row["boxes"][slot])
        numbers = (
            f"{vehicle.x:.2f}",
            f"{vehicle.y:.2f}",
            f"{np.degrees(vehicle.yaw):.1f}",
            f"{row['visible'][slot]:.0%}",
        )
        table.add_row(vehicle.entity, ", ".join(roles) or "-", *numbers, box)
    return table
