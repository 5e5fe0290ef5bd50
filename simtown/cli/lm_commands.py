"""Language models of one's own: lm train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.command import RefusalError, command
from simtown.core.extras import need
from simtown.core.options import SettingsError
from simtown.core.progress import Progress
from simtown.core.terminal import say

lm = typer.Typer(
    name="lm",
    help="Small language models for the probes, trained here on any text.\n\n"
    "Start with: simtown lm train region_descriptions.json.zip --arch lstm --out lm/lstm",
    short_help="Small language models for the probes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@lm.callback()
def _lm() -> None:
    pass


@lm.command("train", short_help="Train a small language model on a text.")
@command
def train_command(
    corpus: Annotated[
        Path, "Text, one phrase a line, or Visual Genome's region_descriptions.json; packed or not."
    ],
    *,
    out: Annotated[Path, "The directory to write: a model in Hugging Face's layout."],
    arch: Annotated[str, "lstm, bert-mini or gpt-mini."] = "lstm",
    epochs: Annotated[int | None, "Times that the corpus is read; by default 1."] = None,
    vocabulary: Annotated[
        int | None, "Words (lstm) or byte pairs at most; by default 5000, bert-mini 8000."
    ] = None,
    tokenizer: Annotated[
        Path | None,
        "A model made by this command whose vocabulary to take: only such models can be distilled.",
    ] = None,
    rare: Annotated[int, "Phrases with a word that the corpus has less often are dropped."] = 1,
    batch: Annotated[int | None, "Phrases a step; by default 128."] = None,
    learning_rate: Annotated[
        float | None, "Highest learning rate; by default 0.003, bert-mini and gpt-mini 0.001.", "--lr"
    ] = None,
    dropout: Annotated[
        float | None, "Share dropped while training; by default 0.2, bert-mini and gpt-mini 0.1."
    ] = None,
    seed: Annotated[int, "Seed of the initial weights, the order of phrases, dropout and masks."] = 0,
    device: Annotated[str, "auto, cpu or cuda."] = "auto",
) -> None:
    """Train a small language model; every probe can then ask it as lstm:OUT or hf:OUT.

    One phrase in twenty is held out for validation, chosen by a hash of its text.

    Killed or stopped, the same command continues and ends with the same weights.
    """
    need("probes", "vg", modules=("torch", "transformers", "tokenizers", "safetensors", "msgspec"))
    import torch

    from simtown.probes.lm.architectures import ARCHITECTURES
    from simtown.probes.lm.train import LMSettings, train

    if arch not in ARCHITECTURES:
        raise SettingsError(f"{arch} is unknown: choose among {', '.join(ARCHITECTURES)}", "arch")
    if tokenizer is not None and vocabulary is not None:
        raise RefusalError("--vocabulary cannot be chosen with --tokenizer, which has its own: leave one out")
    usual = ARCHITECTURES[arch]
    settings = LMSettings(
        arch=arch,
        epochs=usual.epochs if epochs is None else epochs,
        vocabulary=usual.vocabulary if vocabulary is None else vocabulary,
        batch=usual.batch if batch is None else batch,
        learning_rate=usual.learning_rate if learning_rate is None else learning_rate,
        seed=seed,
        device=("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device,
        rare=rare,
        tokenizer=None if tokenizer is None else str(tokenizer.resolve()),
        dropout=dropout,
    )
    with Progress(f"train {out}") as progress:
        summary = train(settings, corpus, out, progress)
    perplexity, phrases = summary["validation_perplexity"], summary["phrases"]["validation"]
    size = f"{summary['parameters']:,} parameters, {summary['vocabulary']:,} entries in the vocabulary"
    time = f"{summary['seconds']:.0f} s"
    say(f"{out}: validation perplexity {perplexity:.2f} on {phrases:,} phrases; {size}, {time}")
    say(f"Ask it as {'lstm' if arch == 'lstm' else 'hf'}:{out}")
