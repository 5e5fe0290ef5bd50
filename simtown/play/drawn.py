"""Pictures for the page: of the town, with overlays, and of one thing alone."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache

import cv2
import numpy as np

from simtown.render.masks import mask_and_box, nearness
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.scene import SceneBatch, Weather
from simtown.town.snapshot import Frame
from simtown.town.things import Thing, scene_of

#: Width and height of a picture of one thing, pixels.
THUMB = (144, 96)
#: A colour for every id, which differ between neighbours.
_HUES = np.array([[i * 0.618 % 1.0 * 180, 150, 235] for i in range(256)], dtype=np.uint8)
_COLOURS = cv2.cvtColor(_HUES[None], cv2.COLOR_HSV2RGB)[0]


def encoded(pixels: np.ndarray, suffix: str, quality: int = 93) -> str:
    """The data URL of an RGB picture as JPEG, or of ids as PNG."""
    bgr = pixels[..., ::-1] if pixels.ndim == 3 else pixels
    data = cv2.imencode(suffix, bgr, [cv2.IMWRITE_JPEG_QUALITY, quality] if suffix == ".jpg" else [])[1]
    kind = "jpeg" if suffix == ".jpg" else "png"
    return f"data:image/{kind};base64,{b64encode(data.tobytes()).decode()}"


def overlaid(frame: Frame, overlay: str) -> np.ndarray:
    """(h, w, 3) uint8: the picture, with the masks of its things, or its depth instead of it."""
    if overlay == "depth":
        return np.asarray(cv2.applyColorMap(nearness(frame.depth), cv2.COLORMAP_INFERNO)[..., ::-1])
    if overlay == "masks":
        mixed = cv2.addWeighted(frame.rgb, 0.35, _COLOURS[frame.ids], 0.65, 0)
        return np.where(frame.ids[..., None] > 0, mixed, frame.rgb // 2 + 90)
    return frame.rgb


def boxes(frame: Frame) -> dict[str, list[float]]:
    """By name, x0, y0, x1, y1 around the visible pixels of each thing, as shares of the picture's sides."""
    ids = np.ascontiguousarray(frame.ids[::2, ::2])
    height, width = ids.shape
    found = {}
    for number in np.flatnonzero(np.bincount(ids.ravel()))[1:].tolist() if ids.any() else ():
        if place := mask_and_box(ids, number - 1):
            x0, y0, x1, y1 = place[1]
            found[frame.names[number]] = [x0 / width, y0 / height, x1 / width, y1 / height]
    return found


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
    picture = cv2.resize(np.dstack([frames.rgb[0][..., ::-1], alpha]), THUMB, interpolation=cv2.INTER_AREA)
    return bytes(cv2.imencode(".png", picture)[1])
