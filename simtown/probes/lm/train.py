"""Training a small language model on a corpus, so that every probe runs on a real model without any download.

A run directory is a model in Hugging Face's layout (config.json, model.safetensors, tokenizer files) beside
lm.json, which tells every choice and figure, and metrics.jsonl. Which phrases are held out depends on the
phrases alone: none is trained on and validated on.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from simtown.core.callbacks import NO_STAGES
from simtown.core.files import DamagedError, replacing, save_json, save_text
from simtown.core.processes import keep_memory
from simtown.core.runs import RunRecord
from simtown.core.streams import Stream
from simtown.core.untrusted import RefusedError, inside, open_regular
from simtown.core.version import __version__
from simtown.probes.lm.architectures import ARCHITECTURES, Architecture, load_tokenizer, masked_token
from simtown.probes.quiet import quietly
from simtown.text.corpus import Corpus, tokenise, vocabulary

RUN, METRICS, STATE = "lm.json", "metrics.jsonl", "state.pt"
#: The file that is there once a directory's tokenizer is whole.
TOKENIZER = "tokenizer_config.json"
#: The directory of a run: besides its own files it holds those of save_pretrained.
RECORD = RunRecord(
    RUN,
    "simtown-lm",
    "simtown lm train",
    frozenset(
        {
            *(RUN, METRICS, STATE, TOKENIZER),
            *("tokenizer.json", "special_tokens_map.json", "config.json", "generation_config.json"),
            "model.safetensors",
        }
    ),
    what="a run",
)
#: One phrase in so many is held out; at most so many of them are read at each validation but the last.
HELD_OUT, LOOKED_AT = 20, 4_000
#: Steps between two saved states. Batches are sorted by length within pools of so many.
ROUND, POOL = 200, 50
#: Bytes of a saved state at most, as multiples of the model's weights (these, and two numbers of the
#: optimiser's for each), and besides.
STATES, SPARE = 4, 16_000_000
#: Entries of a vocabulary at most: those of the largest language models have 260,000.
MOST_TOKENS = 300_000
#: Longest text in tokens; the rest of a longer one is left out.
LONGEST = 64
#: To train on, and held out.
Phrases = tuple[list[str], list[str]]


@dataclass(frozen=True)
class LMSettings:
    """Every choice that decides a run's numbers, besides the corpus.

    Attributes:
        arch: a name of :data:`simtown.probes.lm.architectures.ARCHITECTURES`.
        epochs: times that every phrase is read.
        vocabulary: words or pieces at most.
        batch: phrases a step.
        learning_rate: the highest of Adam's: it rises over the first twentieth of the steps and falls to 0
            over the rest.
        seed: of initial weights, order, dropout and masks.
        device: "cpu" or "cuda".
        rare: phrases with a word that the corpus has less often are dropped.
        tokenizer: directory of another run whose vocabulary to take; by default one is learnt from the
            corpus.
        dropout: share of the numbers that are dropped while training; by default the architecture's own.
    """

    arch: str
    epochs: int
    vocabulary: int
    batch: int
    learning_rate: float
    seed: int = 0
    device: str = "cpu"
    rare: int = 1
    tokenizer: str | None = None
    dropout: float | None = None


class TrainingError(ValueError):
    """Training cannot go on; the message says what to change."""


class LMCallback(Protocol):
    """Receives the progress of a run; :class:`simtown.core.progress.Progress` shows it."""

    def on_begin(self, total: int, done: int = 0) -> None:
        """Training begins: `total` phrases are to be read, `done` of them have been."""
        ...

    def on_progress(self, count: int, seconds: Mapping[str, float] = NO_STAGES) -> None:
        """`count` more phrases have been read."""
        ...

    def say(self, line: str) -> None:
        """Receives a validation's result as a line."""
        ...


def check(settings: LMSettings) -> None:
    """Raises ValueError if a value is out of range."""
    if settings.arch not in ARCHITECTURES:
        raise ValueError(f"unknown architecture '{settings.arch}': choose {', '.join(ARCHITECTURES)}")
    for name, value, low in (
        ("epochs", settings.epochs, 1),
        ("vocabulary", settings.vocabulary, 10),
        ("batch", settings.batch, 1),
        ("rare", settings.rare, 1),
    ):
        if value < low:
            raise ValueError(f"{name} must be at least {low}, not {value}")
    if not 0 < settings.learning_rate < 10:
        raise ValueError(f"learning_rate must be above 0 and below 10, not {settings.learning_rate}")
    if settings.dropout is not None and not 0 <= settings.dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, not {settings.dropout}")
    if settings.device not in ("cpu", "cuda"):
        raise ValueError(f"unknown device '{settings.device}': choose auto, cpu or cuda")
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("`device=cuda`: PyTorch sees no CUDA device here; use `device=cpu`, or auto")
    if settings.tokenizer is not None:
        if not (Path(settings.tokenizer) / TOKENIZER).is_file():
            raise ValueError(
                f"`tokenizer` {settings.tokenizer} holds no tokenizer: give a directory made by simtown lm "
                "train"
            )
        if (
            ARCHITECTURES[settings.arch].task is masked_token
            and load_tokenizer(Path(settings.tokenizer)).mask_token_id is None
        ):
            raise ValueError(
                f"the tokenizer of {settings.tokenizer} has no token for a masked word, which "
                f"{settings.arch} needs: give the directory of a bert-mini"
            )


def train(settings: LMSettings, corpus: Path, directory: Path, progress: LMCallback) -> dict[str, Any]:
    """Train into a directory, or finish what was begun there; returns what its lm.json says.

    Killed at any moment and called again, it ends with the weights of a run that was never disturbed.

    Raises:
        ValueError: a value is out of range, or the corpus has too little text.
        DamagedError: a file of the corpus or of the run is damaged.
        ForeignDirectoryError: the directory holds another run, or something else.
        TrainingError: the loss is no longer a number.
    """
    check(settings)
    with open_regular(corpus) as file:
        digest = file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    fresh = {
        "status": "running",
        "settings": _recorded(asdict(settings)),
        "corpus": {"name": corpus.name, "sha256": digest},
        "simtown": __version__,
        "torch": torch.__version__,
    }
    # a corpus without enough text is refused before the directory is begun
    phrases = None if (directory / RUN).exists() else _phrases(corpus, settings.rare)
    with RECORD.opened(directory, fresh, _settings_of, load) as run:
        if run["status"] == "done":
            return run
        if settings.device == "cpu":
            keep_memory()
        return _Run(settings, phrases or _phrases(corpus, settings.rare), directory, run, progress).whole()


def _settings_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """What decides a run's weights, from what lm.json says."""
    return {**_recorded(run["settings"]), "corpus": run["corpus"]["sha256"][:12]}


def load(directory: Path) -> dict[str, Any]:
    """What lm.json says.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: it says what no run says.
        ForeignDirectoryError: something else made it.
    """
    run = RECORD.load(directory)
    try:
        _settings_of(run)
        if run["status"] == "done":
            numbers = (
                run["validation_perplexity"],
                run["phrases"]["validation"],
                run["parameters"],
                run["vocabulary"],
                run["seconds"],
            )
            if not all(isinstance(number, int | float) and 0 <= number < 1e15 for number in numbers):
                raise TypeError("a result is no number")
    except (KeyError, TypeError, AttributeError) as error:
        raise DamagedError(
            f"{directory / RUN} is damaged ({error}): run simtown lm train again with another --out"
        ) from error
    return run


def held_out(phrase: str) -> bool:
    """Whether a phrase is for validation: decided by its letters, so that it is so wherever it occurs."""
    return (
        int.from_bytes(blake2b(" ".join(phrase.lower().split()).encode(), digest_size=8).digest()) % HELD_OUT
        == 0
    )


def _recorded(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as lm.json holds them: of a tokenizer's directory the name alone."""
    tokenizer = settings.get("tokenizer")
    return {**settings, "tokenizer": None if tokenizer is None else Path(tokenizer).name}


def _common(corpus: Path, rare: int) -> Iterator[str]:
    """The phrases, but those with a word that the corpus has less often; it is then read twice."""
    if rare == 1:
        yield from Corpus(corpus)
        return
    words = vocabulary(map(tokenise, Corpus(corpus)), rare)
    yield from (phrase for phrase in Corpus(corpus) if words.keys() >= set(tokenise(phrase)))


def _phrases(corpus: Path, rare: int) -> Phrases:
    """Those to train on and those held out. Raises ValueError if either has none."""
    phrases: Phrases = ([], [])
    for phrase in _common(corpus, rare):
        phrases[held_out(phrase)].append(phrase)
    if not all(phrases):
        kept = f" without words rarer than `rare={rare}`" if rare > 1 else ""
        raise ValueError(
            f"{corpus} has {sum(map(len, phrases))} phrases{kept}: too few to train on most "
            f"and test on one in {HELD_OUT}; give a larger corpus"
        )
    return phrases


def addressed(seed: int, name: str, number: int) -> torch.Generator:
    """A generator on the CPU that depends on the address alone."""
    return torch.Generator().manual_seed(
        int(Stream(seed, "lm", name).bits(np.array([number]), 1)[0, 0] >> np.uint64(1))
    )


class Texts:
    """Token numbers of many texts, one after the other in one array.

    Attributes:
        tokens: (sum of lengths,) int32.
        starts: (n + 1,) int64, text i is tokens[starts[i] : starts[i + 1]].
    """

    def __init__(self, encoded: list[list[int]]) -> None:
        self.starts = np.cumsum([0, *map(len, encoded)])
        self.tokens = np.fromiter(
            (token for row in encoded for token in row), dtype=np.int32, count=int(self.starts[-1])
        )

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
        """Row numbers of each batch: those of like length together, from pools of neighbours in the given
        order.
        """
        pool = size * POOL
        lengths = np.diff(self.starts)
        order = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in _cut(order, pool)])
        batches = _cut(order, size)
        return (
            batches
            if shuffle is None
            else [batches[i] for i in torch.randperm(len(batches), generator=shuffle).tolist()]
        )


def _cut(array: np.ndarray, size: int) -> list[np.ndarray]:
    return [array[begin : begin + size] for begin in range(0, len(array), size)]


class _Run:
    """One run, from where it stands to its end."""

    def __init__(
        self,
        settings: LMSettings,
        phrases: Phrases,
        directory: Path,
        run: dict[str, Any],
        progress: LMCallback,
    ) -> None:
        self.settings, self.directory, self.run, self.progress = settings, directory, run, progress
        self.architecture: Architecture = ARCHITECTURES[settings.arch]
        self.tokenizer = self._tokenizer(phrases[0])
        self.train, self.val = (self._encoded(part) for part in phrases)
        self.device = torch.device(settings.device)
        self.per_epoch = -(-len(self.train) // settings.batch)
        self.total = settings.epochs * self.per_epoch
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(addressed(settings.seed, "weights", 0).initial_seed())
            self.model = self.architecture.model(self.tokenizer, settings.dropout)
        self.model.to(self.device)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=settings.learning_rate, weight_decay=0.01, fused=True
        )
        self.step, self.seconds, self.rows = 0, 0.0, list[dict[str, float]]()
        self._resume()

    def _tokenizer(self, phrases: list[str]) -> Any:
        """The run's own tokenizer; at first another run's, or a new one trained on the phrases."""
        if not inside(self.directory, TOKENIZER).is_file():
            other = self.settings.tokenizer
            new = (
                self.architecture.tokenizer(phrases, self.settings.vocabulary)
                if other is None
                else load_tokenizer(Path(other))
            )
            _save(new, self.directory, last=TOKENIZER)
        tokenizer = load_tokenizer(self.directory)
        numbers = tokenizer.get_vocab().values()
        if (
            None in (tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
            or not 0 < len(numbers) <= MOST_TOKENS
        ):
            raise DamagedError(
                f"the tokenizer in {self.directory} lacks its special tokens, or has too many others: give "
                "another `directory`"
            )
        if max(numbers) >= len(tokenizer):
            raise DamagedError(
                f"the tokenizer in {self.directory} numbers its tokens with gaps: give another `directory`"
            )
        return tokenizer

    def _encoded(self, phrases: list[str]) -> Texts:
        rows = []
        for begin in range(0, len(phrases), 10_000):
            block = phrases[begin : begin + 10_000]
            rows += self.tokenizer(block, truncation=True, max_length=LONGEST, return_attention_mask=False)[
                "input_ids"
            ]
        return Texts(rows)

    def _resume(self) -> None:
        path = self.directory / STATE
        if not path.exists():
            return
        largest = STATES * sum(p.nbytes for p in self.model.state_dict().values()) + SPARE
        try:
            with open_regular(path, follow=False) as file:
                if os.fstat(file.fileno()).st_size > largest:
                    raise ValueError(f"it has more than {largest:,} bytes")
                state = torch.load(file, map_location=self.device, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.step, self.seconds, self.rows = (
                int(state["step"]),
                float(state["seconds"]),
                list(state["rows"]),
            )
            numbers = [value for row in self.rows for value in row.values()]
            sound = all(isinstance(value, int | float) for value in numbers)
            if not sound or not 0 <= self.step <= self.total or not 0 <= self.seconds < math.inf:
                raise ValueError("a number in it is impossible")
        except RefusedError:
            raise
        except Exception as error:  # torch raises a dozen kinds
            raise DamagedError(
                f"{path} is damaged ({type(error).__name__}): delete it to train again from the start"
            ) from error

    def whole(self) -> dict[str, Any]:
        """Rounds until the last step, then the final validation on everything held out."""
        self.progress.on_begin(self.total * self.settings.batch, self.step * self.settings.batch)
        looks = max(self.total // 10, 1)
        while self.step < self.total:
            self._round()
            if self.step // looks > (self.step - ROUND) // looks or self.step == self.total:
                self._validated(self.val if self.step == self.total else None)
            self._save()
        with quietly():
            _save(self.model.eval().cpu(), self.directory, last="config.json")
        self.run |= {
            "status": "done",
            "validation_perplexity": self.rows[-1]["validation_perplexity"],
            "phrases": {"train": len(self.train), "validation": len(self.val)},
            "tokens": {"train": len(self.train.tokens), "validation": len(self.val.tokens)},
            "vocabulary": len(self.tokenizer),
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "steps": self.step,
            "seconds": self.seconds,
        }
        save_json(self.directory / RUN, self.run)
        (self.directory / STATE).unlink(missing_ok=True)
        return self.run

    def _round(self) -> None:
        """The next ROUND steps. Order, masks and dropout depend on the epoch, the step and the round, not on
        when they were done.
        """
        entered, before = perf_counter(), self.step
        losses = []
        self.model.train()
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(addressed(self.settings.seed, "round", before).initial_seed())
            for rows in self._next(min(ROUND, self.total - before)):
                losses.append(self._learn(rows))
                self.step += 1
                self.progress.on_progress(self.settings.batch)  # an epoch's short batch may come anywhere
        loss = float(torch.stack(losses).mean())
        if not math.isfinite(loss):
            raise TrainingError(
                f"the loss is no longer a number at step {self.step}: give a smaller `learning_rate` than "
                f"{self.settings.learning_rate}"
            )
        self.loss = loss
        self.seconds += perf_counter() - entered

    def _next(self, steps: int) -> Iterator[np.ndarray]:
        """Row numbers of the next batches, into the next epoch if need be."""
        while steps:
            epoch, done = divmod(self.step, self.per_epoch)
            generator = addressed(self.settings.seed, "order", epoch)
            order = torch.randperm(len(self.train), generator=generator).numpy()
            for rows in self.train.batches(order, self.settings.batch, generator)[done : done + steps]:
                steps -= 1
                yield rows

    def _learn(self, rows: np.ndarray) -> torch.Tensor:
        """One step of the optimiser; the mean loss in nats."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * _schedule(self.step, self.total)
        generator = addressed(self.settings.seed, "masks", self.step)
        loss, n = self._loss(self.train.batch(rows, self.tokenizer.pad_token_id), generator)
        loss = loss / max(n, 1)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

    def _loss(self, ids: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, int]:
        """Sum of the cross-entropies (nats) of what is to be predicted in a batch, and how many tokens that
        are.
        """
        shown, at, wanted = self.architecture.task(ids, self.tokenizer, generator)
        real = (ids != self.tokenizer.pad_token_id).long()
        logits = self.architecture.logits(
            self.model, shown.to(self.device), real.to(self.device), at.to(self.device)
        )
        return cross_entropy(logits, wanted.to(self.device), reduction="sum"), len(wanted)

    def _validated(self, texts: Texts | None) -> None:
        """Perplexity on what is held out, or by default on the first of it; the same tokens are masked every
        time.
        """
        self.model.eval()
        chosen = np.arange(min(LOOKED_AT, len(self.val)) if texts is None else len(self.val))
        loss, n = 0.0, 0
        with torch.inference_mode():
            for number, rows in enumerate(self.val.batches(chosen, self.settings.batch)):
                more, tokens = self._loss(
                    self.val.batch(rows, self.tokenizer.pad_token_id), addressed(0, "validation", number)
                )
                loss, n = loss + float(more), n + tokens
        row = {
            "step": self.step,
            "train_loss": self.loss,
            "validation_perplexity": math.exp(loss / max(n, 1)),
            "tokens": n,
        }
        self.rows.append(row)
        self.progress.say(
            f"step {self.step:,} of {self.total:,}: training loss {self.loss:.3f}, "
            f"validation perplexity {row['validation_perplexity']:.2f} over {n:,} tokens"
        )

    def _save(self) -> None:
        """State and metrics, each whole or not at all."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
            "rows": self.rows,
        }
        with replacing(self.directory / STATE) as temporary:
            torch.save(state, temporary)
        save_text(self.directory / METRICS, "".join(json.dumps(row) + "\n" for row in self.rows))


def _save(made: Any, directory: Path, last: str) -> None:
    """Save a model or a tokenizer elsewhere, since `save_pretrained` follows links; then each file takes its
    place, `last` the last.
    """
    with tempfile.TemporaryDirectory() as scratch:
        made.save_pretrained(scratch)
        for file in sorted(Path(scratch).iterdir(), key=lambda file: (file.name == last, file.name)):
            with replacing(directory / file.name) as temporary:
                shutil.copyfile(file, temporary)


def _schedule(step: int, total: int) -> float:
    """Share of the highest learning rate: up over the first twentieth, then down to 0."""
    up = max(total // 20, 1)
    return min((step + 1) / up, max(total - step, 1) / max(total - up, 1))
