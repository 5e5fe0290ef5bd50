"""Causal language models: GPT-2 and its kin, and our own LSTM. What stands behind a gap is not seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from simtown.core.pretrained import quietly
from simtown.probes.scorers.base import ScorerSettings, TokenScores
from simtown.probes.scorers.batching import NODES, Tree, distinct, grow
from simtown.probes.scorers.huggingface import LanguageModel, rounding
from simtown.probes.scorers.spelling import Tokens, split_at_blank

#: The message that a text without a context replies to.
ALONE = "Write one sentence."
#: Settings of models whose tokens see so many others at most.
_WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")


class Causal(LanguageModel):
    """A causal language model.

    A text stands behind the token that begins texts (or ends them), so that its first word too is scored. The
    end of a text is not counted.
    """

    forward = True

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings) -> None:
        starts = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id)
        start = next((token for token in starts if token is not None), None)
        if start is None:
            without = "so the first word would have no probability: give another model"
            raise ValueError(f"{name} has no token that begins a text (bos_token, eos_token), {without}")
        self.lead = (int(start),)
        super().__init__(name, model, tokenizer, settings)
        if _looks_ahead(self.model, int(start)):
            other = "give a causal or a masked language model"
            raise ValueError(
                f"{name} is not a causal language model, though its config.json says so: {other}"
            )
        windows = (getattr(model.config, window, None) for window in _WINDOWS)
        #: Nodes of a tree of texts, 0 if the model cannot read trees.
        self._nodes = min([self.longest, *filter(None, windows)]) if self._reads_trees() else 0

    def _at_gaps(self, contexts: Sequence[str], spellings: Sequence[Tokens]) -> np.ndarray:
        unique, where = distinct(split_at_blank(context)[0].rstrip() for context in contexts)
        befores = [self._before(text) for text in unique]
        for text, row in zip(unique, befores, strict=True):
            self._check_length(len(row) + max(map(len, spellings)) - 1, text)
        stems, stem_of = distinct(tokens[:-1] for tokens in spellings)
        lengths = np.array([len(tokens) for tokens in spellings])
        starts = np.cumsum(lengths) - lengths
        of_one = np.column_stack(
            [
                np.repeat(stem_of, lengths),
                np.arange(lengths.sum()) - np.repeat(starts + 1, lengths),
                np.concatenate(spellings),
            ]
        )
        looks = np.tile(of_one, (len(befores), 1))
        looks[:, 0] += np.repeat(np.arange(len(befores)) * len(stems), len(of_one))
        looks[:, 1] += np.repeat([len(before) for before in befores], len(of_one))
        logprobs = self.look_logprobs([(*before, *stem) for before in befores for stem in stems], looks)
        return np.add.reduceat(logprobs.reshape(len(befores), -1), starts, axis=1)[where]

    def _before(self, text: str) -> Tokens:
        """The tokens that the model reads before a gap."""
        return *self.lead, *self.token_ids(text)

    def _looks(self, encoded: Sequence[Any], scored: Sequence[list[int]]) -> tuple[list[Tokens], np.ndarray]:
        rows = [(*self.lead, *encoding.ids) for encoding in encoded]
        before = len(self.lead) - 1
        looks = [
            (number, at + before, rows[number][at + before + 1])
            for number, own in enumerate(scored)
            for at in own
        ]
        return rows, np.array(looks, dtype=np.int64).reshape(-1, 3)

    def look_logprobs(
        self, rows: Sequence[Sequence[int]], looks: np.ndarray, trees: Sequence[Tree] = ()
    ) -> np.ndarray:
        """What rows begin alike with is read once, if the model can read trees."""
        last = np.zeros(len(rows), dtype=np.int64)
        np.maximum.at(last, looks[:, 0], looks[:, 1])
        read = [row[: end + 1] for row, end in zip(rows, last.tolist(), strict=True)]
        trees, places = grow(read, self._nodes)
        lengths = np.array([len(path) for _, path in places])
        starts = np.cumsum(lengths) - lengths
        nodes = np.concatenate([path for _, path in places])
        of_tree = np.array([tree for tree, _ in places])
        row, at, token = looks.T
        looks = np.column_stack([of_tree[row], nodes[starts[row] + at], token])
        return super().look_logprobs([tree.ids for tree in trees], looks, trees)

    def _reads_trees(self) -> bool:
        """Whether nodes of a tree have the states that their rows have alone."""
        a, b = ([0, *tokens] for tokens in ((1, 2, 3), (4, 5)))
        trees, ((_, path_a), (_, path_b)) = grow([a, b], NODES)
        inputs = {"input_ids": self.tensor([trees[0].ids]), **self._as_trees(trees)}
        try:
            with quietly(), torch.inference_mode():
                whole = self.model(**inputs).logits[0].float()
                alone = [self.model(input_ids=self.tensor([row])).logits[0].float() for row in (a, b)]
        except (TypeError, ValueError, RuntimeError, IndexError):  # a model without masks or positions
            return False
        apart = (whole[path_a + path_b] - torch.cat(alone)).abs().max()
        return bool(apart <= rounding(self.model) * whole.abs().max().clamp_min(1))


class Chat(Causal):
    """A causal model that is asked through its chat template, without thinking where the template can.

    What stands before a gap, or before the scored part of a text, is the user's message; what is scored is
    the reply behind the template's generation prompt. A text without a context replies to :data:`ALONE`.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings) -> None:
        super().__init__(name, model, tokenizer, settings)
        if not tokenizer.chat_template:
            raise ValueError(f"{name} has no chat template: leave out chat")
        self.lead = ()  # the template begins a text
        end = self._prompt("a")[-1:]
        self._space = "" if end.isspace() or end in ">]" else " "

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        begins = begins or [0] * len(texts)
        prompts = [
            self._prompt(text[:begin].strip()) + self._space
            for text, begin in zip(texts, begins, strict=True)
        ]
        whole = [prompt + text[at:] for prompt, text, at in zip(prompts, texts, begins, strict=True)]
        scores = super().sequence_logprobs(whole, [len(prompt) for prompt in prompts])
        contexts = [len(text[:begin].split()) for text, begin in zip(texts, begins, strict=True)]
        return [
            TokenScores(tokens.logprobs, tokens.words - tokens.words[:1] + words)
            for tokens, words in zip(scores, contexts, strict=True)
        ]

    def spelling(self, word: str, lead: str = " ") -> Tokens | None:
        """Token numbers of a reply, whatever stands before the gap in the user's message."""
        return super().spelling(self._space + word, "")

    def _before(self, text: str) -> Tokens:
        return self.token_ids(self._prompt(text))

    def _prompt(self, message: str) -> str:
        text = message or ALONE
        how = {"add_generation_prompt": True, "tokenize": False, "enable_thinking": False}
        # templates of models with pictures take parts, and leave out a text that is none without a word
        for content in (text, [{"type": "text", "text": text}]):
            chat = [{"role": "user", "content": content}]
            prompt: str = self.tokenizer.apply_chat_template(chat, **how)
            if text in prompt:
                return prompt
        raise ValueError(f"the chat template of {self.name} does not say the user's message: leave out chat")


def _looks_ahead(model: Any, start: int) -> bool:
    """Whether another last token changes what the model says before it."""
    rows = torch.tensor([[start] * 4, [start] * 3 + [0 if start else 1]], device=model.device)
    with quietly(), torch.no_grad():
        first, second = model(input_ids=rows).logits[:, :-1].double().log_softmax(-1)
    return bool((first - second).abs().max() > rounding(model))
