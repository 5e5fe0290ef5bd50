"""
A vehicle of your own joins the town
====================================

A mesh and four lines of TOML are a new kind: it is drawn, placed, painted and asked about like every other
one. Here trimesh makes a hot dog on wheels; a GLB or OBJ file from Blender does as well.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import trimesh
from trimesh.creation import box, capsule, cylinder, icosphere
from trimesh.transformations import rotation_matrix, translation_matrix
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

import simtown

# %%
# Build it
# --------
# As glTF has it: metres, y is up, and the front looks along +z. Parts of one material share its name; the
# material "Bun" will be the body, which can be painted.
hot_dog = trimesh.Scene()
UPRIGHT, ACROSS = np.eye(4), rotation_matrix(np.pi / 2, [0, 1, 0])


def add(shape, material, colour, at, turn=UPRIGHT):
    shape.visual = TextureVisuals(material=PBRMaterial(name=material, baseColorFactor=[*colour, 255]))
    hot_dog.add_geometry(shape, transform=translation_matrix(at) @ turn)


for side in (-0.42, 0.42):
    add(capsule(height=3.0, radius=0.52, count=(16, 16)), "Bun", (226, 168, 96), (side, 1.0, 0))
add(capsule(height=4.2, radius=0.42, count=(16, 16)), "Sausage", (190, 50, 30), (0, 1.42, 0))
for step in np.linspace(0, 1, 27):
    place = (0.2 * np.sin(14 * step), 1.84, 3.7 * step - 1.85)
    add(icosphere(subdivisions=1, radius=0.1), "Mustard", (250, 205, 30), place)
add(box((1.1, 0.5, 0.7)), "Glass", (120, 170, 200), (0, 1.35, 1.0))
for x in (-0.72, 0.72):
    for z in (-1.25, 1.25):
        add(cylinder(radius=0.4, height=0.28, sections=20), "Tyre", (25, 25, 28), (x, 0.4, z), ACROSS)
        add(cylinder(radius=0.2, height=0.3, sections=12), "Hub", (190, 190, 195), (x, 0.4, z), ACROSS)
for x in (-0.4, 0.4):
    add(icosphere(subdivisions=2, radius=0.13), "Lights", (255, 245, 200), (x, 0.95, 1.98))

# %%
# Give it a name
# --------------
# The folder holds a mesh and a TOML file for each kind. Keep yours; this one is temporary.
kinds = Path(tempfile.mkdtemp())
hot_dog.export(kinds / "hot dog car.glb")
(kinds / "hot dog car.toml").write_text("""
group = "car"
length = 5
paint = "Bun"
materials = { Bun = "hay", Glass = "glass", Tyre = "tyre", Hub = "hub", Lights = "headlamp" }
""")
simtown.use_kinds(kinds)  # before all else of simtown

# %%
# Drive it into town
# ------------------
town = simtown.Town.random(seed=11, vehicles=0, weather=("clear", 0.3))
town.place("hot dog car", x=-1.0, lane="near")
town.place("ice-cream van", x=5.5, lane="far")
town.place("hot dog car", x=-8.0, lane="far", paint="mint")
figure = plt.figure(figsize=(8, 4.5), frameon=False)
picture = figure.add_axes((0, 0, 1, 1))
picture.imshow(town.render((1024, 576)).rgb)
picture.axis("off")
plt.show()

# %%
# It is asked about like any other vehicle; it is a car, too, as its TOML file says.
for question in (
    "How many hot dog cars are there?",
    "Is hot dog car 1 left of the ice-cream van?",
    "What colour is hot dog car 2?",
    "Is the ice-cream van behind a hot dog car?",
):
    print(f"{question}  {town.ask(question)}")

# %%
# In a shell, ``--kinds FOLDER`` makes data sets of it: ``simtown generate --kinds FOLDER --entities 20``.
