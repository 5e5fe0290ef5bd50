"""Masked language models: BERT and its kin."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simtown.probes.scorers.base import ScorerSettings
from simtown.probes.scorers.huggingface import LanguageModel
from simtown.probes.scorers.spelling import Policy, Tokens, split_at_blank

#: {(sub-words of a gap, those filled in from the left, which one is looked at): {token: numbers of the
#: spellings that it counts for}}.
Places = dict[tuple[int, Tokens, int], dict[int, list[int]]]


class Masked(LanguageModel):
    """A masked language model.

    The log-probabilities of a text are pseudo-log-likelihoods: every token's with itself masked, and more by
    the variant. "original" (Salazar et al. 2020): itself alone. "within_word_l2r" (Kauf and Ivanova 2023):
    the word's later tokens too. "whole_word": the whole word. A word is here what the tokenizer's first step
    takes for one: "mat." is two.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings) -> None:
        super().__init__(name, model, tokenizer, settings)
        if tokenizer.mask_token_id is None:
            raise ValueError(f"{name} has no mask token in its tokenizer: give another model")
        self._mask: int = tokenizer.mask_token_id
        enclosed = tokenizer(tokenizer.mask_token)["input_ids"]
        at = enclosed.index(self._mask)
        #: Special tokens that begin and end a text.
        self.ends = tuple(enclosed[:at]), tuple(enclosed[at + 1 :])

    def _at_gaps(self, contexts: Sequence[str], spellings: Sequence[Tokens]) -> np.ndarray:
        places = _places(spellings, self.settings.policy)
        asked, numbers = [], []  # of one context: (place, position, token), and the spelling of each
        for place, numbers_of in enumerate(places.values()):
            at = list(places)[place][2]
            for token, owners in numbers_of.items():
                asked += [(place, at, token)] * len(owners)
                numbers += owners
        rows = []
        befores = []
        for context, (before, after) in zip(contexts, self._gaps(contexts), strict=True):
            for length, filled, _ in places:
                rows.append(before + filled + (self._mask,) * (length - len(filled)) + after)
                self._check_length(len(rows[-1]), context)
            befores.append(len(before))
        looks = np.tile(np.array(asked), (len(contexts), 1))
        looks[:, 0] += np.repeat(np.arange(len(contexts)) * len(places), len(asked))
        looks[:, 1] += np.repeat(befores, len(asked))
        answers = self.look_logprobs(rows, looks).reshape(len(contexts), -1)
        scores = np.zeros((len(contexts), len(spellings)))
        np.add.at(scores.T, numbers, answers.T)
        return scores

    def _gaps(self, contexts: Sequence[str]) -> list[tuple[Tokens, Tokens]]:
        """For every context the token numbers before and after its gap."""
        halves = [split_at_blank(context) for context in contexts]
        # Without the space: in training, the word that a mask replaced had it in its first piece. Some
        # tokenizers would make it a piece of its own.
        masked = [before.rstrip() + self.tokenizer.mask_token + after for before, after in halves]
        # behind a word: behind a mask, some tokenizers take any text for the beginning of a word
        afters = {after for _, after in halves}
        behind = {after: self.piece_ids(after, "a") + self.ends[1] for after in afters}
        gaps = []
        encoded = self._encoded(masked, special=True)
        for context, (_, after), encoding in zip(contexts, halves, encoded, strict=True):
            ids = tuple(encoding.ids)
            if ids.count(self._mask) != 1:
                mask = self.tokenizer.mask_token
                raise ValueError(f"a sentence must have one gap and must not hold {mask} itself: '{context}'")
            gaps.append((ids[: ids.index(self._mask)], behind[after]))
        return gaps

    def _looks(self, encoded: Sequence[Any], scored: Sequence[list[int]]) -> tuple[list[Tokens], np.ndarray]:
        rows: dict[Tokens, int] = {}
        looks = []
        variant = self.settings.variant
        for encoding, own in zip(encoded, scored, strict=True):
            tokens = encoding.ids
            words = encoding.word_ids if variant != "original" else ()
            for place in own:
                row = tokens.copy()
                row[place] = self._mask
                if words:
                    first = 0 if variant == "whole_word" else place
                    for other in range(first, len(row)):
                        if words[other] == words[place]:
                            row[other] = self._mask
                looks.append((rows.setdefault(tuple(row), len(rows)), place, tokens[place]))
        return list(rows), np.array(looks, dtype=np.int64).reshape(-1, 3)


def _places(spellings: Sequence[Tokens], policy: Policy) -> Places:
    """The looks at a gap that score every spelling, whose log-probability is the sum over its looks."""
    places: Places = {}
    for number, tokens in enumerate(spellings):
        for at, token in enumerate(tokens):
            place = (len(tokens), () if policy == "joint" else tokens[:at], at)
            places.setdefault(place, {}).setdefault(token, []).append(number)
    return places
