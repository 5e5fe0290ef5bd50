"""Colours of samples as one uint64: three lanes of 21 bits, 255 * 16 for full.

A lane has room for the sum of nine samples under weights of 16 in all, and for a product with a share in
1/256: so the tent filter, the mixing of two colours and their darkening take all three channels at once, in
whole numbers. The two bits above the lanes say whether a sample shows ground, and which.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.core.exact import inner_kernel
from simtown.render.lanes import convert

F = np.float32
#: Full brightness, and the mask of what a lane holds.
WHITE = F(4080.0)
LANES = np.uint64(0x1FFF | 0x1FFF << 21 | 0x1FFF << 42)
#: Half of what the tent filter divides by, in every lane.
HALF = np.uint64(0x80 | 0x80 << 21 | 0x80 << 42)
#: Where the two bits above the lanes begin, and the mask of a colour without them.
FLAGS = np.uint64(62)
COLOUR = np.uint64((1 << 62) - 1)


@inner_kernel
def pack(r, g, b):
    """Three colours in [0, 1], or beyond it."""
    x = np.uint64(np.int32(min(max(r, F(0.0)), F(1.0)) * WHITE + F(0.5)))
    y = np.uint64(np.int32(min(max(g, F(0.0)), F(1.0)) * WHITE + F(0.5)))
    z = np.uint64(np.int32(min(max(b, F(0.0)), F(1.0)) * WHITE + F(0.5)))
    return x | (y << np.uint64(21)) | (z << np.uint64(42))


@inner_kernel
def pack_lanes(r, g, b):
    """As pack, of vectors."""
    x = convert(convert(min(max(r, F(0.0)), F(1.0)) * WHITE + F(0.5), np.int32), np.uint64)
    y = convert(convert(min(max(g, F(0.0)), F(1.0)) * WHITE + F(0.5), np.int32), np.uint64)
    z = convert(convert(min(max(b, F(0.0)), F(1.0)) * WHITE + F(0.5), np.int32), np.uint64)
    return x | (y << np.uint64(21)) | (z << np.uint64(42))


@inner_kernel
def mix(c, other, share):
    """A colour of which `share` (0 to 256, uint64) is another's.

    Numbers or vectors, as for all that follows.
    """
    return ((c * (np.uint64(256) - share) + other * share) >> np.uint64(8)) & LANES


@inner_kernel
def glow_of(red, green, blue):
    """What light of a lamp adds to the darkest ground: a small part of the lamp's colour, packed."""
    x = np.uint64(min(red, F(2.0)) * F(1150.0))
    y = np.uint64(min(green, F(2.0)) * F(1150.0))
    z = np.uint64(min(blue, F(2.0)) * F(1150.0))
    return x | (y << np.uint64(21)) | (z << np.uint64(42))


@inner_kernel
def dimmed(c, level):
    """`level` (0 to 256, uint64) of 256 parts of a colour."""
    return ((c * level) >> np.uint64(8)) & LANES


@inner_kernel
def lighten(c, glow):
    """A colour under the light of lamps: it becomes brighter, and a part of the lamps' colour is added."""
    gain = min(
        np.uint64(256) + (((glow >> np.uint64(21)) & np.uint64(0x1FFF)) >> np.uint64(3)), np.uint64(512)
    )
    total = (((c * gain) >> np.uint64(8)) & LANES) + glow
    lane, most = np.uint64(0x1FFFFF), np.uint64(4080)
    low = min(total & lane, most)
    middle = min((total >> np.uint64(21)) & lane, most)
    upper = min(total >> np.uint64(42), most)
    return low | (middle << np.uint64(21)) | (upper << np.uint64(42))
