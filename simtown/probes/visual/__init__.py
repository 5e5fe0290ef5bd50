"""Colour, shape, material, size and co-occurrence of things: the study of Zhang et al. (2022), its settings.

`visual_study` is the study, on the `release` or on distributions that `mined` counts (`mining`).
`sizes` ranks nouns by size, `soft_prompts` and `distill` train models, `vicomte_tables` and `vicomte_figures`
print what the paper prints, `bridge` asks about the town's own vehicles.
"""

from dataclasses import dataclass
from pathlib import Path

from simtown.core.options import SettingsError, check, option
from simtown.probes.study_settings import USES, ItemSettings, model_option

#: What summary.json calls the format.
FORM = "simtown visual commonsense"
TASKS = ("color", "shape", "material", "cooccurrence", "size")
_USE = (
    "How the model is used: prompts (zero-shot), head (logistic regression on its vectors), tuned (soft "
    "prompts at every layer of a masked model) or tuned-embeddings (at the first). Default: prompts where it "
    "has probabilities of words."
)
_THRESHOLD = (
    "Ignore counts at or below it. Default: color 5, material 2, shape 1, cooccurrence 8; of text 0 and 8."
)


@dataclass(frozen=True)
class VisualSettings(ItemSettings):
    """The settings of ``simtown probe visual``; `seed` also orders the subjects while prompts are tuned."""

    model: str = model_option("hf:, sentence: or clip:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS.")
    use: str | None = option(None, _USE, flag="as", choices=(*USES, "tuned", "tuned-embeddings"))
    task: str = option("all", f"{', '.join(TASKS)}: names with commas between, or all.", recorded=False)

    def check(self) -> None:
        """Raises SettingsError if a value is impossible."""
        super().check()
        if unknown := set(self.task_names) - set(TASKS):
            raise SettingsError(f"'{unknown.pop()}' is unknown: choose among {', '.join(TASKS)}, all", "task")

    @property
    def task_names(self) -> tuple[str, ...]:
        """The tasks that are named."""
        return TASKS if self.task == "all" else tuple(dict.fromkeys(t.strip() for t in self.task.split(",")))


@dataclass(frozen=True)
class MiningSettings:
    """What is counted, and how."""

    attributes: Path | None = option(None, "Visual Genome's attributes.json: color, shape, material.")
    graphs: Path | None = option(None, "Visual Genome's scene_graphs.json or objects.json: cooccurrence.")
    text: Path | None = option(None, "Text, a sentence a line, or region_descriptions.json: all of them.")
    coda: Path | None = option(None, "CoDa's folder projects/coda/data: color, from people's ratings.")
    subjects: Path | None = option(None, "Whose nouns to look for in --text: a release or a mined directory.")
    threshold: int | None = option(None, _THRESHOLD, low=0)
    ordered: bool = option(False, "Count co-occurring pairs in the annotators' order, as the release does.")
    window: int = option(10, "Words of text in which nouns co-occur.", low=2)
    seed: int | None = option(None, "Seed of the split; by default the split by running number.", low=0)
    skip_bad: bool = option(False, "Skip malformed records, and count them.")

    def check(self) -> None:
        """Raises SettingsError if a value is impossible, or the sources do not go together."""
        check(self)
        sources = (bool(self.attributes or self.graphs), bool(self.text), bool(self.coda))
        if not any(sources):
            raise SettingsError("give `attributes`, `graphs`, `text` or `coda`: something to count in")
        if sum(sources) > 1:
            raise SettingsError("annotations, text and ratings are different: give a directory to each")
        if self.text and not self.subjects:
            raise SettingsError("`text` needs `subjects`, a release or mined directory: its nouns are sought")


@dataclass(frozen=True)
class DistillSettings:
    """What decides a distilled model."""

    epochs: int = option(1, "Times that the corpus is read.", low=1)
    batch: int = option(64, "Sentences a step.", low=1)
    learning_rate: float = option(5e-5, "Learning rate at first; falls to zero.", above=0, flag="lr")
    seed: int = option(0, "Seed of the order and of the masks.", low=0)
