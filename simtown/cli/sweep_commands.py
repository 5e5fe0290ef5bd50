"""Many runs: sweep, complexity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from simtown.cli import places
from simtown.cli.command import command, parse_numbers
from simtown.cli.places import local_directory
from simtown.cli.sharing import AllowOption, ClusterSettings, DeviceOption, report_grid
from simtown.core.console import new_table, page
from simtown.core.extras import need
from simtown.core.progress import Progress
from simtown.core.terminal import say, shell_words
from simtown.core.untrusted import inside

if TYPE_CHECKING:
    from simtown.training.sweep import Sweep


JOBS = "Runs at once, each in a process; by default one for each processor, or 4 on a GPU."


@command
def sweep(
    *,
    preset: Annotated[str, "grid, paper, paper-rule, small, tiny, or a TOML file of that form."] = "small",
    out: Annotated[Path | None, "The directory to write; by default sweep-PRESET."] = None,
    jobs: Annotated[int | None, typer.Option(help=JOBS, min=1)] = None,
    adaptive: Annotated[
        str | None,
        "Train only at sizes around the need of a test accuracy: 0.9, or several in their order: 0.9,0.75.",
    ] = None,
    same_data: Annotated[
        bool, "All seeds share one data set and world; by default each has its own examples and kinds."
    ] = False,
    resume_from: Annotated[
        Path | None,
        "Folder with a small file for each finished run, or a table of them: these are not repeated, and "
        "new ones are added.",
    ] = None,
    device: DeviceOption = "auto",
    where: ClusterSettings,
    plan: Annotated[bool, "Only list the runs, which of them are done, and the time for the others."] = False,
    allow_model: AllowOption = None,
) -> None:
    """Run a grid: make the data it needs, train what is missing, continue what was stopped, repeat what
    failed.

    A grid may grow: with more sizes, seeds or worlds and the same --out, finished runs are kept. The run of
    seed S trains on a data set of seed S, in a world of its own: its own kinds of vehicles, with their own
    frequencies.

    With --adaptive, each search doubles or halves the size until the mean test accuracy of all seeds lies
    below the target at one size and above it at another. Then it bisects. The search in the next world begins
    where this one ends. --plan says how far each search is.

    A preset is a TOML file with version, size, and [[grid]] tables of entities, distractor, models,
    train_sizes (adaptive: the largest counts) and seeds. Before them may stand adaptive = [0.9],
    same_data = true and same_world = true. The tables [fit] and [data] may hold other settings of simtown fit
    and simtown generate, such as lr = 0.002 and cannot_tell = 0.1. With --engine ray, OUT is a directory that
    all machines share. Then: simtown complexity OUT
    """
    need("train")
    from simtown.training.fit_settings import device_of
    from simtown.training.plan import check_preset, check_targets, read

    targets = parse_numbers(adaptive, "--adaptive", "0.9 or 0.9,0.75") if adaptive else None
    check_preset(preset)
    check_targets(targets or ())
    from simtown.core.processes import default_workers
    from simtown.training.display import SweepDisplay
    from simtown.training.sweep import Sweep

    kind = device_of(device)
    grid = read(preset, kind, same_data, targets, allow_model or ())
    directory = local_directory(out or inside(Path(), f"sweep-{Path(preset).stem}"))
    workers = jobs or (4 if kind == "cuda" else default_workers())
    if resume_from is not None:
        resume_from = local_directory(resume_from, "--resume-from")
    runs = Sweep(grid, directory, resume_from)
    if plan:
        _list(runs, workers)
        return
    with where.cluster(jobs) as cluster:
        runs.compare(Progress)
        with SweepDisplay(grid) as display:
            outcome = runs.run(workers, display, cluster)
    report_grid(outcome, directory, "runs")
    say(f"Now: simtown complexity {shell_words(resume_from or directory)}")


def _list(sweep: Sweep, jobs: int) -> None:
    """Print what a sweep would do first and how long that takes, and how far each search is."""
    from simtown.training.forecast import time_left
    from simtown.training.schedule import Schedule

    plan, done, cells = sweep.plan, sweep.done, sweep.plan.cells
    if plan.targets:
        schedule = Schedule(plan, {name: run["test"]["accuracy"] for name, run in done.items()})
        for target, curve in schedule.searches():
            say(schedule.describe(target, curve))
        cells = [cell for _, _, first in schedule.open_searches() for cell in first]
    for cell in cells:
        say(f"{cell.name} {sweep.begun[cell.name]['status']}" if cell.name in sweep.begun else cell.name)
    data = {cell.data for cell in cells}
    total = sum(settings.n for settings in data)
    examples = f"on {len(data)} data sets of {total:,} training examples in all"
    if plan.targets:
        begin = f"{len(cells)} can begin now, {examples}"
        say(f"{len(done)} runs are done; {begin}; which follow depends on their accuracy")
    else:
        say(f"{len(cells)} runs, {len(done)} of them done, {examples}")
    finished = [(cell, done[cell.name]) for cell in plan.cells if cell.name in done]
    missing = [cell for cell in cells if cell.name not in done]
    say(*time_left(missing, finished, jobs, growing=bool(plan.targets)))


def _complexity_table(rows: list[dict[str, str]]) -> Table:
    """A row for each target in each world: the need, its interval, and the smallest set that reached it."""
    from simtown.complexity.quantities import SMALLEST

    targets = [name.removesuffix(SMALLEST) for name in rows[0] if name.endswith(SMALLEST)]
    about = [name for name in ("distractor", "seeds", "interval over") if name in rows[0]]
    heads = [name for name in ("model", "entities", "world") if name in rows[0]]
    notes = [", ".join(f"{name}: {row[name]}" for name in about) for row in rows]
    numbers = {note: str(number) for number, note in enumerate(dict.fromkeys(notes), 1)}
    several = len(numbers) > 1
    columns = [*heads, "accuracy", "samples", "(95 %)", "smallest set", *(["note"] if several else [])]
    title = "Samples needed for a test accuracy, and the smallest set that reached it"
    table = new_table(title, columns, left=heads, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.caption = "\n".join(f"{number}: {note}" if several else note for note, number in numbers.items())
    for row, note in zip(rows, notes, strict=True):
        for target in targets:
            world = [row[name] if target == targets[0] else "" for name in heads]
            samples, _, interval = row[target].partition(" (")
            cells = [*world, target, samples, interval.rstrip(")"), row[target + SMALLEST], numbers[note]]
            table.add_row(*cells[: len(columns)])
    return table


@command
def complexity(
    runs: Annotated[
        list[Path],
        "Directories that contain runs or cells, such as a sweep's; or one CSV of results.",
        places.runs_named,
    ],
    *,
    out: Annotated[
        Path | None, "Directory for tables and figures; by default RUNS/complexity, or complexity-FAMILY."
    ] = None,
    targets: Annotated[str, "Accuracies to reach."] = "0.75,0.85,0.90,0.95",
    replicates: Annotated[int, "Bootstrap replicates for the intervals."] = 1_000,
    seed: Annotated[int, "Seed of the bootstrap."] = 0,
    family: Annotated[str, "Count only the test questions of this family, such as count."] = "",
) -> None:
    """Estimate the samples needed to reach an accuracy, by model and world, with intervals, and how they grow
    with the world.

    Writes complexity.md, .csv and .json, tables of exponents, ratios, additional data and accuracies,
    samples.png (the paper's Figures 5 to 10) and learning.png.

    A size counts once its runs with all seeds of the curve are finished.

    Runs on questions of families: all questions count, or those of one --family.

    RESULTS.csv holds learning curves of any experiment. It has a line for each run and the columns group,
    size, seed, and correct and total, or score; and world, a whole number, if the experiment has worlds of
    several sizes. Or it has a line for each seed, with scores in columns named by the sizes. The other groups
    are compared with the group of the first line.
    """
    need("train", modules="scipy matplotlib")
    levels = parse_numbers(targets, "--targets", "0.75,0.9")
    from simtown.complexity.need_report import report

    name = f"complexity-{family}" if family else "complexity"
    directory = out or inside(runs[0].parent if runs[0].is_file() else runs[0], name)
    findings = report(runs, directory, targets=levels, replicates=replicates, seed=seed, family=family)
    with page(100) as console:
        console.print(_complexity_table(findings.table()))
    for note in findings.notes:
        say(f"Note: {note}.")
    figures = f"{directory / 'samples.png'} and {directory / 'learning.png'}"
    say(f"Look at {figures}; more in {directory / 'complexity.md'}")
