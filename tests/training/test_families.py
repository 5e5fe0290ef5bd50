"""Questions of families: every model that reads them learns, each answer is judged as counting says."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simtown.complexity import cells
from simtown.complexity.finished_runs import MixtureError, read_and_count
from simtown.core.options import SettingsError
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.training import identity, run_directory
from simtown.training.ask import evaluate, predict
from simtown.training.fit import FitError, fit, loss_of
from simtown.training.models import MODELS, ModelError, build, options
from simtown.training.run_scores import FamilyScores, scores_of
from simtown.training.sources import FromDisk, Resident, open_stream
from simtown.training.world import World, language_of
from tests.training import towns
from tests.training.towns import HERE, Interrupter, result, small

CPU = torch.device("cpu")
READERS = ("cnn-lstm", "film", "relation-network", "vit", "question-only", "picture-only")
ASKED = ("exist", "count", "distance", "weather", "hidden")
VILLAGE = Settings(20, n=64, val=40, test=80, width=32, height=32, questions=ASKED)


@pytest.fixture(scope="module")
def place(dataset_of):
    return dataset_of(VILLAGE)


@pytest.fixture(scope="module")
def village(place):
    return open_dataset(place)


@pytest.fixture(scope="module")
def run(place, tmp_path_factory):
    """The directory of a finished run of the CNN-LSTM."""
    directory = tmp_path_factory.mktemp("families") / "of the village"
    fit(small("cnn-lstm"), place, directory)
    return directory


def is_right(example, said):
    """Whether an answer is right, by what the data set stores of an example."""
    if example.family == "distance" and said.endswith(" m"):
        return abs(float(said[:-2]) - example.number) <= example.tolerance
    return said == example.reply


@given(data=st.data())
def test_an_answer_is_right_if_it_is_the_true_one_or_a_distance_within_its_tolerance(village, data):
    answers = data.draw(st.permutations([*village.names["answers"], "purple"]))
    given_answers = data.draw(st.lists(st.integers(0, len(answers) - 1), min_size=80, max_size=80))
    logits = np.eye(len(answers))[given_answers]
    right = scores_of(village, answers).right(village.test, logits)
    wanted = [is_right(e, answers[i]) for e, i in zip(village.test, given_answers, strict=True)]
    assert right.tolist() == wanted


def test_both_whole_metres_are_right_within_the_tolerance(village, monkeypatch):
    columns = {"value": np.zeros(4, int), "number": np.array([6.45, 6.45, 3.45, 3.45])}
    columns["tolerance"] = np.array([0.645, 0.645, 0.5, 0.5])
    monkeypatch.setattr(village.test, "column", columns.get)
    answers = ["none of it", "6 m", "7 m", "3 m", "4 m"]
    scores = FamilyScores(SimpleNamespace(names={"answers": answers}))
    assert scores.right(village.test, np.eye(5)[1:]).tolist() == [1, 1, 1, 0]


def test_every_family_and_kind_of_answer_has_the_accuracy_that_counting_gives(village):
    answers = village.names["answers"]
    test = np.random.default_rng(0).normal(size=(80, len(answers)))
    test[np.arange(60), village.test.column("value")[:60]] += 9
    said = [answers[i] for i in test.argmax(1)]
    shares = scores_of(village).measure({"test": test, "val": test[:40]}, 10)
    sure = [float(torch.from_numpy(row).softmax(0).max()) for row in test]
    rows = list(zip(village.test, said, sure, strict=True))
    kinds = {"exist": "truth", "count": "count", "distance": "metres", "weather": "weather"}
    kinds |= {"hidden": "hidden"}
    for name, kind in kinds.items():
        part = [(is_right(e, text), p) for e, text, p in rows if e.family == name]
        mine = shares["families"][name]
        assert (mine["n"], mine["answer"]) == (len(part), kind)
        assert mine["accuracy"] == pytest.approx(np.mean([right for right, _ in part]))
        assert mine["confidence"] == pytest.approx(np.mean([p for _, p in part]))
        constant = [np.mean([is_right(e, text) for e, *_ in rows if e.family == name]) for text in answers]
        assert mine["chance"] == pytest.approx(max(constant)), "no constant answer scores more"
        assert {**shares["kinds"][kind], "answer": kind} == mine
    known = {example.reply for example in village.train[:10]}
    unseen = [(e.reply, is_right(e, text)) for e, text, _ in rows if e.reply not in known]
    assert {*shares["unseen"]["answers"]} == {reply for reply, _ in unseen}
    assert shares["unseen"]["accuracy"] == pytest.approx(np.mean([right for _, right in unseen]))
    assert shares["accuracy"] == pytest.approx(np.mean([is_right(e, text) for e, text, _ in rows]))


def test_the_oracle_answers_all_and_guessing_little(village):
    scores = scores_of(village).references()
    assert scores["oracle"] == 1
    assert 0.2 < scores["chance"] < 0.7


@pytest.mark.parametrize("name", READERS)
def test_models_that_read_questions_are_trained_and_tested(name, place, village, tmp_path, undrawn):
    run = fit(small(name, max_steps=4), place, tmp_path / "run")
    assert run["test"]["families"].keys() == {*ASKED}
    again = evaluate(tmp_path / "run", place, CPU)
    assert again["references"] == run["references"]
    for family, share in again["families"].items():
        assert share == pytest.approx(run["test"]["families"][family]), family
    with np.load(tmp_path / "run" / "test.npz") as test:
        said = [village.names["answers"][i] for i in test["given"]]
        if name != "picture-only":
            street = Image.fromarray(village.test[0].image)
            assert predict(tmp_path / "run", street, village.test[0].question).answer == said[0]
        assert test["correct"].tolist() == [is_right(e, s) for e, s in zip(village.test, said, strict=True)]


@pytest.mark.parametrize(
    "name", [name for name in MODELS if name not in (*READERS, "order-blind", "one-picture")]
)
def test_models_of_two_vehicles_are_refused_before_anything_is_written(name, place, tmp_path):
    with pytest.raises(ModelError, match=f"'{name}'"):
        fit(small(name), place, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["cnn-lstm", "film"])
def test_a_model_learns_many_answers_by_heart(name, village):
    source = Resident(village.train, 32, village.settings, CPU)
    (batch,) = source.batches([np.arange(32)])
    world = World.of(village.settings, language_of(village))
    model = build(name, world, options(name, {"dropout": "0"}))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(240):
        loss, logits = loss_of(model, batch)
        if (logits.argmax(1) == batch.answer).float().mean() > 0.9:
            return
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pytest.fail(f"not learned: loss {loss.item()}")


def test_memory_disk_and_stream_hold_the_same_examples(village):
    rows = [np.arange(8), np.array([11, 9])]
    kinds = [kind(village.train, 20, village.settings, CPU) for kind in (Resident, FromDisk)]
    sources = [*kinds, open_stream(village, 64, CPU)]
    for batches in zip(*(source.batches(rows) for source in sources), strict=True):
        for name, value in vars(batches[0]).items():
            assert all(torch.equal(getattr(other, name), value) for other in batches[1:]), name
    view = next(iter(torch.utils.data.DataLoader(village.train.torch(), 8)))
    (batch,) = sources[0].batches([np.arange(8)])
    assert torch.equal(view["value"], batch.answer)
    assert torch.equal(view["family"], batch.family)
    assert torch.equal(view["tokens"], batch.tokens)


def test_a_stream_trains_and_an_interrupted_run_ends_as_another(place, tmp_path, undrawn):
    settings = small("question-only", max_steps=12)
    for name, chosen in (("endless", replace(settings, stream=True)), ("finite", settings)):
        fit(chosen, place, tmp_path / name)
        with pytest.raises(KeyboardInterrupt):
            fit(chosen, place, tmp_path / f"{name}2", Interrupter(validations=1))
        fit(chosen, place, tmp_path / f"{name}2")
        assert result(tmp_path / name) == result(tmp_path / f"{name}2")


def test_a_model_of_ones_own_must_have_a_logit_for_each_answer(place, tmp_path):
    with pytest.raises(FitError, match=r"world\.answers"):
        fit(small(f"{HERE}:Entities"), place, tmp_path / "run")


def test_another_data_set_is_asked_about_by_text(run, dataset_of):
    questions = {"questions": ("count", "hidden"), "cannot_tell": 0.5}
    other = dataset_of(replace(VILLAGE, val=0, seed=3, test=60, **questions))
    shares = evaluate(run, other, CPU)
    assert shares["families"].keys() == {"count", "hidden"}
    asked = open_dataset(other).test
    wanted = sum(example.reply == "cannot tell" for example in asked)
    assert (shares["unseen"]["answers"], shares["unseen"]["n"]) == (["cannot tell"], wanted)
    assert shares["unseen"]["accuracy"] == 0


REFUSED = [({"questions": ("paper",), "crowd": ""}, "asks the paper's questions, the run learned questions")]
REFUSED += [({"questions": ("exist", "order")}, r"has not learned \(order\).*--questions exist,count")]


@pytest.mark.parametrize(("changes", "words"), REFUSED)
def test_questions_that_the_run_has_not_learned_are_refused(run, dataset_of, changes, words):
    with pytest.raises(SettingsError, match=words):
        evaluate(run, dataset_of(replace(VILLAGE, n=4, val=0, test=4, **changes)), CPU)


def test_a_prediction_is_what_the_test_said(run, village, tmp_path):
    with np.load(run / "test.npz") as test:
        given_answers, sure = test["given"], test["confidence"]
    for i in range(4):
        Image.fromarray(village.test[i].image).save(tmp_path / "street.png")
        answer = predict(run, tmp_path / "street.png", village.test[i].question)
        assert answer.answer == village.names["answers"][given_answers[i]]
        assert answer.yes == pytest.approx(sure[i], abs=1e-4)
    for question, word in (("How many spaceships are there?", "spaceships"), ("Is taxi the?", "understood")):
        with pytest.raises(SettingsError, match=word):
            predict(run, tmp_path / "street.png", question)


def test_one_family_of_finished_runs_counts_alone(run, data, tmp_path, undrawn):
    kept = cells.save(run, tmp_path / "kept")
    with np.load(run / "test.npz") as test:
        wanted = test["correct"][test["family"] == ASKED.index("count")]
    for where in (run, kept):
        ((one,), _) = read_and_count([where], "count")
        assert one.correct.tolist() == wanted.tolist()
        ((whole,), _) = read_and_count([where])
        assert len(whole.correct) == 80
    with pytest.raises(ValueError, match=r"'kind'.* exist, count, distance"):
        read_and_count([run], "kind")
    fit(small("cnn-lstm", max_steps=4), data, tmp_path / "paper")
    with pytest.raises(MixtureError, match="questions"):
        read_and_count([run, tmp_path / "paper"])


def test_runs_on_the_papers_questions_record_nothing_new(run):
    assert not {"questions", "crowd", "cannot_tell", "own_kinds"} & identity.world(towns.TOWN).keys()
    every = replace(VILLAGE, questions=("all",))
    named = replace(VILLAGE, questions=source_of(every).family_names())
    assert identity.world(every) == identity.world(named)
    assert run_directory.load(run)["data"]["families"] == [*ASKED]


def test_the_command_shows_families_and_writes_them(cli, run, place, tmp_path):
    done = cli("evaluate", run, place, "--json", tmp_path / "test.json").succeeds()
    shares = json.loads((tmp_path / "test.json").read_text())["families"]
    rows = [line.replace("│", " ").split() for line in done.out.splitlines()]
    for name, share in shares.items():
        (row,) = [row for row in rows if row[:2] == ["family", name]]
        assert row[2:4] == [str(share["n"]), f"{share['accuracy']:.3f}"]
    cli("fit", place, "--out", tmp_path / "run").refuses("'pbn' is for the paper's questions", "cnn-lstm")


def test_a_model_that_knows_nothing_of_compositions_scores_less_there(dataset_of):
    sizes = {"entities": 6, "n": 20, "val": 0, "test": 40, "width": 32, "height": 32}
    settings = Settings(**sizes, questions=("exist", "driver"), hold_out=("frame:driver", "taxi+sedan"))
    data = open_dataset(dataset_of(settings))
    test, held = (
        np.eye(len(data.names["answers"]))[data[name].column("value")] for name in ("test", COMPOSITION)
    )
    held[::2] = 1 - held[::2]
    shares = scores_of(data).measure({"test": test, COMPOSITION: held}, None)["held_out"]
    assert (shares["accuracy"], shares["n"], shares["seen"]) == (0.5, 40, None)
    assert shares["families"]["exist"]["seen"]["accuracy"] == 1
    assert shares["families"]["driver"]["seen"] is None
    assert sum(share["n"] for share in shares["families"].values()) == 40
    assert shares["families"]["driver"]["accuracy"] == pytest.approx(0.5)
