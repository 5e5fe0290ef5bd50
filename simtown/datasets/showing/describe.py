"""A data set in tables and bars in the terminal, and one example of it in words."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from simtown.core.amounts import split_counts
from simtown.core.console import new_table, page, styled
from simtown.datasets.making.manifests import TIMINGS
from simtown.datasets.making.ready_worlds import LICENCE, cited
from simtown.datasets.making.shards import STAGES
from simtown.datasets.making.summaries import median_margin
from simtown.datasets.proving.marginals import ROLES, targets_of
from simtown.datasets.reading.locate import find
from simtown.datasets.reading.reader import Dataset, asked_of, open_dataset
from simtown.datasets.reading.remote import DirectoryStore, Remote, store_of
from simtown.datasets.reading.shard_file import reading
from simtown.language.meaning.programs import decode
from simtown.scenes.scene import Scene

#: Says why an example's answer is what it is (:func:`simtown.town.explaining.reason`).
Reason = Callable[..., str]
#: Answers of a family that a table shows.
_ANSWERS = 4
#: Characters of a bar: two of them and the longest name of the catalogue fit into 80 columns. Rows of kinds.
_BAR, _KINDS = 15, 15


def show(place: str | Path, everything: bool = False) -> None:
    """Print what a data set holds, in a directory or behind a URL; all of its kinds, or the most frequent."""
    dataset, store = open_dataset(place), store_of(place)
    s = dataset.settings
    size = sum(entry["bytes"] for entry in dataset.manifest["shards"].values())
    vehicles = " to ".join(dict.fromkeys(map(str, s.crowds)))
    about = f"{s.entities} entities, {s.width} x {s.height} pixels, {vehicles} vehicles a scene"
    if s.sequence:
        about += f", sequences of {s.shots} pictures ({s.sequence})"
    if s.hand_made:
        about += ", scenes made by hand"
    origin = (
        f"{s.seeds}, frequencies {s.frequencies}; {size / 1e6:,.1f} MB, simtown {dataset.manifest['simtown']}"
    )
    with page() as console:
        console.print(styled(str(store), "bold") + styled(f": {split_counts(s.counts())}"))
        console.print(styled(about))
        console.print(styled(origin))
        if name := cited(s):
            console.print(styled(f"a ready world: {name}; licence {LICENCE}"))
        if s.world_seed or s.own_kinds:
            kinds = ", ".join(dataset.names["entities"][e] for e in s.kinds)
            console.print(styled(f"Its kinds of vehicles, the most frequent first: {kinds}."))
        console.print(_splits(dataset))
        if s.has_families:
            console.print(_families(dataset))
        heads, acceptance = ("loop", "proposed", "accepted", "rate"), dataset.manifest["acceptance"].items()
        rates = [(n, f"{t['proposed']:,}", f"{t['accepted']:,}", f"{t['rate']:.1%}") for n, t in acceptance]
        if not s.hand_made:
            console.print(new_table("Rejection sampling", heads, rates, left=("loop",)))
        if timings := _timings(store):
            console.print(timings)
        rows = s.entities if everything else _KINDS
        console.print(_kinds(dataset, rows) if s.has_families else _frequencies(dataset, rows))
        if s.entities > _KINDS and not everything:
            console.print(f"... and {s.entities - _KINDS} more kinds: --all")


def summary(dataset: Dataset) -> dict[str, Any]:
    """The text of :func:`show` as values for JSON: settings, counts by name for each split, and acceptance
    rates.
    """
    names = {"relation": "relations", "weather": "weathers", "subject": "entities", "object": "entities"}
    if dataset.settings.has_families:
        names = {"weather": "weathers", "kind": "entities"}
    splits: dict[str, dict[str, Any]] = {}
    for split in dataset.splits:
        counts = dataset.summary(split)
        by_name = {key: dict(zip(dataset.names[of], counts[key], strict=False)) for key, of in names.items()}
        splits[split] = {"examples": len(dataset[split]), "yes": counts["answer"][1], **by_name}
        if dataset.settings.has_families:
            splits[split]["family"] = _answers(dataset, split)
    about = {"format": "simtown info", "data": dataset.name, "splits": splits}
    return {**about, **{key: dataset.manifest[key] for key in ("settings", "acceptance", "simtown")}}


def _splits(dataset: Dataset) -> Table:
    splits = {name: dataset.summary(name) for name in dataset.splits if len(dataset[name])}
    table = new_table("Examples", ("", *splits), left=("",))

    def add_shares(label: str, counted: str, number: int) -> None:
        shares = [counts[counted][number] / sum(counts[counted]) for counts in splits.values()]
        table.add_row(label, *(f"{share:.1%}" for share in shares))

    table.add_row("examples", *(f"{sum(counts['answer']):,}" for counts in splits.values()))
    shown = {"weather": dataset.names["weathers"]}
    if not dataset.settings.has_families:
        add_shares("answered yes", "answer", 1)
        shown = {"relation": dataset.names["relations"]} | shown
    for counted, names in shown.items():
        for number, name in enumerate(names):
            if any(counts[counted][number] for counts in splits.values()):
                add_shares(name, counted, number)
    table.add_row("median |margin|, m", *(f"{median_margin(counts):.1f}" for counts in splits.values()))
    add_shares("hidden in part", "hidden", 1)
    return table


def _answers(dataset: Dataset, split: str) -> dict[str, dict[str, int]]:
    """Counts of each family's answers in a split."""
    answers = dataset.names["answers"]
    counts = np.array(dataset.summary(split)["reply"]).reshape(-1, len(answers))
    return {
        family: {answers[value]: int(row[value]) for value in np.flatnonzero(row)}
        for family, row in zip(dataset.names["families"], counts, strict=True)
    }


def _families(dataset: Dataset) -> Table:
    """Counts of each family, and the most frequent of its answers in training."""
    splits = {name: _answers(dataset, name) for name in dataset.splits if len(dataset[name])}
    title = f"Families of questions, and their answers in {next(iter(splits))}"
    table = new_table(title, ("family", *splits, "answers"), left=("family", "answers"))
    for family, answers in next(iter(splits.values())).items():
        most = sorted(answers, key=lambda answer: -answers[answer])
        listed = ", ".join(f"{answer} {answers[answer]:,}" for answer in most[:_ANSWERS])
        more = f" and {len(most) - _ANSWERS} more" if len(most) > _ANSWERS else ""
        table.add_row(
            family, *(f"{sum(split[family].values()):,}" for split in splits.values()), listed + more
        )
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


def _kinds(dataset: Dataset, rows: int) -> Table:
    """The share of each kind among the vehicles of the training scenes."""
    counts = np.array(dataset.summary("train")["kind"])[list(dataset.settings.kinds)]
    shares = counts / max(counts.sum(), 1)
    table = new_table("Vehicles of the training scenes", ("kind", "share", ""), left=("kind", ""))
    for rank in np.argsort(-shares, kind="stable")[:rows]:
        name = dataset.names["entities"][dataset.settings.kinds[rank]]
        bar = "█" * round(shares[rank] / max(shares.max(), 1e-9) * 2 * _BAR)
        table.add_row(name, f"{shares[rank]:.2%}", bar)
    return table


def _bar(share: float, target: float, top: float) -> str:
    bar = ["█" if (i + 0.5) / _BAR * top < share else " " for i in range(_BAR)]
    bar[min(int(target / top * _BAR), _BAR - 1)] = "|"
    return "".join(bar)


def show_example(where: str, reason: Reason) -> None:
    """Print the example at an address (:func:`simtown.datasets.reading.locate.find`), with the `reason` of
    its answer if it is of a family.
    """
    split, number, _ = find(where)
    scene = split.scenes(np.array([number])).scene(0)
    row = {name: rows[0] for name, rows in split.rows(split.columns, [number]).items()}
    shard, shard_row = split.address(number)
    with reading(shard, "run simtown verify on its data set"):
        question = _question(row, asked_of(row, split.names), scene, reason)
    with page() as console:
        console.print(styled(where, "bold") + styled(f": row {shard_row} of {shard}"))
        console.print(_table(question, scene))
        console.print(_vehicles(row, scene, split.families))


def _question(
    row: Mapping[str, np.ndarray], asked: Mapping[str, Any], scene: Scene, reason: Reason
) -> dict[str, str]:
    """A question, its answer, and what the answer follows from."""
    answer = asked["reply"]
    if asked["tolerance"] is not None:
        answer = f"{asked['number']:.2f} m; within {asked['tolerance']:.2f} m is right"
    words = {"question": bytes(row["question"]).decode(errors="replace"), "answer": answer}
    if asked["program"]:
        if "order" in row:  # a town shows one moment
            return words | {"family": asked["family"], "program": asked["program"]}
        why = reason(scene, decode(row["program"]), row["visible"], row["boxes"])
        return words | {"family": asked["family"], "program": asked["program"], "reason": why}
    margin = float(row["margin"])
    return words | {
        "relation": f"{asked['subject']}, {asked['relation']}, {asked['object']}",
        "margin": f"{margin:+.2f} m: the relation {'holds' if margin > 0 else 'does not hold'}",
    }


def _table(question: dict[str, str], scene: Scene) -> Table:
    """The question, and the things in the street."""
    camera, weather = scene.camera, scene.weather
    yaw = np.degrees(camera.yaw) + 0.0
    counts = sorted(Counter(prop.kind for prop in scene.props).items())
    words = question | {
        "weather": f"{weather.kind}, intensity {weather.intensity:.2f}",
        "paint": ", ".join(f"{vehicle.entity} {vehicle.paint or 'own'}" for vehicle in scene.vehicles),
        "camera": f"x {camera.x:.2f}, y {camera.y:.2f}, z {camera.z:.2f} m, yaw {yaw:.1f}°",
        "in the street": ", ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in counts) or "nothing",
    }
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for label, text in words.items():
        table.add_row(label, text)
    return table


def _vehicles(row: dict[str, np.ndarray], scene: Scene, asked: bool) -> Table:
    title = "Vehicles: x and y in metres, heading in degrees, box (x0 y0 x1 y1) in pixels"
    heads = ("vehicle", "asked as", "x", "y", "heading", "visible", "box")
    table = new_table(title, heads[:1] + heads[2:] if asked else heads, left=heads[:2])
    for slot, vehicle in zip(np.flatnonzero(row["scene/entity"] >= 0), scene.vehicles, strict=True):
        roles = ", ".join(role for role in ROLES if int(row[f"{role}_slot"]) == slot) or "-"
        place = (f"{vehicle.x:.2f}", f"{vehicle.y:.2f}", f"{np.degrees(vehicle.yaw):.1f}")
        boxes = row["boxes"].reshape(-1, *row["boxes"].shape[-2:])[:, slot]  # of each picture
        lines = [" ".join(f"{x:.0f}" for x in box) for box in boxes]
        visible = [f"{share:.0%}" for share in row["visible"].reshape(len(boxes), -1)[:, slot]]
        named = (vehicle.entity,) if asked else (vehicle.entity, roles)
        table.add_row(*named, *place, "\n".join(visible), "\n".join(lines))
    return table
