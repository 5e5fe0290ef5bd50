"""What decides how Visual Genome's names are cleaned."""

from dataclasses import dataclass

from simtown.core.options import option

#: All steps of the preprocessing, in the order in which they run (:mod:`simtown.visualgenome.clean`).
STEPS = ("be", "determiners", "spelling", "lemmas", "nouns", "rare")
#: The paper says roughly 2,000 predicates are left; in the published counts (docs/reproduce/visual-genome.md)
#: that is this threshold.
THRESHOLD = 13


@dataclass(frozen=True)
class StepsSettings:
    """Which steps run."""

    steps: tuple[str, ...] = option(
        STEPS, "Steps of the preprocessing: names separated by commas, or none.", choices=STEPS
    )


@dataclass(frozen=True)
class PrepareSettings(StepsSettings):
    """What decides a prepared directory."""

    threshold: int = option(
        THRESHOLD, "A predicate is rare if it occurs in fewer statements than this.", low=1
    )
    once: bool = option(False, "Count a statement about the same two things of an image only once.")

    @property
    def least(self) -> int:
        """Statements that a predicate needs to stay."""
        return self.threshold if "rare" in self.steps else 1
