"""The picture on top of README.md: one street, cut into seven strips of weather, through which a taxi drives.

python -m tools.hero --out docs/gallery/hero.webp
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from simtown import Town
from simtown.scenes.camera import Camera

#: Weathers from left to right, each as strong as it can be while vehicles are still easy to see.
STRIPS = (("clear", 0.7), ("cloudy", 0.4), ("rain", 0.7), ("fog", 0.45), ("snow", 0.8), ("dusk", 0.7))
STRIPS += (("night", 0.6),)
SIZE = (1280, 384)
#: Pictures of the film, milliseconds of each, and the taxi's first place and the end of the street, metres.
FRAMES, STANDS, FIRST, END = 50, 120, 4.0, 14.5
#: How far a cut leans to the right from bottom to top, and the width of the white line along it, pixels.
LEAN, LINE = 60, 2
#: Drawn larger and reduced, so that edges are smooth.
SCALE = 2
QUESTION = "Is the fire truck left of the school bus?"


def street() -> Town:
    """A school, a cinema and a fire station, and before each the vehicle that belongs there."""
    town = Town.random(seed=7, vehicles=0, weather="clear")
    town.camera = Camera(x=-0.5, z=3.8, focal=1.275, bottom=-0.45)
    for kind, x in (("school bus", -9.0), ("fire truck", 9.0)):
        town.place(kind, x=x, lane="near")
    town.place("taxi", x=FIRST, lane="far")
    return town


def film() -> list[Image.Image]:
    """All pictures: the taxi goes out at the left and comes in again at the right, so the film can loop."""
    town = street()
    pictures = []
    for way in np.linspace(0, 2 * END, FRAMES, endpoint=False).tolist():
        town.move("taxi", x=(FIRST - way + END) % (2 * END) - END)
        pictures.append(hero(town))
    return pictures


def hero(town: Town) -> Image.Image:
    """A picture: every pixel from the street in the weather of its strip."""
    width, height = SIZE
    pictures = []
    for weather in STRIPS:
        town.weather = weather
        large = town.render((SCALE * width, SCALE * height)).rgb
        pictures.append(np.asarray(Image.fromarray(large).resize(SIZE, Image.Resampling.LANCZOS)))
    rows, columns = np.mgrid[:height, :width] + 0.5
    strip = (columns + LEAN * (rows / height - 0.5)) * len(STRIPS) / width  # which, and how far across it
    number = np.clip(strip.astype(int), 0, len(STRIPS) - 1)
    cut = np.clip(np.round(strip), 1, len(STRIPS) - 1)  # the nearest one
    line = np.clip((LINE + 1) / 2 - np.abs(strip - cut) * width / len(STRIPS), 0, 1)[..., None]
    chosen = np.choose(number[..., None], pictures)
    return Image.fromarray(np.round(chosen + (255 - chosen) * line).astype(np.uint8))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.hero", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("hero.webp"), help="the file, .webp or .png")
    first, *others = film()
    how = {"duration": STANDS, "quality": 68, "method": 6}
    first.save(parser.parse_args().out, save_all=True, append_images=others, **how)
    print(QUESTION, street().ask(QUESTION))
