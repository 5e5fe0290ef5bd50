"""One model: fit, evaluate, predict."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from simtown.cli import places
from simtown.cli.command import RefusalError, command
from simtown.cli.places import local_directory, local_file, name_of, png_file, there
from simtown.cli.sharing import AllowOption, DatasetArgument, DeviceOption, save_picture
from simtown.core.console import new_table, page
from simtown.core.extras import need
from simtown.core.files import save_json, save_text
from simtown.core.progress import Progress, one_bar
from simtown.core.terminal import complain, say, say_block
from simtown.core.untrusted import inside, read_text
from simtown.datasets.addresses import stored_counts
from simtown.probes.model_names import slug_of
from simtown.training.fit_settings import FitSettings, check_examples, device_of
from simtown.vlm.vlm_settings import PEOPLE, WITHOUT_DEVICE, VlmSettings, is_model

RunArgument = Annotated[
    Path, "Directory of a run: its name, the name up to a hyphen, or latest.", places.run_named
]


def parse_seeds(text: str) -> list[int]:
    """Seeds of "3", "0-4" or "0,2,7-9"."""
    seeds: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(-?[0-9]{1,19})(?:-([0-9]{1,19}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if last < first:
            raise RefusalError(f"--seeds {text} cannot be read as seeds: write 3, 0-4 or 0,2,7")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


@command
def fit(
    dataset: DatasetArgument,
    settings: FitSettings,
    *,
    seeds: Annotated[
        str,
        "Seed of initial weights, order of examples and dropout; 0-4 or 0,2,7 for several runs.",
        "--seeds",
        "--seed",
    ] = "0",
    encoder: Annotated[
        str | None,
        "With --model head: the frozen encoder of pictures, hf:ID-OR-DIR or clip:ID-OR-DIR.",
    ] = None,
    option: Annotated[list[str] | None, "An option of the model, as name=value; may be repeated."] = None,
    cache: Annotated[
        bool | None,
        "Keep all pictures in memory (on a GPU, in its memory), and stop if they do not fit; or read each "
        "batch from the disk. By default: keep them if they fit.",
        "--cache/--no-cache",
    ] = None,
    device: DeviceOption = "auto",
    out: Annotated[Path | None, "Run directory; by default runs/DATASET-MODEL-SIZE-seedS."] = None,
) -> None:
    """Train a model: Adam, early stopping on validation accuracy, the best weights, one test (section 6.5 of
    the paper).

    Models of the paper: pbn, cnn-lstm. The same with boxes withheld or given: pbn-no-boxes, cnn-lstm-boxes.
    Others: film, relation-network, vit. For comparison: true-boxes (receives the scene), question-only (sees
    no picture), picture-only (reads no question); of sequences order-blind (does not know the order of their
    pictures) and one-picture (--option picture=K: sees the K-th alone). On any image encoder of transformers,
    which stays as it is: head (--encoder). Questions of families (--questions of simtown generate) have one
    of many answers; models that receive boxes or a subject and an object are for the paper's questions alone.

    The run directory holds run.json, metrics.jsonl, curve.png, weights.safetensors, test.npz, and logs for
    TensorBoard. If it is stopped or killed, run the same command again: it loses about a minute of work, and
    ends with the same numbers.
    """
    need("train")
    if not all("=" in text for text in option or []):
        raise RefusalError("--option must be name=value")
    given, numbers = dict(text.split("=", 1) for text in option or []), parse_seeds(seeds)
    from simtown.training.models import options, require_model

    if (settings.model == "head") != bool(encoder):
        raise RefusalError("--model head and --encoder hf:ID-OR-DIR belong together: give both, or neither")
    if encoder:
        settings = replace(settings, model=f"head:{encoder}")
    require_model(settings.model)
    if counts := stored_counts(dataset):
        check_examples(replace(settings, train_size=settings.train_size or counts["train"]), counts, dataset)
    settings = replace(settings, options=options(settings.model, given))
    from simtown.datasets.reading.reader import open_dataset

    data = open_dataset(dataset)
    settings = replace(settings, train_size=settings.train_size or len(data.train))
    from simtown.render.renderers import choose_device
    from simtown.training import fit
    from simtown.training.display import FitDisplay

    if settings.stream and device == "cuda":
        choose_device(device, complain)  # refused if no card draws; with auto, the processor would draw
    settings = replace(settings, device=device)
    for number in numbers:
        if out is None:
            model = settings.model.replace(":", ".").replace("/", ".")
            name = f"{name_of(dataset)}-{model}-{settings.train_size}-seed{number}"
            directory = inside(Path(), f"runs/{name}")
        else:
            directory = inside(out, f"seed{number}") if len(numbers) > 1 else out
        settings = replace(settings, seed=number)
        with FitDisplay(f"fit {directory}", settings) as display:
            run = fit.fit(settings, data, directory, display, cache)
        say(str(run))
        _show_scores(run["test"], run["references"])
    say(f"Look at {directory / 'curve.png'}; more in {directory / 'run.json'}")


#: An accuracy on fewer examples than this says nothing: its 95 % interval is wider than 0.3.
_FEW = 30
#: Numbers that only some shares have beside their accuracy: heads of their columns.
_BESIDE = ("constant", "confidence", "on test")


def _score_groups(test: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The shares of a test set by part, in groups: what the parts are, and {name of a part: its share}."""
    yield "all", {"": test}
    yield "relation", test.get("relations", {})
    deciles = test.get("deciles", {})
    if sum(share is not None for share in deciles.values()) == 10:  # fewer kinds have no tenths
        yield "tenth (0: frequent kinds)", deciles
    yield "family", test.get("families", {})
    yield "kind of answer", test.get("kinds", {})
    about = "answer" if "families" in test else "triple"
    yield f"{about} in training", {"yes": test.get("seen"), "no": test.get("unseen")}
    yield "twins", test.get("twins", {})
    yield "validation", {"": test.get("validation"), "rare kinds as often": test.get("reweighted")}
    if held := test.get("held_out"):
        shares = {**held["families"], "all": {**held, "seen": {"accuracy": held["seen"]}}}
        on_test = {name: (share["seen"] or {}).get("accuracy") for name, share in shares.items()}
        yield "held out", {name: {**share, "on test": on_test[name]} for name, share in shares.items()}


def _score_notes(test: dict[str, Any]) -> Iterator[str]:
    """Sentences about rows and columns of the table of scores that are not plain."""
    if n := (test.get("reweighted") or {}).get("effective_n"):
        few = ", too few to mean anything" if n < _FEW else ""
        examples = f"as uncertain as an accuracy on {n:.0f} examples{few}"
        yield f"rare kinds as often: every question weighs 1/frequency; {examples}"
    if "families" in test:
        yield "constant: the best single answer to all questions of a family"
    if answers := (test.get("unseen") or {}).get("answers"):
        others = f" and {len(answers) - 5} more" if len(answers) > 5 else ""
        yield f"answers that no training example has: {', '.join(answers[:5])}{others}"
    if "twins" in test:
        yield "twins: right with a picture, with both of a question (pair), with all of a group of four"
    if "held_out" in test:
        yield "held out: compositions that training never held; on test: questions of the same families"


def _show_scores(test: dict[str, Any], references: dict[str, float]) -> None:
    """Print accuracies by part of the test set, and those of what does not learn."""
    rows = [
        (group, part, {**share, "constant": share.get("chance")})
        for group, shares in _score_groups(test)
        for part, share in shares.items()
        if share and share["n"]
    ]
    beside = [name for name in _BESIDE if any(share.get(name) is not None for *_, share in rows)]
    table = new_table("", ("", "", "n", "accuracy", "95 %", *beside), left=("",))
    for group, part, share in rows:
        interval = " to ".join(f"{share[end]:.3f}" for end in ("low", "high") if end in share)
        numbers = (share.get(name) for name in ("accuracy", *beside))
        accuracy, *others = ("" if number is None else f"{number:.3f}" for number in numbers)
        table.add_row(group, part, f"{share['n']:,}", accuracy, interval, *others)
    with page(100) as console:
        console.print(table)
    shown = (f"{name.replace('_', ' ')} {accuracy:.3f}" for name, accuracy in references.items())
    say(*_score_notes(test), f"for comparison: {', '.join(shown)}")


def _model_or_run(model: str) -> str:
    """A model that can be asked, or the run that a name means; RefusalError if it is neither."""
    return model if is_model(model) or model == PEOPLE else str(places.run_named(Path(model)))


@command
def evaluate(
    model: Annotated[
        str,
        "Directory of a run; or a vision-language model: hf:ID-OR-DIR, clip:ID-OR-DIR, openai:URL#MODEL, "
        "command:PROGRAM, python:package.module:function; people, for a page that asks them; "
        "people:FILE.csv, a person's answers.",
        _model_or_run,
    ],
    dataset: Annotated[
        str | None,
        "A data set; of a run, one with the run's picture size and kinds that the run has seen. With --over "
        "only its settings are used, by default those of a run, or else pictures of 224 pixels.",
        places.dataset_named,
    ] = None,
    *,
    settings: VlmSettings,
    over: Annotated[
        str | None,
        "Instead of the data set, worlds of several sizes that are made here: entities=5,15,31,60,102, or "
        "size=, or vehicles=. Questions about each: --examples, by default 500.",
    ] = None,
    device: DeviceOption = "auto",
    json: Annotated[Path | None, "Of a run: also write the figures as JSON."] = None,
    out: Annotated[
        Path | None,
        "Of a vision-language model: the directory of results; by default evaluations/DATASET-MODEL. The "
        "same command again continues it. Of people: the page; by default DATASET-people.html.",
    ] = None,
    dry_run: Annotated[
        bool,
        "Of a vision-language model: say how many requests, tokens and seconds it will take, by up to ten "
        "questions that are asked now; nothing is kept.",
    ] = False,
    allow_model: AllowOption = None,
) -> None:
    """Test the best weights of a run on the test set of another data set with the same picture size, such as
    one with other weather; or ask a vision-language model the questions of a data set.

    Of questions of families, it reports each family and each kind of answer. An answer is right if it is the
    true one; "5 m" is also right if the true distance lies within its tolerance (0.5 m, or a tenth of it).

    A vision-language model gets the picture, the question and how to answer; a reply without an answer counts
    as wrong. The key of a server is read from the variable SIMTOWN_API_KEY, or OPENAI_API_KEY.

    With --over it draws accuracy, and the margin in metres from which on the model tells left from right,
    against the size of the world: over.png and over.csv.

    For people it writes a page that asks the first 200 questions of --split: anyone can open it and download
    the answers, which are then evaluated as a model's.
    """
    writes_out = bool(over) or is_model(model) or model == PEOPLE
    unused, option = (json, "--json") if writes_out else (out, "--out")
    if unused:
        other = "--out" if writes_out else "--json, a file"
        raise RefusalError(f"{option} {unused} would not be written: the results go to {other}")
    if dry_run and (over or not is_model(model)):
        raise RefusalError("--dry-run needs a vision-language model and a data set, without --over")
    allowed = allow_model or ()
    if over and model.partition(":")[0] == PEOPLE:
        raise RefusalError("people answer a data set's page: give a data set instead of --over")
    if over and "picture" not in settings.show:
        raise RefusalError("--over draws what pictures show: add picture to --show")
    if over:
        _evaluate_over(over, model, dataset, settings, device, out, allowed)
    elif dataset is None:
        raise RefusalError("give a data set after the model, or --over entities=5,15,31")
    elif model == PEOPLE:
        _ask_people(dataset, settings.split, out)
    elif is_model(model):
        work = _estimate_costs if dry_run else _evaluate_model
        work(model, dataset, settings, device, out, allowed)
    else:
        _evaluate_run(Path(model), dataset, device, json, allowed)


def _ask_people(dataset: str, split: str, out: Path | None) -> None:
    """Write the page that asks people the questions of a data set."""
    need("vlm")
    path = local_file(out or Path(f"{name_of(dataset)}-{PEOPLE}.html"))
    from simtown.datasets.reading.reader import open_dataset
    from simtown.vlm.people_model import page

    save_text(path, page(open_dataset(dataset), split))
    say(f"{path} asks. Send it to people, and give each file of answers to simtown evaluate people:FILE.csv.")


def _device_for(model: str, device: str) -> str:
    """The device of a model; a model that runs elsewhere needs none."""
    return "cpu" if model.startswith(WITHOUT_DEVICE) else device_of(device)


def _evaluate_model(
    model: str,
    dataset: str,
    settings: VlmSettings,
    device: str,
    out: Path | None,
    allowed: Collection[str],
) -> None:
    """Ask a vision-language model the questions of a data set, and print its scores."""
    need("vlm")
    from simtown.datasets.reading.reader import open_dataset
    from simtown.vlm.evaluation_page import write_page
    from simtown.vlm.vlm_run import evaluate_model

    directory = _results_directory(f"{name_of(dataset)}-{slug_of(model)}", out)
    kind = _device_for(model, device)
    data = open_dataset(dataset)
    with one_bar() as bars:
        results = evaluate_model(model, data, settings, directory, kind, allowed, bars=bars)
    say_block(read_text(results.path / "summary.md", follow=False))
    page = "summary.md"
    if "picture" in results.tasks:
        with one_bar() as bars:
            page = write_page(results, data, bars).name
    say(f"Look at {results.path / page}; every question and reply is in {results.path}/*.parquet")


def _estimate_costs(
    model: str,
    dataset: str,
    settings: VlmSettings,
    device: str,
    out: Path | None,
    allowed: Collection[str],
) -> None:
    """Print what it will cost to ask a vision-language model the questions of a data set."""
    need("vlm")
    from simtown.datasets.reading.reader import open_dataset
    from simtown.vlm.cost_estimate import estimate
    from simtown.vlm.evaluation_plan import open_evaluation

    directory = _results_directory(f"{name_of(dataset)}-{slug_of(model)}", out)
    kind = _device_for(model, device)
    for line in estimate(open_evaluation(model, open_dataset(dataset), settings, kind, allowed), directory):
        say(line)


def _evaluate_run(
    run: Path, dataset: str, device: str, report_file: Path | None, allowed: Collection[str]
) -> None:
    """Test a run on the test set of a data set, and print its scores; `report_file` receives them as JSON."""
    need("train")
    report_file = local_file(report_file, "--json") if report_file else None
    import torch

    from simtown.training import ask
    from simtown.training.run_scores import accuracy_in_words

    chosen = torch.device(device_of(device))
    with Progress(f"evaluate {run}") as progress:
        test = ask.evaluate(run, dataset, chosen, allowed, progress)
    if report_file:
        save_json(report_file, test)
    say(f"{run} on {dataset}: {accuracy_in_words(test)}")
    _show_scores(test, test["references"])


def _results_directory(name: str, out: Path | None) -> Path:
    return local_directory(out) if out else inside(Path(), f"evaluations/{name}")


def _evaluate_over(
    over: str,
    model: str,
    dataset: str | None,
    settings: VlmSettings,
    device: str,
    out: Path | None,
    allowed: Collection[str],
) -> None:
    """Ask a model or a run about worlds of several sizes, and print how its accuracy changes."""
    need("vlm")
    import torch

    from simtown.datasets.reading.reader import Dataset, open_dataset
    from simtown.datasets.settings import Settings
    from simtown.training import ask
    from simtown.vlm.thresholds import AnsweredQuestions
    from simtown.vlm.vlm_run import evaluate_model
    from simtown.vlm.world_sizes import EXAMPLES, SIDE, Axis, evaluate_over

    axis, base, alone = Axis.of(over), Settings(width=SIDE, height=SIDE), replace(settings, controls=0)
    kind = _device_for(model, device)
    if not is_model(model):
        _, base, _ = ask.open_run(Path(model), allowed)
    if dataset:
        base = open_dataset(dataset).settings
    slug = slug_of(model if is_model(model) else Path(model).name)
    directory = _results_directory(f"over-{axis.name}-{slug}", out)

    def answer(data: Dataset, name: str) -> AnsweredQuestions:
        if not is_model(model):
            return AnsweredQuestions.of_run(Path(model), data, torch.device(kind), allowed)
        with one_bar() as bars:
            return AnsweredQuestions.of_results(
                evaluate_model(model, data, alone, directory / name, kind, allowed, bars=bars)
            )

    say(*evaluate_over(axis, base, settings.examples or EXAMPLES, directory, answer))
    say(f"Look at {directory / 'over.png'}; more in {directory / 'over.csv'}")


@command
def thresholds(
    directories: Annotated[
        list[Path],
        "Directories of results of simtown evaluate, or of runs, which need --data.",
        places.answers_named,
    ],
    *,
    data: Annotated[
        str | None, "The data set whose test questions the runs are asked.", places.dataset_named
    ] = None,
    out: Annotated[Path, "Directory for thresholds.csv, .md and .png."] = Path("thresholds"),
    device: DeviceOption = "auto",
    allow_model: AllowOption = None,
) -> None:
    """From how many metres on models tell left from right: thresholds of what they answered.

    A threshold is halfway between chance and ceiling: 75 % right, of yes and no without lapses.
    Of the margin in metres, the height in pixels, the visible share, the number of vehicles and the weather's
    intensity, it says those that have one, with 95 % intervals; models that answered the same questions are
    compared.
    """
    need("vlm")
    import torch

    from simtown.datasets.reading.reader import open_dataset
    from simtown.probes.report import Results
    from simtown.vlm.thresholds import AnsweredQuestions, find, write
    from simtown.vlm.vlm_run import RECORD

    sources = []
    for directory in directories:
        if not (directory / "run.json").is_file():
            sources.append(AnsweredQuestions.of_results(Results(directory, RECORD.load(directory))))
            continue
        if data is None:
            raise RefusalError(f"{directory} is a run: give the data set that it is asked about with --data")
        chosen, allowed = torch.device(device_of(device)), allow_model or ()
        sources.append(AnsweredQuestions.of_run(directory, open_dataset(data), chosen, allowed))
    directory = local_directory(out)
    directory.mkdir(parents=True, exist_ok=True)
    lines = write(find(sources), directory)
    say(*(lines or ["no quantity varies among the answers: more examples are needed"]))
    say(f"Look at {directory / 'thresholds.md'}")


@command
def predict(
    run: RunArgument,
    image: Annotated[
        list[Path],
        "A PNG or JPEG of a street, such as simtown render writes, framed like the run's pictures; of "
        "sequences all pictures of one, in their order.",
        there,
    ],
    question: Annotated[str, 'Such as "Is a sedan left of a fire truck?"'],
    *,
    out: Annotated[Path | None, "Draw the boxes that the model finds into this PNG."] = None,
    allow_model: AllowOption = None,
) -> None:
    """Ask a trained model one question about one picture. If it learned boxes, it also says where it sees
    the vehicles.

    A model learns from pictures that show both vehicles of the question, so it cannot answer that one is
    missing.
    """
    need("train")
    out = png_file(out, "") if out else None
    from simtown.training import ask

    answer = ask.predict(run, image, question, allow_model or ())
    said, p = ("yes", answer.yes) if answer.yes > 0.5 else ("no", 1 - answer.yes)
    if answer.answer:
        said, p = answer.answer, answer.yes
    scores = "" if answer.accuracy is None else f". This run scores {answer.accuracy:.1%} on its test set"
    say(f"{said} (p = {p:.3f}){scores}")
    if answer.cut:
        say(f"  the picture was cut to what the run's pictures show: {_pixels(answer.frame)}")
    boxes = [] if answer.boxes is None else answer.boxes
    for role, name, box in zip(("subject", "object"), answer.vehicles, boxes, strict=False):
        say(f"  where the model places the {role}, {name}: {_pixels(box)}")
    for doubt in answer.doubts():
        say(f"  {doubt}")
    look = "; look at the boxes with --out FILE.png" if answer.boxes is not None and out is None else ""
    missing = "the model cannot answer that a vehicle is missing: it learned from pictures that hold both"
    if not answer.answer:
        say(f"  {missing}{look}")
    if out is not None:
        if answer.boxes is None or answer.picture is None:
            raise RefusalError("--out: this model finds no boxes; ask a run of pbn or cnn-lstm-boxes")
        save_picture(ask.draw(answer.picture, answer), out)
        say(str(out))


def _pixels(box: Any) -> str:
    return f"x {box[0]:.0f} to {box[2]:.0f}, y {box[1]:.0f} to {box[3]:.0f} pixels"
