"""A data set in tables and bars in the terminal, and one example of it in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from simtown.assets.catalogue import ENTITIES
from simtown.core.console import new_table, page, styled
from simtown.datasets.locate import find
from simtown.datasets.manifests import TIMINGS
from simtown.datasets.marginals import ROLES, targets_of
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.remote import DirectoryStore, Remote, store_of
from simtown.datasets.settings import SPLITS
from simtown.datasets.shards import COLUMNS, STAGES
from simtown.datasets.summaries import median_margin
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.scene import Scene

#: Characters of a bar: two of them and the longest name of the catalogue fit into 80 columns. Rows of kinds.
_BAR, _KINDS = 15, 15


def show(place: str | Path, everything: bool = False) -> None:
    """Print what a data set holds, in a directory or behind a URL; all of its kinds, or the most frequent."""
    dataset, store = open_dataset(place), store_of(place)
    s = dataset.settings
    size = sum(entry["bytes"] for entry in dataset.manifest["shards"].values())
    counts = " + ".join(f"{count:,} {split}" for split, count in s.counts().items())
    about = f"{s.entities} entities, {s.width} x {s.height} pixels, {s.vehicles} vehicles a scene"
    origin = (
        f"{s.seeds}, frequencies {s.frequencies}; {size / 1e6:,.1f} MB, simtown {dataset.manifest['simtown']}"
    )
    with page() as console:
        console.print(styled(str(store), "bold") + styled(f": {counts} examples"))
        console.print(styled(about))
        console.print(styled(origin))
        if s.world_seed or s.own_kinds:
            kinds = ", ".join(dataset.names["entities"][e] for e in s.kinds)
            console.print(styled(f"Its kinds of vehicles, the most frequent first: {kinds}."))
        console.print(_splits(dataset))
        heads, acceptance = ("loop", "proposed", "accepted", "rate"), dataset.manifest["acceptance"].items()
        rates = [(n, f"{t['proposed']:,}", f"{t['accepted']:,}", f"{t['rate']:.1%}") for n, t in acceptance]
        console.print(new_table("Rejection sampling", heads, rates, left=("loop",)))
        if timings := _timings(store):
            console.print(timings)
        console.print(_frequencies(dataset, s.entities if everything else _KINDS))
        if s.entities > _KINDS and not everything:
            console.print(f"... and {s.entities - _KINDS} more kinds: --all")


def summary(dataset: Dataset) -> dict[str, Any]:
    """What :func:`show` prints, for JSON: settings, counts by name for each split, and acceptance rates."""
    names = {"relation": "relations", "weather": "weathers", "subject": "entities", "object": "entities"}
    splits = {}
    for split in SPLITS:
        counts = dataset.summary(split)
        by_name = {key: dict(zip(dataset.names[of], counts[key], strict=False)) for key, of in names.items()}
        splits[split] = {"examples": len(dataset[split]), "yes": counts["answer"][1], **by_name}
    about = {"format": "simtown info", "data": dataset.name, "splits": splits}
    return {**about, **{key: dataset.manifest[key] for key in ("settings", "acceptance", "simtown")}}


def _splits(dataset: Dataset) -> Table:
    splits = {name: dataset.summary(name) for name in SPLITS if len(dataset[name])}
    table = new_table("Examples", ("", *splits), left=("",))

    def add_shares(label: str, counted: str, number: int) -> None:
        shares = [counts[counted][number] / sum(counts[counted]) for counts in splits.values()]
        table.add_row(label, *(f"{share:.1%}" for share in shares))

    table.add_row("examples", *(f"{sum(counts['answer']):,}" for counts in splits.values()))
    add_shares("answered yes", "answer", 1)
    for counted, names in (("relation", dataset.names["relations"]), ("weather", dataset.names["weathers"])):
        for number, name in enumerate(names):
            if any(counts[counted][number] for counts in splits.values()):
                add_shares(name, counted, number)
    table.add_row("median |margin|, m", *(f"{median_margin(counts):.1f}" for counts in splits.values()))
    add_shares("hidden in part", "hidden", 1)
    return table


def _timings(store: DirectoryStore | Remote) -> Table | None:
    heads = ("made", "s", "workers", "per s", *STAGES)
    table = new_table("How it was made, and the share of each stage", heads)
    try:
        for run in store.load_json(TIMINGS)["runs"]:
            examples, seconds, workers = (run[key] for key in ("examples", "wall_seconds", "workers"))
            shares = [f"{run['stage_shares'][stage]:.0%}" for stage in STAGES]
            rate = examples / max(seconds, 1e-9)
            table.add_row(f"{examples:,}", f"{seconds:.1f}", f"{workers:,}", f"{rate:,.0f}", *shares)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # made elsewhere, or copied without its timings
    return table


def _frequencies(dataset: Dataset, rows: int) -> Table:
    """The share of entities as subject and object in training; the bar marks its target (equation 4)."""
    target, summary = targets_of(dataset, "train"), dataset.summary("train")
    shares = {role: np.array(summary[role]) / len(dataset.train) for role in ROLES}
    top = max(array.max() for array in (*target.values(), *shares.values()))
    table = Table(title="Entities in the training questions, | marks the target", title_justify="left")
    for head in ("entity", "subject", "", "object", ""):
        table.add_column(head, justify="right" if head in ROLES else "left", no_wrap=True)
    for rank, e in enumerate(dataset.settings.kinds[:rows]):
        cells = [(f"{shares[r][e]:.2%}", _bar(shares[r][e], target[r][rank], top)) for r in ROLES]
        table.add_row(dataset.names["entities"][e], *cells[0], *cells[1])
    return table


def _bar(share: float, target: float, top: float) -> str:
    bar = ["█" if (i + 0.5) / _BAR * top < share else " " for i in range(_BAR)]
    bar[min(int(target / top * _BAR), _BAR - 1)] = "|"
    return "".join(bar)


def show_example(where: str) -> None:
    """Print the example at an address (:func:`simtown.datasets.locate.find`)."""
    split, number, _ = find(where)
    scene = split.scenes(np.array([number])).scene(0)
    row = {name: rows[0] for name, rows in split.rows(COLUMNS, [number]).items()}
    with page() as console:
        shard, shard_row = split.address(number)
        console.print(styled(where, "bold") + styled(f": row {shard_row} of {shard}"))
        console.print(_question(row, scene))
        console.print(_vehicles(row, scene))


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else f"number {number}, which is none"


def _question(row: dict[str, np.ndarray], scene: Scene) -> Table:
    subject, obj = (_name(ENTITIES, int(row[role])) for role in ROLES)
    margin, camera, weather = float(row["margin"]), scene.camera, scene.weather
    yaw = np.degrees(camera.yaw) + 0.0
    counts = sorted(Counter(prop.kind for prop in scene.props).items())
    words = {
        "question": bytes(row["question"]).decode(errors="replace"),
        "answer": "yes" if row["answer"] else "no",
        "relation": f"{subject}, {_name(RELATION_NAMES, int(row['relation']))}, {obj}",
        "margin": f"{margin:+.2f} m: the relation {'holds' if margin > 0 else 'does not hold'}",
        "weather": f"{weather.kind}, intensity {weather.intensity:.2f}",
        "paint": ", ".join(f"{vehicle.entity} {vehicle.paint or 'own'}" for vehicle in scene.vehicles),
        "camera": f"x {camera.x:.2f}, y {camera.y:.2f}, z {camera.z:.2f} m, yaw {yaw:.1f}°",
        "in the street": ", ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in counts) or "nothing",
    }
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for label, text in words.items():
        table.add_row(label, text)
    return table


def _vehicles(row: dict[str, np.ndarray], scene: Scene) -> Table:
    title = "Vehicles: x and y in metres, heading in degrees, box (x0 y0 x1 y1) in pixels"
    heads = ("vehicle", "asked as", "x", "y", "heading", "visible", "box")
    table = new_table(title, heads, left=heads[:2])
    for slot, vehicle in enumerate(scene.vehicles):
        roles = ", ".join(role for role in ROLES if int(row[f"{role}_slot"]) == slot) or "-"
        place = (f"{vehicle.x:.2f}", f"{vehicle.y:.2f}", f"{np.degrees(vehicle.yaw):.1f}")
        box = " ".join(f"{x:.0f}" for x in row["boxes"][slot])
        table.add_row(vehicle.entity, roles, *place, f"{row['visible'][slot]:.0%}", box)
    return table
