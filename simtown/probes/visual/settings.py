"""What a run of the visual study is made with, and what its directory of results is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated

from simtown.probes.item_study import ItemSettings
from simtown.probes.study import Option, results_record

if TYPE_CHECKING:
    from simtown.core.runs import RunRecord

TASKS = ("color", "shape", "material", "cooccurrence", "size")


@dataclass(frozen=True)
class VisualSettings(ItemSettings):
    """What decides the numbers, besides the data.

    Attributes:
        model: how the scorer is opened.
        use: prompts (zero-shot), head, tuned (soft prompts at every layer), tuned-embeddings (at the first),
            or None: what the model can do.
        task: names with commas between, or "all".
        seed: of the head's solver, and of the order in which prompts are tuned.
    """

    model: Annotated[
        str, Option("hf:ID-OR-DIR, sentence:ID-OR-DIR, clip:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS.")
    ]
    use: Annotated[
        str | None,
        Option(
            "How the model is used: prompts (zero-shot), head (logistic regression on its vectors), tuned "
            "(soft prompts at every layer of a masked model) or tuned-embeddings (at the first). Default: "
            "prompts where it has probabilities of words.",
            name="as",
        ),
    ] = None
    task: Annotated[
        str,
        Option(
            "color, shape, material, cooccurrence, size: names with commas between, or all.", recorded=False
        ),
    ] = "all"

    @property
    def uses(self) -> tuple[str, ...]:
        """The possible values of `use`."""
        return (*super().uses, "tuned", "tuned-embeddings")

    def check(self) -> None:
        """Raises ValueError if a value is not among the possible ones."""
        super().check()
        if set(self.task_names) - set(TASKS):
            raise ValueError(
                f"unknown `task` {self.task}: give {', '.join(TASKS)}, several with commas between, or all"
            )

    @property
    def task_names(self) -> tuple[str, ...]:
        """The tasks that are named."""
        return (
            TASKS
            if self.task == "all"
            else tuple(dict.fromkeys(part.strip() for part in self.task.split(",")))
        )


@cache
def visual_record() -> RunRecord:
    """The file that says what a directory of the study's results is."""
    return results_record("visual", TASKS, "simtown visual commonsense", ("prompts",))
