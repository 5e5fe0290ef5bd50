"""One model: fit, evaluate, predict."""

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from simtown.cli import places
from simtown.cli.command import RefusalError, command
from simtown.cli.places import local_directory, local_file, name_of, png_file, there
from simtown.cli.sharing import AllowOption, DatasetArgument, DeviceOption, save_picture
from simtown.core.extras import need
from simtown.core.files import save_json
from simtown.core.progress import Progress
from simtown.core.terminal import complain, say, say_block
from simtown.core.untrusted import inside, read_text
from simtown.datasets.addresses import stored_counts
from simtown.probes.model_names import title_of
from simtown.training.fit_settings import FitSettings, check_examples, device_of
from simtown.vlm.vlm_settings import VlmSettings, is_model

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
    no picture), picture-only (reads no question). On any image encoder of transformers, which stays as it is:
    head (--encoder). Questions of families (--questions of simtown generate) have one of many answers; models
    that receive boxes or a subject and an object are for the paper's questions alone.

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
        say(*_parts(run["test"], run["references"]))
    say(f"Look at {directory / 'curve.png'}; more in {directory / 'run.json'}")


#: An accuracy on fewer examples than this says nothing: its 95 % interval is wider than 0.3.
_FEW = 30


def _parts(test: dict[str, Any], references: dict[str, float]) -> list[str]:
    """Lines of accuracies by part of the test set, and of references that do not learn."""

    def line(name: str, shares: dict[str, Any]) -> str:
        parts = {part: f"{share['accuracy']:.3f} (n {share['n']})" for part, share in shares.items() if share}
        return f"  {name}: {', '.join(f'{part} {share}' for part, share in parts.items())}"

    if "families" in test:
        return _of_families(test, references)
    lines = [line("by relation", test["relations"])]
    if sum(share is not None for share in test["deciles"].values()) == 10:  # fewer kinds have no tenths
        lines.append(line("by tenth of the entities, frequent first", test["deciles"]))
    if "seen" in test:
        triples = {name: test[name] for name in ("seen", "unseen")}
        lines.append(line("triples of the training set and others", triples))
    if "reweighted" in test:
        validation = test["validation"]
        lines.append(f"  on the validation set: {validation['accuracy']:.3f} (n {validation['n']})")
        share = test["reweighted"]
        few = ": too few to mean anything" if share["effective_n"] < _FEW else ""
        rare = "if rare vehicles counted as much as frequent ones (weights 1/frequency)"
        lines.append(f"    {rare}: {share['accuracy']:.3f}")
        as_few = f"as uncertain as an accuracy on {share['effective_n']:.0f} examples{few}"
        lines.append(f"    rare questions then carry most of the weight, so this is {as_few}")
    shown = (f"{name.replace('_', ' ')} {accuracy:.3f}" for name, accuracy in references.items())
    return [*lines, f"  for comparison: {', '.join(shown)}"]


def _of_families(test: dict[str, Any], references: dict[str, float]) -> list[str]:
    """Lines of tables of accuracies by family and by kind of answer, and of references."""
    lines = []
    for what, parts in (("family", test["families"]), ("kind of answer", test["kinds"])):
        head = f"  {what:15} {'n':>6}  {'accuracy':8}  {'(95 %)':14}  {'constant':8}  confidence"
        lines += [head, *(_family_line(name, share) for name, share in parts.items())]
    lines.append("  constant: the best single answer to all questions of a family")
    if answers := test["unseen"]["answers"]:
        named = f"{', '.join(answers[:5])}{f' and {len(answers) - 5} more' if len(answers) > 5 else ''}"
        accuracy = f"{test['unseen']['accuracy']:.3f} (n {test['unseen']['n']})"
        lines.append(f"  answers that no training example has ({named}): {accuracy}")
    if twins := {name: part for name, part in test.get("twins", {}).items() if part}:
        lines.append("  twins: what is right with a picture, with both of a question, with a group of four")
        lines += [
            f"    {name:13} {p['accuracy']:.3f} ({p['low']:.3f}-{p['high']:.3f}, n {p['n']:,})"
            for name, p in twins.items()
        ]
    if held := test.get("held_out"):
        lines += _of_compositions(held)
    shown = ", ".join(f"{name} {accuracy:.3f}" for name, accuracy in references.items())
    return [*lines, f"  for comparison: {shown}"]


def _of_compositions(held: dict[str, Any]) -> list[str]:
    """Lines of a table: accuracies on held-out compositions, and on test questions of the same families."""
    lines = [f"  {'held out':15} {'n':>6}  {'accuracy':8}  {'(95 %)':14}  on test"]
    whole = {**held, "seen": held["seen"] and {"accuracy": held["seen"]}}
    for name, share in {**held["families"], "all": whole}.items():
        seen = f"{share['seen']['accuracy']:.3f}" if share["seen"] else "-"
        interval = f"({share['low']:.3f}-{share['high']:.3f})"
        lines.append(f"  {name:15} {share['n']:6,}  {share['accuracy']:.3f}     {interval:14}  {seen}")
    lines.append(
        "  held out: compositions that training never held; test has none of them, all: families as often"
    )
    return lines


def _family_line(name: str, share: dict[str, Any]) -> str:
    interval = f"({share['low']:.3f}-{share['high']:.3f})"
    accuracy = f"{share['accuracy']:.3f}     {interval:14}  {share['chance']:.3f}"
    return f"  {name:15} {share['n']:6,}  {accuracy}     {share['confidence']:.3f}"


def _model_or_run(model: str) -> str:
    """A model that can be asked, or the run that a name means; RefusalError if it is neither."""
    return model if is_model(model) else str(places.run_named(Path(model)))


@command
def evaluate(
    model: Annotated[
        str,
        "Directory of a run; or a vision-language model: hf:ID-OR-DIR, clip:ID-OR-DIR, openai:URL#MODEL, "
        "command:PROGRAM, python:package.module:function.",
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
        "same command again continues it.",
    ] = None,
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
    """
    writes_directory = bool(over) or is_model(model)
    unused, option = (json, "--json") if writes_directory else (out, "--out")
    if unused:
        other = "--out, a directory" if writes_directory else "--json, a file"
        raise RefusalError(f"{option} {unused} would not be written: the results go to {other}")
    if over:
        _evaluate_over(over, model, dataset, settings, device, out, allow_model or ())
        return
    if dataset is None:
        raise RefusalError("give a data set after the model, or --over entities=5,15,31")
    if is_model(model):
        need("vlm")
        from simtown.datasets.reading.reader import open_dataset
        from simtown.probes.bars import one_bar
        from simtown.vlm.evaluation_page import write_page
        from simtown.vlm.vlm_run import evaluate_model

        directory = _results_directory(f"{name_of(dataset)}-{_slug(model)}", out)
        kind = device_of(device) if model.startswith(("hf:", "clip:")) else "cpu"
        data, allowed = open_dataset(dataset), allow_model or ()
        with one_bar() as bars:
            results = evaluate_model(model, data, settings, directory, kind, allowed, bars=bars)
        say_block(read_text(results.path / "summary.md", follow=False))
        with one_bar() as bars:
            page = write_page(results, data, bars)
        say(f"Look at {page}; every question and reply is in {results.path}/*.parquet")
        return
    need("train")
    report_file = local_file(json, "--json") if json else None
    import torch

    from simtown.training import ask
    from simtown.training.evaluation import accuracy_in_words

    chosen = torch.device(device_of(device))
    with Progress(f"evaluate {model}") as progress:
        test = ask.evaluate(Path(model), dataset, chosen, allow_model or (), progress)
    if report_file:
        save_json(report_file, test)
    say(f"{model} on {dataset}: {accuracy_in_words(test)}")
    say(*_parts(test, test["references"]))


def _slug(model: str) -> str:
    """The name of a model as a part of a directory's name."""
    return re.sub(r"[^\w.]+", "-", title_of(model)).strip("-.")


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
    from simtown.probes.bars import one_bar
    from simtown.training import ask
    from simtown.vlm.thresholds import AnsweredQuestions
    from simtown.vlm.vlm_run import evaluate_model
    from simtown.vlm.world_sizes import EXAMPLES, SIDE, Axis, evaluate_over

    axis, base, alone = Axis.of(over), Settings(width=SIDE, height=SIDE), replace(settings, controls=0)
    kind = device_of(device) if model.startswith(("hf:", "clip:")) or not is_model(model) else "cpu"
    if not is_model(model):
        _, base, _ = ask.open_run(Path(model), allowed)
    if dataset:
        base = open_dataset(dataset).settings
    slug = _slug(model if is_model(model) else Path(model).name)
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
        Path,
        "A PNG or JPEG of a street, such as simtown render writes, framed like the run's pictures.",
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
