"""What a run of the physical study is made with, and what its directory of results is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from simtown.core.options import option
from simtown.probes.study import StudySettings, results_record

if TYPE_CHECKING:
    from simtown.core.runs import RunRecord

#: Rows of the paper's table that ask no language model.
BASELINES = ("majority", "random", "human")
#: How a language model can be used, and what that means.
USES = {
    "words": "vectors of the two words",
    "tokens": "vectors of the two words in a sentence",
    "sentence": "the vector of a sentence",
    "finetune": "the whole model trained on the sentences",
    "yes-no": "the log-odds of yes over no after a question",
}
#: Sets with their tasks, as Table 2 orders them.
TITLES = ("abstract-OP", "situated-OP", "situated-OA", "situated-AP")


@dataclass(frozen=True)
class PhysicalSettings(StudySettings):
    """What a row of the table is made with.

    Attributes:
        model: a language model, or one of :data:`BASELINES`.
        use: one of :data:`USES`; None: what suits the model.
        head: what learns from fixed vectors.
        protocol: see :mod:`simtown.probes.physical.protocols`.
        tune: whether the head's hyperparameters are chosen by cross-validation.
        seed: of weights, folds and the coin.
        task: "OP", "OA", "AP" or "all".
        set_name: "abstract", "situated" or "all".
    """

    model: str = option(
        help="glove:PATH, hf:ID-OR-DIR, sentence:ID-OR-DIR, lstm:DIR; or a baseline: majority, random, human."
    )
    use: str | None = option(
        None,
        "How the model is used: words, tokens (words in a sentence), sentence, finetune, yes-no. "
        "Default: words for word vectors, sentence for sentence encoders, tokens for others.",
        choices=tuple(USES),
        flag="as",
    )
    head: str = option(
        "mlp",
        "What learns from fixed vectors: mlp, as in the paper, or logistic.",
        choices=("mlp", "logistic"),
    )
    protocol: str = option(
        "corrected",
        "Rules where paper and code differ: paper, release or corrected "
        "(docs/reproduce/physical-commonsense.md).",
        choices=("paper", "release", "corrected"),
    )
    tune: bool = option(False, "Choose the head's hyperparameters by 5-fold cross-validation.")
    seed: int = option(
        0, "Seed of the head's first weights, of the folds and of the coin.", low=0, high=2**32 - 1
    )
    task: str = option(
        "all",
        "OP (object, property), OA (object, affordance), AP (affordance, property), or all.",
        recorded=False,
    )
    set_name: str = option("all", "abstract (has only OP), situated, or all.", flag="set", recorded=False)

    def check(self) -> None:
        """Raises ValueError if a value is not among the possible ones."""
        from simtown.probes.physical.tasks import chosen

        super().check()
        chosen(self.task, self.set_name)
        if self.model in BASELINES:
            if self.use or self.tune:
                raise ValueError(f"{self.model} is a baseline: it takes neither `use` nor `tune`")
        elif not all(self.model.partition(":")):
            raise ValueError(
                f"unknown model '{self.model}': give {', '.join(BASELINES)}, or a language model such as "
                "glove:PATH, hf:DIR, sentence:DIR or lstm:DIR"
            )
        elif self.use == "finetune" and not self.model.startswith(("hf:", "sentence:")):
            raise ValueError(
                f"{self.model} cannot be fine-tuned: give hf:ID-OR-DIR or sentence:ID-OR-DIR, or "
                "another `use`"
            )
        elif self.tune and self.use in ("finetune", "yes-no"):
            raise ValueError(f"`tune` is for heads on fixed vectors, not for `use={self.use}`")

    def needs_model(self) -> bool:
        """Whether a scorer has to be opened."""
        return self.model not in BASELINES and self.use != "finetune"


@cache
def physical_record() -> RunRecord:
    """The file that says what a directory of the study's results is."""
    return results_record("physical", TITLES, "simtown physical commonsense", ("summary.tex",))
