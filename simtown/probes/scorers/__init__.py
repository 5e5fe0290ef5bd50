"""Language models behind one protocol: see :mod:`simtown.probes.scorers.base`, and :func:`open_scorer` to
open one.
"""

from simtown.probes.model_names import KINDS
from simtown.probes.scorers.base import Ability, Pooling, Scorer, TokenScores, UnableError
from simtown.probes.scorers.opening import open_scorer
from simtown.probes.scorers.spelling import BLANK

__all__ = ["BLANK", "KINDS", "Ability", "Pooling", "Scorer", "TokenScores", "UnableError", "open_scorer"]
