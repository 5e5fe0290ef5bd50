"""Tasks for harnesses: what a model is asked and how it is scored, here and by the harnesses' own packages.

SIMTOWN_HARNESSES names the folder of environments that benchmarks/harnesses.py makes; without it the
packages' own runs are skipped.
"""

import csv
import io
import json
import os
import random
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from simtown.datasets.export import export
from simtown.datasets.making.generate import generate
from simtown.datasets.proving.twin_groups import group_accuracies
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.language.meaning.answers import CANNOT_TELL
from simtown.language.meaning.nouns import plural
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import read_reply, score_reply
from simtown.vlm.conditions import AskedSplit

OBSERVERS = Path(__file__).with_name("observers")
sys.path.insert(0, str(OBSERVERS))
from observers import key, opened  # noqa: E402

ENVIRONMENTS = os.environ.get("SIMTOWN_HARNESSES")
#: The command of each harness in its environment's bin, and how many observers it runs at once.
COMMANDS = {
    "lmms-eval": "lmms-eval --include_path {export} --tasks {task} --model {model} "
    "--model_args name={names} --output_path {out}/{names}",
    "vlmevalkit": "python -m observers_vlmeval {export}/run.py --data town_test --model {names} "
    "--work-dir {out}",
    "inspect": "inspect eval {export}/simtown_task.py@simtown --model {names} --log-dir {out} "
    "--log-format json",
}
METRICS = ("accuracy", "unparsed", "pair", "group")
#: How one says an answer, and what is none.
FORMS = ("{}", "Answer: **{}**.", "The answer is {}.\n\nI hope this helps.", "\\boxed{{\\text{{{}}}}}")
FORMS += ("<think>Perhaps not.</think>\n\n{}", "<answer>{}</answer>", '{{"answer": "{}"}}')
NONE = ("I am not sure.", "", "yes and no, 3 or 4", "<think>It could be", "As an AI, I cannot see pictures.")
#: Data sets of one name, which must not be taken for each other.
SETS = {
    "paper": {"entities": 20, "test": 40},
    "twins": {"questions": ("all",), "crowd": "4-6", "twins": True, "test": 120},
    "several": {"questions": ("all",), "crowd": "4-6", "questions_per_picture": 2, "test": 60},
    "sequences": {"sequence": "time", "questions": ("all",), "test": 60},
    "cannot tell": {"questions": ("all",), "crowd": "4-6", "cannot_tell": 0.2, "test": 60},
}


@pytest.fixture(scope="module", params=SETS)
def town(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("harnesses") / "town"
    generate(Settings(n=4, val=0, width=64, height=64, **SETS[request.param]), directory, workers=1)
    return open_dataset(directory)


@pytest.fixture(scope="module")
def exports(town, tmp_path_factory):
    @cache
    def make(form):
        out = tmp_path_factory.mktemp("exports") / f"town-{form}"
        export(town, form, ["test"], out)
        return out

    return make


@pytest.fixture(scope="module")
def questions(town):
    """Of each test example the pictures, the question as it is asked, and the gold."""
    queries = [asked.query() for asked in AskedSplit(town, "test")]
    return [([*map(Image.fromarray, query.pictures)], query.text, query.gold) for query in queries]


@pytest.fixture(scope="module")
def said(questions):
    """What each observer says: one that knows, one that sees nothing, one that errs or rambles."""
    rng = random.Random(0)
    replies = {"knows": [], "blind": [], "noisy": []}
    for number, (_, text, gold) in enumerate(questions):
        form = FORMS[number % len(FORMS)]
        other = rng.choice(gold.choices) if rng.random() < 0.4 else gold.answer
        answer = plural(gold.answer) if gold.type == "kind" and number % 2 else gold.answer
        replies["knows"].append(form.format(answer))
        replies["blind"].append(gold.choices[len(text) % len(gold.choices)])
        replies["noisy"].append(rng.choice(NONE) if number % 5 == 4 else form.format(other))
    return replies


def groups(town):
    """(n,) groups of the test examples, twins or a sequence's pairs; None if each is alone."""
    if town.settings.sequence:
        return np.arange(len(town.test)) // 2
    return town.test.column("group") if town.settings.twins else None


def shares(town, questions, replies):
    """What simtown computes of some replies."""
    golds = [gold for _, _, gold in questions]
    names = [spoken_names(gold.type) for gold in golds]
    told = [*zip(replies, golds, names, strict=True)]
    scores = np.array([score_reply(*words) for words in told])
    read = [read_reply(text, gold.type, gold.choices, own).answer for text, gold, own in told]
    unsure = [a == CANNOT_TELL and a not in gold.choices for a, gold in zip(read, golds, strict=True)]
    result = {"accuracy": scores.mean(), "unparsed": np.mean([a is None for a in read] | np.array(unsure))}
    if groups(town) is not None:
        outcomes = group_accuracies(groups(town), scores == 1)
        result |= {name: outcomes[name].mean() for name in ("pair", "group") if len(outcomes[name])}
    return result


def reported(form, out, name, task="town_test"):
    """What a harness reports of an observer."""
    if form == "lmms-eval":
        (path,) = (out / name).rglob("*_results.json")
        numbers = json.loads(path.read_text())["results"][task]
        return {metric: numbers[f"{metric},none"] for metric in METRICS if f"{metric},none" in numbers}
    if form == "vlmevalkit":
        return json.loads((out / name / f"{name}_town_test_score.json").read_text())
    logs = [json.loads(path.read_text()) for path in out.glob("*.json")]
    (log,) = [log for log in logs if log["eval"]["model"] == f"observer/{name}"]
    (score,) = log["results"]["scores"]
    return {name: metric["value"] for name, metric in score["metrics"].items() if name in METRICS}


@pytest.fixture(scope="session")
def offline(tmp_path_factory):
    """The variables of a user without a network, whose caches all data sets share."""
    home = tmp_path_factory.mktemp("home")
    (home / "LMUData").mkdir()
    places = {"HOME": str(home), "LMUData": str(home / "LMUData")}
    return (
        os.environ | places | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "INSPECT_DISPLAY": "none"}
    )


def observed(folder, questions, said):
    """The variables by which a harness finds the observers."""
    table = {name: {} for name in said}
    for name, replies in said.items():
        for (pictures, text, _), reply in zip(questions, replies, strict=True):
            table[name][key([] if name == "blind" else pictures, text)] = reply
    (folder / "observers.json").write_text(json.dumps(table))
    entry = folder / "entry" / "observers-0.dist-info"
    entry.mkdir(parents=True)
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: observers\nVersion: 0\n")
    points = (
        "[lmms_eval.models]\nobservers = observers_lmms:MODELS\n[inspect_ai]\nobservers = observers_inspect\n"
    )
    (entry / "entry_points.txt").write_text(points)
    return {"OBSERVERS": str(folder / "observers.json"), "PYTHONPATH": f"{OBSERVERS}:{entry.parent}"}


def run(form, exports, folder, environment, names, **words):
    """Run a harness on an export of the test split, with some observers; returns where its reports are."""
    if not ENVIRONMENTS:
        pytest.skip("the harnesses' packages: SIMTOWN_HARNESSES=FOLDER, of benchmarks/harnesses.py")
    bin, out = Path(ENVIRONMENTS, form, "bin"), folder / "out"
    for some in [[name] for name in names] if form == "lmms-eval" else [names]:
        joined = ",".join(f"observer/{name}" for name in some) if form == "inspect" else " ".join(some)
        program, *parts = COMMANDS[form].split(" ")
        parts = " ".join(parts).format(export=exports(form), names=joined, out=out, **words).split()
        done = subprocess.run([bin / program, *parts], env=environment, cwd=folder, capture_output=True)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return out


def compare(town, questions, said, report, *columns):
    """Compare what a harness reports of each observer with what simtown computes, and note both."""
    with open(Path(ENVIRONMENTS, "reports.csv"), "a", encoding="utf-8") as file:
        for name, replies in said.items():
            told, computed = report(name), shares(town, questions, replies)
            for metric, value in computed.items():
                row = (*columns, name, len(replies), metric, f"{told[metric]:.4f}", f"{value:.4f}")
                csv.writer(file, lineterminator="\n").writerow(row)
            assert told == pytest.approx(computed, abs=1e-6), (columns, name)


@pytest.mark.parametrize("form", COMMANDS)
def test_the_harness_reports_what_simtown_computes(
    form, town, questions, said, exports, tmp_path, request, offline
):
    environment = offline | observed(tmp_path, questions, said)
    out = run(form, exports, tmp_path, environment, [*said], task="town_test", model="observer")
    part = request.node.callspec.params["town"]
    compare(town, questions, said, lambda name: reported(form, out, name), form, part)


@pytest.mark.parametrize("town", ["sequences"], indirect=True)
@pytest.mark.parametrize("model", ["observer", "chatting"])
def test_lmms_eval_shows_frames_with_their_seconds(model, town, questions, said, exports, tmp_path, offline):
    asked = []
    for (pictures, text, gold), example in zip(questions, town.test, strict=True):
        *others, last = seconds = [f"{second:g}" for second in example.seconds]
        head = f"These are frames of a video, at {', '.join(others)} and {last} seconds."
        if model == "chatting":
            head = "\n".join(f"<{second} seconds>" for second in seconds)
        asked.append((pictures, f"{head}\n{text}", gold))
    environment = offline | observed(tmp_path, asked, said)
    task = "town_test_video"
    out = run("lmms-eval", exports, tmp_path, environment, [*said], task=task, model=model)
    part = f"sequences as video ({'messages' if model == 'chatting' else 'pictures'})"
    compare(town, questions, said, lambda name: reported("lmms-eval", out, name, task), "lmms-eval", part)


@pytest.mark.parametrize("form", COMMANDS)
def test_the_copied_scorer_needs_nothing_and_scores_as_simtown(form, town, questions, said, exports):
    """Run by a Python without packages, on what each observer says."""
    items = []
    for number, (_, text, gold) in enumerate(questions):
        group = None if groups(town) is None else int(groups(town)[number])
        items.append({**asdict(gold), "question": text, "group": group})
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import simtown_scoring as scoring\n"
        "items, said = json.load(sys.stdin)\n"
        "answers = scoring.answers_beside(scoring.__file__)\n"
        "rows = {n: [scoring.score(*pair, answers) for pair in zip(r, items)] for n, r in said.items()}\n"
        "print(json.dumps({name: scoring.summary(own) for name, own in rows.items()}))\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('simtown', 'numpy')]"
    )
    run = [sys.executable, "-I", "-S", "-c", program, exports(form)]
    done = subprocess.run(run, input=json.dumps([items, said]), capture_output=True, text=True, check=True)
    for name, report in json.loads(done.stdout).items():
        assert report == pytest.approx(shares(town, questions, said[name])), name


@pytest.mark.parametrize("town", [name for name in SETS if name != "sequences"], indirect=True)
def test_every_example_is_asked_with_its_picture_and_answer(town, questions, exports):
    """LLaVA's conversations, chat messages, and what the harnesses read, against the data set."""
    lines = (exports("chat") / "test.jsonl").read_text().splitlines()
    conversations = json.loads((exports("llava") / "test.json").read_text())
    (info,) = json.loads((exports("llava") / "dataset_info.json").read_text()).values()
    samples = (exports("inspect") / "test.jsonl").read_text().splitlines()
    (table,) = (exports("lmms-eval") / "data").iterdir()
    rows, pictures = pq.read_table(table).to_pylist(), []
    with open(exports("vlmevalkit") / "town_test.tsv", newline="") as file:
        shared = list(csv.DictReader(file, delimiter="\t"))
    assert info["file_name"] == "test.json"
    asked = zip(questions, lines, conversations, samples, rows, shared, strict=True)
    for number, (((picture,), text, gold), line, conversation, sample, row, tsv) in enumerate(asked):
        (question, answer), sample = json.loads(line)["messages"], json.loads(sample)
        image, words = question["content"]
        human, gpt = conversation["conversations"]
        (seen, read), about = sample["input"][0]["content"], sample["metadata"]
        assert human["value"] == f"<image>\n{text}"
        assert {words["text"], read["text"], row["question"], tsv["question"]} == {text}
        answers = {answer["content"], gpt["value"], sample["target"], row["answer"], tsv["answer"]}
        assert answers == {gold.answer}
        assert about["number"] == row["number"] == gold.number
        assert conversation["images"] == [conversation["image"]]
        pictures.append(tsv["image"] if len(tsv["image"]) > 64 else pictures[int(tsv["image"])])
        files = [opened(image["image_url"]["url"]), opened(f"base64,{pictures[number]}")]
        files += [Image.open(io.BytesIO(row["images"][0]["bytes"]))]
        files += [Image.open(exports("llava") / conversation["image"])]
        files += [Image.open(exports("inspect") / seen["image"])]
        assert {file.convert("RGB").tobytes() for file in files} == {picture.tobytes()}
    own = [line for line in shared if len(line["image"]) > 64]
    assert len(own) == len(questions) // town.settings.questions_per_picture


def test_the_command_says_how_to_run_the_task(cli, plain):
    for form, command in COMMANDS.items():
        done = cli("export", plain, "--to", form, "--split", "test").succeeds()
        assert done.out.splitlines()[1].startswith(f"run it with: {command.split()[0]} ")
