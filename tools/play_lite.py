"""The street on the first page of the documentation: a page to play with that needs no Python.

Three streets in seven weathers are drawn beforehand, one vehicle of each in many places, with answers to some
forty questions: python -m tools.play_lite FOLDER. The page looks as that of `simtown play` does.
"""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from simtown import Town
from simtown.scenes.weather import DEFAULT_WEATHERS
from simtown.town.relating import MARGINS
from simtown.town.town import TownError

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[1]
SIZE = (832, 468)
#: Where the vehicle that moves can be, metres along the near lane.
PLACES = np.linspace(-6.6, 6.6, 25).round(2).tolist()
#: How hard the weathers are, and the quality of WebP that keeps all pictures below 2 MB.
INTENSITY, QUALITY = 0.6, 55


@dataclass(frozen=True)
class Street:
    """A street: its seed and its vehicles, of which the first one moves."""

    name: str
    seed: int
    moves: str
    others: tuple[tuple[str, float], ...]
    questions: tuple[str, ...]


STREETS = (
    Street("Toy shop", 40, "taxi", (("school bus", 2.2), ("police car", -5.2)), (
        "Is the taxi left of the school bus?", "Is the taxi between the police car and the school bus?",
        "Which vehicles are left of the taxi?", "How far is the taxi from the school bus?",
        "From the school bus's driver's view, is the taxi behind?", "Is the school bus hidden?",
        "Is the taxi right of the toy shop?", "What is the rightmost vehicle?",
        "Is the police car right of the taxi?",
        "Which vehicle is nearest?", "Do the taxi and the police car face the same way?", "Is the taxi red?",
        "What is the weather?", "Is it night?",
    )),
    Street("Windmill", 43, "fire truck", (("ice-cream van", -3.4), ("tractor", 4.6)), (
        "Is the fire truck right of the ice-cream van?", "How many vehicles are right of the fire truck?",
        "Is the fire truck next to the tractor?", "What colour is the leftmost vehicle?",
        "Is the tractor hidden?",
        "Is the fire truck left of the windmill?", "What is left of the fire truck?",
        "Is the fire truck nearer to the tractor than the ice-cream van?", "How far is the fire truck?",
        "Is the fire truck in front of the tractor?", "Are all vehicles left of the tractor?",
        "From the tractor's driver's view, is the fire truck on the left?", "Is it snowing?",
        "Is it raining?",
    )),
    Street("Hotel", 36, "scooter", (("double-decker bus", 0.4), ("red car", -6.0)), (
        "Is the scooter left of the double-decker bus?", "What kind of vehicle is second from the left?",
        "Is the scooter near the red car?", "Is the scooter hidden?",
        "How much of the double-decker bus is hidden?",
        "Is the scooter right of the hotel?", "Is the double-decker bus bigger than the scooter?",
        "Is the scooter farther from the viewer than the red car?", "Where is the scooter?",
        "What is near the scooter?",
        "How many vehicles are left of the scooter?", "Is the scooter in the near lane?", "Is it foggy?",
        "Is it dusk?",
    )),
)  # fmt: skip


def write(folder: Path) -> None:
    """Write the page, its pictures and its answers into a folder; one that is newer than the code stays."""
    styles = [ROOT / "simtown" / name for name in ("datasets/showing/gallery/base.css", "page/style.css")]
    code = [*ROOT.glob("simtown/**/*.py"), *HERE.glob("play_lite.*"), *styles]
    page = folder / "index.html"
    if page.exists() and page.stat().st_mtime > max(path.stat().st_mtime for path in code):
        return
    folder.mkdir(parents=True, exist_ok=True)
    streets = [_street(street, number, folder) for number, street in enumerate(STREETS)]
    style = "".join(path.read_text("utf-8") for path in styles)
    content = {"weathers": DEFAULT_WEATHERS, "places": PLACES, "streets": streets}
    text = (HERE / "play_lite.html").read_text("utf-8").replace("/* style */", style)
    page.write_text(text.replace("/* content */", json.dumps(content).replace("<", "\\u003c")), "utf-8")


def _street(street: Street, number: int, folder: Path) -> dict[str, object]:
    """Draw a street; what the page needs of it."""
    town = Town.random(street.seed, vehicles=0, weather="clear")
    for kind, x in street.others:
        town.place(kind, x=x, lane="far")
    towns = []
    for weather in DEFAULT_WEATHERS:
        town.weather = (weather, INTENSITY)
        towns.append((weather, town.render(SIZE).rgb))
    patches: dict[str, list[list[int]]] = {}
    mover = town.place(street.moves, x=PLACES[0], lane="near")
    for weather, empty in towns:
        town.weather = (weather, INTENSITY)
        cuts = []
        for x in PLACES:
            town.move(mover, x=x)
            picture = town.render(SIZE).rgb
            rows, columns = np.nonzero(np.abs(picture.astype(int) - empty).max(axis=2) > 8)
            left, top = int(columns.min()), int(rows.min())
            cuts.append((left, top, picture[top : rows.max() + 1, left : columns.max() + 1]))
        height, width = sum(len(cut) for *_, cut in cuts), max(cut.shape[1] for *_, cut in cuts)
        sheet = np.zeros((height, width, 3), np.uint8)
        begin, patches[weather] = 0, []
        for left, top, cut in cuts:
            sheet[begin : begin + len(cut), : cut.shape[1]] = cut
            patches[weather].append([left, top, cut.shape[1], len(cut), begin])
            begin += len(cut)
        for name, image in (("street", empty), ("moving", sheet)):
            Image.fromarray(image).save(folder / f"{name}-{number}-{weather}.webp", quality=QUALITY, method=6)
    states = []
    of_weather = [q for q in street.questions if "it" in q.split() or "weather" in q]
    answers: dict[str, object] = {q: {} if q in of_weather else [] for q in street.questions}
    for weather in DEFAULT_WEATHERS:
        town.weather = (weather, INTENSITY)
        for question in of_weather:
            answers[question][weather] = _answer(town, question)
    for x in PLACES:
        town.move(mover, x=x)
        truth = town.truth(SIZE)
        states.append({t.name: [round(float(v)) for v in truth[t.name].seen] for t in town.vehicles})
        for question, lines in answers.items():
            if question not in of_weather:
                lines.append(_answer(town, question))
    things = [
        {key: getattr(t, key) for key in ("name", "group", "x", "y", "front")}
        | {"outline": t.outline.round(2).tolist()}
        for t in town
        if abs(t.x) < 16 and t.y < 7
    ]
    return {
        "name": street.name, "moves": mover.name, "things": things, "patches": patches, "boxes": states,
        "answers": answers, "camera": [town.camera.x, town.camera.y],
    }  # fmt: skip


def _answer(town: Town, question: str) -> dict[str, object]:
    """An answer as the page shows it; with the relation's grey band if it asks about one of two things."""
    try:
        reply = town.ask(question)
    except TownError as error:
        return {"verdict": "none", "text": "no answer", "why": str(error).partition(";")[0]}
    verdict = "close" if reply.value is None else {True: "yes", False: "no"}.get(reply.truth, "value")
    shown: dict[str, object] = {"verdict": verdict, "text": str(reply).partition(":")[0], "why": reply.why}
    words = re.fullmatch(
        r"holds\(the\(all\(([^()]+)\)\), related\(([^(),]+), the\(all\(([^()]+)\)\)\)\)", str(reply.form)
    )
    if words and np.isfinite(reply.margin):
        subject, relation, other = words.groups()
        shown |= {"margin": round(reply.margin, 3), "band": MARGINS[relation], "relation": relation}
        shown["names"] = [town[subject].name, town[other].name]
    return shown


if __name__ == "__main__":
    write(Path(sys.argv[1]))
