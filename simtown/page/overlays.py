"""Pictures for the page: of the town, with overlays, and of one thing alone."""

from base64 import b64encode
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

from simtown.render.masks import nearness
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


def silhouettes(frame: Frame) -> dict[str, dict[str, Any]]:
    """By name of a visible thing, in units of PLANE: the `box` x0, y0, x1, y1 around its pixels, and the
    `shape` of them, a path of SVG.
    """
    found, scale = {}, PLANE[0] / frame.ids.shape[1]
    for number in np.flatnonzero(np.bincount(frame.ids.ravel()))[1:].tolist() if frame.ids.any() else ():
        mask = (frame.ids == number).view(np.uint8)
        x, y, wide, high = cv2.boundingRect(mask)
        pixels = mask[y : y + high, x : x + wide]
        lines = cv2.findContours(pixels, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE, offset=(x, y))[0]
        corners = [(cv2.approxPolyDP(line, 0.7, True).ravel() * scale).astype(int).tolist() for line in lines]
        box = [scale * side for side in (x, y, x + wide, y + high)]
        shape = "".join(f"M{' '.join(map(str, points))}Z" for points in corners)
        found[frame.names[number]] = {"box": box, "shape": shape}
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
