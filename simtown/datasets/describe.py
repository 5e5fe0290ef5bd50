"""One stored example in words: question, answer, and the things in the scene."""

from __future__ import annotations

from collections import Counter

import numpy as np
from rich.table import Table

from simtown.assets.catalogue import ENTITIES
from simtown.core.console import page, styled
from simtown.datasets.locate import find
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.scene import Scene

ROLES = ("subject", "object")


def show_example(where: str) -> None:
    """Print the example at an address.

    Raises what :func:`simtown.datasets.locate.find` and :meth:`Address.scene` raise.
    """
    address = find(where)
    scene = address.scene().scene(0)
    row = {name: rows[0] for name, rows in address.columns().items()}
    with page() as console:
        console.print(styled(where, "bold") + styled(f": row {address.row} of {address.shard}"))
        console.print(_question(row, scene))
        console.print(_vehicles(row, scene))


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else f"number {number}, which is none"


def _question(row: dict[str, np.ndarray], scene: Scene) -> Table:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    margin = float(row["margin"])
    subject, obj = (_name(ENTITIES, int(row[role])) for role in ROLES)
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
        roles = [role for role in ROLES if int(row[f"{role}_slot"]) == slot]
        box = " ".join(f"{x:.0f}" for x in row["boxes"][slot])
        numbers = (
            f"{vehicle.x:.2f}",
            f"{vehicle.y:.2f}",
            f"{np.degrees(vehicle.yaw):.1f}",
            f"{row['visible'][slot]:.0%}",
        )
        table.add_row(vehicle.entity, ", ".join(roles) or "-", *numbers, box)
    return table
