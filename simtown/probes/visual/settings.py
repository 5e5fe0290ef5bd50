"""What a run of the visual study is made with, and what its directory of results is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from simtown.core.options import SettingsError, option
from simtown.probes.item_study import USES, ItemSettings
from simtown.probes.study import results_record

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

    model: str = option(
        help="hf:ID-OR-DIR, sentence:ID-OR-DIR, clip:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS."
    )
    use: str | None = option(
        None,
        "How the model is used: prompts (zero-shot), head (logistic regression on its vectors), tuned "
        "(soft prompts at every layer of a masked model) or tuned-embeddings (at the first). Default: "
        "prompts where it has probabilities of words.",
        choices=(*USES, "tuned", "tuned-embeddings"),
        flag="as",
    )
    task: str = option(
        "all",
        "color, shape, material, cooccurrence, size: names with commas between, or all.",
        recorded=False,
    )

    def check(self) -> None:
        """Raises ValueError if a value is not among the possible ones."""
        super().check()
        if set(self.task_names) - set(TASKS):
            raise SettingsError(
                f"{self.task} is unknown: give {', '.join(TASKS)}, several with commas between, or all",
                "task",
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
