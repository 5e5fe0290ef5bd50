"""What follows an evaluation: compare models."""

from pathlib import Path
from typing import Annotated

from simtown.cli.command import RefusalError, command
from simtown.cli.places import answers_named, local_directory
from simtown.core.extras import need
from simtown.core.terminal import say, say_block


@command
def compare(
    directories: Annotated[
        list[Path], "Two or more directories of results of simtown evaluate.", answers_named
    ],
    *,
    out: Annotated[Path, "Directory for leaderboard.md, .csv and .tex, and comparison.csv."] = Path(
        "comparison"
    ),
) -> None:
    """Say which of several models is better on the same questions, and by how much.

    Writes a leaderboard and, for each two models, condition and family, the difference of their accuracies
    with a 95 % interval, paired by question and clustered by picture, and McNemar's test. Results of other
    questions are refused.
    """
    need("vlm")
    from simtown.vlm import leaderboard

    if len({directory.resolve() for directory in directories}) < 2:
        raise RefusalError("give two or more different directories of results")
    models = leaderboard.read(directories)
    directory = local_directory(out)
    directory.mkdir(parents=True, exist_ok=True)
    lines = leaderboard.write(models, directory)
    say_block(leaderboard.leaderboard(models).markdown(1))
    say(*lines)
    say(f"Look at {directory / 'leaderboard.md'}; more in {directory / 'comparison.csv'}")
