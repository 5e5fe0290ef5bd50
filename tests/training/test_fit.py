"""Training one run: the same end however often it is interrupted, the stopping rules, the best weights."""

import json
import random
import re
import shutil
from dataclasses import fields, replace

import h5py
import msgspec
import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from scipy.stats import binom

from simtown.complexity.finished_runs import conditions
from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.options import deciding
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.training import ask, early_stopping, run_directory, sources
from simtown.training import fit as module
from simtown.training.fit import FitError, fit, has_bfloat16
from simtown.training.fit_settings import FitSettings, precision_of
from simtown.training.models import build, options
from simtown.training.run_directory import RunState
from simtown.training.sources import Resident
from simtown.training.world import World
from tests.training import towns
from tests.training.towns import HERE, Interrupter, result, small, snapshot

pytestmark = pytest.mark.usefixtures("undrawn")
#: What draws a run's curve; the others do without.
DRAW = module.curve
WITH_DROPOUT = {"pbn": {"dropout": 0.3, "box_weight": 30.0}, "cnn-lstm": {"dropout": 0.3}}
CHOICES = {name: small(name, options=given) for name, given in WITH_DROPOUT.items()} | {
    "stream": small("question-only", stream=True),
    "patient": small("question-only", protocol="patient", min_steps=40, patience=2, max_steps=0),
    "cut": small("pbn", options=WITH_DROPOUT["pbn"], protocol="patient", max_steps=19),
}
#: What the order of additions may change in a logit of these runs: far more than it does, far less than
#: examples differ by.
ROUNDING = 1e-4


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    """The end of a run of some settings that nobody interrupted."""
    known = {}

    def end(name):
        if name not in known:
            torch.manual_seed(99)
            directory = tmp_path_factory.mktemp("undisturbed") / "run"
            fit(CHOICES[name], data, directory)
            known[name] = directory
        return result(known[name])

    end.directories = known
    return end


def state_of(path):
    """The tensors and the texts of the training state."""
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


class Clock(Interrupter):
    """An Interrupter whose clock goes on with the steps: the state is saved every two or three."""

    def __init__(self, patch, **moment):
        super().__init__(**moment)
        self.time = 0.0
        patch.setattr(module, "perf_counter", lambda: self.time)
        patch.setattr(module, "SAVE_EVERY", 1.5)

    def on_step(self, *step):
        self.time += 1
        super().on_step(*step)


def middle_of(directory):
    """Steps since the last validation that a training state has."""
    return json.loads(state_of(directory / "state.safetensors")[1]["place"])["new_steps"]


VALIDATION = {"validations": 1}
INTERRUPTED = {
    "pbn": [{"steps": 3}, {"steps": 8}, VALIDATION, {"validations": 2}],
    "cnn-lstm": [{"steps": 7}, {"steps": 4}, VALIDATION],
    "stream": [{"steps": 15}, VALIDATION],
    "patient": [{"steps": 37}, VALIDATION],
    "cut": [{"steps": 5}, {"steps": 13}],
}


@pytest.mark.parametrize(("name", "moments"), INTERRUPTED.items())
def test_an_interrupted_run_ends_as_one_that_was_not(name, moments, data, tmp_path, undisturbed, monkeypatch):
    """Within an epoch too: random numbers, order and metrics are those of a run that was not."""
    directory = tmp_path / "run"
    for seed, moment in enumerate(moments):
        torch.manual_seed(seed)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            fit(CHOICES[name], data, directory, Clock(patch, **moment))
        assert (middle_of(directory) > 0) == ("steps" in moment)
    assert json.loads((directory / "run.json").read_text())["status"] == "running"
    done = fit(CHOICES[name], data, directory)
    assert result(directory) == undisturbed(name)
    assert not (directory / "state.safetensors").exists()
    before = snapshot(directory)
    assert fit(CHOICES[name], data, directory, Interrupter(1, 1)) == done
    assert snapshot(directory) == before


def test_a_run_too_large_for_one_order_of_all_goes_on_as_others(data, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "LARGEST_SORTED", 59)
    fit(CHOICES["pbn"], data, tmp_path / "whole", cache=False)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        fit(CHOICES["pbn"], data, tmp_path / "run", Clock(patch, steps=8), cache=False)
    assert middle_of(tmp_path / "run") > 0
    fit(CHOICES["pbn"], data, tmp_path / "run")
    assert result(tmp_path / "run") == result(tmp_path / "whole")


def test_keeping_the_state_takes_a_small_share_of_the_time(data, tmp_path, monkeypatch):
    """A state that takes long to write is written less often."""
    clock, saved, true = Clock(monkeypatch), [], RunState.save

    def slow(*state):
        saved.append(clock.time)
        clock.time += 10 * module.SAVING_SHARE
        true(*state)

    monkeypatch.setattr(RunState, "save", slow)
    choice = small("question-only", batch=2, max_steps=30, protocol="patient")
    fit(choice, data, tmp_path / "run", clock)
    assert len(saved) == 4  # two or three in 30 steps, and one after the validation
    assert min(np.diff(saved[:-1])) >= 10


SAVED = [(run_directory, "save_weights", 1), (RunState, "save", 3)]
SAVED += [(run_directory, "save_test", 1), (module, "save_json", 1)]


@pytest.mark.parametrize(("home", "name", "call"), SAVED)
def test_a_run_that_dies_between_files_ends_alike(home, name, call, data, tmp_path, undisturbed, monkeypatch):
    """Just before a file is written, and after half a row of metrics."""
    directory, write, calls = tmp_path / "run", getattr(home, name), []

    def dying(*words, **more):
        calls.append(words)
        if len(calls) == call:
            raise KeyboardInterrupt
        return write(*words, **more)

    monkeypatch.setattr(home, name, dying)
    with pytest.raises(KeyboardInterrupt):
        fit(CHOICES["pbn"], data, directory)
    assert json.loads((directory / "run.json").read_text())["status"] != "done"
    if home is RunState:
        with open(directory / "metrics.jsonl", "a") as file:
            file.write('{"epoch": 4, "st')
    fit(CHOICES["pbn"], data, directory)
    assert result(directory) == undisturbed("pbn")


def test_a_run_neither_feels_nor_touches_the_random_numbers_of_others(data, tmp_path, undisturbed):
    wanted = undisturbed("cnn-lstm")
    torch.rand(3), np.random.random(3), random.random()  # noqa: NPY002  (the next ones are others than before that run)
    before = torch.get_rng_state().clone(), np.random.get_state(), random.getstate()  # noqa: NPY002
    fit(CHOICES["cnn-lstm"], data, tmp_path / "run")
    assert torch.equal(torch.get_rng_state(), before[0])
    assert all(np.array_equal(*pair) for pair in zip(np.random.get_state(), before[1], strict=True))  # noqa: NPY002
    assert random.getstate() == before[2]
    assert result(tmp_path / "run") == wanted


def test_pictures_read_from_disk_train_the_same(data, tmp_path, undisturbed):
    fit(CHOICES["pbn"], data, tmp_path / "run", cache=False)
    assert result(tmp_path / "run") == undisturbed("pbn")


@pytest.mark.parametrize(
    ("script", "rule", "best", "steps"),
    [
        ((0.5, 0.6, 0.7, 0.7, 0.65, 0.7, 0.9), {"patience": 3}, 3, 4 * 6),
        ((0.9, 0.5, 1.0), {"patience": 1}, 1, 4 * 2),
        ((0.5, 0.4, 0.6, 0.4, 0.7, 0.4, 0.4, 0.9), {"patience": 2}, 5, 4 * 7),
        ((0.0, 0.0, 0.0), {"patience": 2}, 1, 4 * 3),
        ((0.5, 1.0, 0.5), {"patience": 5}, 2, 4 * 2),  # no weights can be better
        ((0.5, 1.0, 0.5), {"patience": 5, "protocol": "patient"}, 2, 64),
        # validations at 128 and 160 are the first two after 100 steps
        ((0.5,) * 9, {"patience": 2, "min_steps": 100, "protocol": "patient"}, 1, 160),
        # the validation at step 128 itself does not count
        ((0.5,) * 9, {"patience": 3, "min_steps": 128, "protocol": "patient"}, 1, 224),
        ((*(0.5,) * 4, 0.9, 0.5, 0.5), {"patience": 2, "min_steps": 100, "protocol": "patient"}, 5, 224),
    ],
)
def test_a_run_stops_by_its_rule_and_keeps_the_best(script, rule, best, steps, data, tmp_path, monkeypatch):
    """An epoch has four steps; the patient rule validates after 32."""
    monkeypatch.setattr(towns.Scripted, "script", script)
    run = fit(small(f"{HERE}:Scripted", max_steps=0, **rule), data, tmp_path / "run")
    rows = run_directory.read_metrics(tmp_path / "run")
    assert [r["val_accuracy"] for r in rows] == pytest.approx(list(script[: len(rows)]))
    assert run["steps"] == rows[-1]["step"] == 4 * run["epochs"] == steps
    assert run["best"]["step"] == rows[best - 1]["step"]
    assert run["best"]["val_accuracy"] == pytest.approx(script[best - 1])
    assert load_file(tmp_path / "run" / "weights.safetensors")["asked"] == best


def test_the_most_steps_end_a_run_within_an_epoch(data, tmp_path):
    """The steps that it takes are those of a run that goes on."""
    cut = fit(small("question-only", max_steps=9), data, tmp_path / "run")
    assert (cut["steps"], cut["epochs"]) == (9, 3)
    fit(small("question-only", max_steps=12), data, tmp_path / "longer")
    rows, longer = (result(tmp_path / name)[1] for name in ("run", "longer"))
    assert [row["step"] for row in rows] == [4, 8, 9]
    assert rows[:2] == longer[:2]


@pytest.mark.parametrize("name", ["pbn", "cnn-lstm"])
def test_what_run_json_says_of_the_test_follows_from_the_weights(name, data, undisturbed):
    run, rows, _, _ = undisturbed(name)
    directory, dataset = undisturbed.directories[name], open_dataset(data)
    model = build(name, World.of(dataset.settings), run["settings"]["options"])
    model.load_state_dict(load_file(directory / "weights.safetensors"))
    (batch,) = Resident(dataset.test, 40, dataset.settings, torch.device("cpu")).batches([np.arange(40)])
    with torch.no_grad():
        logits = model.eval()(batch).numpy()
    assert np.ptp(logits) > 100 * ROUNDING
    with np.load(directory / "test.npz") as test:
        assert set(test.files) == {"correct", "logit"}
        np.testing.assert_allclose(test["logit"], logits, rtol=0, atol=ROUNDING)
        assert (test["correct"] == ((test["logit"] > 0) == dataset.test.column("answer"))).all()
        assert (test["logit"].dtype, test["correct"].dtype) == (np.float32, bool)
        assert run["test"]["accuracy"] == test["correct"].mean()
    best = max(rows, key=lambda row: row["val_accuracy"])
    assert run["best"] == {k: best[k] for k in ("epoch", "step", "val_accuracy", "val_loss")}
    assert run["parameters"] == sum(p.numel() for p in model.parameters())
    (batch,) = Resident(dataset.val, 40, dataset.settings, torch.device("cpu")).batches([np.arange(40)])
    with torch.no_grad():
        lead = model(batch) * (2 * batch.answer - 1)  # above 0: right
    surely, perhaps = ((lead > limit).double().mean().item() for limit in (ROUNDING, -ROUNDING))
    assert surely - 1e-9 <= best["val_accuracy"] <= perhaps + 1e-9


def test_a_run_directory_holds_what_is_promised(data, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "curve", DRAW)
    directory = tmp_path / "run"
    fit(CHOICES["pbn"], data, directory)
    _, rows, _, _ = result(directory)
    files = {"run.json", "metrics.jsonl", "curve.png", "weights.safetensors", "test.npz", "tensorboard"}
    assert {path.name for path in directory.iterdir()} == files
    assert (directory / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((directory / "tensorboard").iterdir())
    whole = json.loads((directory / "run.json").read_text())
    assert whole["libraries"]["torch"].partition("+")[0] == torch.__version__.partition("+")[0]
    assert set(whole["data"]["examples"]) == {"train", "val", "test"}
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in whole["data"]["examples"].values())
    assert whole["seconds"] > 0
    assert [(row["epoch"], row["step"]) for row in rows] == [(1, 4), (2, 8), (3, 12), (4, 16), (5, 20)]
    assert {"train_loss", "train_accuracy", "val_loss", "val_accuracy"} < set(rows[0])


def test_what_the_metrics_say_of_training_is_the_mean_over_the_epoch(data, tmp_path):
    """A learning rate that changes nothing: every example's loss is that of the fresh weights."""
    fit(small(f"{HERE}:Entities", learning_rate=1e-30, max_steps=4), data, tmp_path / "run")
    (row,) = run_directory.read_metrics(tmp_path / "run")
    bias = load_file(tmp_path / "run" / "weights.safetensors")["bias.weight"].double().numpy()[:, 0]
    train = open_dataset(data).train
    z, y = bias[train.column("subject")], train.column("answer")
    entropy = np.where(y, np.log1p(np.exp(-z)), np.log1p(np.exp(z))).mean()
    assert row["train_loss"] == pytest.approx(entropy, rel=1e-5)
    assert row["objective"] == pytest.approx(row["train_loss"])
    assert row["train_accuracy"] == pytest.approx(((z > 0) == y).mean())


def alive(seed, restarts):
    """Whether Mortal is, restarted so many times."""
    with module.seeded(seed, "weights", restarts, torch.device("cpu")):
        return bool(build(f"{HERE}:Mortal", towns.world(entities=3), {}).alive)


@pytest.mark.parametrize("moments", [[], [VALIDATION, {"steps": 10}, VALIDATION, VALIDATION]])
def test_a_dead_network_is_restarted_and_patience_with_it(moments, data, tmp_path, monkeypatch):
    """Also with interruptions; steps that were lost on the dead do not count towards patience."""
    monkeypatch.setattr(early_stopping, "CLOSEST", 8)
    seed = next(s for s in range(99) if [alive(s, i) for i in range(3)] == [False, False, True])
    choice = small(f"{HERE}:Mortal", protocol="patient", min_steps=20, patience=2, max_steps=0, seed=seed)
    for moment in moments:
        with pytest.raises(KeyboardInterrupt):
            fit(choice, data, tmp_path / "run", Interrupter(**moment))
    run = fit(choice, data, tmp_path / "run")
    assert run["restarts"] == 2
    assert run["steps"] >= 2 * 8 + 20 + 2 * 8 - 8
    assert load_file(tmp_path / "run" / "weights.safetensors")["alive"] == (run["best"]["step"] > 16)
    if moments:
        fit(choice, data, tmp_path / "whole")
        assert result(tmp_path / "run") == result(tmp_path / "whole")
    once = fit(replace(choice, protocol="paper"), data, tmp_path / "paper")
    assert (once["restarts"], once["epochs"]) == (0, 3)


def test_too_little_memory_names_the_batch(data, tmp_path):
    with pytest.raises(FitError, match="`batch=16`"):
        fit(small(f"{HERE}:Hungry"), data, tmp_path / "run")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "failed"
    assert fit(small(f"{HERE}:Hungry", batch=8), data, tmp_path / "smaller")["status"] == "done"


def test_a_loss_of_nan_ends_the_run_and_loses_nothing(data, tmp_path, monkeypatch):
    directory, choice = tmp_path / "run", small(f"{HERE}:Broken")
    fit(choice, data, tmp_path / "whole")
    monkeypatch.setattr(towns.Broken, "last", 10)  # in the middle of the third epoch
    with monkeypatch.context() as patch, pytest.raises(FitError, match=r"epoch 3 .*`learning_rate`.*0\.001"):
        fit(choice, data, directory, Clock(patch))
    run = json.loads((directory / "run.json").read_text())
    assert (run["status"], "epoch 3" in run["error"]) == ("failed", True)
    assert [row["epoch"] for row in run_directory.read_metrics(directory)] == [1, 2]
    tensors, texts = state_of(directory / "state.safetensors")
    assert json.loads(texts["place"])["epoch"] == 2
    assert all(value.isfinite().all() for value in tensors.values())
    monkeypatch.setattr(towns.Broken, "last", 10**6)
    done = fit(choice, data, directory)
    assert (done["status"], "error" in done) == ("done", False)
    assert result(directory) == result(tmp_path / "whole")


PROCESSORS = {
    "genuineintel avx2": "float32",
    "genuineintel avx512_bf16": "bf16",
    "genuineintel avx512_bf16 avx512_fp16 amx_bf16": "bf16",
    "genuineintel avx512_bf16 avx512_fp16": "float32",  # the matrix unit is hidden
    "authenticamd avx512_bf16 avx512_fp16": "bf16",
}


@pytest.mark.parametrize(("features", "precision"), PROCESSORS.items())
def test_precision_auto_is_bfloat16_where_the_processor_is_faster_with_it(features, precision, monkeypatch):
    monkeypatch.setattr("simtown.kernels.compiling.features_here", lambda: set(features.split()))
    assert precision_of("auto", "cpu") == precision


def lstm_of_an_older_processor(self, *inputs, forward=torch.nn.LSTM.forward):
    """PyTorch has no LSTM in bfloat16 for processors without AVX-512."""
    if torch.is_autocast_enabled("cpu"):
        raise RuntimeError("could not create a primitive descriptor")
    return forward(self, *inputs)


@pytest.mark.parametrize("name", ["pbn", "cnn-lstm", "cnn-lstm without AVX-512"])
def test_a_run_in_bfloat16_trains_float32_weights_near_those_of_float32(name, data, tmp_path, monkeypatch):
    ends, (name, _, missing) = {}, name.partition(" without ")
    if missing:
        monkeypatch.setattr(torch.nn.LSTM, "forward", lstm_of_an_older_processor)
    has_bfloat16.cache_clear()
    for precision in ("float32", "bf16"):
        directory = tmp_path / precision
        fit(small(name, options={"dropout": 0.0}, precision=precision, max_steps=4), data, directory)
        ends[precision] = load_file(directory / "weights.safetensors")
    farthest = 2 * 4 * 1e-3 * 1.01  # a step of Adam moves a weight by the rate at most
    for key, weights in ends["bf16"].items():
        assert weights.dtype == ends["float32"][key].dtype
        if weights.is_floating_point() and "running" not in key:
            assert (weights - ends["float32"][key]).abs().max() <= farthest
    has_bfloat16.cache_clear()  # an older processor must not be remembered


SHORT = small(f"{HERE}:Entities", max_steps=0, patience=2, min_steps=20)
#: Another value of every field that decides more than speed, and what the run is like besides.
OTHER = {
    "model": (f"{HERE}:Mortal", {"options": {}}),
    "train_size": (40, {}),
    "seed": (3, {}),
    "options": ({"scale": 2.0}, {}),
    "protocol": ("patient", {}),
    "min_steps": (80, {"protocol": "patient"}),
    "patience": (4, {}),
    "batch": (8, {}),
    "learning_rate": (0.1, {}),
    "max_steps": (6, {}),
    "stream": (True, {}),
    "precision": ("bf16", {"model": "pbn", "options": options("pbn", {}), "max_steps": 4}),
}


def test_the_walk_knows_every_field():
    assert sorted(f.name for f in fields(FitSettings)) == sorted([*OTHER, *deciding(FitSettings, "speed")])


@pytest.mark.parametrize("name", OTHER)
def test_each_field_changes_the_run_and_another_value_is_refused_by_name(name, data, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "has_bfloat16", lambda: True)  # all but LSTMs have it on every processor
    value, besides = OTHER[name]
    plain = replace(SHORT, **besides)
    changed = replace(plain, **{name: value})
    fit(plain, data, tmp_path / "plain")
    before = snapshot(tmp_path / "plain")
    with pytest.raises(ForeignDirectoryError, match=rf"\b{name} .*, now "):
        fit(changed, data, tmp_path / "plain")
    assert snapshot(tmp_path / "plain") == before
    fit(changed, data, tmp_path / "changed")
    run, rows, items, weights = result(tmp_path / "changed")
    assert (rows, items, weights) != result(tmp_path / "plain")[1:]
    assert msgspec.convert(run["settings"], FitSettings) == changed
    tables = [conditions(run_directory.load(tmp_path / each)) for each in ("plain", "changed")]
    apart = {*deciding(FitSettings, "results"), "model", "stream"}  # models differ in their options
    assert (tables[0] != tables[1]) == (name in apart)


def test_another_data_set_is_refused_wherever_it_lies(data, many, tmp_path):
    fit(small(f"{HERE}:Entities"), data, tmp_path / "run")
    with pytest.raises(ForeignDirectoryError, match=r"data\.entities 3, now 5"):
        fit(small(f"{HERE}:Entities"), many, tmp_path / "run")
    moved = shutil.copytree(data, tmp_path / "moved")
    assert fit(small(f"{HERE}:Entities"), moved, tmp_path / "run")["status"] == "done"


def test_a_run_is_known_by_the_examples_it_read(data, dataset_of, tmp_path):
    done = fit(small(f"{HERE}:Entities", train_size=40), data, tmp_path / "run")
    before = snapshot(tmp_path / "run")
    larger = dataset_of(replace(towns.TOWN, n=80, shard=30, masks=True))
    assert fit(small(f"{HERE}:Entities", train_size=40), larger, tmp_path / "run") == done
    changed = shutil.copytree(data, tmp_path / "changed")
    with h5py.File(changed / "train-00000.h5", "r+") as file:
        file["answer"][39] = ~file["answer"][39]
    with pytest.raises(ForeignDirectoryError, match="train examples"):
        fit(small(f"{HERE}:Entities", train_size=40), changed, tmp_path / "run")
    assert snapshot(tmp_path / "run") == before
    assert fit(small(f"{HERE}:Entities", train_size=39), changed, tmp_path / "less")["status"] == "done"
    assert fit(small(f"{HERE}:Entities", train_size=39), data, tmp_path / "less")["status"] == "done"


@pytest.fixture
def begun(data, tmp_path):
    """A run of Entities interrupted after its second validation."""
    with pytest.raises(KeyboardInterrupt):
        fit(small(f"{HERE}:Entities"), data, tmp_path / "run", Interrupter(validations=2))
    return tmp_path / "run"


def other_model(path):
    _, texts = state_of(path)
    save_file({"model.elsewhere": torch.zeros(3)}, path, texts)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("damage", [cut, other_model])
def test_a_damaged_state_is_reported_and_kept(damage, begun, data):
    damage(begun / "state.safetensors")
    before = snapshot(begun)
    with pytest.raises(DamagedError, match=r"^.*state\.safetensors.*$"):
        fit(small(f"{HERE}:Entities"), data, begun)
    assert snapshot(begun) == before


@pytest.mark.parametrize("model", ["Tied", "Nested"])
def test_a_model_with_tied_weights_or_nested_options_is_read_back(model, data, tmp_path):
    run = fit(small(f"{HERE}:{model}"), data, tmp_path / "run")
    assert fit(small(f"{HERE}:{model}"), data, tmp_path / "run") == run
    shares = ask.evaluate(tmp_path / "run", data, torch.device("cpu"), [f"{HERE}:{model}"])
    assert shares["accuracy"] == run["test"]["accuracy"]


@pytest.mark.slow
def test_the_place_binder_learns_a_small_world(dataset_of, tmp_path):
    """At least half the way from chance to always right; it gets to 0.95 and more."""
    pair = dataset_of(Settings(entities=2, n=1_000, val=200, test=1_000, width=64, height=32))
    told = fit(FitSettings("pbn", 1_000, min_steps=384, max_steps=384), pair, tmp_path / "run")
    assert told["test"]["accuracy"] > 0.75
    assert told["steps"] <= 400


def test_the_question_alone_gives_nothing_away(many, tmp_path):
    told = fit(FitSettings("question-only", 600, batch=64, max_steps=80), many, tmp_path / "run")
    # by chance once in 10^9 times: every processor trains another model
    low, high = binom.interval(1 - 1e-9, 600, 0.5)
    assert low <= told["test"]["accuracy"] * 600 <= high
