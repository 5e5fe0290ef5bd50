"""A causal model that looks once at what texts have in common.

Sixty-seven relations in one frame share its beginning, and frames that begin alike share the relation too: few of the places where a
next token is asked for are different. The projection to the vocabulary, the dearest part of a small model, is made for those alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simtown.probes.scorers.base import Scorer
from simtown.probes.scorers.cache import Cached
from simtown.probes.scorers.causal import Causal
from simtown.probes.scorers.spelling import Tokens


class Sharing(Causal):
    """See :class:`simtown.probes.scorers.causal.Causal`, whose answers it gives."""

    def _conditional(self, rows: Sequence[Tokens]) -> list[np.ndarray]:
        """For every row the (t - 1,) float64 log-probabilities of its tokens but the first."""
        places: dict[Tokens, int] = {}
        lines: list[int] = []
        columns: list[int] = []
        asked: list[int] = []
        for line, row in enumerate(rows):
            for at in range(len(row) - 1):
                place = places.setdefault(row[: at + 1], len(places))
                if place == len(lines):
                    lines.append(line)
                    columns.append(at)
                asked.append(place)
        ids, _ = self._padded(rows)
        logits, _ = self._run(lines, columns, input_ids=ids)
        tokens = self._tensor([token for row in rows for token in row[1:]])
        picked = self._tensor(asked)
        told = (logits[picked, tokens].double() - logits.logsumexp(1).double()[picked]).cpu().numpy()
        return np.split(told, np.cumsum([len(row) - 1 for row in rows])[:-1])


def sharing(scorer: Scorer) -> Scorer:
    """The scorer itself, or one for the same causal model that shares what its texts begin with.

    Answers are kept by the matrix, so that a cache in front of the model would only hold them a second time.
    """
    inner = scorer._scorer if isinstance(scorer, Cached) else scorer
    if isinstance(inner, Causal):
        return Sharing(inner.name, inner.model, inner.tokenizer, inner.settings)
    return inner
