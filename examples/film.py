"""
A film of a street
==================

Vehicles drive and people walk, and the ground truth moves along: boxes, masks, depth, and relations such as
"overtaking", which only a moving street can have. Motion needs the extra ``physics``.
"""

import tempfile
from base64 import b64encode
from pathlib import Path

import matplotlib.pyplot as plt

import simtown


# %%
# Set a street in motion
# ----------------------
# A scooter comes from behind, faster than the tractor; a taxi comes the other way.
def street():
    town = simtown.Town.random(seed=21, vehicles=0, weather=("dusk", 0.6))
    town.drive(town.place("tractor", x=-4.5, y=-2.6), 1.5)
    town.drive(town.place("scooter", x=-8.5, y=-0.6), 5.0)
    town.drive(town.place("taxi", x=11.0, lane="far"), 4.0)
    return town


town = street()

# %%
# Ask while it moves
# ------------------
# The town remembers the last six seconds.
figure, frames = plt.subplots(2, 2, figsize=(8, 5.1))
figure.subplots_adjust(left=0, right=1, top=0.95, bottom=0, wspace=0.02, hspace=0.13)
for frame in frames.flat:
    overtaking = town.ask("Is the scooter overtaking the tractor?")
    print(f"{town.time:.1f} s  {overtaking}")
    frame.imshow(town.render((768, 432)).rgb)
    frame.axis("off")
    words = {True: "overtaking", False: "not overtaking", None: "too close to say"}[overtaking.truth]
    frame.set_title(f"{town.time:.1f} s: {words}", fontsize=11, weight="bold")
    town.step(1.4)
plt.show()

# %%
# Film it
# -------
# ``film`` writes an MP4 or a GIF, and returns what touched what.
clip = Path(tempfile.mkdtemp()) / "street.mp4"
contacts = street().film(clip, seconds=5, fps=20, size=(480, 270))
print(f"{clip.name}: {clip.stat().st_size // 1024} kB, {len(contacts)} collisions")


class Film:
    def _repr_html_(self):
        source = f"data:video/mp4;base64,{b64encode(clip.read_bytes()).decode()}"
        return (
            f'<video src="{source}" style="max-width: 100%" autoplay loop muted playsinline controls></video>'
        )


Film()
