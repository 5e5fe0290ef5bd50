"""Scoring beside minicons, in one run: causal texts, shared beginnings, candidates, pseudo-log-likelihood.

    pip install minicons
    python benchmarks/probes_beside.py [--vocabulary 2000,8000] [--out benchmarks/results/probes_beside.csv]

A GPT-2 and a BERT of 3 layers of 128 with random weights: speed does not depend on them. One thread, float32,
no cache; processor time, the least of three turns, in turns. Both must give equal sums within 1e-3. minicons
is given batches of 64 (of 16 for masked models), simtown its default. The candidates are words of one piece,
for which minicons' next-word distribution is asked once a context.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import torch
import transformers
from machine import RESULTS, Rows, machine, options
from minicons import scorer as minicons
from probes import COLOURS, FORMS, PLACES, THINGS
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from simtown.probes.scorers import BLANK, open_scorer

CANDIDATES = [f"thing{number}" for number in range(40)]
TURNS = 3


def build(directory: str, words: set[str], size: int, *, masked: bool) -> None:
    """Save a model whose vocabulary holds the words and is filled up to a size."""
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask", "bos")}
    entries = [*special.values(), *sorted(words)]
    entries += [f"filler{number}" for number in range(size - len(entries))]
    numbers = {entry: number for number, entry in enumerate(entries)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if masked:
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    else:
        del special["cls_token"], special["mask_token"]
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(directory)
    torch.manual_seed(0)
    if masked:
        sizes = {
            "hidden_size": 128,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "intermediate_size": 512,
        }
        model: Any = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=size, **sizes))
    else:
        ends = {"bos_token_id": 5, "eos_token_id": 3}
        shape = {"n_embd": 128, "n_layer": 3, "n_head": 4, "n_positions": 128}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=size, **shape, **ends))
    model.save_pretrained(directory)


def batches(items: list[Any], size: int) -> list[list[Any]]:
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


def total(logprobs: torch.Tensor) -> float:
    return float(logprobs.sum())


class Tasks:
    """Each task's requests, and how either library answers them: (n,) sums."""

    def __init__(self, causal: str, masked: str, every: list[str]) -> None:
        self.theirs = minicons.IncrementalLMScorer(causal, device="cpu")
        self.theirs_masked = minicons.MaskedLMScorer(masked, device="cpu")
        for scorer in (self.theirs, self.theirs_masked):
            scorer.model.eval()
        kind = type(self.theirs_masked.tokenizer)
        if not hasattr(kind, "batch_encode_plus"):  # transformers 5 has it no more
            kind.batch_encode_plus = kind.__call__
        self.ours = open_scorer(f"hf:{causal}", device="cpu").uncached()
        self.ours_masked = open_scorer(f"hf:{masked}", device="cpu").uncached()
        self.texts = [text.replace(BLANK, COLOURS[i % len(COLOURS)]) for i, text in enumerate(every)]
        contexts = [" ".join(self.texts[3 * i : 3 * i + 3]) for i in range(40)]
        ends = [f"the {thing} is {colour}" for thing, colour in product(THINGS[:4], COLOURS[:3])]
        self.behind = list(product(contexts, ends))
        self.gaps = [text for text in every if text.partition(BLANK)[0].strip()][:200]

    def texts_theirs(self) -> list[float]:
        how = {"bos_token": True, "reduction": total}
        return [s for batch in batches(self.texts, 64) for s in self.theirs.sequence_score(batch, **how)]

    def texts_simtown(self) -> list[float]:
        return [scores.logprobs.sum() for scores in self.ours.sequence_logprobs(self.texts)]

    def beginnings_theirs(self) -> list[float]:
        how = {"bos_token": True, "reduction": total}
        scores = []
        for batch in batches(self.behind, 64):
            contexts, ends = (list(side) for side in zip(*batch, strict=True))
            scores += self.theirs.conditional_score(contexts, ends, **how)
        return scores

    def beginnings_simtown(self) -> list[float]:
        texts = [f"{context} {end}" for context, end in self.behind]
        begins = [len(context) + 1 for context, _ in self.behind]
        return [scores.logprobs.sum() for scores in self.ours.sequence_logprobs(texts, begins)]

    def candidates_theirs(self) -> np.ndarray:
        numbers = self.theirs.tokenizer.convert_tokens_to_ids(CANDIDATES)
        befores = [f"[BOS] {text.partition(BLANK)[0].strip()}" for text in self.gaps]
        rows = [self.theirs.next_word_distribution(batch)[:, numbers] for batch in batches(befores, 64)]
        return torch.cat(rows).numpy()

    def candidates_simtown(self) -> np.ndarray:
        return self.ours.class_logprobs(self.gaps, CANDIDATES)

    def pseudo_theirs(self) -> list[float]:
        how = {"PLL_metric": "original", "reduction": total}
        few = self.texts[:100]
        return [s for batch in batches(few, 16) for s in self.theirs_masked.sequence_score(batch, **how)]

    def pseudo_simtown(self) -> list[float]:
        return [scores.logprobs.sum() for scores in self.ours_masked.sequence_logprobs(self.texts[:100])]


def least(ways: list[Callable[[], Any]]) -> tuple[list[Any], list[float]]:
    """The answers of some ways, and the least processor seconds of each, in turns."""
    answers = [way() for way in ways]
    seconds = [float("inf")] * len(ways)
    for _ in range(TURNS):
        for number, way in enumerate(ways):
            begun = process_time()
            way()
            seconds[number] = min(seconds[number], process_time() - begun)
    return answers, seconds


def main() -> None:
    args = options(__doc__, vocabulary=[2000, 8000], out=Path(RESULTS / "probes_beside.csv"))
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    every = [" ".join(f.format(t, p, BLANK).split()) for f, t, p in product(FORMS, THINGS, PLACES)]
    every = [every[i] for i in np.random.default_rng(0).permutation(len(every))]
    words = {word for text in every for word in text.replace(BLANK, "").split()} | {*COLOURS, *CANDIDATES}
    rows = Rows(args.out, machine("torch", "transformers", "minicons"))
    for size in args.vocabulary:
        with TemporaryDirectory() as causal, TemporaryDirectory() as masked:
            build(causal, words, size, masked=False)
            build(masked, words, size, masked=True)
            tasks = Tasks(causal, masked, every)
            for task in ("texts", "beginnings", "candidates", "pseudo"):
                ways = [getattr(tasks, f"{task}_{who}") for who in ("theirs", "simtown")]
                answers, (theirs, ours) = least(ways)
                np.testing.assert_allclose(answers[0], answers[1], atol=1e-3)
                row = {"vocabulary": size, "task": task, "sums": np.size(answers[0])}
                times = {"minicons, s": f"{theirs:.3f}", "simtown, s": f"{ours:.3f}"}
                rows.add(row | times | {"times as fast": f"{theirs / ours:.2f}"})


if __name__ == "__main__":
    main()
