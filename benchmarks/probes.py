"""Scoring with language models: simtown against one request at a time, and transformers' fill-mask pipeline.

    python benchmarks/probes.py [--classes 400] [--texts 40] [--out benchmarks/results/probes.csv]

The model has the sizes of google/bert_uncased_L-4_H-256 (4 layers of 256, 30,522 entries in the vocabulary)
and random weights: speed does not depend on them. One thread, float32, the same requests for everyone;
processor time, the least of three turns. simtown and the loop must agree within 1e-4.
"""

from itertools import product
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import torch
import transformers
from machine import RESULTS, Rows, machine, options
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from simtown.probes.scorers import BLANK, open_scorer

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
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.save_pretrained(directory)
    sizes = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=30_522, **sizes))
    model.save_pretrained(directory)


class Ways:
    """Log-probabilities by each way, which a method is named after, and its task."""

    def __init__(self, directory: str) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
        self.model = transformers.AutoModelForMaskedLM.from_pretrained(directory).eval()
        self.pipeline = transformers.pipeline("fill-mask", model=directory, device="cpu", batch_size=32)
        self.scorer = open_scorer(f"hf:{directory}", device="cpu").uncached()  # so that nothing is remembered

    @torch.no_grad()
    def logprobs(self, ids: torch.Tensor, position: int) -> torch.Tensor:
        """What a script does: a forward for every request, and the logits of all its positions."""
        return torch.log_softmax(self.model(input_ids=ids).logits[0, position], 0)

    def loop_classes(self, asked: list[str]) -> np.ndarray:
        wanted, rows = self.tokenizer.convert_tokens_to_ids(COLOURS), []
        for context in asked:
            ids = self.tokenizer(context.replace(BLANK, "[MASK]"), return_tensors="pt")["input_ids"]
            position = ids[0].tolist().index(self.tokenizer.mask_token_id)
            rows.append(self.logprobs(ids, position)[wanted].numpy())
        return np.array(rows)

    def loop_texts(self, asked: list[str]) -> np.ndarray:
        """A forward for every token, with the token masked."""
        totals = np.zeros(len(asked))
        for n, text in enumerate(asked):
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
            for i in range(1, ids.shape[1] - 1):
                masked = ids.clone()
                masked[0, i] = self.tokenizer.mask_token_id
                totals[n] += float(self.logprobs(masked, i)[ids[0, i]])
        return totals

    def pipeline_classes(self, asked: list[str]) -> np.ndarray:
        masked = [context.replace(BLANK, "[MASK]") for context in asked]
        answers = self.pipeline(masked, targets=COLOURS, top_k=len(COLOURS))
        scores = [{r["token_str"]: np.log(r["score"]) for r in rows} for rows in answers]
        return np.array([[score[colour] for colour in COLOURS] for score in scores])

    def simtown_classes(self, asked: list[str]) -> np.ndarray:
        return self.scorer.class_logprobs(asked, COLOURS)

    def simtown_texts(self, asked: list[str]) -> np.ndarray:
        return np.array([scores.logprobs.sum() for scores in self.scorer.sequence_logprobs(asked)])


def main() -> None:
    args = options(__doc__, classes=400, texts=40, out=RESULTS / "probes.csv")
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    every = [" ".join(f.format(t, p, BLANK).split()) for f, t, p in product(FORMS, THINGS, PLACES)]
    gaps = list(dict.fromkeys(every))[: args.classes]
    texts = [gap.replace(BLANK, COLOURS[i % len(COLOURS)]) for i, gap in enumerate(gaps[: args.texts])]
    rows, answers = Rows(args.out, machine("torch", "transformers")), {}
    with TemporaryDirectory() as directory:
        build(directory, every)
        ways = Ways(directory)
        for task, asked, names in (
            ("classes", gaps, ("loop", "pipeline", "simtown")),
            ("texts", texts, ("loop", "simtown")),
        ):
            for name in names:
                way, times = getattr(ways, f"{name}_{task}"), []
                way(asked[:8])
                for _ in range(3):
                    begun = process_time()
                    answers[name] = way(asked)
                    times.append(process_time() - begun)
                row = {"task": task, "way": name, "requests": len(asked), "seconds": f"{min(times):.2f}"}
                rows.add(row | {"requests per second": f"{len(asked) / min(times):.1f}"})
            np.testing.assert_allclose(answers["simtown"], answers["loop"], atol=1e-4)


if __name__ == "__main__":
    main()
