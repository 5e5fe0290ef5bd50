"""Parts of the kernels by themselves, compiled for the tests."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from simtown.kernels import Library
from simtown.kernels.compiling import HERE, compile_kernels, levels_here
from simtown.kernels.entries import header

#: What a triangle is to set_up: it holds no sample, fill_box draws it, or only fill_triangle can.
EMPTY, BOX, OTHER = range(3)
LANES, WIDE, SMALL, REACH, TAG = 8, 16, 64, 1 << 28, (1 << 14) - 1
ENTRIES = {
    "fill_triangles": """
corners i8 triangles 3 2
inverses f4 triangles 3
samples out u4 height stride
first size
full size
tag size
""",
    "fill_boxes": """
spots f4 corners 4
triangles i4 8 3
samples out u4 8 height stride
todo out u4 8
first size
full size
""",
    "project_points": """
view f4 15
pose f4 6
points f4 3 count
out out f4 4 count
""",
    "hull_corners": """
x i8 points
y i8 points
order out i8 points
out out i8 room
""",
}


@cache
def pieces() -> Library:
    """The library, compiled when a source has changed."""
    source, level = Path(__file__).with_name("pieces.cpp"), levels_here()[0]
    texts = [path.read_bytes() for path in sorted(HERE.glob("*/*.hpp"))]
    digest = sha256(b"".join([source.read_bytes(), header(ENTRIES).encode(), *texts])).hexdigest()[:16]
    path = Path(__file__).parents[2] / ".pytest_cache" / "kernels" / f"pieces-{level}-{digest}.so"
    if not path.exists():
        compile_kernels(path, level, sources=[source], header=header(ENTRIES))
    return Library(path, ENTRIES)
