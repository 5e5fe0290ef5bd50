"""What an evaluation asks: an opened model, and the queries of each condition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simtown.core.options import SettingsError, check, recorded
from simtown.datasets.making.manifests import SEAL
from simtown.datasets.reading.reader import Dataset
from simtown.probes.model_names import without_folders
from simtown.vlm.conditions import AskedExample, AskedSplit, Condition
from simtown.vlm.controls import CONTROLS
from simtown.vlm.models import open_model
from simtown.vlm.picture_orders import ORDERS
from simtown.vlm.prompting import Prompting
from simtown.vlm.shows import chosen_shows
from simtown.vlm.vision_model import Query, VisionModel
from simtown.vlm.vlm_settings import VlmSettings


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An opened model and what it is asked.

    Attributes:
        name: of the model.
        model: the model.
        prompting: how questions are put; it has the settings and the split.
        conditions: by name a condition, and how many examples are asked under it; first the main one.
    """

    name: str
    model: VisionModel
    prompting: Prompting
    conditions: Mapping[str, tuple[Condition, int]]

    @property
    def record(self) -> dict[str, Any]:
        """The settings that a directory of results keeps."""
        dataset = self.prompting.asked.dataset
        kept = recorded(self.prompting.settings)
        kept |= {"model": without_folders(self.name), "weights": self.model.identity}
        return kept | {"data": dataset.name, "seal": dataset.manifest[SEAL]}

    def queries(self, name: str, shuffled: bool = False) -> Iterator[tuple[AskedExample, Query]]:
        """The queries of a condition, whose keys begin with its name, and their examples."""
        condition, number = self.conditions[name]
        asked = self.prompting.asked
        order = asked.order(number) if shuffled else range(number)
        for example in map(asked.__getitem__, order):
            for query in condition(example):
                put = self.prompting.put(query, example.number)
                yield example, replace(put, key=f"{name}/{query.key}")

    def missing(self, answers: Collection[str]) -> Iterator[Query]:
        """The queries without an answer, in the order in which they are asked.

        Args:
            answers: the keys of those with one.
        """
        in_turn = (query for name in self.conditions for _, query in self.queries(name, shuffled=True))
        return (query for query in in_turn if query.key not in answers)


def open_evaluation(
    model: str,
    dataset: Dataset,
    settings: VlmSettings,
    device: str = "cpu",
    allow_model: Collection[str] = (),
) -> Evaluation:
    """Open a model that is to be asked about a split.

    Args:
        model: its name (:func:`simtown.vlm.models.open_model`).
        dataset: whose split is asked about.
        settings: how.
        device: where a model of hf: or clip: runs.
        allow_model: functions of python: whose code may be run.

    Raises:
        SettingsError: a setting is impossible, or the model cannot be opened.
        ValueError: a file of people's answers is damaged, or is about other questions.
    """
    check(settings)
    asked = AskedSplit(dataset, settings.split)
    if not len(asked):
        raise SettingsError(f"of {dataset.name} has no examples: choose another", "split")
    prompting = Prompting(settings, asked)
    opened = open_model(model, settings, device, allow_model)
    if (settings.shots or settings.system) and not opened.holds_turns:
        option = "shots" if settings.shots else "system"
        raise SettingsError(f"needs a model of hf: or openai:, not {model}", option)
    if dataset.settings.sequence:
        if {*settings.show} & {"text", "both"}:
            raise SettingsError("says single pictures in words: of sequences choose picture, none", "show")
        if not opened.holds_several:
            raise SettingsError(f"{model} takes one picture, and {dataset.name} shows several")
    settings = opened.prepare(asked, settings)
    prompting = Prompting(settings, asked)
    count = min(len(asked), settings.examples or len(asked))
    shows = chosen_shows(settings)
    conditions = {name: (show, count) for name, show in shows.items()}
    main = next(iter(shows.values()))
    conditions |= {f"sample-{number}": (main, count) for number in range(2, (settings.samples or 1) + 1)}
    if settings.controls and "picture" in shows:
        few = min(count, settings.controls)
        controls = ORDERS if dataset.settings.sequence else CONTROLS
        conditions |= {name: (control, few) for name, control in controls.items()}
    return Evaluation(model, opened, prompting, conditions)
