"""Training one model on one data set, as in section 6.5 of the paper:

Adam, early stopping, the best weights, one test.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from simtown.core import options
from simtown.core.files import as_json, claimed, replacing, save_json
from simtown.core.options import SettingsError
from simtown.core.processes import keep_memory
from simtown.core.streams import Stream
from simtown.core.untrusted import RefusedError, folder
from simtown.datasets.checks.manifest import tables_of
from simtown.datasets.order import BlockOrder
from simtown.datasets.reader import Dataset, open_dataset
from simtown.render.frames import CardWarning
from simtown.render.renderers import choose_device, make_renderer
from simtown.training import early_stopping, record, run_directory
from simtown.training.evaluation import answers, logits_of, measure, references
from simtown.training.fit_settings import FitSettings
from simtown.training.models import build
from simtown.training.pace import Pace, Pacer
from simtown.training.record import RUN
from simtown.training.run_directory import Middle, RunState
from simtown.training.sources import ExampleNumbers, ExampleSource, FreshExamples, NumberRange, open_split
from simtown.training.world import Batch, World

#: Examples of the largest epoch whose order is drawn example by example. That of a larger one is a
#: BlockOrder: its examples lie in too many places for the reader to keep what it knows of them all.
LARGEST_SORTED = 3_500_000
#: Random words of an order that are drawn at once.
_BLOCK = 1 << 16
#: Seconds between two training states that are kept, and how much of a run's time keeping them may take.
KEPT_EVERY, KEEPING = 60.0, 0.01
#: Most times that a dead network (all logits alike: no gradient will ever move it) is restarted under the
#: "patient" protocol.
RESTARTS = 8


class FitError(ValueError):
    """Training cannot go on; the message says what to change. What was reached before is kept."""


class FitCallback:
    """Receives the progress of a training run, and does nothing with it: override what you need."""

    def on_compare(self, count: int, total: int) -> None:
        """So many more examples, of `total`, were read before training, to know the run by them."""

    def on_note(self, line: str) -> None:
        """What is worth knowing before training, such as how much memory pictures will take."""

    def on_step(self, examples: int) -> None:
        """A step was taken on so many examples."""

    def on_pace(self, pace: Pace) -> None:
        """How the run goes: every second, but not between two validations that lie closer together."""

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        """A validation was made: a row of metrics.jsonl, and the best so far."""


def check(settings: FitSettings, dataset: Dataset) -> None:
    """Raises SettingsError if a setting is out of range, or does not fit the data set."""
    have = len(dataset.train)
    if not 2 <= settings.train_size <= have and not (settings.stream and settings.train_size >= 2):
        raise SettingsError(
            f"must be from 2 to {have}, the training examples of {dataset.path}, not {settings.train_size}",
            "train_size",
        )
    if not len(dataset.val) or not len(dataset.test):
        raise SettingsError(
            f"{dataset.path} has no {'test' if len(dataset.val) else 'validation'} examples: generate it "
            "with some"
        )
    options.check(settings)
    if settings.device not in ("cpu", "cuda"):
        raise SettingsError(f"unknown device '{settings.device}': choose auto, cpu or cuda")
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise SettingsError("`device=cuda`: PyTorch sees no CUDA device here; use `device=cpu`, or auto")
    if settings.precision == "tf32" and settings.device == "cpu":
        raise SettingsError("`precision=tf32` needs a GPU: on a CPU use float32 or bf16")
    # a wrong option of the model is refused before anything is written
    with seeded(settings.seed, "weights", 0, torch.device("cpu")):
        build(settings.model, World.of(dataset), settings.options)
    try:  # nothing is trained that could not be read again
        json.dumps(settings.options, allow_nan=False, default=as_json)
        record.table(**record.SETTINGS)(as_json(asdict(settings)), "")
    except (TypeError, ValueError) as error:
        raise SettingsError(f"a setting cannot be kept in run.json: {error}") from error


def fit(
    settings: FitSettings,
    data: Path | Dataset,
    directory: Path,
    callback: FitCallback | None = None,
    cache: bool | None = None,
    beside: int = 1,
) -> dict[str, Any]:
    """Train a model into a run directory, or finish the run that was begun there.

    A run that is killed at any moment and called again ends with the numbers of a run that was not.

    Args:
        settings: of the run.
        data: the data set, or its directory.
        directory: of the run; made if need be.
        callback: receives the progress.
        cache: where pictures lie, which changes no number: see :func:`simtown.training.sources.open_split`.
        beside: runs that share the memory of this machine, this one among them.

    Returns:
        The content of run.json.

    Raises:
        SettingsError: a setting is out of range, or does not fit the data set.
        ForeignDirectoryError: the directory holds another run, or something else.
        RefusedError: the directory holds a symbolic link through which a file would be written.
        DamagedError: a file of the data set or of the run is damaged.
        FitError: the loss is no number any more, or memory does not suffice.
    """
    dataset = data if isinstance(data, Dataset) else open_dataset(data)
    check(settings, dataset)
    if settings.device == "cpu":
        keep_memory()
    callback = callback or FitCallback()
    with claimed(directory, "simtown fit"):
        total = (0 if settings.stream else settings.train_size) + len(dataset.val) + len(dataset.test)
        run = run_directory.begin(
            directory, settings, dataset, lambda count: callback.on_compare(count, total)
        )
        if run["status"] == "done":
            (directory / run_directory.STATE).unlink(missing_ok=True)  # killed before the run removed it
            return run
        try:
            return _Fit(settings, dataset, directory, run, callback, cache, beside).whole()
        except FitError as error:
            save_json(directory / RUN, {**run, "status": "failed", "error": str(error)})
            raise


@contextmanager
def seeded(seed: int, name: str, number: int, device: torch.device) -> Iterator[None]:
    """PyTorch's random state as a function of an address, and afterwards as it was."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(int(Stream(seed, "fit", name).bits(np.array([number]), 1)[0, 0] >> np.uint64(1)))
        yield


def order(seed: int, epoch: int, n: int) -> np.ndarray:
    """(n,) int64: the order in which an epoch visits its examples.

    Making it takes 20 bytes an example, keeping it 8.
    """
    draws, words = Stream(seed, "fit", "order"), np.empty(n, dtype=np.uint64)
    for begin in range(0, n, _BLOCK):
        numbers = np.arange(begin, min(begin + _BLOCK, n))
        words[numbers] = draws.bits(numbers, 1, epoch)[:, 0]
    return np.argsort(words, kind="stable")


class _Fit:
    """One run, from where it stands to its end."""

    def __init__(
        self,
        settings: FitSettings,
        dataset: Dataset,
        directory: Path,
        run: dict[str, Any],
        callback: FitCallback,
        cache: bool | None,
        beside: int,
    ) -> None:
        self.settings, self.dataset, self.directory = settings, dataset, directory
        self.run, self.callback, self.cache, self.beside = run, callback, cache, beside
        self.device = device = torch.device(settings.device)
        self.steps_an_epoch = -(-settings.train_size // settings.batch)
        self._start_weights(0)
        self.state = RunState.load(directory, self.model)
        if self.state:
            if self.state.restarts:
                # a user's own model may draw what its weights do not hold
                self._start_weights(self.state.restarts)
            self.state.restore(self.model, self.optimizer)
        self.train = self._training_source()
        self.val = open_split(dataset.val, len(dataset.val), dataset.settings, device, cache, beside=beside)
        self.val_answers = answers(dataset.val)
        self.due = perf_counter() + KEPT_EVERY

    def _start_weights(self, restarts: int) -> None:
        """Initial weights, other ones after every restart, and their optimiser."""
        settings = self.settings
        with seeded(settings.seed, "weights", restarts, self.device):
            model = build(settings.model, World.of(self.dataset), settings.options)
        self.model = model.to(self.device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.learning_rate, fused=True)
        self.learn = torch.compile(self._learn) if settings.compile else self._learn

    def _training_source(self) -> ExampleSource:
        settings = self.settings
        if settings.stream:
            world, device = self.dataset.settings, "auto" if self.device.type == "cuda" else "cpu"
            drawn_on = choose_device(
                device, lambda line: warnings.warn(line, CardWarning, stacklevel=2), world.width, world.height
            )
            # a table that the manifest names may be any file of this machine
            tables = tables_of(self.dataset.manifest, world)
            return FreshExamples(
                replace(world, n=settings.train_size), make_renderer(drawn_on), self.device, tables
            )
        return open_split(
            self.dataset.train,
            settings.train_size,
            self.dataset.settings,
            self.device,
            self.cache,
            self.callback.on_note,
            self.beside,
        )

    def whole(self) -> dict[str, Any]:
        """Train until it is time to stop, then test once."""
        rows = [
            r
            for r in run_directory.read_metrics(self.directory)
            if self.state and r["epoch"] <= self.state.epoch
        ]
        _write_lines(self.directory / run_directory.METRICS, rows)
        if self.state:
            self.callback.on_note(
                "goes on after step "
                f"{self.state.step + (self.state.middle.steps if self.state.middle else 0):,}"
            )
        state = self.state or RunState(
            0, 0, {"epoch": 0, "step": 0, "val_accuracy": 0.0, "val_loss": 0.0}, 0, 0.0, {}, {}
        )
        with precision(self.settings), _tensorboard(self.directory, state.step) as board:
            while not (reason := self._stop(state)):
                state = self._round(state)
                row = self.row
                self.callback.on_validation(row, state.best)
                for name, value in row.items():
                    board.add_scalar(name, value, state.step)
            return self._finish(state, reason)

    def _stop(self, state: RunState) -> str:
        return early_stopping.reason_to_stop(
            self.settings, state.step, state.best["val_accuracy"], state.stale
        )

    def _round(self, state: RunState) -> RunState:
        """The steps to the next validation, from where they were left, and the validation."""
        settings, entered = self.settings, perf_counter()
        middle = state.middle or Middle(torch.zeros(3, dtype=torch.float64))
        steps = self._steps(state)
        totals = self._train(state, middle, steps).tolist()
        step, epoch = state.step + steps, state.epoch - (-steps // self.steps_an_epoch)
        trained = middle.seconds + perf_counter() - entered
        seen = self._examples(steps)
        objective, loss, right = (total / seen for total in totals)
        self._require_number(objective, epoch, step)
        try:
            # in float32: bf16 may round them to one value
            logits, val_loss = logits_of(self.model, self.val, len(self.dataset.val))
        except torch.OutOfMemoryError as error:
            raise FitError(
                "out of memory while validating: use smaller pictures, or another device"
            ) from error
        accuracy = float(((logits > 0) == self.val_answers).mean())
        self.row = {
            "epoch": epoch,
            "step": step,
            "objective": objective,
            "train_loss": loss,
            "train_accuracy": right,
            "val_loss": val_loss,
            "val_accuracy": accuracy,
            "images_per_second": seen / trained,
        }
        best, restarts, restarted_at = state.best, state.restarts, state.begun
        # the first weights are the best so far
        better = not best["step"] or accuracy > best["val_accuracy"]
        stale = early_stopping.stale_after(settings, state.stale, better, step - restarted_at)
        if better:
            best = {"epoch": epoch, "step": step, "val_accuracy": accuracy, "val_loss": val_loss}
            run_directory.save_weights(self.model, self.directory)
        if settings.protocol == "patient" and restarts < RESTARTS and np.ptp(logits) < 1e-6:
            restarts, restarted_at, stale = restarts + 1, step, 0
            self._start_weights(restarts)
        run_directory.append_metrics(self.directory, self.row)
        seconds = state.seconds + middle.seconds + perf_counter() - entered
        after = RunState(
            epoch,
            step,
            best,
            stale,
            seconds,
            self.model.state_dict(),
            self.optimizer.state_dict(),
            restarts,
            restarted_at,
        )
        self._keep(after)
        return after

    def _steps(self, state: RunState) -> int:
        """Steps to the next validation; none beyond the last."""
        steps, most = early_stopping.between_validations(self.settings), self.settings.max_steps
        return min(steps, most - state.step) if most else steps

    def _examples(self, steps: int) -> int:
        """Examples that so many steps visit, the first of them an epoch's first."""
        whole, more = divmod(steps, self.steps_an_epoch)
        return whole * self.settings.train_size + more * self.settings.batch

    def _train(self, state: RunState, middle: Middle, steps: int) -> torch.Tensor:
        """Take what is left of the steps to the next validation.

        Returns:
            (3,) float64 sums since the last validation: objective, cross-entropy, right answers.
        """
        settings, size, entered = self.settings, self.settings.batch, perf_counter()
        totals, taken = middle.totals.to(self.device), middle.steps
        pacer = Pacer(self.callback.on_pace, totals[1], self._examples(taken), self._examples(steps))
        self.model.train()
        while taken < steps:
            past, first = divmod(taken, self.steps_an_epoch)
            epoch, last = state.epoch + past + 1, first + steps - taken
            with seeded(settings.seed, "epoch", epoch, self.device):
                if first:
                    middle.restore_random(self.device)
                for batch in self.train.batches(self._rows(epoch, first * size, last * size), size):
                    loss, logits = self._step(batch)
                    totals[0] += loss.detach() * len(batch)
                    totals[1] += binary_cross_entropy_with_logits(
                        logits.detach().float(), batch.answer, reduction="sum"
                    )
                    totals[2] += ((logits > 0) == (batch.answer > 0.5)).sum()
                    taken += 1
                    if perf_counter() >= self.due:
                        self._require_number(float(totals[0]), epoch, state.step + taken)
                        seconds = middle.seconds + perf_counter() - entered
                        now = Middle(totals.cpu(), taken, seconds, run_directory.random_state(self.device))
                        self._keep(
                            replace(
                                state,
                                model=self.model.state_dict(),
                                optimizer=self.optimizer.state_dict(),
                                middle=now,
                            )
                        )
                    self.callback.on_step(len(batch))
                    pacer.stepped(epoch, state.step + taken, self._examples(taken))
        return totals

    def _rows(self, epoch: int, begin: int, end: int) -> ExampleNumbers:
        """The examples at places `begin` to `end` - 1, or its last, of an epoch's order."""
        settings, n = self.settings, self.settings.train_size
        end = min(end, n)
        if settings.stream:
            return np.arange((epoch - 1) * n + begin, (epoch - 1) * n + end)
        if n > LARGEST_SORTED:
            return NumberRange(BlockOrder(n, settings.seed, epoch), begin, end)
        return order(settings.seed, epoch, n)[begin:end]

    def _step(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        try:
            return self.learn(batch)
        except torch.OutOfMemoryError:
            pass
        # out here, where the failed step holds no memory any more
        raise FitError(self._too_large(len(batch)))

    def _require_number(self, objective: float, epoch: int, step: int) -> None:
        if not np.isfinite(objective):
            raise FitError(
                f"the loss is no longer a number in epoch {epoch} (step {step}): give a smaller "
                f"`learning_rate` than {self.settings.learning_rate}"
            )

    def _keep(self, state: RunState) -> None:
        """Save the training state, and set when it is due again.

        A killed run then loses little, and saving takes little time.
        """
        entered = perf_counter()
        state.save(self.directory)
        left = perf_counter()
        self.due = left + max(KEPT_EVERY, (left - entered) / KEEPING)

    def _learn(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """One step of the optimiser."""
        with autocast(self.settings):
            loss, logits = loss_of(self.model, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss, logits

    def _too_large(self, size: int) -> str:
        """The message for a batch that did not fit into memory.

        It names the largest half, quarter, ... of the batch that fits.
        """
        self.optimizer.zero_grad(set_to_none=True)
        while size >= 4:
            size //= 2
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
            try:
                batch = next(iter(self.train.batches(np.arange(min(size, self.settings.train_size)), size)))
                loss_of(self.model, batch)[0].backward()
                return f"out of memory with `batch={self.settings.batch}`: `batch={size}` fits"
            except torch.OutOfMemoryError:
                continue
        return "out of memory even with two examples a step: use a smaller picture or another device"

    def _finish(self, state: RunState, reason: str) -> dict[str, Any]:
        dataset = self.dataset
        self.model.load_state_dict(run_directory.load_weights(self.model.state_dict(), self.directory))
        test = open_split(
            dataset.test,
            len(dataset.test),
            dataset.settings,
            self.device,
            False if self.cache is False else None,
            beside=self.beside,
        )
        logits, loss = logits_of(self.model, test, len(dataset.test))
        val, _ = logits_of(self.model, self.val, len(dataset.val))
        run_directory.save_test(self.directory, logits, answers(dataset.test))
        seen = None if self.settings.stream else self.settings.train_size
        end = {
            "status": "done",
            "epochs": state.epoch,
            "steps": state.step,
            "stopped": reason,
            "restarts": state.restarts,
            "best": state.best,
            "test": {**measure(dataset, logits, val, seen), "loss": loss},
            "references": references(dataset),
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "seconds": state.seconds,
        }
        run = {**{k: v for k, v in self.run.items() if k != "error"}, **end}
        _draw_curve(self.directory)
        save_json(self.directory / RUN, run)
        (self.directory / run_directory.STATE).unlink(missing_ok=True)  # the run is over
        return run


def loss_of(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """The model's own loss, or binary cross-entropy, and (b,) logits."""
    if hasattr(model, "loss"):
        loss, logits = model.loss(batch)
        return loss, logits
    logits = model(batch)
    return binary_cross_entropy_with_logits(logits, batch.answer), logits


def autocast(settings: FitSettings) -> AbstractContextManager[Any]:
    return (
        torch.autocast(settings.device, dtype=torch.bfloat16)
        if settings.precision == "bf16"
        else nullcontext()
    )


@contextmanager
def precision(settings: FitSettings) -> Iterator[None]:
    """TensorFloat-32 for the duration, where it was asked for."""
    matmul, conv = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = settings.precision != "float32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, conv


@contextmanager
def _tensorboard(directory: Path, step: int) -> Iterator[Any]:
    from torch.utils.tensorboard import SummaryWriter

    logs = folder(directory, "tensorboard")
    if linked := [path for path in logs.iterdir() if path.is_symlink()]:
        raise RefusedError(
            f"{linked[0]} is a symbolic link, through which logs would be written elsewhere: delete it"
        )
    board = SummaryWriter(str(logs), purge_step=step + 1 if step else None)
    try:
        yield board
    finally:
        board.close()


def _write_lines(path: Path, rows: list[dict[str, float]]) -> None:
    with replacing(path) as temporary:
        temporary.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _draw_curve(directory: Path) -> None:
    from simtown.training.run_curve import curve

    curve(run_directory.read_metrics(directory), directory / run_directory.CURVE)
