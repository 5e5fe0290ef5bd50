"""The settings of ``simtown probe visual``."""

from __future__ import annotations

from dataclasses import dataclass

from simtown.core.options import SettingsError, option
from simtown.probes.study_settings import USES, ItemSettings

#: What summary.json calls the format.
FORM = "simtown visual commonsense"
TASKS = ("color", "shape", "material", "cooccurrence", "size")


@dataclass(frozen=True)
class VisualSettings(ItemSettings):
    """The settings of ``simtown probe visual``; `seed` also orders the subjects while prompts are tuned."""

    model: str = option(
        help="hf:ID-OR-DIR, sentence:ID-OR-DIR, clip:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS."
    )
    use: str | None = option(
        None,
        "How the model is used: prompts (zero-shot), head (logistic regression on its vectors), tuned (soft "
        "prompts at every layer of a masked model) or tuned-embeddings (at the first). Default: prompts "
        "where it has probabilities of words.",
        flag="as",
        choices=(*USES, "tuned", "tuned-embeddings"),
    )
    task: str = option(
        "all",
        "color, shape, material, cooccurrence, size: names with commas between, or all.",
        recorded=False,
    )

    def check(self) -> None:
        """Raises SettingsError if a value is impossible."""
        super().check()
        if unknown := set(self.task_names) - set(TASKS):
            raise SettingsError(f"'{unknown.pop()}' is unknown: choose among {', '.join(TASKS)}, all", "task")

    @property
    def task_names(self) -> tuple[str, ...]:
        """The tasks that are named."""
        return TASKS if self.task == "all" else tuple(dict.fromkeys(t.strip() for t in self.task.split(",")))
