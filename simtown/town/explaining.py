"""Why the answer to an example's question is what it is: the reason that the town of its scene gives."""

import numpy as np

from simtown.language.meaning.programs import Form
from simtown.scenes.scene import Scene
from simtown.town.checks import TownError
from simtown.town.evaluating import Evaluator
from simtown.town.qualities import TooCloseError
from simtown.town.things import the
from simtown.town.town import Town


def reason(scene: Scene, program: Form, visible: np.ndarray, boxes: np.ndarray) -> str:
    """One sentence, without a full stop; "" if the town has none.

    Args:
        scene: the example's.
        program: of its question (:func:`simtown.language.meaning.programs.decode`).
        visible: (v,) float32 visible share of each vehicle slot.
        boxes: (v, 4) float32 box of each, pixels.
    """
    town = Town.from_scene(scene)
    evaluator = Evaluator(town.view(everywhere=True), strict=2)
    try:
        attribute, *phrases = program.parts
        if attribute in ("hidden", "box"):
            thing = evaluator.unique(phrases[0])
            slot = int(np.flatnonzero(boxes.any(axis=1))[town.vehicles.index(thing)])
            edges = ", ".join(f"{edge:.0f}" for edge in boxes[slot])
            seen = f"{visible[slot]:.0%} of {the(thing)} is visible"
            return seen if attribute == "hidden" else f"x0, y0, x1, y1 are {edges} pixels; {seen}"
        return evaluator.answer(program).why
    except TooCloseError as unclear:
        return f"too close to say: {unclear}"
    except TownError:
        return ""
