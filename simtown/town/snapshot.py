"""Pictures of a town."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simtown.core.files import replacing
from simtown.render.raster import MOST_TRIANGLES, Raster, TooManyTrianglesError
from simtown.scenes.scene import SceneBatch
from simtown.town.checks import TownError, folded, shown

if TYPE_CHECKING:
    from PIL import Image


#: The default width and height of a picture, pixels.
SIZE = (1024, 576)


@dataclass(frozen=True)
class Frame:
    """One picture of a town, which notebooks display.

    Attributes:
        rgb: (h, w, 3) uint8.
        depth: (h, w) float32 metres along the view's axis, inf for the sky.
        ids: (h, w) uint8 instance ids, 0 for sky and ground.
        names: the name of the thing of every id.

    >>> import simtown
    >>> picture = simtown.Town.random(seed=3).render((512, 288))
    >>> picture.rgb.shape, picture.names[1], int((picture.ids == 1).sum())
    ((288, 512, 3), 'kick scooter', 521)
    """

    rgb: np.ndarray
    depth: np.ndarray
    ids: np.ndarray
    names: dict[int, str]

    @property
    def image(self) -> Image.Image:
        """The picture as a Pillow image."""
        from PIL import Image

        return Image.fromarray(self.rgb)

    def mask(self, name: object) -> np.ndarray:
        """(h, w) bool, the visible pixels of a thing, by its name. Raises TownError if no thing has it."""
        ids = [i for i, n in self.names.items() if folded(n) == folded(str(name))]
        if not ids:
            problem = f"nothing is called {shown(str(name))} in this picture"
            raise TownError(f"{problem}: frame.names holds the names")
        mask: np.ndarray = self.ids == ids[0]
        return mask

    def seen(self) -> set[str]:
        """Names of the things that have at least one visible pixel."""
        return {self.names[i] for i in np.unique(self.ids).tolist() if i}

    def save(self, path: str | Path) -> None:
        """Write the picture, in the format that the path's ending names, such as "town.png"."""
        from PIL import Image

        path = Path(path)
        picture_format = Image.registered_extensions().get(path.suffix.lower())
        if picture_format is None:
            raise TownError(f"{path} does not end as a picture does: end it in .png or .jpg")
        with replacing(path) as temporary:
            self.image.save(temporary, format=picture_format)

    def __repr__(self) -> str:
        seen = self.seen()
        lists = [[n for n in self.names.values() if (n in seen) is whether] for whether in (True, False)]
        shown, hidden = (", ".join(names) for names in lists)
        height, width = self.ids.shape
        return f"<Frame {width} x {height}: {shown}{hidden and '; not in view: '}{hidden}>"

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.image.save(data, format="PNG")
        return data.getvalue()


def draw(batch: SceneBatch, names: list[str], size: tuple[int, int]) -> Frame:
    """The picture of a town's only scene, whose vehicles and then props have some names."""
    try:
        frames = Raster().render(batch, *size)
    except TooManyTrianglesError as error:
        problem = f"the picture shows more triangles than {MOST_TRIANGLES}"
        raise TownError(f"{problem}: take things out of the town") from error
    vehicle_ids, prop_ids = batch.ids(0)
    ids = dict(zip(vehicle_ids + prop_ids, names, strict=True))
    return Frame(frames.rgb[0], frames.depth[0], frames.ids[0], ids)
