"""Scoring with language models: simtown's scorers against one request at a time, and against transformers'
fill-mask pipeline.

The model has the sizes of google/bert_uncased_L-4_H-256 (4 layers of 256, 30,522 entries in the vocabulary)
and random weights: speed does not depend on them. One thread, float32, the same requests for everyone, in the
same run; processor time, the least of several turns. What they say is compared: simtown and the loop must
agree within 1e-5.

python benchmarks/probes.py [--requests 400] [--turns 3]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
import transformers
from machine import machine
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from simtown.probes.scorers import BLANK, open_scorer

RESULTS = Path(__file__).parent / "results" / "probes.csv"
COLUMNS = ("task", "way", "requests", "seconds", "requests per second", "machine")
VOCABULARY = 30_522
THINGS = (
    "banana",
    "sky",
    "bus",
    "old car",
    "wall",
    "fire truck",
    "grass",
    "snow",
    "brick",
    "coat",
    "lamp",
    "dog",
    "tree",
)
PLACES = (
    "",
    "in the town",
    "near the street on the left",
    "that people wait for at the stop",
    "behind the house",
)
COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "grey", "orange", "purple", "pink")
FORMS = (
    "the {} {} is {} .",
    "this {} {} has the colour {} .",
    "{} {} of a colour that everyone calls {} .",
    "most people think a {} {} is {}",
    "a {} {} that is {} .",
    "we saw a {} {} and it was {} again",
    "a photo of a {} {} in {} .",
    "is the {} {} really {} ?",
)


def contexts(n: int) -> list[str]:
    """Distinct sentences with a gap where their colour was; 7 to 18 tokens."""
    made = (
        " ".join(form.format(thing, place, BLANK).split())
        for form, thing, place in itertools.product(FORMS, THINGS, PLACES)
    )
    return list(itertools.islice(made, n))


def build(directory: Path) -> None:
    """Save the model, with a vocabulary of whole words filled up to BERT's size."""
    words = sorted({w for c in contexts(10**6) for w in c.replace(BLANK, "").split()} | set(COLOURS))
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    entries += [f"filler{i}" for i in range(VOCABULARY - len(entries))]
    tokenizer = Tokenizer(models.WordPiece({entry: i for i, entry in enumerate(entries)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(directory)
    config = transformers.BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=1024,
    )
    torch.manual_seed(0)
    transformers.BertForMaskedLM(config).save_pretrained(directory)


class OneByOne:
    """What a script does: for every masked text one forward, and the logits of all its positions."""

    def __init__(self, directory: Path) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
        self.model = transformers.AutoModelForMaskedLM.from_pretrained(directory).eval()

    def classes(self, asked: list[str]) -> np.ndarray:
        wanted = self.tokenizer.convert_tokens_to_ids(list(COLOURS))
        rows = []
        for context in asked:
            encoded = self.tokenizer(context.replace(BLANK, "[MASK]"), return_tensors="pt")
            with torch.no_grad():
                logits = self.model(**encoded).logits[0]
            at = encoded["input_ids"][0].tolist().index(self.tokenizer.mask_token_id)
            rows.append(torch.log_softmax(logits[at], 0)[wanted].numpy())
        return np.array(rows)

    def texts(self, asked: list[str]) -> np.ndarray:
        totals = []
        for text in asked:
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
            total = 0.0
            for i in range(1, ids.shape[1] - 1):
                masked = ids.clone()
                masked[0, i] = self.tokenizer.mask_token_id
                with torch.no_grad():
                    logits = self.model(input_ids=masked).logits[0]
                total += float(torch.log_softmax(logits[i], 0)[ids[0, i]])
            totals.append(total)
        return np.array(totals)


class Pipeline:
    """transformers' fill-mask pipeline with given targets, in the batches in which it is fastest here."""

    def __init__(self, directory: Path, batch: int) -> None:
        from transformers.utils import logging

        logging.set_verbosity_error()
        self.pipeline = transformers.pipeline(
            "fill-mask", model=str(directory), device="cpu", batch_size=batch
        )
        self.tokenizer = self.pipeline.tokenizer

    def classes(self, asked: list[str]) -> np.ndarray:
        found = self.pipeline(
            [c.replace(BLANK, "[MASK]") for c in asked], targets=list(COLOURS), top_k=len(COLOURS)
        )
        return np.array(
            [
                [{r["token_str"]: np.log(r["score"]) for r in rows}[colour] for colour in COLOURS]
                for rows in found
            ]
        )

    def texts(self, asked: list[str]) -> np.ndarray:
        """A masked copy for every token, each with its own token as the only target."""
        totals = []
        for text in asked:
            tokens = self.tokenizer.tokenize(text)
            total = 0.0
            for i, token in enumerate(tokens):
                masked = " ".join([*tokens[:i], "[MASK]", *tokens[i + 1 :]])
                total += float(np.log(self.pipeline(masked, targets=[token])[0]["score"]))
            totals.append(total)
        return np.array(totals)


class Simtown:
    """A scorer, opened anew for every turn so that nothing is remembered."""

    def __init__(self, directory: Path) -> None:
        self.scorer: Any = open_scorer(f"hf:{directory}", device="cpu").uncached()  # without its cache

    def classes(self, asked: list[str]) -> np.ndarray:
        return self.scorer.class_logprobs(asked, COLOURS)

    def texts(self, asked: list[str]) -> np.ndarray:
        return np.array([one.logprobs.sum() for one in self.scorer.sequence_logprobs(asked)])


def best(ask: Callable[[], np.ndarray], turns: int) -> tuple[float, np.ndarray]:
    """Least seconds of several turns, and what was said."""
    least = np.inf
    for _ in range(turns):
        begun = process_time()
        told = ask()
        least = min(least, process_time() - begun)
    return least, told


def main() -> None:
    """Run every way, print and keep the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    on = machine("torch", "transformers")
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        build(directory)
        ways: dict[str, Any] = {
            "one at a time": OneByOne(directory),
            "fill-mask pipeline": Pipeline(directory, 1),
            "fill-mask pipeline, batches of 32": Pipeline(directory, 32),
            "simtown": Simtown(directory),
        }
        gaps = contexts(given.requests)
        texts = [
            gap.replace(BLANK, COLOURS[i % len(COLOURS)])
            for i, gap in enumerate(gaps[: max(given.requests // 10, 1)])
        ]
        for task, asked in (("classes", gaps), ("texts", texts)):
            found = {}
            for name, way in ways.items():
                if task == "texts" and "batches" in name:
                    # its targets hold for all texts of a call: a masked copy of a text is a call of its own
                    continue
                getattr(way, task)(asked[:8])
                seconds, told = best(
                    lambda way=way, task=task, asked=asked: getattr(way, task)(asked), given.turns
                )  # type: ignore[misc]
                found[name] = (seconds, told)
                rows.append((task, name, len(asked), f"{seconds:.2f}", f"{len(asked) / seconds:.1f}", on))
                print(f"{task:8} {name:36} {seconds:7.2f} s {len(asked) / seconds:8.1f}/s", flush=True)
            ours, (_, right) = found["simtown"], found["one at a time"]
            times = ", ".join(
                f"{found[name][0] / ours[0]:.1f} times as fast as {name}"
                for name in found
                if name != "simtown"
            )
            print(
                f"{task:8} differs from one at a time by at most "
                f"{np.abs(ours[1] - right).max():.1e}; {times}",
                flush=True,
            )
    with open(RESULTS, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(rows)


if __name__ == "__main__":
    main()
