"""Training a small language model on a corpus, so that every probe runs on a real model without any download.

A run directory is a model in Hugging Face's layout (config.json, model.safetensors, tokenizer files) beside
lm.json, which holds every choice and figure, and metrics.jsonl. Which phrases are held out depends on the
phrases alone: none is trained on and validated on.
"""

import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import blake2b, file_digest
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from simtown.core.callbacks import ProgressCallback
from simtown.core.files import DamagedError, replacing, save_json, save_text
from simtown.core.options import SettingsError
from simtown.core.pretrained import quietly
from simtown.core.processes import keep_memory
from simtown.core.runs import RunRecord, require_keys
from simtown.core.streams import Stream
from simtown.core.untrusted import inside, open_regular
from simtown.core.version import __version__
from simtown.probes.corpus import Corpus, tokenise, vocabulary
from simtown.probes.lm import LMSettings
from simtown.probes.lm.architectures import ARCHITECTURES, load_tokenizer, masked_token
from simtown.training.fit_settings import device_of

RUN, METRICS, STATE = "lm.json", "metrics.jsonl", "state.pt"
#: The file that is there once a directory's tokenizer is whole.
TOKENIZER = "tokenizer_config.json"
#: The directory of a run: besides its own files it holds those of save_pretrained.
_FILES = (RUN, METRICS, STATE, TOKENIZER, "model.safetensors", "config.json", "tokenizer.json")
_OTHERS = ("special_tokens_map.json", "generation_config.json")
RECORD = RunRecord(RUN, "simtown-lm", "simtown lm train", frozenset(_FILES + _OTHERS), what="a run")
#: What lm.json says of a finished run, and the types.
_FIGURES = {"validation_perplexity": 0.0, "phrases": {}, "parameters": 0, "vocabulary": 0}
#: One phrase in so many is held out; at most so many of them are read at each validation but the last.
HELD_OUT, LOOKED_AT = 20, 4_000
#: Steps between two saved states. Batches are sorted by length within pools of so many.
ROUND, POOL = 200, 50
#: Longest text in tokens; the rest of a longer one is left out.
LONGEST = 64


def resolved(settings: LMSettings) -> LMSettings:
    """The settings with all defaults filled in; raises SettingsError if a value is impossible."""
    settings.check()
    usual, device = ARCHITECTURES[settings.arch], device_of(settings.device)
    if settings.tokenizer is not None:
        if not (settings.tokenizer / TOKENIZER).is_file():
            problem = f"{settings.tokenizer} holds no tokenizer: give a directory made by simtown lm train"
            raise SettingsError(problem, "tokenizer")
        if usual.task is masked_token and load_tokenizer(settings.tokenizer).mask_token_id is None:
            problem = f"{settings.tokenizer} has no token for a masked word"
            raise SettingsError(f"{problem}: give the directory of a bert-mini", "tokenizer")
    vocabulary = settings.vocabulary or usual.vocabulary
    rate = settings.learning_rate or usual.learning_rate
    return replace(settings, vocabulary=vocabulary, learning_rate=rate, device=device)


class TrainingError(ValueError):
    """Training cannot go on; the message says what to change."""


def train(settings: LMSettings, corpus: Path, directory: Path, progress: ProgressCallback) -> dict[str, Any]:
    """Train into a directory, or finish what was begun there; returns what its lm.json says.

    Killed at any moment and called again, it ends with the files of a run that was never disturbed.

    Raises:
        ValueError: a value is out of range, or the corpus has too little text.
        DamagedError: a file of the corpus or of the run is damaged.
        ForeignDirectoryError: the directory holds another run, or something else.
        TrainingError: the loss became NaN.
    """
    settings = resolved(settings)
    with open_regular(corpus) as file:
        digest = file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    kept = {**asdict(settings), "tokenizer": settings.tokenizer and settings.tokenizer.name}
    fresh = {"status": "running", "settings": kept, "corpus": {"name": corpus.name, "sha256": digest}}
    fresh |= {"simtown": __version__, "torch": str(torch.__version__)}
    # a corpus without enough text is refused before the directory is begun
    phrases = None if (directory / RUN).exists() else _phrases(corpus, settings.rare)
    with RECORD.opened(directory, fresh, _decisive) as run:
        if run["status"] == "done":
            require_keys(directory / RUN, run, _FIGURES)
            require_keys(directory / RUN, run["phrases"], {"validation": 0})
            return run
        if settings.device == "cpu":
            keep_memory()
        learner = Learner(settings, *(phrases or _phrases(corpus, settings.rare)), directory)
        progress.on_begin(learner.total * settings.batch, learner.step * settings.batch)
        looks = max(learner.total // 10, 1)
        while learner.step < learner.total:
            before, losses = learner.step, []
            with torch.random.fork_rng(devices=[0] if settings.device == "cuda" else []):
                torch.manual_seed(addressed(settings.seed, "round", before).initial_seed())  # dropout
                for rows in learner.next_batches(min(ROUND, learner.total - before)):
                    losses.append(learner.learn(rows))
                    progress.on_progress(settings.batch)  # an epoch's short batch may come anywhere
            loss = float(torch.stack(losses).mean())
            if not math.isfinite(loss):
                smaller = f"give a smaller `learning_rate` than {settings.learning_rate}"
                raise TrainingError(f"the loss became NaN at step {learner.step}: {smaller}")
            last = learner.step == learner.total
            if last or learner.step // looks > (learner.step - ROUND) // looks:
                perplexity, tokens = learner.validate(len(learner.val) if last else LOOKED_AT)
                row = {"step": learner.step, "train_loss": loss, "validation_perplexity": perplexity}
                learner.rows.append({**row, "tokens": tokens})
                where = f"step {learner.step:,} of {learner.total:,}: training loss {loss:.3f}"
                progress.on_note(f"{where}, validation perplexity {perplexity:.2f} over {tokens:,} tokens")
            learner.save()
        with quietly():
            _save_pretrained(learner.model.eval().cpu(), directory, last="config.json")
        texts = {"train": learner.train, "validation": learner.val}
        run |= {
            "status": "done",
            "validation_perplexity": learner.rows[-1]["validation_perplexity"],
            "phrases": {name: len(part) for name, part in texts.items()},
            "tokens": {name: len(part.tokens) for name, part in texts.items()},
            "vocabulary": len(learner.tokenizer),
            "parameters": sum(p.numel() for p in learner.model.parameters()),
        }
        run["steps"] = learner.step
        save_json(directory / RUN, run)
        (directory / STATE).unlink(missing_ok=True)
        return run


def _decisive(run: Mapping[str, Any]) -> dict[str, Any]:
    """What decides a run's weights, from its record."""
    return {**run["settings"], "corpus": run["corpus"]["sha256"][:12]}


class Learner:
    """A model in training, with its data, its optimiser and how far it is.

    Order, masks and dropout depend on the epoch, the step and the round, not on when they were done.
    """

    def __init__(self, settings: LMSettings, train: list[str], val: list[str], directory: Path) -> None:
        self.settings, self.directory = settings, directory
        self.architecture = ARCHITECTURES[settings.arch]
        self.tokenizer = self._tokenizer(train)
        self.learning_rate = settings.learning_rate or self.architecture.learning_rate
        self.train, self.val = (Texts(self.tokenizer, phrases, LONGEST) for phrases in (train, val))
        self.device = torch.device(settings.device)
        self.per_epoch = -(-len(self.train) // settings.batch)
        self.total = settings.epochs * self.per_epoch
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(addressed(settings.seed, "weights", 0).initial_seed())
            self.model = self.architecture.model(self.tokenizer, settings.dropout).to(self.device)
        parameters, rate = self.model.parameters(), self.learning_rate
        self.optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01, fused=True)
        self.step, self.rows = 0, list[dict[str, float]]()
        self._resume()

    def _tokenizer(self, phrases: list[str]) -> Any:
        """The run's own tokenizer; at first another run's, or a new one trained on the phrases."""
        if not inside(self.directory, TOKENIZER).is_file():
            if self.settings.tokenizer is None:
                most = self.settings.vocabulary or self.architecture.vocabulary
                new = self.architecture.tokenizer(phrases, most)
            else:
                new = load_tokenizer(self.settings.tokenizer)
            _save_pretrained(new, self.directory, last=TOKENIZER)
        return load_tokenizer(self.directory)

    def _resume(self) -> None:
        path = inside(self.directory, STATE)
        if not path.exists():
            return
        try:
            state = torch.load(path, map_location=self.device, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.step, self.rows = state["step"], state["rows"]
        except Exception as error:  # torch raises a dozen kinds
            remedy = "delete it to train again from the start"
            raise DamagedError(f"{path} is damaged or of another model: {remedy}") from error

    def next_batches(self, steps: int) -> Iterator[np.ndarray]:
        """Row numbers of the next batches, into the next epoch if need be."""
        while steps:
            epoch, done = divmod(self.step, self.per_epoch)
            generator = addressed(self.settings.seed, "order", epoch)
            order = torch.randperm(len(self.train), generator=generator).numpy()
            for rows in self.train.batches(order, self.settings.batch, generator)[done : done + steps]:
                steps -= 1
                yield rows

    def learn(self, rows: np.ndarray) -> torch.Tensor:
        """One step of the optimiser; the mean loss in nats."""
        self.model.train()
        # the learning rate rises over the first twentieth of the steps, then falls to 0
        warm_up = max(self.total // 20, 1)
        share = min((self.step + 1) / warm_up, max(self.total - self.step, 1) / max(self.total - warm_up, 1))
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * share
        loss, n = self._loss(self.train, rows, addressed(self.settings.seed, "masks", self.step))
        loss = loss / max(n, 1)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    def validate(self, most: int) -> tuple[float, int]:
        """Perplexity on the first of what is held out, and over how many tokens, the same every time."""
        self.model.eval()
        loss, n = 0.0, 0
        with torch.inference_mode():
            chosen = np.arange(min(most, len(self.val)))
            for number, rows in enumerate(self.val.batches(chosen, self.settings.batch)):
                more, tokens = self._loss(self.val, rows, addressed(0, "validation", number))
                loss, n = loss + float(more), n + tokens
        return math.exp(loss / max(n, 1)), n

    def _loss(self, texts: "Texts", rows: np.ndarray, generator: torch.Generator) -> tuple[torch.Tensor, int]:
        """Sum of the cross-entropies (nats) of what is to be predicted, and how many tokens that are."""
        ids = texts.batch(rows, self.tokenizer.pad_token_id)
        shown, at, wanted = self.architecture.task(ids, self.tokenizer, generator)
        real = (ids != self.tokenizer.pad_token_id).long()
        given = (tensor.to(self.device) for tensor in (shown, real, at))
        logits = self.architecture.logits(self.model, *given)
        return cross_entropy(logits, wanted.to(self.device), reduction="sum"), len(wanted)

    def save(self) -> None:
        """Write metrics, then the state that says that they are written, each whole or not at all."""
        save_text(self.directory / METRICS, "".join(json.dumps(row) + "\n" for row in self.rows))
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        state |= {"step": self.step, "rows": self.rows}
        with replacing(self.directory / STATE) as temporary:
            torch.save(state, temporary)


def held_out(phrase: str) -> bool:
    """Whether a phrase is for validation: decided by its letters, so that it is so wherever it occurs."""
    digest = blake2b(" ".join(phrase.lower().split()).encode(), digest_size=8).digest()
    return int.from_bytes(digest) % HELD_OUT == 0


def _phrases(corpus: Path, rare: int) -> tuple[list[str], list[str]]:
    """Phrases to train on and those held out, without those with a rare word."""
    kept: Iterator[str] = iter(Corpus(corpus))
    if rare > 1:
        words = vocabulary(map(tokenise, Corpus(corpus)), rare)
        kept = (phrase for phrase in Corpus(corpus) if words.keys() >= set(tokenise(phrase)))
    phrases: tuple[list[str], list[str]] = ([], [])
    for phrase in kept:
        phrases[held_out(phrase)].append(phrase)
    if not all(phrases):
        without = f" without words rarer than `rare={rare}`" if rare > 1 else ""
        problem = f"{corpus} has {sum(map(len, phrases))} phrases{without}: too few to train on most"
        raise ValueError(f"{problem} and test on one in {HELD_OUT}; give a larger corpus")
    return phrases


def addressed(seed: int, name: str, number: int) -> torch.Generator:
    """A generator on the CPU that depends on the address alone."""
    bits = Stream(seed, "lm", name).bits(np.array([number]), 1)[0, 0]
    return torch.Generator().manual_seed(int(bits >> np.uint64(1)))


class Texts:
    """Token numbers of many texts, each of at most `longest`, one after the other in one array.

    Attributes:
        tokens: (sum of lengths,) int32.
        starts: (n + 1,) int64, text i is tokens[starts[i] : starts[i + 1]].
    """

    def __init__(self, tokenizer: Any, phrases: list[str], longest: int) -> None:
        rows: list[list[int]] = []
        options = {"truncation": True, "max_length": longest, "return_attention_mask": False}
        for begin in range(0, len(phrases), 10_000):
            rows += tokenizer(phrases[begin : begin + 10_000], **options)["input_ids"]
        self.starts = np.cumsum([0, *map(len, rows)])
        self.tokens = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(self.starts[-1]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def batch(self, rows: np.ndarray, pad: int) -> torch.Tensor:
        """(n, t) int64 token numbers of the rows, filled up on the right."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        columns = np.arange(lengths.max())
        at = np.minimum(self.starts[rows, None] + columns, len(self.tokens) - 1)
        return torch.from_numpy(np.where(columns < lengths[:, None], self.tokens[at], pad).astype(np.int64))

    def batches(
        self, order: np.ndarray, size: int, shuffle: torch.Generator | None = None
    ) -> list[np.ndarray]:
        """Row numbers of each batch: like lengths together, from pools of neighbours in the order."""
        lengths = np.diff(self.starts)
        pools = _cut(order, size * POOL)
        batches = _cut(np.concatenate([p[np.argsort(lengths[p], kind="stable")] for p in pools]), size)
        if shuffle is None:
            return batches
        return [batches[i] for i in torch.randperm(len(batches), generator=shuffle).tolist()]


def _cut(array: np.ndarray, size: int) -> list[np.ndarray]:
    return [array[begin : begin + size] for begin in range(0, len(array), size)]


def _save_pretrained(made: Any, directory: Path, last: str) -> None:
    """Save elsewhere, since `save_pretrained` follows links; then move the files, `last` the last."""
    with tempfile.TemporaryDirectory() as scratch:
        made.save_pretrained(scratch)
        for file in sorted(Path(scratch).iterdir(), key=lambda file: (file.name == last, file.name)):
            with replacing(directory / file.name) as temporary:
                shutil.copyfile(file, temporary)
