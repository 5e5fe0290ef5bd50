"""A trained model that answers beside the truth."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from simtown.core.options import SettingsError
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words.questions import text
from simtown.render.raster import Raster
from simtown.scenes.scene import SceneBatch
from simtown.town.town import Town
from simtown.training import ask, run_directory


class RunModel:
    """The model of a run, asked about the town in pictures such as it learned from.

    Args:
        directory: of the run; raises what :func:`simtown.training.ask.open_run` raises.
    """

    def __init__(self, directory: Path) -> None:
        self.directory, self.opened = directory, ask.open_run(directory)
        self.name = self.opened[2]["model"]

    def answer(
        self, town: Town, question: str, pair: tuple[str, list[str]] | None, truth: Any
    ) -> dict[str, Any]:
        """A model's answer for a line of the log: `text`, and whether it is `right` (None: no truth).

        Args:
            town: as it is now.
            question: as it was asked.
            pair: its relation and the names of its things, if it asks about them.
            truth: the answer's value.
        """
        _, trained, run = self.opened
        if not run_directory.language_in(run):  # it knows the paper's questions alone
            relation, names = pair or ("", [])
            if relation not in RELATION_NAMES:
                return {"text": "was not taught this question", "right": None}
            question = text(town[names[0]].kind, relation, town[names[1]].kind)
        scene = replace(town.to_scene((64, 64)), camera=town.camera)
        frame = Raster().render(SceneBatch.of([scene]), trained.width, trained.height, geometry=False)
        try:
            picture = Image.fromarray(frame.rgb[0])
            said = ask.predict(self.directory, picture, question, opened=self.opened)
        except (SettingsError, ValueError) as error:
            return {"text": str(error).removeprefix(f"{self.directory} "), "right": None}
        answer, p = said.answer, said.yes
        if not answer:
            answer, p = ("yes", p) if p > 0.5 else ("no", 1 - p)
        known = {True: "yes", False: "no", None: None}.get(truth, str(truth))
        return {"text": f"says {answer} (p = {p:.2f})", "right": known and answer == known}
