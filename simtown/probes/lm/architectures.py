"""The three kinds of model that are trained here: for each its tokenizer, its size, and what it learns to
predict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from simtown.core.files import DamagedError
from simtown.probes.corpus import TOKEN
from simtown.probes.lm.lstm import LSTMConfig, LSTMForCausalLM

#: Positions that the transformers have.
POSITIONS = 128
#: Share of the tokens that a masked model is asked for; of these, shares that a mask stands for and that
#: another token stands for (Devlin et al. 2019, section 3.1).
ASKED, HIDDEN, SWAPPED = 0.15, 0.8, 0.1

#: (ids, tokenizer, generator) to (shown ids, (k,) places in the flattened batch, (k,) tokens wanted there).
Task = Callable[[torch.Tensor, Any, torch.Generator], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Architecture:
    """One kind.

    Attributes:
        tokenizer: trains one on phrases, with at most so many entries.
        model: untrained, for a tokenizer; with a share that dropout drops, or None for the architecture's
            own.
        task: what is predicted.
        vocabulary: entries at most, by default.
        learning_rate: the default.
    """

    tokenizer: Callable[[Iterable[str], int], PreTrainedTokenizerFast]
    model: Callable[[Any, float | None], Any]
    task: Task
    vocabulary: int
    learning_rate: float

    @staticmethod
    def logits(model: Any, ids: torch.Tensor, real: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """(k, v) logits at the places `at` of the flattened batch; no others are projected."""
        hidden = model.base_model(input_ids=ids, attention_mask=real).last_hidden_state
        head = model.cls if hasattr(model, "cls") else model.lm_head
        return head(hidden.flatten(0, 1)[at])


def _words(phrases: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """Words in lower case and marks of punctuation, cut as :func:`simtown.probes.corpus.tokenise` does."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace("’", "'")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(TOKEN.pattern), behavior="removed", invert=True)
    special = ["<pad>", "<unk>", "<s>", "</s>"]
    tokenizer.train_from_iterator(
        phrases, trainers.WordLevelTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    )
    _enclose(tokenizer, "<s>", "</s>")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )


def _pieces(phrases: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """Byte pairs in lower case, as GPT-2 and RoBERTa have them: training them gives the same every time,
    training WordPiece does not.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    # It takes the space before it along, as a word's first piece does. The trainer has to know:
    # a tokenizer ignores a token that it has.
    mask = AddedToken("<mask>", lstrip=True, special=True)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<pad>", "<s>", "</s>", mask],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(phrases, trainer)
    _enclose(tokenizer, "<s>", "</s>")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token=mask,
        model_max_length=POSITIONS,
    )


def _enclose(tokenizer: Tokenizer, first: str, last: str) -> None:
    """Let every text stand between two special tokens."""
    special = [(token, tokenizer.token_to_id(token)) for token in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=special
    )


def _lstm(tokenizer: Any, dropout: float | None = None) -> Any:
    return LSTMForCausalLM(
        LSTMConfig(vocab_size=len(tokenizer), **_special(tokenizer), **_shares(dropout, "dropout"))
    )


def _bert(tokenizer: Any, dropout: float | None = None) -> Any:
    more = _special(tokenizer) | _shares(dropout, "hidden_dropout_prob", "attention_probs_dropout_prob")
    return BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=192,
            num_hidden_layers=4,
            num_attention_heads=3,
            intermediate_size=768,
            max_position_embeddings=POSITIONS,
            **more,
        )
    )


def _gpt(tokenizer: Any, dropout: float | None = None) -> Any:
    more = _special(tokenizer) | _shares(dropout, "resid_pdrop", "embd_pdrop", "attn_pdrop")
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), n_embd=192, n_layer=4, n_head=3, n_positions=POSITIONS, **more)
    )


def _shares(dropout: float | None, *names: str) -> dict[str, Any]:
    """A configuration's entries for dropout; none where it is to keep its own."""
    return {} if dropout is None else dict.fromkeys(names, dropout)


def _special(tokenizer: Any) -> dict[str, Any]:
    return {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}


def next_token(
    ids: torch.Tensor, tokenizer: Any, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Every token behind those before it, the end included."""
    wanted = torch.roll(ids, -1, 1)
    real = wanted != tokenizer.pad_token_id
    real[:, -1] = False
    return ids, real.flatten().nonzero()[:, 0], wanted[real]


def masked_token(
    ids: torch.Tensor, tokenizer: Any, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Some tokens given the rest: most of them masked, some swapped for others, some shown as they are."""
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    targets = (torch.rand(ids.shape, generator=generator) < ASKED) & ~special
    fate = torch.rand(ids.shape, generator=generator)
    others = torch.randint(len(tokenizer.all_special_ids), len(tokenizer), ids.shape, generator=generator)
    shown = torch.where(targets & (fate < HIDDEN), tokenizer.mask_token_id, ids)
    shown = torch.where(targets & (fate >= HIDDEN) & (fate < HIDDEN + SWAPPED), others, shown)
    return shown, targets.flatten().nonzero()[:, 0], ids[targets]


def load_tokenizer(directory: Path) -> Any:
    """The tokenizer that a run made.

    Raises:
        DamagedError: it cannot be read.
    """
    try:
        return PreTrainedTokenizerFast.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # tokenizers and transformers each raise their own
        raise DamagedError(
            f"the tokenizer in {directory} is damaged ({type(error).__name__}): run simtown lm train "
            "again with another --out"
        ) from error


ARCHITECTURES = {
    "lstm": Architecture(_words, _lstm, next_token, vocabulary=5_000, learning_rate=3e-3),
    "bert-mini": Architecture(_pieces, _bert, masked_token, vocabulary=8_000, learning_rate=1e-3),
    "gpt-mini": Architecture(_pieces, _gpt, next_token, vocabulary=5_000, learning_rate=1e-3),
}
