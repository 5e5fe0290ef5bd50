"""Tracks: the places of things in the last seconds, from which relations of motion are measured."""

from __future__ import annotations

import numpy as np

from simtown.town.things import Thing, write

#: Seconds that tracks reach back.
MEMORY = 6.0

#: Times, oldest first, and the x and y of each thing then, metres.
Tracks = list[tuple[float, dict[Thing, tuple[float, float]]]]


def remember(tracks: Tracks, time: float, things: list[Thing]) -> None:
    """Add the places of things now, and drop those that are too old."""
    tracks.append((time, {t: (t.x, t.y) for t in things}))
    while tracks[-1][0] - tracks[0][0] > MEMORY:
        del tracks[0]
    write_tracks(tracks, things)


def forget(tracks: Tracks, thing: Thing) -> None:
    """Drop the places of a thing that did not drive to where it is."""
    write(thing, track=None, way=None)
    for _, places in tracks:
        places.pop(thing, None)


def write_tracks(tracks: Tracks, things: list[Thing]) -> None:
    """Give each thing its places in all moments, or None if it was not there in one of them."""
    for thing in things:
        places = [places[thing] for _, places in tracks if thing in places]
        write(thing, track=np.array(places) if places and len(places) == len(tracks) else None)
