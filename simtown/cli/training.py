"""The experiment: fit, evaluate, predict, sweep, complexity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.cli.app import AddressOption, EngineOption, RefusalError, app, connected, report, save_picture
from simtown.extras import need
from simtown.terminal import complain, say

if TYPE_CHECKING:
    from rich.table import Table

    from simtown.training.plan import Cell, Plan


AllowOption = Annotated[
    list[str] | None,
    typer.Option("--allow-model", help="Run the code of this model, package.module:Class, that the file names; may be repeated."),
]


def _train_extra(*names: str) -> None:
    """The libraries of the extra "train", or those named, are there, or one line says how to get them."""
    need("this command", names or ("torch", "tensorboard", "safetensors", "scipy", "matplotlib"), "train")


def _device(name: str) -> str:
    """ "cuda" or "cpu" for "auto", the name itself otherwise."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name


def parse_seeds(text: str) -> list[int]:
    """Seeds of "3", "0-4" or "0,2,7-9"."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or (dash and int(last) < int(first)):
            raise RefusalError(f"--seeds {text} cannot be read as seeds: write 3, 0-4 or 0,2,7")
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))


@app.command(short_help="Train a model on a data set.")
def fit(
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")],
    model: Annotated[str, typer.Option(help="A name of the list above, or your own as package.module:Class.")] = "pbn",
    train_size: Annotated[int | None, typer.Option(help="Only the first so many training examples; by default all.")] = None,
    seed: Annotated[int, typer.Option(help="Of the initial weights, the order of examples and dropout.")] = 0,
    seeds: Annotated[str | None, typer.Option(help="Several runs one after the other: 0-4 or 0,2,7.")] = None,
    protocol: Annotated[
        str, typer.Option(help="paper: stop after --patience epochs without better validation accuracy; patient: only after --min-steps.")
    ] = "patient",
    min_steps: Annotated[int, typer.Option(help="With patient: steps before patience counts; models sit at chance at first.")] = 2_000,
    patience: Annotated[int, typer.Option(help="Validations without better accuracy before stopping.")] = 10,
    max_steps: Annotated[int, typer.Option(help="Stop after so many steps at the latest, also within an epoch; 0 for never.")] = 0,
    batch: Annotated[int, typer.Option(help="Examples a step.")] = 128,
    lr: Annotated[float, typer.Option(help="Learning rate of Adam.")] = 1e-3,
    option: Annotated[list[str] | None, typer.Option(help="The model's own option, as name=value; may be repeated.")] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Train on endless fresh examples; --train-size is then an epoch's length.")
    ] = False,
    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Keep all pictures in memory, on a GPU the card's, or refuse; or read them batch by batch. By default: kept if they fit.",
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    precision: Annotated[
        str, typer.Option(help="float32, bf16, on a GPU also tf32; auto: bf16 where the device has instructions for it.")
    ] = "float32",
    compile: Annotated[bool, typer.Option("--compile", help="Use torch.compile.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run directory; by default runs/DATASET-MODEL-SIZE-seedS.")] = None,
) -> None:
    """Train a model: Adam, early stopping on validation accuracy, the best weights, one test (section 6.5 of the paper).

    Models of the paper: pbn, cnn-lstm. The same told boxes or not: pbn-no-boxes, cnn-lstm-boxes. Others: film, relation-network, vit.
    To compare with: true-boxes (is told the scene), question-only (sees no picture).

    The run directory holds run.json, metrics.jsonl, curve.png, weights.safetensors, test.npz, and logs for TensorBoard. Killed or
    stopped, the same command continues, at most some two minutes back, and ends with the same numbers.
    """
    _train_extra()
    from simtown.datasets.reader import open_dataset
    from simtown.files import inside
    from simtown.render.engines import settled
    from simtown.training.display import FitDisplay
    from simtown.training.fit import fit as train
    from simtown.training.models import options
    from simtown.training.run import FitSettings, precision_of

    if stream and device == "cuda":
        settled(device, complain)  # refused where no card draws; with auto the model is trained on the card, and the processor draws
    data = open_dataset(dataset)
    pairs = [text.partition("=") for text in option or []]
    if not all(sign for _, sign, _ in pairs):
        raise RefusalError("--option must be name=value")
    chosen = options(model, {name: value for name, _, value in pairs})
    size = len(data.train) if train_size is None else train_size
    many, kind = parse_seeds(seeds) if seeds else [seed], _device(device)
    for number in many:
        settings = FitSettings(model, size, number, chosen, protocol, min_steps, patience, batch, lr, max_steps, stream,
                               kind, precision_of(precision, kind), compile)  # fmt: skip
        name = f"{model.replace(':', '.')}-{size}-seed{number}"
        usual = f"runs/{dataset.resolve().name}-{name}"
        directory = (inside(out, f"seed{number}") if len(many) > 1 else out) if out else inside(Path(), usual)
        with FitDisplay(f"fit {directory}", settings) as watcher:
            run = train(settings, data, directory, watcher, cache)
        best, steps = run["best"], f"{run['epochs']} epochs ({run['steps']} steps)"
        say(f"{directory}: {_accuracy(run['test'])}; best of {steps} was {best['epoch']}; stopped: {run['stopped']}")
        say(*_parts(run["test"], run["references"]))
    say(f"Look at {directory / 'curve.png'}; more in {directory / 'run.json'}")


def _accuracy(test: dict[str, Any]) -> str:
    return f"test accuracy {test['accuracy']:.3f} (95 %: {test['low']:.3f} to {test['high']:.3f}, n {test['n']})"


def _parts(test: dict[str, Any], references: dict[str, float]) -> list[str]:
    """Accuracies in parts, and what does not learn, as lines."""

    def line(name: str, shares: dict[str, Any]) -> str:
        return f"  {name}: " + ", ".join(f"{k} {s['accuracy']:.3f} (n {s['n']})" for k, s in shares.items() if s)

    unlike: dict[str, Any] = {k: test[k] for k in ("seen", "unseen") if k in test}
    lines = [line("by relation", test["relations"]), line("by tenth of the entities, frequent first", test["deciles"])]
    lines += [line("triples of the training set and others", unlike)] if unlike else []
    if "reweighted" in test:
        lines += [
            f"  on the validation set: {test['validation']['accuracy']:.3f} (n {test['validation']['n']})",
            *_reweighted(test["reweighted"]),
        ]
    lines.append("  for comparison: " + ", ".join(f"{k.replace('_', ' ')} {v:.3f}" for k, v in references.items()))
    return lines


#: An accuracy on fewer examples than this tells nothing: its 95 % interval is wider than 0.3.
_FEW = 30


def _reweighted(share: dict[str, Any]) -> list[str]:
    """The paper's reweighted accuracy, and how much it is worth, as lines."""
    effective = share["effective_n"]
    few = ": too few to mean anything" if effective < _FEW else ""
    return [
        f"    if rare vehicles counted as much as frequent ones (weights 1/frequency): {share['accuracy']:.3f}",
        f"    rare questions then carry most of the weight, so this is as uncertain as an accuracy on {effective:.0f} examples{few}",
    ]


@app.command(short_help="Test a trained model on a data set.")
def evaluate(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set, of the same picture size and of kinds that the run has seen.")],
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    json: Annotated[Path | None, typer.Option(help="Also write the figures as JSON.")] = None,
    allow_model: AllowOption = None,
) -> None:
    """Test a run's best weights on the test set of any data set of its picture size, such as one with other weather."""
    _train_extra()
    import torch

    from simtown.files import save_json
    from simtown.training.ask import evaluate as test

    told = test(run, dataset, torch.device(_device(device)), allow_model or ())
    if json is not None:
        save_json(json, told)
    say(f"{run} on {dataset}: {_accuracy(told)}")
    say(*_parts(told, told["references"]))


@app.command(short_help="Ask a trained model about a picture.")
def predict(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    image: Annotated[Path, typer.Argument(help="A PNG or JPEG of a street, such as simtown render writes; framed as those of the run.")],
    question: Annotated[str, typer.Argument(help='Such as "Is a sedan left of a fire truck?"')],
    out: Annotated[Path | None, typer.Option(help="Draw the boxes the model found into this PNG.")] = None,
    allow_model: AllowOption = None,
) -> None:
    """Ask a trained model one question about one picture; a model that was taught boxes also says where it looked.

    A model learns from pictures that hold both vehicles of the question, so it cannot answer that one is missing.
    """
    _train_extra()
    if out is not None and out.suffix.lower() != ".png":
        raise RefusalError(f"--out {out} must end in .png")
    from simtown.training.ask import draw
    from simtown.training.ask import predict as ask

    answer = ask(run, image, question, allow_model or ())
    tested = "" if answer.accuracy is None else f"; the run answered {answer.accuracy:.1%} of its test questions correctly"
    say(f"{'yes' if answer.yes > 0.5 else 'no'} (yes with probability {answer.yes:.3f}{tested})")
    if answer.cut:
        say(f"  the picture was cut to what the run's pictures show: {_pixels(answer.frame)}")
    for role, name, box in zip(("subject", "object"), answer.vehicles, [] if answer.boxes is None else answer.boxes, strict=False):
        say(f"  where the model places the {role}, {name}: {_pixels(box)}")
    for doubt in answer.doubts():
        say(f"  {doubt}")
    look = "; look at the boxes with --out FILE.png" if answer.boxes is not None and out is None else ""
    say(f"  the model cannot answer that a vehicle is missing: it learned from pictures that hold both{look}")
    if out is not None:
        if answer.boxes is None or answer.picture is None:
            raise RefusalError("--out: this model finds no boxes; ask a run of pbn or cnn-lstm-boxes")
        save_picture(draw(answer.picture, answer), out)
        say(str(out))


def _pixels(box: Any) -> str:
    return f"x {box[0]:.0f} to {box[2]:.0f}, y {box[1]:.0f} to {box[3]:.0f} pixels"


def parse_targets(text: str) -> list[float]:
    """Target accuracies of "0.9" or "0.9,0.75"."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise RefusalError(f"--adaptive {text} cannot be read as target accuracies: write 0.9 or 0.9,0.75") from None


@app.command(short_help="Run a grid of trainings.")
def sweep(
    preset: Annotated[str, typer.Option(help="grid, paper, paper-rule, small, tiny, or a TOML file of that form.")] = "small",
    out: Annotated[Path | None, typer.Option(help="Where to; by default sweep-PRESET.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at once, each in a process; by default one a processor, on a GPU 4.")] = None,
    adaptive: Annotated[
        str | None,
        typer.Option(help="Train only at sizes around the one that a test accuracy takes: 0.9, or several in their order: 0.9,0.75."),
    ] = None,
    same_data: Annotated[
        bool, typer.Option("--same-data", help="All seeds share one data set and world; by default each has its own examples and kinds.")
    ] = False,
    resume_from: Annotated[
        Path | None, typer.Option(help="Folder with a small file for each finished run: those there count as done, new ones are added.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    engine: EngineOption = "local",
    address: AddressOption = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only list the runs, those that are done, and how long the others take.")] = False,
    allow_model: AllowOption = None,
) -> None:
    """Run a grid: make the data it needs, train what is missing, go on where it was stopped, try again what failed.

    A grid may grow: with more sizes, seeds or worlds and the same --out, finished runs are kept. The run of seed S trains on a data set of
    seed S, in a world of its own: which kinds of vehicles it has, and how frequent each is.

    With --adaptive, sizes are doubled or halved until the mean test accuracy of all seeds lies below the target at one and above it at
    another, then bisected; the next world begins where this one ended. --plan tells how far each search is.

    A preset is a TOML file with version, size, and [[grid]] tables of entities, distractor, models, train_sizes (adaptive: the largest
    counts) and seeds; adaptive = [0.9], same_data = true and same_world = true stand before them; [fit] and [data] may hold other choices
    of simtown fit and simtown generate. With --engine ray, OUT is a directory that all machines share. Then: simtown complexity OUT
    """
    _train_extra()
    from simtown.datasets.stores import url_of
    from simtown.files import inside
    from simtown.processes import default_workers
    from simtown.progress import Progress
    from simtown.training import sweep as sweeps
    from simtown.training.display import SweepDisplay
    from simtown.training.plan import read

    kind = _device(device)
    planned = read(preset, kind, same_data, None if adaptive is None else parse_targets(adaptive), allow_model or ())
    directory = out or inside(Path(), f"sweep-{Path(preset).stem}")
    many = jobs if jobs is not None else (4 if kind == "cuda" else default_workers())
    if many < 1:
        raise RefusalError(f"--jobs must be at least 1, not {many}")
    if resume_from is not None and (url_of(resume_from) or (resume_from.exists() and not resume_from.is_dir())):
        raise RefusalError(f"--resume-from {resume_from} is no folder of this machine: give one, which is made if it is not there")
    if plan:
        _list(planned, sweeps.begun(planned, directory, resume_from), many)
        return
    if url_of(directory):
        raise RefusalError(f"--out {directory}: runs are written into a directory that all machines share, not behind a URL")
    with connected(engine, address, jobs) as cluster:
        done, data = sweeps.begin(planned, directory, Progress, cluster, resume_from)
        with SweepDisplay(planned, cluster.size() if cluster else many) as watcher:
            outcome = sweeps.sweep(planned, directory, done, data, many, watcher, cluster, resume_from)
    report(outcome, directory, "runs")
    say(f"Now: simtown complexity {resume_from or directory}")


def _list(plan: Plan, begun: dict[str, dict[str, Any]], jobs: int) -> None:
    """Print what a sweep would do and how long that takes; `begun`: run.json by name."""
    from simtown.training.forecast import Forecast, seconds_a_step
    from simtown.training.plan import datasets

    done = {name: run for name, run in begun.items() if run["status"] == "done"}
    forecast = Forecast(jobs, growing=bool(plan.targets))
    cells = _list_searches(plan, done) if plan.targets else plan.cells
    for cell in plan.cells:
        if cell.name in done:
            forecast.changed(cell, "done", done[cell.name])
    for cell in cells:
        if cell.name not in done:
            forecast.changed(cell, "waiting", {})
        say(f"{cell.name} {begun[cell.name]['status']}" if cell.name in begun else cell.name)
    data = datasets(cells)
    examples = f"on {len(data)} data sets of {sum(settings.n for settings in data):,} training examples in all"
    if plan.targets:
        say(f"{len(done)} runs are done; {len(cells)} can begin now, {examples}; which follow depends on their accuracy")
    else:
        say(f"{len(cells)} runs, {len(done)} of them done, {examples}")
    timed = {cell.fit.model: seconds_a_step(cell, jobs) for cell in forecast.unknown}
    for model, seconds in timed.items():
        if seconds is not None:
            forecast.timed(model, seconds)
    if not str(forecast):
        return
    say(f"{forecast} with {jobs} run{'s' * (jobs > 1)} at once, if the machine does nothing else")
    if not forecast.bounded:
        say("(each run taken to be as long as the finished one of its model that is nearest in training examples)")
    elif told := [f"{model} {seconds:.2f} s" for model, seconds in timed.items() if seconds is not None]:
        say(f"(a step timed here, {', '.join(told)}, times the fewest steps of each run; a run goes on as long as it gets better)")


def _list_searches(plan: Plan, done: dict[str, dict[str, Any]]) -> list[Cell]:
    """Print how far the searches of an adaptive plan are; the cells that would run first."""
    from simtown.training.schedule import Schedule

    schedule = Schedule(plan, {name: run["test"]["accuracy"] for name, run in done.items()})
    for target, curve in schedule.searches():
        say(schedule.describe(target, curve))
    return [cell for _, _, cells in schedule.open_searches() for cell in cells]


def _complexity_table(rows: list[dict[str, str]]) -> Table:
    """For each target, the need and, after a stroke, the smallest set that reached it; below them the interval of the need.

    So a row fits a terminal. What is the same in all rows goes into the caption.
    """
    from rich import box
    from rich.table import Table

    from simtown.training.findings import SMALLEST

    shared = [name for name in ("distractor", "seeds", "interval over") if len({row.get(name) for row in rows}) == 1 and name in rows[0]]
    caption = ", ".join(f"{name}: {rows[0][name]}" for name in shared)
    table = Table(title="Samples needed for a test accuracy / smallest set that reached it (below: 95 % interval)", caption=caption or None,
                  box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)  # fmt: skip
    names = [name for name in rows[0] if name not in shared and not name.endswith(SMALLEST)]
    for name in names:
        table.add_column(name, justify="right" if name[0].isdigit() else "left", no_wrap=name in ("model", "entities"))
    for row in rows:
        cells = {name: cell.replace(" to ", "–").replace("> ", ">").replace("≤ ", "≤") for name, cell in row.items()}
        for name in names:
            if name + SMALLEST in cells:
                need, stroke, interval = cells[name].partition(" (")
                cells[name] = f"{need} / {cells[name + SMALLEST]}" + (f"\n{interval.rstrip(')')}" if stroke else "")
        table.add_row(*(cells[name] for name in names))
    return table


@app.command(short_help="Sample complexity from many runs, or from anyone's results.")
def complexity(
    runs: Annotated[list[Path], typer.Argument(help="Directories with runs or cells in them, such as a sweep's; or one CSV of results.")],
    out: Annotated[Path | None, typer.Option(help="Where tables and figures go; by default RUNS/complexity.")] = None,
    targets: Annotated[str, typer.Option(help="Accuracies to reach.")] = "0.75,0.85,0.90,0.95",
    replicates: Annotated[int, typer.Option(help="Bootstrap replicates for the intervals.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
) -> None:
    """Samples needed to reach an accuracy, by model and world, with intervals; and how they grow with the world.

    Writes complexity.md, .csv and .json, tables of exponents, ratios, additional data and accuracies, samples.png (the paper's Figures 5 to
    10) and learning.png.

    RESULTS.csv, learning curves of any experiment, has a line a run and the columns group, size, seed, correct, total; and world, a whole
    number, if the experiment has worlds of several sizes. The first line's group is what the others are compared with.
    """
    _train_extra("scipy", "matplotlib")
    from simtown.console import page
    from simtown.files import inside
    from simtown.training.report import report

    try:
        levels = [float(target) for target in targets.split(",")]
    except ValueError:
        raise RefusalError(f"--targets {targets}: give accuracies between 0 and 1, with commas between them") from None
    directory = out or inside(runs[0].parent if runs[0].is_file() else runs[0], "complexity")
    found = report(runs, directory, targets=levels, replicates=replicates, seed=seed)
    with page(110) as console:
        console.print(_complexity_table(found.table()))
    for note in found.notes:
        say(f"Note: {note}.")
    say(f"Look at {directory / 'samples.png'} and {directory / 'learning.png'}; more in {directory / 'complexity.md'}")
