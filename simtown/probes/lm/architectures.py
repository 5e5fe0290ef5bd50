"""The three kinds of model that are trained here: tokenizer, size, and what each learns to predict."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers as tk
import torch
from tokenizers import AddedToken, Regex, Tokenizer
from transformers import BertForMaskedLM, GPT2LMHeadModel, PreTrainedTokenizerFast

from simtown.core.files import DamagedError
from simtown.probes.corpus import TOKEN
from simtown.probes.lm.lstm import LSTMForCausalLM

#: Positions that the transformers have.
POSITIONS = 128
#: Share of the tokens that a masked model is asked for; of these, shares that a mask stands for and that
#: another token stands for (Devlin et al. 2019, section 3.1).
ASKED, HIDDEN, SWAPPED = 0.15, 0.8, 0.1

#: Shown ids, (k,) places in the flattened batch, (k,) tokens wanted there.
Looks = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
#: From token numbers, the tokenizer and a generator.
Task = Callable[[torch.Tensor, Any, torch.Generator], Looks]


@dataclass(frozen=True)
class Architecture:
    """One kind.

    Attributes:
        tokenizer: trains one on phrases, with at most so many entries.
        kind: transformers' class of the model.
        task: what is predicted.
        vocabulary: entries at most, by default.
        learning_rate: the default.
        sizes: of the model, where they are not its own.
        dropouts: names of its shares of dropout.
    """

    tokenizer: Callable[[Iterable[str], int], PreTrainedTokenizerFast]
    kind: Any
    task: Task
    vocabulary: int
    learning_rate: float
    sizes: Mapping[str, int]
    dropouts: tuple[str, ...]

    def model(self, tokenizer: Any, dropout: float | None = None) -> Any:
        """An untrained model for a tokenizer; without a share of dropout it keeps its own."""
        names = ("pad_token_id", "bos_token_id", "eos_token_id")
        special = {name: getattr(tokenizer, name) for name in names}
        shares = {} if dropout is None else dict.fromkeys(self.dropouts, dropout)
        return self.kind(self.kind.config_class(vocab_size=len(tokenizer), **special, **self.sizes, **shares))

    @staticmethod
    def logits(model: Any, ids: torch.Tensor, real: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """(k, v) logits at the places `at` of the flattened batch; no others are projected."""
        hidden = model.base_model(input_ids=ids, attention_mask=real).last_hidden_state
        head = model.cls if hasattr(model, "cls") else model.lm_head
        return head(hidden.flatten(0, 1)[at])


def _words(phrases: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """Words in lower case and marks of punctuation, cut as :func:`simtown.probes.corpus.tokenise` does."""
    tokenizer = Tokenizer(tk.models.WordLevel(unk_token="<unk>"))
    folding = tk.normalizers.Lowercase(), tk.normalizers.NFC(), tk.normalizers.Replace("’", "'")
    tokenizer.normalizer = tk.normalizers.Sequence(list(folding))
    tokenizer.pre_tokenizer = tk.pre_tokenizers.Split(Regex(TOKEN.pattern), behavior="removed", invert=True)
    special = ["<pad>", "<unk>", "<s>", "</s>"]
    trainer = tk.trainers.WordLevelTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(phrases, trainer)
    return _enclosing(tokenizer, unk_token="<unk>")


def _pieces(phrases: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """Byte pairs in lower case, as of GPT-2 and RoBERTa: unlike WordPiece's, training repeats exactly."""
    tokenizer = Tokenizer(tk.models.BPE())
    tokenizer.normalizer = tk.normalizers.Sequence([tk.normalizers.Lowercase(), tk.normalizers.NFC()])
    tokenizer.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tk.decoders.ByteLevel()
    # It takes the space before it along, as a word's first piece does. The trainer has to know:
    # a tokenizer ignores a token that it has.
    mask = AddedToken("<mask>", lstrip=True, special=True)
    special, alphabet = ["<pad>", "<s>", "</s>", mask], tk.pre_tokenizers.ByteLevel.alphabet()
    settings: dict[str, Any] = {"initial_alphabet": alphabet, "show_progress": False}
    trainer = tk.trainers.BpeTrainer(vocab_size=size, special_tokens=special, **settings)
    tokenizer.train_from_iterator(phrases, trainer)
    own = {"cls_token": "<s>", "sep_token": "</s>", "mask_token": mask, "model_max_length": POSITIONS}
    return _enclosing(tokenizer, **own)


def _enclosing(tokenizer: Tokenizer, **own: Any) -> PreTrainedTokenizerFast:
    """A tokenizer of transformers that puts every text between <s> and </s>."""
    special = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = tk.processors.TemplateProcessing(single="<s> $A </s>", special_tokens=special)
    shared = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **shared, **own)


def next_token(ids: torch.Tensor, tokenizer: Any, generator: torch.Generator) -> Looks:
    """Every token behind those before it, the end included."""
    wanted = torch.roll(ids, -1, 1)
    real = wanted != tokenizer.pad_token_id
    real[:, -1] = False
    return ids, real.flatten().nonzero()[:, 0], wanted[real]


def masked_token(ids: torch.Tensor, tokenizer: Any, generator: torch.Generator) -> Looks:
    """Some tokens given the rest: most of them masked, some swapped for others, some shown as they are."""
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    targets = (torch.rand(ids.shape, generator=generator) < ASKED) & ~special
    fate = torch.rand(ids.shape, generator=generator)
    others = torch.randint(len(tokenizer.all_special_ids), len(tokenizer), ids.shape, generator=generator)
    shown = torch.where(targets & (fate < HIDDEN), tokenizer.mask_token_id, ids)
    shown = torch.where(targets & (fate >= HIDDEN) & (fate < HIDDEN + SWAPPED), others, shown)
    return shown, targets.flatten().nonzero()[:, 0], ids[targets]


def load_tokenizer(directory: Path) -> Any:
    """The tokenizer that a run made. Raises DamagedError if it cannot be read."""
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        return PreTrainedTokenizerFast.from_pretrained(directory, **options)
    except Exception as error:  # tokenizers and transformers each raise their own
        remedy = "run simtown lm train again with another --out"
        raise DamagedError(f"the tokenizer in {directory} is damaged: {remedy}") from error


_BERT = {"hidden_size": 192, "num_hidden_layers": 4, "num_attention_heads": 3, "intermediate_size": 768}
_BERT |= {"max_position_embeddings": POSITIONS}
_GPT = {"n_embd": 192, "n_layer": 4, "n_head": 3, "n_positions": POSITIONS}
_BERT_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")
_GPT_DROPOUTS = ("resid_pdrop", "embd_pdrop", "attn_pdrop")
ARCHITECTURES = {
    "lstm": Architecture(_words, LSTMForCausalLM, next_token, 5_000, 3e-3, {}, ("dropout",)),
    "bert-mini": Architecture(_pieces, BertForMaskedLM, masked_token, 8_000, 1e-3, _BERT, _BERT_DROPOUTS),
    "gpt-mini": Architecture(_pieces, GPT2LMHeadModel, next_token, 5_000, 1e-3, _GPT, _GPT_DROPOUTS),
}
