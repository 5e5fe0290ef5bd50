"""
A film of a street
==================

Vehicles drive, and the ground truth moves along: boxes, masks, depth, and questions that no single picture
answers.
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
town = simtown.Town.random(seed=21, vehicles=0, weather=("dusk", 0.6))
town.drive(town.place("tractor", x=-4.5, y=-2.6), 0.8)
town.drive(town.place("scooter", x=-7.5, y=-0.6), 3.0)
town.drive(town.place("taxi", x=7.0, lane="far"), 3.0)

# %%
# Ask about it
# ------------
# The answers come from five pictures, a second apart.
film = town.film(seconds=4, pictures=5, size=(768, 432))
figure, frames = plt.subplots(2, 2, figsize=(8, 5.1))
figure.subplots_adjust(left=0, right=1, top=0.95, bottom=0, wspace=0.02, hspace=0.13)
for number, axes in enumerate(frames.flat):
    axes.imshow(film[number].rgb)
    axes.axis("off")
    axes.set_title(f"picture {number + 1}: {film.seconds[number]:g} s", fontsize=11, weight="bold")
plt.show()
print(film.ask("Does the scooter overtake the tractor?"))
print(film.ask("How many vehicles pass the tractor?"))

# %%
# Film it
# -------
clip = Path(tempfile.mkdtemp()) / "street.mp4"
town.film(seconds=4, pictures=81, size=(480, 270)).save(clip)
print(f"{clip.name}: {clip.stat().st_size // 1024} kB")


class Film:
    def _repr_html_(self):
        source = f"data:video/mp4;base64,{b64encode(clip.read_bytes()).decode()}"
        return (
            f'<video src="{source}" style="max-width: 100%" autoplay loop muted playsinline controls></video>'
        )


Film()
