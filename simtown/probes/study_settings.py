"""The settings that all studies share. ``simtown --help`` reads this module: it imports nothing heavy."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core import options
from simtown.core.options import option, recorded
from simtown.probes.model_names import model_problem

if TYPE_CHECKING:
    from simtown.probes.scorers.base import Scorer

#: The first seed that scikit-learn does not take.
SEEDS = 2**32
#: Rules where a paper, its released code and good practice differ.
PROTOCOLS = ("paper", "release", "corrected")
ABOUT_PROTOCOL = "Rules where paper and code differ: paper, release or corrected"
#: How items are asked about.
USES = ("prompts", "head")
#: Ways in which a pair is asked about.
ELICITATIONS = ("sentence", "fill", "choice", "yesno")
NORMALISATIONS = ("none", "tokens", "bytes")
DTYPES = ("float32", "bfloat16", "float16")
_POLICY = "Words of several sub-words: first, drop, joint or left-to-right. Default: as the study does."
_VARIANT = "Pseudo-log-likelihood of masked models: original, within_word_l2r or whole_word."
_USE = (
    "How the model is used: prompts (zero-shot) or head (logistic regression on its vectors). Default: "
    "prompts where it has probabilities of words."
)
_ELICIT = (
    "Of pairs, and of each right class and the wrong ones, how both are asked about: sentence (log-"
    "probability of the text), fill (of the words that differ), choice (A or B, in both orders), yesno, "
    "several with commas between, or all. Default: sentence, or choice of a model without probabilities of "
    "sentences."
)
_PROTOCOL = f"{ABOUT_PROTOCOL} (docs/reproduce/visual-commonsense.md)."


def model_option(help: str) -> Any:
    """A field of settings: a language model."""
    return option(help=help, test=model_problem)


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study; a subclass adds its own."""

    model: str = model_option("A language model: hf:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS, ...")

    def check(self) -> None:
        """Raises SettingsError if a value is impossible."""
        options.check(self)


@dataclass(frozen=True)
class ScorerOptions:
    """How a language model is run; options of every command that asks one."""

    device: str = option("auto", "Where the model runs: auto, cpu or cuda.", recorded=False)
    dtype: str = option("float32", "Numbers of the model: float32, bfloat16 or float16.", choices=DTYPES)
    policy: str | None = option(None, _POLICY, choices=("first", "drop", "joint", "left-to-right"))
    variant: str = option("original", _VARIANT, choices=("original", "within_word_l2r", "whole_word"))
    chat: bool = option(False, "Ask through the model's chat template: a context is the user's message.")
    revision: str | None = option(None, "Of a model of the hub: a branch, a tag or a commit.")
    tokens: int = option(1024, "Tokens of a batch; a GPU takes more than a CPU.", low=1, recorded=False)
    cache: Path | None = option(None, "A directory that keeps the model's answers.", recorded=False)

    def changed(self) -> dict[str, Any]:
        """The values that decide the numbers and are not the default."""
        return {name: value for name, value in recorded(self).items() if value != getattr(type(self), name)}

    def open(self, model: str, policy: str = "left-to-right") -> "Scorer":
        """The scorer of a model, with a progress bar on stderr; `policy` is that of the study."""
        from simtown.probes.scorers import open_scorer

        return open_scorer(model, progress=True, **(asdict(self) | {"policy": self.policy or policy}))


@dataclass(frozen=True)
class ItemSettings(StudySettings):
    """The settings of a study of items, see :mod:`simtown.probes.item_study`."""

    use: str | None = option(None, _USE, flag="as", choices=USES)
    protocol: str = option("corrected", _PROTOCOL, choices=PROTOCOLS)
    seed: int = option(0, "Seed of the head's solver.", low=0, below=SEEDS)

    @property
    def policy(self) -> str:
        """For classes of several sub-words: in the paper the first one stands for all."""
        return "left-to-right" if self.protocol == "corrected" else "first"


@dataclass(frozen=True)
class AskSettings(ItemSettings):
    """The settings of ``simtown probe ask``."""

    template: tuple[str, ...] = option(
        (), "A sentence with [X] for the subject and [Y] for the class, if the table has none. Repeatable."
    )
    classes: str | None = option(
        None,
        "Classes to choose among, with commas between; other spellings after =: yellow,grey=gray. Default: "
        "all that are right for some item.",
    )
    elicit: tuple[str, ...] = option((), _ELICIT, choices=ELICITATIONS)
    normalise: str = option(
        "none", "Scores of pairs for each: none, tokens or bytes.", choices=NORMALISATIONS
    )
