"""Sequences: one street in several pictures, which differ in moment, camera or one edit.

A vehicle drives along its lane at one speed until a moment, and at another from then on. Places follow by
additions and multiplications alone, so they have the same bytes on every processor. :func:`pictures` makes
the scenes of all pictures; the renderer, the evaluator and `verify` use no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from simtown.core.files import DamagedError
from simtown.scenes.placement import half_sizes
from simtown.scenes.scene import LARGEST_MEASURE, SceneBatch, plausible

#: The slot of a sequence in which nothing is edited.
UNEDITED = 255


@dataclass
class Sequence:
    """n sequences of P pictures; the sequence first. Everything is in the order of time, whatever is shown.

    Attributes:
        street: n scenes at the anchor moment, second 0, before the edit.
        motion: (n, v, 3) float32 two speeds along the road, metres a second, positive to +x, and the second
            at which the first gives way to the other.
        seconds: (n, P) float32 of each picture, counted from the anchor moment.
        cameras: (n, P, 7) float32 rows of :class:`~simtown.scenes.camera.Camera`.
        edited: (n,) uint8 slot of the vehicle that is another one from the second picture on, or UNEDITED.
        edit_entity: (n,) int16 its kind then, -1 if it is gone.
        edit_pose: (n, 3) float32 its place then.
        edit_paint: (n,) int8 its paint then.
    """

    street: SceneBatch
    motion: np.ndarray
    seconds: np.ndarray
    cameras: np.ndarray
    edited: np.ndarray
    edit_entity: np.ndarray
    edit_pose: np.ndarray
    edit_paint: np.ndarray

    @classmethod
    def still(cls, street: SceneBatch, count: int) -> Sequence:
        """Sequences of `count` equal pictures of some streets."""
        n, vehicles = street.entity.shape
        return cls(
            street=street,
            motion=np.zeros((n, vehicles, 3), np.float32),
            seconds=np.zeros((n, count), np.float32),
            cameras=np.repeat(street.camera[:, None], count, axis=1),
            edited=np.full(n, UNEDITED, np.uint8),
            edit_entity=np.full(n, -1, np.int16),
            edit_pose=np.zeros((n, 3), np.float32),
            edit_paint=np.full(n, -1, np.int8),
        )

    @classmethod
    def of_columns(cls, columns: Mapping[str, np.ndarray]) -> Sequence:
        """The sequences of the columns of a shard; inverse of :meth:`columns`."""
        own = {name: columns[f"scene/{name}"] for name in COLUMNS}
        return cls(SceneBatch.of_columns(columns), **own)

    def columns(self) -> dict[str, np.ndarray]:
        """The arrays by the names that they have in shards."""
        return self.street.columns() | {f"scene/{name}": getattr(self, name) for name in COLUMNS}

    def __len__(self) -> int:
        return len(self.seconds)

    def __getitem__(self, rows: slice | np.ndarray) -> Sequence:
        """The sequences of a slice or an index array."""
        return Sequence(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def keep(self, rows: np.ndarray, found: Sequence) -> None:
        """Put other sequences into some rows."""
        for f in fields(SceneBatch):
            getattr(self.street, f.name)[rows] = getattr(found.street, f.name)
        for name in COLUMNS:
            getattr(self, name)[rows] = getattr(found, name)


#: The arrays of a sequence beside those of its street.
COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(Sequence))[1:]


def travel(motion: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Metres along the road from the anchor moment to others.

    Args:
        motion: (n, v, 3) as :class:`Sequence` has it.
        seconds: (n, k).

    Returns:
        (n, k, v) float64.
    """
    first, then, change = (column[:, None] for column in np.moveaxis(motion.astype(np.float64), 2, 0))
    moments = seconds.astype(np.float64)[..., None]

    def since_change(at: np.ndarray) -> np.ndarray:
        return first * np.minimum(at - change, 0) + then * np.maximum(at - change, 0)

    return np.asarray(since_change(moments) - since_change(np.zeros_like(moments)))


def in_order(count: int, n: int = 1) -> np.ndarray:
    """(n, count) uint8: the order of time of n sequences."""
    return np.tile(np.arange(count, dtype=np.uint8), (n, 1))


def pictures(sequence: Sequence, order: np.ndarray | None = None) -> SceneBatch:
    """The scenes of all pictures of n sequences: n P rows, those of a sequence one after the other.

    A vehicle in which the camera stands is left out: its driver sees the picture.

    Args:
        sequence: n sequences of P pictures.
        order: (n, P) the pictures that are shown one after the other; by default they are in the order of
            time.
    """
    n, count = sequence.seconds.shape
    order = in_order(count, n) if order is None else order
    of, which = np.repeat(np.arange(n), order.shape[1]), order.reshape(-1).astype(np.int64)
    scenes = sequence.street[of]
    moved = travel(sequence.motion, sequence.seconds)[of, which]
    pose = scenes.pose.copy()
    pose[..., 0] = (pose[..., 0].astype(np.float64) + moved).astype(np.float32)
    entity, paint = scenes.entity.copy(), scenes.paint.copy()
    later = np.flatnonzero((sequence.edited[of] != UNEDITED) & (which > 0))
    slot, own = sequence.edited[of[later]], of[later]
    entity[later, slot] = sequence.edit_entity[own]
    pose[later, slot] = sequence.edit_pose[own]
    paint[later, slot] = sequence.edit_paint[own]
    camera = sequence.cameras[of, which]
    inside = _holds_camera(entity, pose, camera)
    entity[inside], pose[inside], paint[inside] = -1, 0, -1
    return replace(
        scenes,
        entity=entity,
        pose=pose,
        paint=paint,
        camera=camera,
        fall_seed=scenes.fall_seed + which.astype(np.uint32),
    )


def _holds_camera(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """(m, v) bool, in which vehicles a camera stands, that of a driver: these are not drawn."""
    off = np.abs(pose[..., :2].astype(np.float64) - camera[:, None, :2]) < half_sizes()[entity]
    return np.asarray(off.all(axis=2) & (entity >= 0))


def known(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n,) bool: which stored sequences have an order, an edited slot and finite measures."""
    vehicles, count, edited = (
        columns["scene/motion"].shape[1],
        columns["order"].shape[1],
        columns["scene/edited"],
    )
    fine = (edited < vehicles) | (edited == UNEDITED)
    fine &= (np.sort(columns["order"], axis=1) == np.arange(count)).all(axis=1)
    for name in ("motion", "seconds", "cameras", "edit_pose"):
        measures = columns[f"scene/{name}"].reshape(len(fine), -1)
        fine &= (np.abs(measures) < LARGEST_MEASURE).all(axis=1)
    return np.asarray(fine)


def stored_pictures(columns: Mapping[str, np.ndarray]) -> SceneBatch:
    """The scenes of the pictures that n stored examples show: n P rows.

    Raises DamagedError if a number stands for nothing.
    """
    if known(columns).all():
        shown = pictures(Sequence.of_columns(columns), columns["order"])
        if plausible(shown).all():
            return shown
    wrong = "a sequence has numbers that stand for nothing in the town"
    raise DamagedError(f"{wrong}: run simtown verify on its data set")


def seconds_shown(seconds: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(P,) seconds of a sequence's pictures, as they are shown in an order, from the first one on."""
    shown = seconds[order]
    return np.asarray(np.abs(shown - shown[0]))


def picture_rows(sequence: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The rows of the pictures of a shard that its examples show.

    Args:
        sequence: (n,) numbers of sequences, which do not fall; each has its P pictures once.
        order: (n, P) which of these are shown, one after the other.

    Returns:
        (n, P) int64.
    """
    place = np.cumsum(np.diff(sequence, prepend=sequence[:1]) != 0)
    return np.asarray(place[:, None] * order.shape[1] + order.astype(np.int64))
