"""Busy streets: up to eight vehicles, in both lanes and parked at the near kerb, some against their lane.

Vehicles come into the street one by one, the longest first. Each gets a random place among all that are free;
it stays if everything is still framed, apart and, by its box, visible enough. A street stays if all of that
is true by its pixels, and with left and right exchanged. simtown/kernels/processor/crowd.hpp has the
procedure.
"""

import numpy as np

from simtown import kernels
from simtown.core.streams import Stream
from simtown.scenes.camera import Camera
from simtown.scenes.placement import LANES, MOST_VEHICLES, half_sizes
from simtown.scenes.silhouette import kernel_shapes
from simtown.scenes.weather import FOG_THICK, WEATHERS

#: Cameras and the most vehicles that fit before them well: the nominal one shows no parking strip. The others
#: stand farther back and higher.
_CAMERAS = (
    (3, Camera()),
    (6, Camera(y=-17.5, z=8.0, bottom=-0.755)),
    (MOST_VEHICLES, Camera(y=-20.5, z=9.5, bottom=-0.7)),
)


def crowd_camera(most: int) -> Camera:
    """The nearest camera before which `most` vehicles fit. Raises ValueError for more than MOST_VEHICLES."""
    if most > MOST_VEHICLES:
        raise ValueError(f"a street holds at most {MOST_VEHICLES} vehicles, not {most}")
    return next(camera for room, camera in _CAMERAS if most <= room)


def thin_fog(weather: np.ndarray, intensity: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Intensities of weathers in which fog hides the far lane no more than from the nominal camera.

    Args:
        weather: (n,) indices of WEATHERS.
        intensity: (n,) in [0, 1].
        camera: (n, 7) rows.

    Returns:
        (n,) float32.
    """
    farther = (LANES[1][0] - camera[:, 1]) / (LANES[1][0] - Camera().y)
    thinnest, thickest = FOG_THICK
    most = np.clip((thickest / farther - thinnest) / (thickest - thinnest), 0, 1)
    return np.where(weather == WEATHERS.index("fog"), intensity * most, intensity).astype(np.float32)


def place_crowds(
    stream: Stream,
    index: np.ndarray,
    attempt: np.ndarray,
    entity: np.ndarray,
    camera: np.ndarray,
    *,
    tried: np.ndarray | None = None,
    kept: np.ndarray | None = None,
    rough: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses of the vehicles of streets. Runs without the GIL.

    A scene's poses depend on its own kinds and camera and on the address (stream, index, attempt) alone. They
    are as likely with left and right exchanged: x and the camera mirrored, every vehicle in its lane and
    facing with or against it as before.

    Args:
        stream: the draws of places.
        index: (n,) int64 example numbers.
        attempt: (n,) int64; another one gives another street.
        entity: (n, v) int64 kinds, at most MOST_VEHICLES; -1 for an empty slot.
        camera: (n, 7) float32 rows.
        tried: (2,) int64, to which the places that were tried, and those that were taken, are added.
        kept: (n, v, 3) float32 poses of vehicles that stand already; NaN for those that come in.
        rough: leave pixels and the exchange of left and right open, for a tenth of the time; nine streets in
            ten are acceptable. Shares are then those of boxes.

    Returns:
        pose: (n, v, 3) float32 x, y (metres), yaw (radians); 0 in empty slots and where nothing is placed.
        visible: (n, v) float32 share of each vehicle that no other one hides, at least LEAST_VISIBLE.
        placed: (n,) bool, false where no street was found in a bounded number of tries, or what is kept does
            not fit.

    Raises:
        ValueError: there are too many vehicles.
    """
    if entity.shape[1] > MOST_VEHICLES:
        raise ValueError(f"a street holds at most {MOST_VEHICLES} vehicles, not {entity.shape[1]}")
    n, vehicles = entity.shape
    pose = np.full((n, vehicles, 3), np.nan) if kept is None else kept
    pose = np.array(pose, dtype=np.float32, order="C")
    visible, placed = np.zeros((n, vehicles), dtype=np.float32), np.zeros(n, dtype=bool)
    kernels.call(
        "place_crowds",
        **kernel_shapes(),
        key=stream.key,
        index=np.ascontiguousarray(index, dtype=np.int64),
        attempt=np.ascontiguousarray(attempt, dtype=np.int64),
        entity=np.ascontiguousarray(entity, dtype=np.int64),
        camera=np.ascontiguousarray(camera, dtype=np.float32),
        half=half_sizes(),
        pose=pose,
        visible=visible,
        placed=placed,
        tried=np.zeros(2, dtype=np.int64) if tried is None else tried,
        rough=rough,
    )
    return pose, visible, placed


def acceptable(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Whether streets could have been placed, such as ones in which a vehicle was moved, turned or added.

    All is framed, apart and visible enough, with left and right exchanged too.

    Args:
        entity: (n, v) kinds, -1 for an empty slot.
        pose: (n, v, 3) float32.
        camera: (n, 7) float32 rows.

    Returns:
        (n,) bool.
    """
    first = np.zeros(len(entity), dtype=np.int64)
    return place_crowds(Stream(0, "", ""), first, first, entity, camera, kept=pose)[2]
