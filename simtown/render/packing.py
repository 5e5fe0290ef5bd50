"""Colours of samples as one uint64: three lanes of 21 bits, 255 * 16 for full.

A lane has room for the sum of nine samples under weights of 16 in all, and for a product with a share in 1/256: so the tent filter, the
mixing of two colours and their darkening take all three channels at once, in whole numbers.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.exact import kernel

F = np.float32
#: Full brightness, and the mask of what a lane holds.
WHITE = F(4080.0)
LANES = np.uint64(0x1FFF | 0x1FFF << 21 | 0x1FFF << 42)
#: Half of what the tent filter divides by, in every lane.
HALF = np.uint64(0x80 | 0x80 << 21 | 0x80 << 42)


@kernel
def pack(r, g, b):
    """Three colours in [0, 1], or beyond it."""
    x = np.uint64(np.int32(min(max(r, F(0.0)), F(1.0)) * WHITE + F(0.5)))
    y = np.uint64(np.int32(min(max(g, F(0.0)), F(1.0)) * WHITE + F(0.5)))
    z = np.uint64(np.int32(min(max(b, F(0.0)), F(1.0)) * WHITE + F(0.5)))
    return x | (y << np.uint64(21)) | (z << np.uint64(42))


@kernel
def darken(c, share):
    """A share in [0, 1] of a colour."""
    return ((c * np.uint64(np.int32(share * F(256.0) + F(0.5)))) >> np.uint64(8)) & LANES


@kernel
def mix(c, other, share):
    """A colour of which `share` (0 to 256, int) is another's."""
    return ((c * np.uint64(256 - share) + other * np.uint64(share)) >> np.uint64(8)) & LANES


@kernel
def lighten(c, red, green, blue):
    """A colour under more light: part of it comes back in the ground's own colour, part in the lamp's."""
    lane = np.uint64(0x1FFF)
    r = F(np.int32(c & lane)) / WHITE
    g = F(np.int32((c >> np.uint64(21)) & lane)) / WHITE
    b = F(np.int32((c >> np.uint64(42)) & lane)) / WHITE
    return pack(r + red * (F(0.9) * r + F(0.22)), g + green * (F(0.9) * g + F(0.22)), b + blue * (F(0.9) * b + F(0.22)))
