"""The experiment: fit, evaluate, predict, sweep, complexity."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.cli.app import (
    AddressOption,
    EngineOption,
    PoolSettings,
    RefusalError,
    app,
    as_typed,
    connected,
    defaults_of,
    report,
    save_picture,
)
from simtown.cli.places import local_directory, local_file
from simtown.core.extras import need
from simtown.core.terminal import complain, say

if TYPE_CHECKING:
    from rich.table import Table

    from simtown.training.plan import SweepCell, SweepPlan


AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-model",
        help="Allow the code of this model, package.module:Class, which the file names; may be repeated.",
    ),
]


def _device(name: str) -> str:
    """The device that "auto" stands for, or the one that is named.

    Raises RefusalError if there is no such device.
    """
    import torch

    if name not in ("auto", "cpu", "cuda"):
        raise RefusalError(f"unknown --device '{name}': choose auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise RefusalError("--device cuda: PyTorch sees no CUDA device here; use --device cpu, or auto")
    return ("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name


#: Seeds of the longest list of them.
MOST_SEEDS = 10_000


def parse_seeds(text: str) -> list[int]:
    """Seeds of "3", "0-4" or "0,2,7-9"."""
    seeds: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(-?[0-9]{1,19})(?:-([0-9]{1,19}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if last < first:
            raise RefusalError(f"--seeds {text} cannot be read as seeds: write 3, 0-4 or 0,2,7")
        if last - first >= MOST_SEEDS:
            raise RefusalError(f"--seeds {text} are more than {MOST_SEEDS:,} seeds: give fewer")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


@app.command(
    cls=defaults_of("simtown.training.fit_settings:FitSettings"), short_help="Train a model on a data set."
)
def fit(
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")],
    *,
    model: Annotated[
        str, typer.Option(help="A name of the list above, or your own model as package.module:Class.")
    ] = "pbn",
    train_size: Annotated[
        int | None, typer.Option(help="Use only the first N training examples; by default all.")
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            "--seeds",
            "--seed",
            help="Seed of initial weights, order of examples and dropout; 0-4 or 0,2,7 for several runs.",
        ),
    ] = "0",
    protocol: Annotated[
        str,
        typer.Option(
            help="paper: stop after --patience epochs without better validation accuracy; patient: only "
            "after "
            "--min-steps."
        ),
    ],
    min_steps: Annotated[
        int,
        typer.Option(
            help="With --protocol patient: steps before patience counts, since models stay at chance at "
            "first."
        ),
    ],
    patience: Annotated[
        int,
        typer.Option(help="Validations without better accuracy before stopping; none after a perfect one."),
    ],
    max_steps: Annotated[
        int, typer.Option(help="Stop after this number of steps, also within an epoch; 0: no limit.")
    ],
    batch: Annotated[int, typer.Option(help="Examples in each step.")],
    learning_rate: Annotated[float, typer.Option("--lr", help="Learning rate of Adam.")],
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the model, as name=value; may be repeated.")
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Train on new examples without end; --train-size is then the length of an epoch."
        ),
    ],
    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Keep all pictures in memory (on a GPU, in its memory), and stop if they do not fit; or "
            "read each batch from the disk. By default: keep them if they fit.",
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    precision: Annotated[
        str,
        typer.Option(help="float32, bf16, on a GPU also tf32; auto: bf16 if the device is faster with it."),
    ],
    compile: Annotated[bool, typer.Option("--compile", help="Use torch.compile.")],
    out: Annotated[
        Path | None, typer.Option(help="Run directory; by default runs/DATASET-MODEL-SIZE-seedS.")
    ] = None,
) -> None:
    """Train a model: Adam, early stopping on validation accuracy, the best weights, one test (section 6.5 of
    the paper).

    Models of the paper: pbn, cnn-lstm. The same with boxes withheld or given: pbn-no-boxes, cnn-lstm-boxes.
    Others: film, relation-network, vit. For comparison: true-boxes (receives the scene), question-only (sees
    no picture).

    The run directory holds run.json, metrics.jsonl, curve.png, weights.safetensors, test.npz, and logs for
    TensorBoard. If it is stopped or killed, run the same command again: it loses about a minute of work, and
    ends with the same numbers.
    """
    need("train")
    from simtown.core.untrusted import inside
    from simtown.datasets.reader import open_dataset
    from simtown.render.renderers import choose_device
    from simtown.training import fit
    from simtown.training.display import FitDisplay
    from simtown.training.fit_settings import FitSettings, precision_of
    from simtown.training.models import options

    if stream and device == "cuda":
        choose_device(device, complain)  # refused if no card draws; with auto, the processor would draw
    data = open_dataset(dataset)
    pairs = [text.partition("=") for text in option or []]
    if not all(sign for _, sign, _ in pairs):
        raise RefusalError("--option must be name=value")
    chosen = options(model, {name: value for name, _, value in pairs})
    size = len(data.train) if train_size is None else train_size
    numbers, kind = parse_seeds(seeds), _device(device)
    for number in numbers:
        settings = FitSettings(
            model=model,
            train_size=size,
            seed=number,
            options=chosen,
            protocol=protocol,
            min_steps=min_steps,
            patience=patience,
            batch=batch,
            learning_rate=learning_rate,
            max_steps=max_steps,
            stream=stream,
            device=kind,
            precision=precision_of(precision, kind),
            compile=compile,
        )
        if out is None:
            name = f"{dataset.resolve().name}-{model.replace(':', '.')}-{size}-seed{number}"
            directory = inside(Path(), f"runs/{name}")
        else:
            directory = inside(out, f"seed{number}") if len(numbers) > 1 else out
        with FitDisplay(f"fit {directory}", settings, as_typed) as display:
            run = fit.fit(settings, data, directory, display, cache)
        steps = f"{run['epochs']} epochs ({run['steps']} steps)"
        stopped = f"best of {steps} was {run['best']['epoch']}; stopped: {run['stopped']}"
        say(f"{directory}: {_accuracy(run['test'])}; {stopped}")
        say(*_parts(run["test"], run["references"]))
    say(f"Look at {directory / 'curve.png'}; more in {directory / 'run.json'}")


def _accuracy(test: dict[str, Any]) -> str:
    interval = f"95 %: {test['low']:.3f} to {test['high']:.3f}"
    return f"test accuracy {test['accuracy']:.3f} ({interval}, n {test['n']})"


def _parts(test: dict[str, Any], references: dict[str, float]) -> list[str]:
    """Lines of accuracies by part of the test set, and of references that do not learn."""

    def line(name: str, shares: dict[str, Any]) -> str:
        parts = (
            f"{part} {share['accuracy']:.3f} (n {share['n']})" for part, share in shares.items() if share
        )
        return f"  {name}: {', '.join(parts)}"

    lines = [
        line("by relation", test["relations"]),
        line("by tenth of the entities, frequent first", test["deciles"]),
    ]
    triples: dict[str, Any] = {name: test[name] for name in ("seen", "unseen") if name in test}
    if triples:
        lines.append(line("triples of the training set and others", triples))
    if "reweighted" in test:
        validation = test["validation"]
        lines.append(f"  on the validation set: {validation['accuracy']:.3f} (n {validation['n']})")
        lines += _reweighted(test["reweighted"])
    shown = (f"{name.replace('_', ' ')} {accuracy:.3f}" for name, accuracy in references.items())
    return [*lines, f"  for comparison: {', '.join(shown)}"]


#: An accuracy on fewer examples than this says nothing: its 95 % interval is wider than 0.3.
_FEW = 30


def _reweighted(share: dict[str, Any]) -> list[str]:
    """Lines of the paper's reweighted accuracy and its uncertainty."""
    effective = share["effective_n"]
    few = ": too few to mean anything" if effective < _FEW else ""
    return [
        "    if rare vehicles counted as much as frequent ones (weights 1/frequency): "
        f"{share['accuracy']:.3f}",
        "    rare questions then carry most of the weight, so this is as uncertain as an accuracy on "
        f"{effective:.0f} examples{few}",
    ]


@app.command(short_help="Test a trained model on a data set.")
def evaluate(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    dataset: Annotated[
        Path,
        typer.Argument(
            help="Directory of a data set with the run's picture size and kinds that the run has seen."
        ),
    ],
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    json: Annotated[Path | None, typer.Option(help="Also write the figures as JSON.")] = None,
    allow_model: AllowOption = None,
) -> None:
    """Test the best weights of a run on the test set of another data set with the same picture size, such as
    one with other weather.
    """
    need("train")
    import torch

    from simtown.core.files import save_json
    from simtown.core.progress import Progress
    from simtown.training import ask

    report_file = local_file(json, "--json") if json else None
    chosen = torch.device(_device(device))
    with Progress(f"evaluate {run}") as progress:
        test = ask.evaluate(run, dataset, chosen, allow_model or (), progress)
    if report_file:
        save_json(report_file, test)
    say(f"{run} on {dataset}: {_accuracy(test)}")
    say(*_parts(test, test["references"]))


@app.command(short_help="Ask a trained model about a picture.")
def predict(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    image: Annotated[
        Path,
        typer.Argument(
            help="A PNG or JPEG of a street, such as simtown render writes, framed like the run's pictures."
        ),
    ],
    question: Annotated[str, typer.Argument(help='Such as "Is a sedan left of a fire truck?"')],
    out: Annotated[
        Path | None, typer.Option(help="Draw the boxes that the model finds into this PNG.")
    ] = None,
    allow_model: AllowOption = None,
) -> None:
    """Ask a trained model one question about one picture. If it learned boxes, it also says where it sees
    the vehicles.

    A model learns from pictures that show both vehicles of the question, so it cannot answer that one is
    missing.
    """
    need("train")
    if out is not None and out.suffix.lower() != ".png":
        raise RefusalError(f"--out {out} must end in .png")
    out = local_file(out) if out else None
    from simtown.training import ask

    answer = ask.predict(run, image, question, allow_model or ())
    tested = ""
    if answer.accuracy is not None:
        tested = f"; the run answered {answer.accuracy:.1%} of its test questions correctly"
    say(f"{'yes' if answer.yes > 0.5 else 'no'} (yes with probability {answer.yes:.3f}{tested})")
    if answer.cut:
        say(f"  the picture was cut to what the run's pictures show: {_pixels(answer.frame)}")
    boxes = [] if answer.boxes is None else answer.boxes
    for role, name, box in zip(("subject", "object"), answer.vehicles, boxes, strict=False):
        say(f"  where the model places the {role}, {name}: {_pixels(box)}")
    for doubt in answer.doubts():
        say(f"  {doubt}")
    look = "; look at the boxes with --out FILE.png" if answer.boxes is not None and out is None else ""
    say(f"  the model cannot answer that a vehicle is missing: it learned from pictures that hold both{look}")
    if out is not None:
        if answer.boxes is None or answer.picture is None:
            raise RefusalError("--out: this model finds no boxes; ask a run of pbn or cnn-lstm-boxes")
        save_picture(ask.draw(answer.picture, answer), out)
        say(str(out))


def _pixels(box: Any) -> str:
    return f"x {box[0]:.0f} to {box[2]:.0f}, y {box[1]:.0f} to {box[3]:.0f} pixels"


def parse_targets(text: str) -> list[float]:
    """Target accuracies of "0.9" or "0.9,0.75"."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise RefusalError(
            f"--adaptive {text} cannot be read as target accuracies: write 0.9 or 0.9,0.75"
        ) from None


@app.command(short_help="Run a grid of trainings.")
def sweep(
    preset: Annotated[
        str, typer.Option(help="grid, paper, paper-rule, small, tiny, or a TOML file of that form.")
    ] = "small",
    out: Annotated[Path | None, typer.Option(help="The directory to write; by default sweep-PRESET.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Runs at once, each in a process; by default one for each processor, or 4 on a GPU."
        ),
    ] = None,
    adaptive: Annotated[
        str | None,
        typer.Option(
            help="Train only at sizes around the need of a test accuracy: 0.9, or several in their order: "
            "0.9,0.75."
        ),
    ] = None,
    same_data: Annotated[
        bool,
        typer.Option(
            "--same-data",
            help="All seeds share one data set and world; by default each has its own examples and kinds.",
        ),
    ] = False,
    resume_from: Annotated[
        Path | None,
        typer.Option(
            help="Folder with a small file for each finished run: these runs are not repeated, and new ones "
            "are "
            "added."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    engine: EngineOption = "local",
    address: AddressOption = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Only list the runs, which of them are done, and the time for the others."
        ),
    ] = False,
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
    and simtown generate. With --engine ray, OUT is a directory that all machines share. Then: simtown
    complexity OUT
    """
    need("train")
    from simtown.core.processes import default_workers
    from simtown.core.progress import Progress
    from simtown.core.untrusted import inside
    from simtown.training import sweep
    from simtown.training.display import SweepDisplay
    from simtown.training.plan import read

    kind = _device(device)
    targets = None if adaptive is None else parse_targets(adaptive)
    grid = read(preset, kind, same_data, targets, allow_model or ())
    directory = local_directory(out or inside(Path(), f"sweep-{Path(preset).stem}"))
    workers = jobs if jobs is not None else (4 if kind == "cuda" else default_workers())
    if workers < 1:
        raise RefusalError(f"--jobs must be at least 1, not {workers}")
    PoolSettings(engine, address, jobs)
    if resume_from is not None:
        resume_from = local_directory(resume_from, "--resume-from")
    if plan:
        _list(grid, sweep.started_runs(grid, directory, resume_from), workers)
        return
    with connected(engine, address, jobs) as cluster:
        done, data = sweep.begin(grid, directory, Progress, cluster, resume_from)
        with SweepDisplay(grid, as_typed) as display:
            outcome = sweep.sweep(grid, directory, done, data, workers, display, cluster, resume_from)
    report(outcome, directory, "runs")
    say(f"Now: simtown complexity {resume_from or directory}")


def _list(plan: SweepPlan, runs: dict[str, dict[str, Any]], jobs: int) -> None:
    """Print what a sweep would do and how long that takes; `runs` holds run.json of every started run."""
    from simtown.training.forecast import time_left
    from simtown.training.plan import datasets

    done = {name: run for name, run in runs.items() if run["status"] == "done"}
    cells = _list_searches(plan, done) if plan.targets else plan.cells
    for cell in cells:
        say(f"{cell.name} {runs[cell.name]['status']}" if cell.name in runs else cell.name)
    data = datasets(cells)
    total = sum(settings.n for settings in data)
    examples = f"on {len(data)} data sets of {total:,} training examples in all"
    if plan.targets:
        say(
            f"{len(done)} runs are done; {len(cells)} can begin now, {examples}; which follow depends on "
            "their accuracy"
        )
    else:
        say(f"{len(cells)} runs, {len(done)} of them done, {examples}")
    finished = [(cell, done[cell.name]) for cell in plan.cells if cell.name in done]
    missing = [cell for cell in cells if cell.name not in done]
    say(*time_left(missing, finished, jobs, growing=bool(plan.targets)))


def _list_searches(plan: SweepPlan, done: dict[str, dict[str, Any]]) -> list[SweepCell]:
    """Print how far the searches of an adaptive plan are; returns the cells that would run first."""
    from simtown.training.schedule import Schedule

    schedule = Schedule(plan, {name: run["test"]["accuracy"] for name, run in done.items()})
    for target, curve in schedule.searches():
        say(schedule.describe(target, curve))
    return [cell for _, _, cells in schedule.open_searches() for cell in cells]


def _complexity_table(rows: list[dict[str, str]]) -> Table:
    """A table that fits a terminal: for each target, the need and the smallest set that reached it.

    Below them stands the interval of the need. What is the same in all rows goes into the caption.
    """
    from rich import box
    from rich.table import Table

    from simtown.complexity.needs import SMALLEST

    same = [
        name
        for name in ("distractor", "seeds", "interval over")
        if name in rows[0] and len({row.get(name) for row in rows}) == 1
    ]
    table = Table(
        title="Samples needed for a test accuracy / smallest set that reached it (below: 95 % interval)",
        caption=", ".join(f"{name}: {rows[0][name]}" for name in same) or None,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    names = [name for name in rows[0] if name not in same and not name.endswith(SMALLEST)]
    for name in names:
        no_wrap = name in ("model", "entities")
        table.add_column(
            name, justify="right" if name[0].isdigit() else "left", no_wrap=no_wrap, overflow="fold"
        )
    for row in rows:
        cells = {name: cell.replace("> ", ">").replace("≤ ", "≤") for name, cell in row.items()}
        for name in names:
            if name + SMALLEST in cells:
                samples, bracket, interval = cells[name].partition(" (")
                cells[name] = f"{samples} / {cells[name + SMALLEST]}"
                if bracket:
                    cells[name] += f"\n{interval.rstrip(')')}"
        table.add_row(*(cells[name] for name in names))
    return table


@app.command(short_help="Sample complexity from many runs, or from other results.")
def complexity(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Directories that contain runs or cells, such as a sweep's; or one CSV of results."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Directory for tables and figures; by default RUNS/complexity.")
    ] = None,
    targets: Annotated[str, typer.Option(help="Accuracies to reach.")] = "0.75,0.85,0.90,0.95",
    replicates: Annotated[int, typer.Option(help="Bootstrap replicates for the intervals.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Estimate the samples needed to reach an accuracy, by model and world, with intervals, and how they grow
    with the world.

    Writes complexity.md, .csv and .json, tables of exponents, ratios, additional data and accuracies,
    samples.png (the paper's Figures 5 to 10) and learning.png.

    RESULTS.csv holds learning curves of any experiment. It has a line for each run and the columns group,
    size, seed, correct, total; and world, a whole number, if the experiment has worlds of several sizes. The
    other groups are compared with the group of the first line.
    """
    need("train", modules=("scipy", "matplotlib"))
    from simtown.complexity.need_report import report
    from simtown.core.console import page
    from simtown.core.untrusted import inside

    try:
        levels = [float(target) for target in targets.split(",")]
    except ValueError:
        raise RefusalError(
            f"--targets {targets}: give accuracies between 0 and 1, separated by commas"
        ) from None
    directory = out or inside(runs[0].parent if runs[0].is_file() else runs[0], "complexity")
    findings = report(runs, directory, targets=levels, replicates=replicates, seed=seed)
    with page(160) as console:
        console.print(_complexity_table(findings.table()))
    for note in findings.notes:
        say(f"Note: {note}.")
    figures = f"{directory / 'samples.png'} and {directory / 'learning.png'}"
    say(f"Look at {figures}; more in {directory / 'complexity.md'}")
