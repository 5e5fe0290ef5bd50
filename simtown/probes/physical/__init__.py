"""Objects, properties and affordances: the study of Forbes, Holtzman and Choi (2019), ``simtown probe
physical``.

:mod:`~simtown.probes.physical.physical_release` reads the released data and makes yes/no decisions of it,
``sentences`` and ``inputs`` turn pairs into text and vectors, ``heads`` and ``finetune`` learn from them,
``scores`` measures, ``physical_study`` is the study, ``paper_tables`` has the paper's tables.
"""

from dataclasses import dataclass

from simtown.core.options import SettingsError, option
from simtown.probes.study_settings import ABOUT_PROTOCOL, PROTOCOLS, SEEDS, StudySettings, model_option

#: What summary.json calls the format.
FORM = "simtown physical commonsense"
#: Models that ask no language model.
BASELINES = ("majority", "random", "human")
#: Sets with their tasks, as Table 2 orders them.
TASKS = ("abstract-OP", "situated-OP", "situated-OA", "situated-AP")
_USES, _HEADS = ("words", "tokens", "sentence", "finetune", "yes-no"), ("mlp", "logistic")
_USE = (
    "How the model is used: words, tokens (words in a sentence), sentence, finetune, yes-no. Default: words "
    "for word vectors, sentence for sentence encoders, tokens for others."
)
_PROTOCOL = f"{ABOUT_PROTOCOL} (docs/reproduce/physical-commonsense.md)."
_TASK = "OP (object, property), OA (object, affordance), AP (affordance, property), or all."
_SET = "abstract (has only OP), situated, or all."


@dataclass(frozen=True)
class PhysicalSettings(StudySettings):
    """The settings of ``simtown probe physical``."""

    model: str = model_option(
        "glove:PATH, hf:ID-OR-DIR, sentence:ID-OR-DIR, lstm:DIR; or a baseline: majority, random, human."
    )
    use: str | None = option(None, _USE, flag="as", choices=_USES)
    head: str = option("mlp", "What learns from vectors: mlp, as in the paper, or logistic.", choices=_HEADS)
    protocol: str = option("corrected", _PROTOCOL, choices=PROTOCOLS)
    tune: bool = option(False, "Choose the head's hyperparameters by 5-fold cross-validation.")
    seed: int = option(0, "Seed of the head's first weights, the folds and the coin.", low=0, below=SEEDS)
    task: str = option("all", _TASK, choices=("OP", "OA", "AP", "all"), recorded=False)
    set_name: str = option("all", _SET, flag="set", choices=("abstract", "situated", "all"), recorded=False)

    def check(self) -> None:
        """Raises SettingsError if a value is impossible."""
        super().check()
        if not self.tasks:
            raise SettingsError("has no affordances: they are annotated in the situated set only", "set_name")
        if self.model in BASELINES:
            if self.use or self.tune:
                raise SettingsError(f"{self.model} is a baseline: leave out `use` and `tune`")
        elif not all(self.model.partition(":")):
            others = "or a language model such as glove:PATH, hf:DIR, sentence:DIR or lstm:DIR"
            raise SettingsError(f"'{self.model}' is unknown: give {', '.join(BASELINES)}, {others}", "model")
        elif self.use == "finetune" and not self.model.startswith(("hf:", "sentence:")):
            raise SettingsError("finetune needs a model hf:ID-OR-DIR or sentence:ID-OR-DIR", "use")
        elif self.tune and self.use in ("finetune", "yes-no"):
            raise SettingsError(f"is for heads on fixed vectors, not for {self.use}", "tune")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks to ask about, as Table 2 orders them."""
        titles = (t for t in TASKS if self.set_name in (t.partition("-")[0], "all"))
        return tuple(title for title in titles if self.task in (title[-2:], "all"))
