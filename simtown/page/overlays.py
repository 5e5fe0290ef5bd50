"""Pictures for the page: of the town, with overlays, and of one thing alone."""

import colorsys
from base64 import b64encode
from functools import lru_cache
from typing import Any

import contourpy
import numpy as np

from simtown.render.masks import depth_colours, mask_and_box, picture_file
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.scene import SceneBatch, Weather
from simtown.town.snapshot import Frame
from simtown.town.things import Thing, scene_of

#: Width and height of a picture of one thing, pixels.
THUMB = (144, 96)
#: The units of places in the picture, whatever its size.
PLANE = (1600, 900)
#: A colour for every id, which differ between neighbours.
_COLOURS = np.array([colorsys.hsv_to_rgb(i * 0.618 % 1.0, 0.59, 235) for i in range(256)])


def encoded(pixels: np.ndarray, quality: int = 93) -> str:
    """The data URL of an RGB picture as JPEG."""
    return f"data:image/jpeg;base64,{b64encode(picture_file(pixels, 'JPEG', quality=quality)).decode()}"


def overlaid(frame: Frame, overlay: str) -> np.ndarray:
    """(h, w, 3) uint8: the picture, with the masks of its things, or its depth instead of it."""
    if overlay == "depth":
        return depth_colours(frame.depth)
    if overlay == "masks":
        mixed = (0.35 * frame.rgb + 0.65 * _COLOURS[frame.ids]).astype(np.uint8)
        return np.where(frame.ids[..., None] > 0, mixed, frame.rgb // 2 + 90)
    return frame.rgb


def silhouettes(frame: Frame) -> dict[str, dict[str, Any]]:
    """By name of a visible thing, in units of PLANE: the `box` x0, y0, x1, y1 around its pixels, and the
    `shape` of them, a path of SVG.
    """
    found, scale = {}, PLANE[0] / frame.ids.shape[1]
    for number in np.flatnonzero(np.bincount(frame.ids.ravel()))[1:].tolist() if frame.ids.any() else ():
        found_mask = mask_and_box(frame.ids, number - 1)
        assert found_mask is not None
        mask, (x0, y0, x1, y1) = found_mask
        box = [scale * side for side in (x0, y0, x1, y1)]
        pixels = np.pad(mask[y0:y1, x0:x1], 1).astype(float)
        lines = map(np.asarray, contourpy.contour_generator(z=pixels).lines(0.5))
        corner = (
            x0 - 0.5,
            y0 - 0.5,
        )  # contours go through middles, and of padded pixels
        shape = "".join(_path((corner + _corners(line)) * scale) for line in lines)
        found[frame.names[number]] = {"box": box, "shape": shape}
    return found


def _corners(line: np.ndarray) -> np.ndarray:
    """The points of a closed (n, 2) line at which it turns."""
    steps = np.diff(line, axis=0)
    before = np.roll(steps, 1, axis=0)
    turns = steps[:, 0] * before[:, 1] != steps[:, 1] * before[:, 0]
    return np.asarray(line[:-1][turns])


def _path(points: np.ndarray) -> str:
    """A path of SVG around (n, 2) points."""
    return f"M{' '.join(map(str, points.round().astype(int).ravel().tolist()))}Z"


@lru_cache(maxsize=512)
def thumb(kind: str) -> bytes:
    """A PNG of a kind alone, on nothing."""
    thing = Thing(kind, 0.0, 0.0, style=1 if GROUP[kind] == "building" else 0)
    x, y = thing.outline.T
    wide, tall = float(np.ptp(x)), thing.high - thing.low
    shown = 1.12 * max(wide, 1.5 * tall)  # metres across the picture
    away = 3.0 * shown + 6.0
    eye = thing.low + 0.12 * away
    bottom = (thing.low - 0.06 * shown - eye) / away
    camera = Camera(
        float(x.min() + x.max()) / 2, float(y.min()) - away, eye, focal=away / shown, bottom=bottom
    )
    scene = SceneBatch.of([scene_of([thing], Weather("clear", 0.0, -0.9, 0.9), camera)])
    frames = Raster().render(scene, 2 * THUMB[0], 2 * THUMB[1])
    alpha = np.where(frames.ids[0] > 0, 255, 0).astype(np.uint8)
    pixels = np.dstack([frames.rgb[0], alpha]).astype(np.float32)
    small = pixels.reshape(THUMB[1], 2, THUMB[0], 2, 4).mean(axis=(1, 3))
    return picture_file((small + 0.5).astype(np.uint8))
