"""The paper's questions as a source of examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from simtown.assets.catalogue import PROPS, STREET
from simtown.datasets.frequency_tables import chances_of
from simtown.datasets.question_source import Columns, Problems, Tried, as_stored
from simtown.language.asking.paper import Examples, Recipe, plan_of, sample
from simtown.language.meaning.relations import RADIAL, RELATIONS, margins, separations, truths
from simtown.language.words.questions import PHRASINGS, ask, vocabulary_for
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import boxes

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings


class PaperQuestions:
    """Questions about a relation of two vehicles (:mod:`simtown.language.asking.paper`)."""

    arrays: dict[str, str] = {}  # noqa: RUF012
    answer_column = "answer"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.batch = max(2, settings.at_once(512) // 2 * 2)
        self._recipes: dict[str, Recipe] = {}

    def check_names(self) -> None:
        return

    def check(self) -> None:
        plan_of(self.recipe("train"))  # do enough kinds occur?

    def notes(self) -> Iterator[str]:
        axes = {relation.axis for relation in RELATIONS if relation.name in self.settings.relations}
        if self.settings.distractor and RADIAL in axes:  # three long vehicles may fit one way only
            yield (
                "beside a distractor, the words alone answer 6 of 10 questions about near and far (chance: "
                "5), since longer vehicles stand behind more often; left and right are fair"
            )

    def family_names(self) -> tuple[str, ...]:
        return self.settings.questions

    def vocabulary(self) -> tuple[str, ...]:
        own = self.settings
        return vocabulary_for(own.phrasing, own.relations, len(own.own_kinds))

    def recipe(self, split: str) -> Recipe:
        if split not in self._recipes:
            own, (subject, obj, paint) = self.settings, chances_of(self.settings, split)
            self._recipes[split] = Recipe(
                seed=own.seed_of(split),
                split=split,
                subject=subject,
                object=obj,
                distractor=own.distractor,
                relations=own.relations,
                phrasing=own.phrasing,
                weathers=own.weathers,
                jitter=own.jitter,
                varied=own.cameras == "varied",
                paint=paint,
            )
        return self._recipes[split]

    def draw(self, split: str, index: np.ndarray) -> Examples:
        return sample(self.recipe(split), index)

    def pictures(self, drawn: Examples) -> SceneBatch:
        return drawn.scene[:: self.settings.questions_per_picture]

    def shown(self, drawn: Examples, rows: np.ndarray) -> SceneBatch:
        return drawn.scene[rows]

    def tried(self, drawn: Examples) -> Tried:
        return drawn.tried

    def columns(self, drawn: Examples, index: np.ndarray) -> dict[str, np.ndarray]:
        scene, rows = drawn.scene, np.arange(len(index))
        subject, obj = (scene.entity[rows, slot] for slot in (drawn.subject, drawn.object))
        question, tokens = ask(subject, drawn.relation, obj, drawn.phrasing)
        return {
            "index": index.astype(np.int64),
            "question": question,
            "tokens": tokens,
            "answer": drawn.answer,
            "subject": subject,
            "relation": drawn.relation.astype(np.uint8),
            "object": obj,
            "subject_slot": drawn.subject.astype(np.uint8),
            "object_slot": drawn.object.astype(np.uint8),
            "phrasing": drawn.phrasing.astype(np.uint8),
            "margin": drawn.margin,
            "boxes": boxes(scene, self.settings.width, self.settings.height),
            "visible": drawn.visible,
            **scene.columns(),
        }

    def names(self) -> dict[str, list[str]]:
        return {"props": [kind for kind in PROPS if kind not in STREET["animal"]]}

    def problems(self, stored: Columns, split: str, quick: bool) -> Problems:
        if quick:
            same = stored["answer"][::2] == stored["answer"][1::2]
            yield "two neighbours do not have opposite answers", same.repeat(2)

    def faults(self, drawn: Examples, split: str) -> Problems:
        yield "the question is too close to call", truths(drawn.margin, drawn.relation) == 0

    def unknown_numbers(self, stored: Columns) -> np.ndarray:
        subject, obj = stored["subject_slot"], stored["object_slot"]
        wrong = (np.maximum(subject, obj) >= 2) | (subject == obj)
        wrong |= (stored["relation"] >= len(RELATIONS)) | (stored["phrasing"] >= len(PHRASINGS))
        return np.asarray(wrong | (stored["scene/entity"] < 0).any(axis=1))

    def implied(self, stored: Columns, visible: np.ndarray) -> Examples:
        scene = SceneBatch.of_columns(stored)
        names = ("subject_slot", "object_slot", "relation", "phrasing")
        subject, obj, relation, phrasing = (stored[name].astype(np.int64) for name in names)
        margin = margins(separations(scene.pose, scene.camera), relation, subject, obj)
        return Examples(
            scene=scene,
            answer=margin > 0,
            subject=subject,
            object=obj,
            relation=relation,
            phrasing=phrasing,
            margin=as_stored(stored["margin"], margin),
            visible=visible,
        )
