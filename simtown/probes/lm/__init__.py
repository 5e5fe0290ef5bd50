"""Small language models, trained here: their settings. `train` is the loop, `architectures` lists the three
kinds, `lstm` is our own of them.
"""

from dataclasses import dataclass
from pathlib import Path

from simtown.core.options import SettingsError, check, option

KINDS = ("lstm", "bert-mini", "gpt-mini")
_LEARNING_RATE = (
    "Highest learning rate, which rises over a twentieth of the steps and then falls to 0; by default 0.003, "
    "bert-mini and gpt-mini 0.001."
)


@dataclass(frozen=True)
class LMSettings:
    """The settings of ``simtown lm train``: with the corpus, every choice that decides a model's numbers."""

    arch: str = option("lstm", "lstm, bert-mini or gpt-mini.", choices=KINDS)
    epochs: int = option(1, "Times that the corpus is read.", low=1)
    vocabulary: int | None = option(
        None, "Words or byte pairs at most; default: 5000, bert-mini 8000.", low=10
    )
    tokenizer: Path | None = option(
        None, "A model made by this command whose vocabulary to take: only such models can be distilled."
    )
    rare: int = option(1, "Phrases with a word that the corpus has less often are dropped.", low=1)
    batch: int = option(128, "Phrases a step.", low=1)
    learning_rate: float | None = option(None, _LEARNING_RATE, above=0, below=10, flag="lr")
    dropout: float | None = option(
        None, "Share dropped while training; by default 0.2, bert-mini and gpt-mini 0.1.", low=0, below=1
    )
    seed: int = option(0, "Seed of the initial weights, the order of phrases, dropout and masks.")
    device: str = option("auto", "auto, cpu or cuda.", choices=("auto", "cpu", "cuda"))

    def check(self) -> None:
        """Raises SettingsError if a value is impossible."""
        check(self)
        if self.tokenizer is not None and self.vocabulary is not None:
            problem = "cannot be chosen with `tokenizer`, which has its own: leave one out"
            raise SettingsError(problem, "vocabulary")
