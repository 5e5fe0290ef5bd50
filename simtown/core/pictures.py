"""Pictures from files that may be anybody's:

PNG or JPEG, of a size that is known before anything is unpacked.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path

from PIL import Image

from simtown.core.files import RefusedError, read_bytes

#: Kinds of pictures that are read. Pillow knows some forty; one of them, EPS, starts another program.
FORMATS = ("PNG", "JPEG")
#: Pixels of the largest picture: our largest has 4,096 x 4,096, a camera's 24 million. Unpacked, 25 million
#: take some 200 MB.
MOST_PIXELS = 25_000_000
#: Bytes of the largest file: 25 million pixels of noise.
LARGEST_PICTURE = 100_000_000


def open_picture(path: Path) -> Image.Image:
    """A picture in three colours, of an animation the first one.

    Raises:
        RefusedError: it is no PNG or JPEG, or too large.
        OSError: it cannot be read, or is cut short.
    """
    content = read_bytes(path, LARGEST_PICTURE)
    try:
        with warnings.catch_warnings():
            # of large pictures, which are refused here, and of damaged EXIF data
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
                width, height = opened.size
                if width * height <= MOST_PIXELS:
                    return opened.convert("RGB")
    except OSError:
        raise
    except Image.DecompressionBombError:
        pass  # more pixels yet
    except Exception as error:  # Pillow raises a dozen kinds for damaged files
        raise RefusedError(f"it is damaged ({type(error).__name__})") from error
    raise RefusedError(f"it has more than {MOST_PIXELS:,} pixels: make it smaller")
