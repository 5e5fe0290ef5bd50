"""Language models of one's own: lm train."""

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.command import command
from simtown.cli.places import local_directory, there
from simtown.cli.study_commands import CORPUS
from simtown.core.extras import need
from simtown.core.progress import Progress
from simtown.core.terminal import say, shell_words
from simtown.probes.lm import LMSettings

lm = typer.Typer(
    name="lm",
    help="Small language models for the probes, trained here on any text.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@lm.command("train", short_help="Train a small language model on a text.")
@command
def train_command(
    corpus: Annotated[Path, CORPUS, there],
    settings: LMSettings,
    *,
    out: Annotated[Path, "The directory to write: a model in Hugging Face's layout."],
) -> None:
    """Train a small language model; every probe can then ask it as lstm:OUT or hf:OUT.

    One phrase in twenty is held out for validation, chosen by a hash of its text.

    Killed or stopped, the same command continues and ends with the same files.
    """
    local_directory(out)
    need("probes", "vg", modules="torch transformers tokenizers safetensors msgspec")
    from simtown.probes.lm.train import train

    with Progress(f"train {out}") as progress:
        summary = train(settings, corpus, out, progress)
    perplexity, phrases = summary["validation_perplexity"], summary["phrases"]["validation"]
    size = f"{summary['parameters']:,} parameters, {summary['vocabulary']:,} entries in the vocabulary"
    say(f"{out}: validation perplexity {perplexity:.2f} on {phrases:,} phrases; {size}")
    model = f"{'lstm' if settings.arch == 'lstm' else 'hf'}:{out}"
    say(f"Ask it as {shell_words(model)}")
