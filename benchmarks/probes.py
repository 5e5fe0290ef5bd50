"""Scoring with language models: simtown against one request at a time, and transformers' fill-mask pipeline.

The model has the sizes of google/bert_uncased_L-4_H-256 (4 layers of 256, 30,522 entries in the vocabulary)
and random weights: speed does not depend on them. One thread, float32, the same requests for everyone;
processor time, the least of three turns. simtown and the loop must agree within 1e-4.

python benchmarks/probes.py
"""

import csv
import itertools
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import torch
import transformers
from machine import machine
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from simtown.probes.scorers import BLANK, open_scorer

RESULTS = Path(__file__).parent / "results" / "probes.csv"
COLUMNS = ("task", "way", "requests", "seconds", "requests per second", "machine")
THINGS = (
    *("banana", "sky", "bus", "old car", "wall", "fire truck", "grass"),
    *("snow", "brick", "coat", "lamp", "dog", "tree"),
)
PLACES = (
    *("", "in the town", "near the street on the left"),
    *("that people wait for at the stop", "behind the house"),
)
COLOURS = ["red", "blue", "green", "yellow", "white", "black", "brown", "grey", "orange", "purple", "pink"]
FORMS = (
    *("the {} {} is {} .", "this {} {} has the colour {} .", "{} {} of a colour that everyone calls {} ."),
    *("most people think a {} {} is {}", "a {} {} that is {} .", "we saw a {} {} and it was {} again"),
    *("a photo of a {} {} in {} .", "is the {} {} really {} ?"),
)


def build(directory: str, contexts: list[str]) -> None:
    """Save the model, with a vocabulary of whole words filled up to BERT's size."""
    words = sorted({word for c in contexts for word in c.replace(BLANK, "").split()} | set(COLOURS))
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    entries += [f"filler{i}" for i in range(30_522 - len(entries))]
    tokenizer = Tokenizer(models.WordPiece({entry: i for i, entry in enumerate(entries)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {
        name: f"[{name[:-6].upper()}]" for name in ("pad_token", "unk_token", "cls_token", "sep_token")
    }
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, mask_token="[MASK]", **special
    ).save_pretrained(directory)
    sizes = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
    torch.manual_seed(0)
    transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=30_522, **sizes)).save_pretrained(
        directory
    )


def loop_classes(asked: list[str]) -> np.ndarray:
    """What a script does: a forward for every sentence, and the logits of all its positions."""
    wanted = tokenizer.convert_tokens_to_ids(COLOURS)
    rows = []
    for context in asked:
        ids = tokenizer(context.replace(BLANK, "[MASK]"), return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logits = model(input_ids=ids).logits[0, ids[0].tolist().index(tokenizer.mask_token_id)]
        rows.append(torch.log_softmax(logits, 0)[wanted].numpy())
    return np.array(rows)


def loop_texts(asked: list[str]) -> np.ndarray:
    """A forward for every token, with the token masked."""
    totals = np.zeros(len(asked))
    for n, text in enumerate(asked):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        for i in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, i] = tokenizer.mask_token_id
            with torch.no_grad():
                totals[n] += float(torch.log_softmax(model(input_ids=masked).logits[0, i], 0)[ids[0, i]])
    return totals


def pipeline_classes(asked: list[str]) -> np.ndarray:
    masked = [context.replace(BLANK, "[MASK]") for context in asked]
    answers = pipeline(masked, targets=COLOURS, top_k=len(COLOURS))
    scores = [{r["token_str"]: np.log(r["score"]) for r in rows} for rows in answers]
    return np.array([[score[colour] for colour in COLOURS] for score in scores])


def simtown_classes(asked: list[str]) -> np.ndarray:
    return scorer.class_logprobs(asked, COLOURS)


def simtown_texts(asked: list[str]) -> np.ndarray:
    return np.array([scores.logprobs.sum() for scores in scorer.sequence_logprobs(asked)])


torch.set_num_threads(1)
transformers.utils.logging.set_verbosity_error()
every = [" ".join(f.format(t, p, BLANK).split()) for f, t, p in itertools.product(FORMS, THINGS, PLACES)]
gaps = list(dict.fromkeys(every))[:400]
texts = [gap.replace(BLANK, COLOURS[i % len(COLOURS)]) for i, gap in enumerate(gaps[:40])]
on, rows = machine("torch", "transformers"), []
with tempfile.TemporaryDirectory() as directory:
    build(directory, every)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    model = transformers.AutoModelForMaskedLM.from_pretrained(directory).eval()
    pipeline = transformers.pipeline("fill-mask", model=directory, device="cpu", batch_size=32)
    scorer = open_scorer(f"hf:{directory}", device="cpu").uncached()  # so that nothing is remembered
    for task, asked, ways in (
        ("classes", gaps, (loop_classes, pipeline_classes, simtown_classes)),
        ("texts", texts, (loop_texts, simtown_texts)),
    ):
        answers = []
        for way in ways:
            way(asked[:8])
            times = []
            for _ in range(3):
                begun = process_time()
                answer = way(asked)
                times.append(process_time() - begun)
            answers.append(answer)
            name, rate = way.__name__.partition("_")[0], len(asked) / min(times)
            rows.append((task, name, len(asked), f"{min(times):.2f}", f"{rate:.1f}", on))
            print(f"{task:8} {name:10} {min(times):7.2f} s {rate:8.1f}/s", flush=True)
        np.testing.assert_allclose(answers[-1], answers[0], atol=1e-4)
with open(RESULTS, "w", encoding="utf-8", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
