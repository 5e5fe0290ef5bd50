"""Training one model on one data set, as in section 6.5 of the paper: Adam, early stopping, one test."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Adam, Optimizer

from simtown.complexity.model_looks import looks_of
from simtown.core import options
from simtown.core.callbacks import FitCallback
from simtown.core.files import save_json
from simtown.core.notebook import Described, is_watched
from simtown.core.options import SettingsError
from simtown.core.processes import keep_memory
from simtown.core.streams import Stream
from simtown.core.untrusted import RefusedError, folder
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.training import early_stopping, models, run_directory
from simtown.training.display import FitDisplay
from simtown.training.fit_settings import FitSettings, check_examples, device_of, precision_of
from simtown.training.kept_features import features_of
from simtown.training.models import build, encoder_of
from simtown.training.models.layers import answer_loss
from simtown.training.run_curve import curve
from simtown.training.run_directory import RunState
from simtown.training.run_scores import accuracy_in_words, logits_of, scores_of
from simtown.training.sources import Encoded, ExampleSource, chunks_of_epoch, open_split, open_stream
from simtown.training.world import Batch, World, language_of

#: Seconds between two training states that are saved, and the largest share of a run's time for saving them.
SAVE_EVERY, SAVING_SHARE = 60.0, 0.01
#: Most restarts of a dead network (all logits are equal: no gradient moves it) under the "patient" protocol.
RESTARTS = 8


class FitError(ValueError):
    """Training cannot go on; the message says what to change. The run directory keeps what was reached."""


def check(settings: FitSettings, dataset: Dataset) -> None:
    """Raises SettingsError if a setting is out of range, or does not fit the data set."""
    counts = {split: len(dataset[split]) for split in SPLITS}
    check_examples(settings, counts, dataset.path)
    options.check(settings)
    if settings.precision == "tf32" and settings.device == "cpu":
        raise SettingsError("`precision=tf32` needs a GPU: on a CPU use float32 or bf16")


def fit(
    settings: FitSettings,
    data: str | Path | Dataset,
    directory: str | Path,
    callback: FitCallback | None = None,
    cache: bool | None = None,
    beside: int = 1,
) -> Described:
    """Train a model into a run directory, or finish the run that was begun there.

    A run that is killed at any moment and called again ends with the numbers of a run that was not.

    Args:
        settings: with a train_size of 0, all training examples are used.
        data: the data set, or its directory or URL.
        directory: of the run; made if need be.
        callback: receives the progress. By default a terminal or a notebook shows it; ``FitCallback()`` is
            silent.
        cache: where pictures lie, which changes no number: see :func:`simtown.training.sources.open_split`.
        beside: runs that share the memory of this machine, this one among them.

    Returns:
        The content of run.json, which shows itself as a sentence.

    Raises:
        SettingsError: a setting is out of range, or does not fit the data set.
        ModelError: the model cannot be found, or not be made with these options.
        ForeignDirectoryError: the directory holds another run, or something else.
        RefusedError: the directory holds a symbolic link through which a file would be written.
        DamagedError: a file of the data set or of the run is damaged.
        FitError: the loss became NaN, or memory does not suffice.

    >>> import simtown
    >>> data = simtown.generate(simtown.Settings(entities=5, n=8, width=32, height=32, val=2, test=2), "town")
    >>> run = simtown.fit(simtown.FitSettings(model="pbn", batch=4, max_steps=2), "town", "run")
    >>> run["steps"], run["stopped"]
    (2, 'reached 2 steps')
    """
    dataset, directory = data if isinstance(data, Dataset) else open_dataset(data), Path(directory)
    device = device_of(settings.device)
    settings = replace(
        settings,
        options=models.options(settings.model, {}) | settings.options,
        train_size=settings.train_size or len(dataset.train),
        device=device,
        precision=precision_of(settings.precision, device),
    )
    check(settings, dataset)
    # a wrong option of the model is refused before anything is written
    new_model(settings, dataset.settings, language_of(dataset))
    if callback is None and is_watched():
        with FitDisplay(f"fit {directory}", settings) as display:
            return fit(settings, dataset, directory, display, cache, beside)
    callback = callback or FitCallback()
    if settings.device == "cpu":
        keep_memory()
    with run_directory.opened(directory, settings, dataset, callback) as run:
        if run["status"] != "done":
            try:
                results = _train(settings, dataset, directory, callback, cache, beside)
            except (FitError, torch.OutOfMemoryError) as error:
                memory = f"out of memory with `batch={settings.batch}`: use smaller batches or pictures"
                problem = error if isinstance(error, FitError) else FitError(memory)
                save_json(directory / run_directory.RUN, {**run, "status": "failed", "error": str(problem)})
                raise problem from None
            run = {key: value for key, value in run.items() if key != "error"} | results
            save_json(directory / run_directory.RUN, run)
        (directory / run_directory.STATE).unlink(missing_ok=True)
    trained = f"{directory}: {run['model']} on {run['train_size']:,} examples"
    best = f"best epoch {run['best']['epoch']:,} of {run['epochs']:,} ({run['steps']:,} steps)"
    sentence = f"{trained}: {accuracy_in_words(run['test'])}; {best}; stopped: {run['stopped']}"
    return Described(run, sentence)


def _train(  # noqa: PLR0914, PLR0915 - the whole loop can be read in one place
    settings: FitSettings,
    dataset: Dataset,
    directory: Path,
    callback: FitCallback,
    cache: bool | None,
    beside: int,
) -> dict[str, Any]:
    """Train from where the run stands until it is time to stop, then test once: what run.json says of it."""
    device = torch.device(settings.device)
    state, saved = RunState.load(directory)
    language = language_of(dataset)
    model, optimizer = new_model(settings, dataset.settings, language, state.restarts)
    if saved:
        run_directory.restore(directory, saved, model, optimizer)
        callback.on_note(f"continues after step {state.step + state.new_steps:,}")
    size, world, note = settings.train_size, dataset.settings, callback.on_note

    def source_of(name: str, n: int, kept: bool | None) -> ExampleSource:
        split, said = dataset[name], note if name == "train" else lambda line: None
        if encoder_of(settings.model) and kept is not False:
            blocks = features_of(dataset, name, n, model.encoder, device, callback)
            return Encoded(blocks, split, n, world, device)
        return open_split(split, n, world, device, cache=kept, note=said, beside=beside)

    train = open_stream(dataset, size, device) if settings.stream else source_of("train", size, cache)
    val = source_of("val", len(dataset.val), cache)
    learn = torch.compile(loss_of) if settings.compile else loss_of
    epoch_steps, scores = early_stopping.steps_an_epoch(settings), scores_of(dataset)
    # sums since the last validation: objective, cross-entropy, right answers
    totals = saved.get("totals", torch.zeros(3, dtype=torch.float64)).to(device)
    run_directory.cut_metrics(directory, state.epoch)
    save_due = perf_counter() + SAVE_EVERY

    with precision(settings), _tensorboard(directory, state.step) as board:
        while not (reason := early_stopping.reason_to_stop(settings, state.step, state.best, state.stale)):
            # train until the next validation
            entered = perf_counter() - state.new_seconds
            steps = early_stopping.steps_to_validation(settings, state.step)
            model.train()
            while state.new_steps < steps:
                past_epochs, first = divmod(state.new_steps, epoch_steps)
                epoch, last = state.epoch + past_epochs + 1, first + steps - state.new_steps
                with seeded(settings.seed, "epoch", epoch, device):
                    if first:  # the run was killed within this epoch
                        run_directory.restore_random(saved, device)
                    for batch in train.batches(chunks_of_epoch(settings, epoch, first, last)):
                        with autocast(settings):
                            loss, logits = learn(model, batch)
                        optimizer.zero_grad(set_to_none=True)
                        loss.backward()
                        optimizer.step()
                        totals += _sums(loss, logits, batch)
                        state.new_steps += 1
                        step = state.step + state.new_steps
                        if perf_counter() >= save_due:
                            _require_number(float(totals[0]), epoch, step, settings)
                            state.new_seconds = perf_counter() - entered
                            save_due = _save(state, directory, model, optimizer, totals)
                        callback.on_step(epoch, step, len(batch), loss.detach())

            # validate, in float32: bfloat16 may round two logits to one value
            step, epoch = state.step + steps, state.epoch - (-steps // epoch_steps)
            seconds, examples = perf_counter() - entered, early_stopping.examples_in(settings, steps)
            objective, train_loss, train_accuracy = (total / examples for total in totals.tolist())
            _require_number(objective, epoch, step, settings)
            logits_val, val_loss = logits_of(model, val, len(dataset.val))
            accuracy = float(scores.right(dataset.val, logits_val).mean())
            row = {"epoch": epoch, "step": step, "objective": objective}
            row |= {"train_loss": train_loss, "train_accuracy": train_accuracy}
            row |= {"val_loss": val_loss, "val_accuracy": accuracy, "images_per_second": examples / seconds}

            # keep the best weights, count towards patience, restart a dead network
            better = not state.best["step"] or accuracy > state.best["val_accuracy"]
            if better:
                state.best = {name: row[name] for name in ("epoch", "step", "val_accuracy", "val_loss")}
                run_directory.save_weights(model, directory)
            state.stale = early_stopping.stale_after(settings, state.stale, better, step - state.restarted_at)
            dead = np.ptp(logits_val, axis=0).max() < 1e-6
            if settings.protocol == "patient" and state.restarts < RESTARTS and dead:
                state.restarts, state.restarted_at, state.stale = state.restarts + 1, step, 0
                model, optimizer = new_model(settings, dataset.settings, language, state.restarts)
            run_directory.append_metrics(directory, row)
            state.seconds += perf_counter() - entered
            state.epoch, state.step, state.new_steps, state.new_seconds = epoch, step, 0, 0.0
            totals.zero_()
            save_due = _save(state, directory, model, optimizer, totals)
            callback.on_validation(row, state.best)
            for name, value in row.items():
                board.add_scalar(name, value, step)

        # test the best weights, once
        run_directory.load_weights(model, directory)
        kept = False if cache is False else None
        test = source_of("test", len(dataset.test), kept)
        logits_test, test_loss = logits_of(model, test, len(dataset.test))
        logits_val, _ = logits_of(model, val, len(dataset.val))
        logits = {"test": logits_test, "val": logits_val}
        if COMPOSITION in dataset.splits:
            held = len(dataset[COMPOSITION])
            logits[COMPOSITION], _ = logits_of(model, source_of(COMPOSITION, held, kept), held)
    run_directory.save_test(directory, dataset, logits_test)
    references = scores.references()
    test_scores = scores.measure(logits, None if settings.stream else size) | {"loss": test_loss}
    _draw_curve(settings, dataset, directory, references["chance"])
    parameters = sum(parameter.numel() for parameter in model.parameters())
    done = {"status": "done", "epochs": state.epoch, "steps": state.step, "stopped": reason}
    done |= {"restarts": state.restarts, "best": state.best, "test": test_scores, "references": references}
    return {**done, "parameters": parameters, "seconds": state.seconds}


def _draw_curve(settings: FitSettings, dataset: Dataset, directory: Path, chance: float) -> None:
    """The learning curve of a run, as a picture in its directory."""
    name = looks_of([settings.model])[settings.model].name
    title = f"{name}, {settings.train_size:,} training examples of {dataset.name}"
    curve(run_directory.read_metrics(directory), title, directory / run_directory.CURVE, chance)


def new_model(
    settings: FitSettings,
    data: Settings,
    language: Mapping[str, Sequence[str]] | None = None,
    restarts: int = 0,
) -> tuple[nn.Module, Optimizer]:
    """A model with initial weights, other ones after every restart, and its optimiser.

    `language`: as for :meth:`World.of`.
    """
    device = torch.device(settings.device)
    with seeded(settings.seed, "weights", restarts, device):
        model = build(settings.model, World.of(data, language), settings.options)
    model = model.to(device, memory_format=torch.channels_last)
    return model, Adam(model.parameters(), lr=settings.learning_rate, fused=True)


@contextmanager
def seeded(seed: int, name: str, number: int, device: torch.device) -> Iterator[None]:
    """PyTorch's random state is a function of an address in the block, and afterwards as it was."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(int(Stream(seed, "fit", name).bits(np.array([number]), 1)[0, 0] >> np.uint64(1)))
        yield


def loss_of(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """The model's own loss, or cross-entropy, and (b,) or (b, answers) logits.

    Raises FitError if a model has one logit for questions with many answers.
    """
    if hasattr(model, "loss"):
        return model.loss(batch)
    logits = model(batch)
    if logits.dim() == 1 and not batch.answer.is_floating_point():
        raise FitError("the model has one logit, for yes: return (b, world.answers) logits")
    return answer_loss(logits, batch.answer), logits


def _sums(loss: torch.Tensor, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(3,) sums over a batch: objective, cross-entropy, right answers."""
    entropy = answer_loss(logits.detach().float(), batch.answer, "sum")
    right = (logits > 0) == (batch.answer > 0.5) if logits.dim() == 1 else logits.argmax(1) == batch.answer
    return torch.stack([loss.detach() * len(batch), entropy, right.sum()])


def _require_number(objective: float, epoch: int, step: int, settings: FitSettings) -> None:
    if not np.isfinite(objective):
        remedy = f"give a smaller `learning_rate` than {settings.learning_rate}"
        raise FitError(f"the loss became NaN in epoch {epoch} (step {step}): {remedy}")


def _save(
    state: RunState, directory: Path, model: nn.Module, optimizer: Optimizer, totals: torch.Tensor
) -> float:
    """Save the training state; returns when it is due again: saving takes a small share of the time."""
    entered = perf_counter()
    state.save(directory, model, optimizer, totals)
    left = perf_counter()
    return left + max(SAVE_EVERY, (left - entered) / SAVING_SHARE)


def autocast(settings: FitSettings) -> torch.autocast:
    """Mixed precision in the block, if the settings say bf16 and the device has it."""
    has = settings.device != "cpu" or has_bfloat16()
    return torch.autocast(settings.device, torch.bfloat16, settings.precision == "bf16" and has)


@cache
def has_bfloat16() -> bool:
    """Whether PyTorch's LSTM computes in bfloat16 on this processor: without AVX-512 it raises an error."""
    with suppress(RuntimeError), torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        with torch.random.fork_rng([]):
            lstm = nn.LSTM(1, 1)
        lstm(torch.zeros(1, 1, 1))
        return True
    return False


@contextmanager
def precision(settings: FitSettings) -> Iterator[None]:
    """TensorFloat-32 is allowed in the block, unless the settings say float32."""
    matmul, conv = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = settings.precision != "float32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, conv


def _tensorboard(directory: Path, step: int) -> Any:
    from torch.utils.tensorboard import SummaryWriter

    logs = folder(directory, "tensorboard")
    if links := [path for path in logs.iterdir() if path.is_symlink()]:
        raise RefusedError(f"{links[0]} is a symbolic link, and logs would be written elsewhere: delete it")
    return SummaryWriter(str(logs), purge_step=step + 1 if step else None)
