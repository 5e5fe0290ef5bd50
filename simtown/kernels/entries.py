"""The entry points of the compiled kernels: what each receives, from which their C++ headers are made.

A line is an array: its name, "out" if it is written, its dtype ("*": float32, or bfloat16 as int16) and
its shape in numbers and names of sizes. Arrays of one entry point agree in every named size. A line "name
size" is a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: What a kernel returns that found no memory.
NO_MEMORY = -100

#: The meshes of vehicles (:class:`simtown.scenes.silhouette.Shapes`).
_SHAPES = """
columns f4 3 vertices
vertex_start i8 meshes_and_1
points f4 3 points_count
point_start i8 entities_and_1
planes f4 4 planes_count
plane_start i8 entities_and_1
edges u2 4 edges_count
edge_start i8 entities_and_1
shape_half f4 all_entities 2
most_vertices size
most_planes size
most_edges size
"""
#: Kinds of street things by the part they play (:class:`simtown.scenes.street.PropKinds`), and weathers.
_STREET = """
building i2 buildings
tree i2 trees
winter i2 winters
mailbox i2 mailboxes
small i2 smalls
person i2 people
sideways i2 sideways_people
hedge i2 hedges
winter_hedge i2 winter_hedges
cloud i2 clouds
lamp i2 lamps
prop_half f8 props
tints size
poses size
bare_trees b1 all_weathers
has_clouds b1 all_weathers
"""
#: All meshes and the palette (:func:`simtown.render.mesh_tables.town`).
_TOWN = """
columns f4 3 vertices
vertex_start i8 meshes_and_1
triangles i4 triangles_count 3
triangle_start i8 meshes_and_1
normals f4 triangles_count 4
materials u1 triangles_count
parts u1 triangles_count
body b1 triangles_count
hull f4 hull_count 3
hull_start i8 meshes_and_1
lamps f4 lamps_count 5
lamp_start i8 meshes_and_1
radius f4 meshes_count
girths f4 meshes_count
bases f4 meshes_count 4
roles u1 meshes_count
palette f4 materials_count 3
kinds u1 materials_count
tints f4 3 10 3
"""
#: Scenes as renderers see them.
_SCENES = """
views f4 scenes 15
lights f4 scenes 45
meshes i4 scenes slots
poses f4 scenes slots 6
styles u2 scenes slots
ids u1 slots
paints u1 scenes slots
fall_seeds u4 scenes
"""
#: Maps of a network and what labels add to them (:mod:`simtown.training.models.stage`).
_MAPS = """
x * pictures groups lanes
added f4 labels kinds channels
kind_of i8 rows places
row_of i8 groups
centre f4 channels
half size
"""

ENTRIES = {
    "draw_bits": """
key u8 2
index i8 addresses
attempt i8 addresses
out out u8 addresses draws
""",
    "silhouettes": f"""{_SHAPES}
entity i8 scenes vehicles
pose f4 scenes vehicles 3
camera f4 scenes 7
box out f4 scenes vehicles 4
framed out b1 scenes
visible out f4 scenes vehicles
width size
height size
shares size
""",
    "draw_streets": f"""{_STREET}
key u8 2
index i8 examples
weather u1 examples
prop out i2 examples 37
prop_pose out f4 examples 37 5
prop_style out u2 examples 37
""",
    "sample": f"""{_SHAPES}{_STREET}
index i8 examples
keys u8 11 2
subject f8 entities
object f8 entities
sums f8 vehicles entities
relations i8 asked
mirrors b1 images 2
mirrors_of_three size
exchangeable size
weathers u1 allowed
phrasings i8 forms
paints f8 paint_count
may_change b1 entities_and_1
half f8 all_entities 2
axis i8 all_relations
sign i8 all_relations
least f8 all_relations
elevation f8 all_weathers 2
entity out i2 examples vehicles
pose out f4 examples vehicles 3
paint out i1 examples vehicles
prop out i2 examples 37
prop_pose out f4 examples 37 5
prop_style out u2 examples 37
weather out u1 examples
intensity out f4 examples
sun out f4 examples 2
fall_seed out u4 examples
camera f4 examples 7
answer out b1 examples
subject_slot out i8 examples
object_slot out i8 examples
relation out i8 examples
phrasing out i8 examples
margin out f4 examples
visible out f4 examples vehicles
tried out i8 4 2
""",
    "place_crowds": f"""{_SHAPES}
key u8 2
index i8 scenes
attempt i8 scenes
entity i8 scenes vehicles
camera f4 scenes 7
half f8 all_entities 2
pose out f4 scenes vehicles 3
visible out f4 scenes vehicles
placed out b1 scenes
tried out i8 2
rough size
""",
    "see_colours": """
entity i8 scenes vehicles
pose f4 scenes vehicles 3
camera f4 scenes 7
body i1 scenes vehicles
start i8 all_entities_and_1
middle f8 faces 3
area f8 faces 3
colour i1 faces
shares out f8 scenes vehicles colours
""",
    "run_programs": """
programs i2 scenes length
kind i2 scenes slots
solid i2 scenes slots
sight i1 scenes slots
pose f4 scenes slots 3
scale f8 scenes slots
bulk f8 scenes slots
camera f4 scenes 7
weather i8 scenes
value i2 scenes vehicles attributes
colours i1 scenes vehicles colour_words
hides i1 scenes vehicles
met i1 scenes vehicles vehicles
called i2 scenes vehicles
places i2 words
noun_places i2 numbers
nouns b1 noun_count kinds
alike i1 noun_count kinds
noun_colours i2 noun_count
relations f8 relation_count 4
constants f8 1
outlines f8 solids_and_1 corners 2
corner_count i8 solids_and_1
answer out i8 scenes
number out f8 scenes
state out i1 scenes
margin out f8 scenes
idle out b1 scenes
""",
    "see_streets": f"""{_SHAPES}
shape_middle f4 all_entities 2
mesh i4 scenes slots
pose f4 scenes slots 6
camera f4 scenes 7
seen out f4 scenes slots
whole out f4 scenes slots
width size
height size
""",
    "draw": f"""{_TOWN}{_SCENES}
rgb out u1 scenes height width 3
depth out f4 depths depth_height depth_width
ids_out out u1 depths depth_height depth_width
first size
last size
strip size
most_vertices size
most_faces size
most_corners size
most_lamps size
most_ground size
""",
    "lay_over": f"""{_TOWN}{_SCENES}
nearness u2 height width
rgb out u1 height width 3
""",
    "shade_faces": f"""{_TOWN}
light f4 45
suns i8 shaded
face_materials u1 shaded
face_styles u2 shaded
face_parts u1 shaded
nz f4 shaded
facing f4 shaded
glance f4 shaded
out out f4 shaded 3
""",
    "find_path": """
cost f8 columns rows
prices f8 3
row size
swerve size
taken out i8 columns
""",
    "deflate_picture": """
rgb u1 height width 3
out out u1 room
""",
    "cut_records": """
data u1 bytes
position size
state out i8 4
places out i8 room
out out i8 3
""",
    "norm_sums": f"""{_MAPS}
results size
sums out f8 2 channels
""",
    "norm_results": f"""{_MAPS}
scale f4 lanes
shift f4 lanes
keep f4 results lanes
y out * results groups lanes
""",
    "norm_gradient_sums": f"""{_MAPS}
scale f4 lanes
shift f4 lanes
keep f4 results lanes
gradient * results groups lanes
sums out f8 2 channels
""",
    "norm_gradients": f"""{_MAPS}
scale f4 lanes
shift f4 lanes
keep f4 results lanes
gradient * results groups lanes
slope f4 lanes
offset f4 lanes
of_x out * pictures groups lanes
of_added out f4 labels kinds channels
""",
    "canary": """
single f4 4
wide f8 4
""",
}

_C_TYPES = {
    "f8": "double", "f4": "float", "i8": "int64_t", "i4": "int32_t", "i2": "int16_t", "i1": "int8_t",
    "u8": "uint64_t", "u4": "uint32_t", "u2": "uint16_t", "u1": "uint8_t", "b1": "bool", "*": "void",
}  # fmt: skip


class Array(NamedTuple):
    """An array of an entry point; a size of its shape is a number or a name."""

    name: str
    written: bool
    dtype: str
    shape: tuple[int | str, ...]


class EntryPoint(NamedTuple):
    """An entry point.

    Attributes:
        arrays: in the order of the C++ struct.
        numbers: names of numbers that are given.
        sizes: names of sizes that follow from the arrays' shapes.
    """

    arrays: tuple[Array, ...]
    numbers: tuple[str, ...]
    sizes: tuple[str, ...]


def entry(text: str) -> EntryPoint:
    """The arguments of the entry point that this text declares."""
    arrays, numbers = [], []
    for line in text.split("\n"):
        if line.endswith(" size"):
            numbers.append(line.split()[0])
        elif line:
            array, *rest = line.split()
            written = rest[0] == "out"
            dtype, *shape = rest[written:]
            arrays.append(Array(array, written, dtype, tuple(int(s) if s.isdigit() else s for s in shape)))
    sizes = dict.fromkeys(s for array in arrays for s in array.shape if isinstance(s, str))
    return EntryPoint(tuple(arrays), tuple(numbers), tuple(sizes))


def header(entries: Mapping[str, str] = ENTRIES) -> str:
    """The C++ structs of entry points: pointers, then numbers, then sizes."""
    lines = [
        "// Made of simtown/kernels/entries.py.",
        "#pragma once",
        "#include <stdint.h>",
        f"enum {{ NO_MEMORY = {NO_MEMORY} }};",
    ]
    for name, text in entries.items():
        arrays, numbers, sizes = entry(text)
        lines.append(f"struct {name.title().replace('_', '')} {{")
        lines += [f"    {'' if a.written else 'const '}{_C_TYPES[a.dtype]}* {a.name};" for a in arrays]
        lines += [f"    int64_t {number};" for number in (*numbers, *sizes)]
        lines.append("};")
    return "\n".join(lines) + "\n"
