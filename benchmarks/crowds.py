"""How fast busy streets are placed, how many places are tried for it, and what is seen beside the road.

    python benchmarks/crowds.py [--scenes 2000] [--rounds 5] [--entities 60] [--out FILE]

Streets of 2 to 8 different vehicles with Visual Genome's frequencies, before the camera for so many, on one
thread: the least of all rounds. Acceptance is the share of the tried places that vehicles of finished streets
have; placed is the share of streets that are finished. The last column is the time of counting the pixels of
everything in a street.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.assets.frequencies import frequencies
from simtown.core.streams import Stream
from simtown.language.meaning.sights import street_pixels
from simtown.scenes.crowd import crowd_camera, place_crowds
from simtown.scenes.placement import MOST_VEHICLES
from simtown.scenes.scene import empty_batch
from simtown.scenes.street import SLOTS, draw_street


def measure(vehicles: int, scenes: int, rounds: int, entities: int) -> dict[str, float]:
    """Times and shares of streets with so many vehicles."""
    subject, obj = frequencies("vg", entities)
    keys = np.random.default_rng(vehicles).exponential(size=(scenes, entities)) / (subject + obj)
    entity = keys.argsort(axis=1)[:, :vehicles]  # drawn one after the other, each kind once
    index, first = np.arange(scenes), np.zeros(scenes, dtype=np.int64)
    camera, tried = np.tile(crowd_camera(vehicles).row(), (scenes, 1)), np.zeros(2, dtype=np.int64)
    seconds = []
    for _ in range(2 * rounds):
        begun = process_time()
        street = place_crowds(Stream(0, "train", "crowd"), index, first, entity, camera, tried)
        seconds.append(process_time() - begun)
    batch = empty_batch(scenes, vehicles, SLOTS)
    batch.entity[:], batch.camera[:], batch.pose[:] = entity, camera, street[0]
    props = draw_street(Stream(0, "train", "street"), index, batch.weather)
    batch.prop[:], batch.prop_pose[:], batch.prop_style[:] = props
    for _ in range(rounds):
        begun = process_time()
        street_pixels(batch)
        seconds.append(process_time() - begun)
    times = [1e6 * min(part) / scenes for part in (seconds[: 2 * rounds], seconds[2 * rounds :])]
    shares = {"acceptance": tried[1] / tried[0], "placed": street[2].mean(), "visible": street[1].mean()}
    return {"place_us": round(times[0], 1), "sights_us": round(times[1], 1)} | {
        name: round(float(share), 4) for name, share in shares.items()
    }


def main() -> None:
    args = options(__doc__, scenes=2000, rounds=5, entities=60, out="")
    rows = Rows(Path(args.out or RESULTS / "crowds.csv"), machine("numpy"))
    for vehicles in range(2, MOST_VEHICLES + 1):
        measured = measure(vehicles, args.scenes, args.rounds, args.entities)
        rows.add({"vehicles": vehicles, **measured})


if __name__ == "__main__":
    main()
