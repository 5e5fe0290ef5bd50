"""The town's colours: one harmonious palette, a material per triangle.

A material is a colour plus how the town's light treats it. Colours are display sRGB in [0, 1]. The order of
:data:`MATERIALS` is part of the data format only through pictures: append, do not reorder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: How a material answers to light and weather (column ``kind`` of the renderer's material table).
MATTE, GLASS, WINDOW, HEADLAMP, TAILLAMP, GLOW, TINT_WALL, TINT_ROOF = range(8)
LEAF, GROUND, ROAD, TINT_CLOTH, CLOUD = range(8, 13)


@dataclass(frozen=True)
class Material:
    """One entry of the palette: its sRGB colour as ``0xRRGGBB`` and how light treats it, such as MATTE."""

    name: str
    rgb: int
    kind: int = MATTE

    @property
    def colour(self) -> tuple[float, float, float]:
        return ((self.rgb >> 16) / 255.0, (self.rgb >> 8 & 255) / 255.0, (self.rgb & 255) / 255.0)


_PAINTS = {
    "white": 0xF4F1EA, "cream": 0xF2E2BE, "silver": 0xB9C0C7, "grey": 0x8A9099, "charcoal": 0x4A4F58,
    "black": 0x24262C, "red": 0xD8352F, "crimson": 0xA3203A, "coral": 0xF2766B, "orange": 0xF08A24,
    "amber": 0xF5B82E, "yellow": 0xFAD23C, "lime": 0xA8CF45, "green": 0x3FA34D, "forest": 0x2B6B45,
    "olive": 0x77803F, "teal": 0x1F9C94, "mint": 0x9FDCC4, "sky": 0x6FBDEB, "blue": 0x2F6FD0,
    "navy": 0x223C78, "purple": 0x7E4FB0, "lilac": 0xBFA2E0, "pink": 0xF29BBE, "magenta": 0xD43F8D,
    "brown": 0x7D5230, "tan": 0xC9A26B, "sand": 0xE0C895, "wood": 0x9C6B3C, "brick": 0xB35A43,
    "rust": 0x9A4A26, "gold": 0xD9A834, "skin": 0xE8B48C, "skin dark": 0x8D5A3B, "hay": 0xE3C15A,
    "concrete": 0xB8B4AA,
}  # fmt: skip
_PARTS: tuple[tuple[Any, ...], ...] = (
    ("tyre", 0x2B2D33), ("hub", 0xC7CCD2), ("steel", 0x9AA3AD), ("dark", 0x33363D),
    ("glass", 0x35506B, GLASS), ("window", 0x5E7F9B, WINDOW), ("headlamp", 0xFFF4C8, HEADLAMP),
    ("taillamp", 0xC41F2B, TAILLAMP), ("beacon red", 0xFF3B30, GLOW), ("beacon blue", 0x2E7BFF, GLOW),
    ("beacon amber", 0xFFB020, GLOW), ("lamp glow", 0xFFE6A3, GLOW), ("wall", 0xFFFFFF, TINT_WALL),
    ("roof", 0xFFFFFF, TINT_ROOF), ("cloth", 0xFFFFFF, TINT_CLOTH), ("leaf", 0x5FA84A, LEAF),
    ("leaf dark", 0x468C40, LEAF), ("needle", 0x2F7350, LEAF), ("bark", 0x6E4B33), ("trim", 0xF6F2E8),
    ("stone", 0xA39E93), ("grass", 0x86B85A, GROUND), ("pavement", 0xC9C3B6, GROUND),
    ("kerb", 0xDDD8CC, GROUND), ("asphalt", 0x62666E, ROAD), ("marking", 0xF3F0E4, ROAD),
    ("marking yellow", 0xF2C84B, ROAD), ("lawn", 0x9CC76B, GROUND), ("cloud", 0xFFFFFF, CLOUD),
    ("water", 0x4FA3C9, GLASS), ("parking", 0x75767C, ROAD), ("iron", 0x4C4F57, ROAD), ("hill", 0x6DAA57),
    ("hill far", 0x5A9078),
)  # fmt: skip

#: Every material of the town; a triangle stores an index into this tuple.
MATERIALS: tuple[Material, ...] = tuple(Material(*row) for row in [*_PAINTS.items(), *_PARTS])

#: Names of the plain paints, which come first.
PAINTS: tuple[str, ...] = tuple(_PAINTS)

#: {colour word: paints that it names}. Where Zhang et al. (2022, Table 7) merge two words, so do we.
COLOUR_WORDS: dict[str, tuple[str, ...]] = {
    "black": ("black",), "blue": ("blue", "sky", "navy"), "brown": ("brown", "tan", "sand", "wood", "rust"),
    "gray": ("grey", "charcoal", "concrete"), "green": ("green", "lime", "forest", "olive", "teal", "mint"),
    "orange": ("orange", "amber"), "pink": ("pink", "coral", "magenta"), "purple": ("purple", "lilac"),
    "red": ("red", "crimson", "brick"), "silver": ("silver",), "white": ("white", "cream"),
    "yellow": ("yellow", "gold", "hay"),
}  # fmt: skip
#: {paint: other colour words that people may use for it}; no question may hang on which.
ALSO_CALLED: dict[str, tuple[str, ...]] = {
    "amber": ("yellow",), "gold": ("orange", "brown"), "hay": ("brown",), "coral": ("red", "orange"),
    "magenta": ("purple",), "teal": ("blue",), "mint": ("blue",), "olive": ("brown",), "cream": ("yellow",),
    "sand": ("yellow",), "tan": ("orange", "yellow"), "brick": ("brown", "orange"), "rust": ("red", "orange"),
    "silver": ("gray", "white"), "charcoal": ("black",),
}  # fmt: skip

_INDEX = {m.name: i for i, m in enumerate(MATERIALS)}


def _colours(text: str) -> tuple[int, ...]:
    return tuple(int(colour, 16) for colour in text.split())


#: Colours an instance's ``tint`` chooses among, by slot: walls, roofs, clothes.
WALL_TINTS = _colours("F3D9B1 E9B7A0 BFD8D2 F0E6D2 D7A98C AFC4DE E8C8D8 C9D6A3 C77B5F DDD3C4")
ROOF_TINTS = _colours("B5523F 6C4A45 59697A 8A5A44 4F6E66 9C6B58 74606E 5B5F66 A4473C 7A7468")
CLOTH_TINTS = _colours("D8483E 2F6FD0 F5B82E 3FA34D 7E4FB0 F4F1EA 1F9C94 F29BBE 4A4F58 F08A24")
#: How many tints there are; an instance's tint is an integer below this.
TINTS = len(WALL_TINTS)


def material(name: str) -> int:
    """Index of the material called `name` (KeyError for one the palette lacks)."""
    return _INDEX[name]


def rgb_table(colours: tuple[int, ...]) -> np.ndarray:
    """(n, 3) float32 sRGB in [0, 1] of ``0xRRGGBB`` numbers."""
    import numpy as np

    packed = np.array(colours, dtype=np.int64)
    return (np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=-1) / 255.0).astype(np.float32)
