"""The commands beside the study of probe spatial: people's judgements, and the town."""

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli import places
from simtown.cli.command import RefusalError, command
from simtown.cli.places import local_file, there
from simtown.cli.study_commands import CORPUS, Out, is_study, need, probe, runner, show_results
from simtown.core.files import save_text
from simtown.core.terminal import say
from simtown.probes.spatial import SpatialSettings
from simtown.probes.study_settings import ScorerOptions

spatial = typer.Typer(
    name="spatial",
    short_help="Spatial relations: perplexity vectors of a language model.",
    rich_markup_mode=None,
)
probe.add_typer(spatial)


def _study(
    context: typer.Context,
    *,
    corpus: Annotated[Path, CORPUS, there],
    settings: SpatialSettings,
    out: Out,
    scorer: ScorerOptions,
) -> None:
    """Put every spatial relation in every other's place and see how perplexed a model is (Ghanimifard and
    Dobnik, 2019).

    Phrases of the corpus are binned by the relation they hold. 67 relations in up to 57 such contexts make
    the matrix of perplexities; its rows are the relations' P-vectors, which are tested by analogies, odd ones
    out and clusters. --model, --corpus and --out are needed.
    """
    if not is_study(context, settings, out, corpus=corpus):
        return
    run, progress = runner("spatial")
    with progress as bars:
        show_results(run(corpus, settings, out, scorer, bars))


spatial.callback(invoke_without_command=True)(command(_study, optional=True))


@spatial.command(short_help="Write a page that asks people how alike relations are.")
@command
def judge(*, out: Annotated[Path, "The page to write, HTML."]) -> None:
    """Write a page that asks for similarity judgements with a slider, as the paper's appendix D describes.

    It needs no server: the reader downloads the answers as CSV. 66 pairs of words in random order, and
    catch trials between them: a relation with itself, a relation with "green".
    """
    local_file(out)
    need()
    from simtown.probes.spatial.judge import page

    save_text(out, page())
    say(f"{out} asks. Send it to people, and give their files to simtown probe spatial judgements.")


@spatial.command(short_help="Clean judgements, and say how far people agree.")
@command
def judgements(
    files: Annotated[list[Path], "Downloaded from the page of probe spatial judge.", there],
    *,
    out: Annotated[Path | None, "A table of mean ratings to write (tab-separated)."] = None,
) -> None:
    """Remove workers by the paper's rule ("green" above 60 %, itself below 90 %) and print the others'
    agreement.
    """
    if out is not None:
        local_file(out)
    need()
    from simtown.probes.spatial.judge import WORDS, rater_agreement, read
    from simtown.probes.spatial.spaces import NumberTable, write_table

    agreement = rater_agreement([rating for file in files for rating in read(file)])
    if out is not None:
        write_table(out, NumberTable(WORDS, WORDS, agreement.means))
    names = f" ({', '.join(agreement.removed)})" if agreement.removed else ""
    kept = f"{len(agreement.removed)} removed{names}; {agreement.ratings:,} ratings of pairs are kept"
    alike = f"mean correlation of one with the others {agreement.one_out:.3f}"
    say(f"{agreement.workers} workers, {kept}; Krippendorff's α {agreement.alpha:.3f}, {alike}")


@spatial.command(short_help="Does a model of the town's captions know the town's space?")
@command
def town(
    dataset: Annotated[str, "The data set whose test scenes it is asked about.", places.dataset_named],
    *,
    model: Annotated[str, "A language model trained on the captions that simtown captions DATASET wrote."],
    out: Annotated[Path, "The picture to write, as .png and .svg."],
    scorer: ScorerOptions,
) -> None:
    """Compare the P-vectors of the town's relations with their spatial templates, measured in the scenes."""
    local_file(out.with_suffix(".png"))
    local_file(out.with_suffix(".svg"))
    need()
    from simtown.datasets.reading.reader import open_dataset
    from simtown.language.words.captions import WORDED, related
    from simtown.probes.model_names import in_words
    from simtown.probes.spatial import heatmaps
    from simtown.probes.spatial.geometry import geometry_bridge
    from simtown.probes.spatial.spaces import NumberTable

    source = open_dataset(dataset)
    if not len(source.test):
        raise RefusalError(f"{dataset} has no test scenes: make it with simtown generate --test 2000")
    scenes = related(source.test.scenes(), source.settings.seed, "test")
    comparison = geometry_bridge(scorer.open(model), scenes)
    distances = NumberTable(WORDED, WORDED, comparison.words)
    heatmaps.town(distances, comparison.templates, in_words(model), out)
    say("perplexity of each relation (row) in captions of each (column):")
    for name, row in zip(WORDED, comparison.perplexities.values, strict=True):
        say(f"  {name:16}" + "".join(f"{x:9.2f}" for x in row))
    means = f"opposites {comparison.opposite:.3f}, different axes {comparison.across:.3f}"
    say(f"P-vectors: {means}; with the templates: r = {comparison.correlation:.3f}")
