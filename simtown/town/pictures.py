"""Pictures of a town."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simtown.files import replacing
from simtown.render.raster import Raster
from simtown.town.checks import TownError, shown

if TYPE_CHECKING:
    from PIL import Image


#: The picture's width and height, pixels, where nobody says otherwise.
SIZE = (1024, 576)


@dataclass(frozen=True)
class Frame:
    """One picture of a town; shows itself in notebooks.

    Attributes:
        rgb: (h, w, 3) uint8.
        depth: (h, w) float32 metres along the view's axis, inf for the sky.
        ids: (h, w) uint8, 0 for sky and ground.
        names: the thing of every id.
    """

    rgb: np.ndarray
    depth: np.ndarray
    ids: np.ndarray
    names: dict[int, str]

    @property
    def image(self) -> Image.Image:
        """The picture for Pillow."""
        from PIL import Image

        return Image.fromarray(self.rgb)

    def mask(self, name: object) -> np.ndarray:
        """(h, w) bool, where a thing (or its name) is seen. Raises TownError for one that the town had not."""
        numbers = [i for i, n in self.names.items() if n == str(name)]
        if not numbers:
            raise TownError(f"nothing is called {shown(str(name))} in this picture: frame.names holds the names")
        found: np.ndarray = self.ids == numbers[0]
        return found

    def seen(self) -> set[str]:
        """Names of all that at least one pixel shows."""
        return {self.names[i] for i in np.unique(self.ids).tolist() if i}

    def save(self, path: str | Path) -> None:
        """Write the picture, in the format that the path's ending names.

        Raises:
            TownError: the ending names no format of pictures.
            OSError: the file cannot be written.
        """
        from PIL import Image

        form = Image.registered_extensions().get(Path(path).suffix.lower())
        if form is None:
            raise TownError(f"{path} does not end as a picture does: end it in .png or .jpg")
        with replacing(Path(path)) as temporary:
            self.image.save(temporary, format=form)

    def __repr__(self) -> str:
        return f"<Frame {self.rgb.shape[1]} x {self.rgb.shape[0]}: {', '.join(self.names.values())}>"

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.image.save(data, format="PNG")
        return data.getvalue()


@lru_cache(maxsize=1)
def raster() -> Raster:
    """What draws towns, made once a process."""
    return Raster()
