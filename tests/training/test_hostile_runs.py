"""A run from a stranger: whatever its files hold, it is read or refused in one line, and nothing outside it
is read or written.
"""

import io
import json
import os
import shutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from PIL import Image  # noqa: E402
from PIL.PngImagePlugin import PngInfo  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from simtown.complexity import cells, finished_runs  # noqa: E402
from simtown.complexity.finished_runs import read_runs  # noqa: E402
from simtown.core.files import DamagedError, ForeignDirectoryError  # noqa: E402
from simtown.core.untrusted import RefusedError, open_picture  # noqa: E402
from simtown.datasets.job import generate  # noqa: E402
from simtown.datasets.settings import SettingsError  # noqa: E402
from simtown.training import run_directory, weights  # noqa: E402
from simtown.training.ask import ModelAnswer, draw, evaluate, open_run, predict  # noqa: E402
from simtown.training.fit import fit  # noqa: E402
from simtown.training.models import build, options  # noqa: E402
from tests.training import towns  # noqa: E402
from tests.training.towns import Interrupter, small  # noqa: E402

SETTINGS = small("question-only", max_steps=8)
#: What stands where a number, a text or a table belongs.
VALUES = (
    *(
        None,
        True,
        -1,
        0,
        1.5,
        10**30,
        10**400,
        float("nan"),
        float("inf"),
        "",
        "x" * 100_000,
        "a\nb\x1b[31m",
        "../../x",
    ),
    *([], [[]], {}, {"a": {"b": 1}}, ["../x"] * 3),
)
#: What a message may have at most, besides the path that the test chose.
LONGEST = 1_000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return towns.hamlet(tmp_path_factory)


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("finished") / "question-only-3-60-seed0"
    fit(SETTINGS, data, directory)
    return directory


@pytest.fixture(scope="module")
def unfinished(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unfinished") / "run"
    with pytest.raises(KeyboardInterrupt):
        fit(SETTINGS, data, directory, Interrupter(validations=1))
    return directory


@pytest.fixture
def done(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / finished.name)


@pytest.fixture
def begun(unfinished, tmp_path):
    return shutil.copytree(unfinished, tmp_path / "run")


def one_line(call):
    """The message with which something is refused, "" where it is not; any other end fails the test."""
    try:
        call()
        return ""
    except (ValueError, DamagedError, FileNotFoundError) as error:
        told = str(error)
    assert "\n" not in told
    assert "\x1b" not in told
    assert 0 < len(told) < LONGEST, told[:200]
    return told


def changed(directory, name, change):
    """The JSON file with one change."""
    content = json.loads((directory / name).read_text())
    change(content)
    (directory / name).write_text(json.dumps(content))


# run.json


@pytest.mark.parametrize(
    "change",
    [
        {"model": "question-only", "options": {"embedding": 10**9, "hidden": 128}},
        {"model": "pbn", "options": {"width": 1e9}},
        {"model": "vit", "options": {"layers": 10**9}},
        {"model": "true-boxes", "options": {"layers": 10**9}},
        {"model": "film", "options": {"blocks": 10**9}},
        {"model": "film", "options": {"width": float("inf")}},
        {"model": "cnn-lstm", "options": {"init": [[]]}},
        {"model": "pbn", "options": {"embedding": -3}},
        {"model": "pbn", "options": {"box_weight": "30"}},
        {"model": "pbn", "options": {"box_weight": True}},
        {"model": "pbn", "options": {}},
    ],
)
def test_a_model_takes_no_memory_that_its_weights_do_not(change, done, monkeypatch):
    def spoil(run):
        run["settings"] |= change
        run["model"] = change["model"]
        run["data"] |= {"width": 1_024, "height": 1_024}

    changed(done, "run.json", spoil)

    def counted(*words):
        assert torch.get_default_device().type == "meta", (
            "no model is made before its weights are known to be its own"
        )
        return build(*words)

    monkeypatch.setattr("simtown.training.ask.build", counted)
    assert "damaged" in (told := one_line(lambda: open_run(done))) or "cannot make" in told


@pytest.mark.parametrize(
    "change", [{"width": 4_096, "height": 4_096}, {"entities": 900}, {"world_seed": 5, "catalogue": 77}]
)
def test_a_world_that_cannot_be_is_refused(change, done):
    changed(done, "run.json", lambda run: run["data"].update(change))
    assert one_line(lambda: predict(done, Path("any.png"), "Is a sedan left of a taxi?"))


def test_a_finished_run_that_says_too_little_is_refused(done, data, cli):
    changed(done, "run.json", lambda run: run["test"].pop("deciles"))
    cli(
        "fit",
        data,
        "--model",
        "question-only",
        "--protocol",
        "paper",
        "--batch",
        16,
        "--max-steps",
        8,
        "--out",
        done,
    ).refuses("lacks 'test.deciles'", code=1)


# Right answers


def packed(path, array, **more):
    """A .npz file that is much smaller than its array."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("correct.npy", file.getvalue())


def test_answers_of_all_runs_together_are_bounded(done, monkeypatch):
    monkeypatch.setattr(finished_runs, "MOST_ANSWERS", 39)
    with pytest.raises(RefusedError, match="39 answers, are not compared"):
        read_runs([done])
    monkeypatch.undo()
    monkeypatch.setattr(finished_runs, "MOST_RUNS", 0)
    with pytest.raises(RefusedError, match="0 runs"):
        read_runs([done])


# Folders


def test_nothing_outside_is_looked_at_for_runs(done, tmp_path):
    """Links to elsewhere and in circles, pipes, folders with names of files."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    shutil.copytree(done, inside / "mine")
    shutil.copytree(done, outside / "private")
    changed(
        outside / "private",
        "run.json",
        lambda run: run.update(seed=7, settings=run["settings"] | {"seed": 7}),
    )
    shutil.copy(cells.save(done, tmp_path / "kept"), outside / "cell.json")
    (inside / "elsewhere").symlink_to(outside)
    (inside / "circle").symlink_to(inside)
    (inside / "cell.json").symlink_to(outside / "cell.json")
    (inside / "folder.json").mkdir()
    (inside / "sub").mkdir()
    for name in ("x.json", "sub/run.json"):
        os.mkfifo(inside / name)
    assert [run.seed for run in read_runs([inside])] == [0]
    (inside / "theirs").mkdir()
    (inside / "theirs" / "run.json").symlink_to(outside / "private" / "run.json")
    with pytest.raises(RefusedError, match=r"theirs/run\.json is a symbolic link"):
        read_runs([inside])
    (tmp_path / "mine").symlink_to(inside / "mine")
    assert len(read_runs([tmp_path / "mine"])) == 1, "a link that the person names is followed"


def test_deep_and_large_folders_end(done, tmp_path, monkeypatch):
    deep = tmp_path / "deep"
    place = deep.joinpath(*["d"] * 200)
    place.mkdir(parents=True)
    shutil.copytree(done, place / "run")
    assert len(read_runs([deep])) == 1
    monkeypatch.setattr(finished_runs, "MOST_FILES", 100)
    with pytest.raises(RefusedError, match="more than 100 files"):
        read_runs([deep])


@pytest.mark.parametrize("name", ["test.npz", "weights.safetensors", "metrics.jsonl", "run.json"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_file_of_a_run_is_a_plain_file(name, kind, done, tmp_path):
    (done / name).rename(tmp_path / "elsewhere")
    if kind == "link":
        (done / name).symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(done / name)
    readers = {
        "weights.safetensors": lambda: open_run(done),
        "metrics.jsonl": lambda: run_directory.read_metrics(done),
    }
    told = one_line(readers.get(name, lambda: read_runs([done])))
    assert "symbolic link" in told or "not a regular file" in told or "no finished run" in told


# Weights


def header(tensors, content=b""):
    """A file of tensors with any header."""
    text = json.dumps(tensors).encode()
    return struct.pack("<Q", len(text)) + text + content


def other_weights(path, change):
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p: p.write_bytes(struct.pack("<Q", 2**62) + b"{"), "no file of tensors"),
        (
            lambda p: p.write_bytes(
                header({"a": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4 * 10**12]}})
            ),
            "no file of tensors",
        ),
        (
            lambda p: p.write_bytes(
                header({"a": {"dtype": "F32", "shape": [0, 2**60, 2**60], "data_offsets": [0, 0]}})
            ),
            "no file of tensors",
        ),
        (lambda p: p.write_bytes(header({"__metadata__": [], "a": 3})), "no file of tensors"),
        (lambda p: p.write_bytes(b"[" * 100_000), "no file of tensors"),
        (lambda p: p.write_bytes(b""), "no file of tensors"),
        (
            lambda p: other_weights(p, lambda t: t.update(more=torch.zeros(3))),
            "tensors that the model has not",
        ),
        (lambda p: other_weights(p, lambda t: t.popitem()), "it lacks"),
        (lambda p: other_weights(p, lambda t: t.update({min(t): torch.zeros(2)})), "other sizes"),
        (
            lambda p: other_weights(p, lambda t: t.update({min(t): t[min(t)].to(torch.float16)})),
            "other sizes",
        ),
    ],
)
def test_weights_are_those_of_the_model_or_not_read(damage, words, done):
    damage(done / "weights.safetensors")
    with pytest.raises(DamagedError, match=words):
        open_run(done)


def test_weights_that_give_no_number_are_told(done, tmp_path):
    other_weights(done / "weights.safetensors", lambda t: t["decide.1.bias"].fill_(float("nan")))
    Image.new("RGB", (64, 64)).save(tmp_path / "any.png")
    with pytest.raises(DamagedError, match="answer with no number"):
        predict(done, tmp_path / "any.png", "Is a sedan left of a school bus?")


@pytest.mark.parametrize(
    "name",
    ["pbn", "cnn-lstm", "cnn-lstm-boxes", "film", "relation-network", "vit", "true-boxes", "question-only"],
)
def test_the_sizes_of_a_model_are_known_without_its_numbers(name):
    def make():
        return build(name, towns.world(), options(name, {}))

    sizes, whole = weights.sizes_of(make), make().state_dict()
    assert {key: (value.shape, value.dtype) for key, value in sizes.items()} == {
        k: (v.shape, v.dtype) for k, v in whole.items()
    }
    assert all(value.device.type == "meta" for value in sizes.values())


# Going on in a stranger's directory


def state_of(path):
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["place"])  # noqa: SIM118


def between(tensors, place):
    """Make a state one of between two validations, as :meth:`State.save` writes it."""
    tensors |= {
        "middle.totals": torch.zeros(3, dtype=torch.float64),
        "middle.random.cpu": torch.get_rng_state(),
    }
    place["middle"] = {"steps": 1, "seconds": 1.0}


def other_state(directory, change):
    path = directory / "state.safetensors"
    tensors, place = state_of(path)
    change(tensors, place)
    save_file(tensors, path, {"place": json.dumps(place)})


@pytest.mark.parametrize(
    "change",
    [
        lambda t, _: t.update({"model." + "x" * 200: torch.zeros(1)}),
        lambda t, _: t.update({next(n for n in t if n.endswith("exp_avg")): torch.zeros(7)}),
        lambda t, _: t.update({next(n for n in t if n.endswith("step")): torch.zeros(2)}),
        lambda t, _: t.pop(next(n for n in t if n.endswith("exp_avg_sq"))),
        lambda t, _: t.update({"optimizer.999.step": torch.zeros(())}),
        lambda _, p: p.update(epoch=10**400),
        lambda _, p: p.update(epoch="3"),
        lambda _, p: p.update(step=-1),
        lambda _, p: p.update(seconds=float("nan")),
        lambda _, p: p.update(best={"epoch": []}),
        lambda _, p: p.update(best={}),
        lambda _, p: p.update(elsewhere=1),
        lambda _, p: p.pop("stale"),
        lambda _, p: p.update(middle=3),
        lambda _, p: p.update(middle={"steps": 1, "seconds": 1.0}),
        lambda t, p: between(t, p) or p["middle"].pop("steps"),
        lambda t, p: between(t, p) or p["middle"].update(steps=-1),
        lambda t, p: between(t, p) or p["middle"].update(seconds="1"),
        lambda t, p: between(t, p) or t.pop("middle.totals"),
        lambda t, p: between(t, p) or t.update({"middle.totals": torch.zeros(4, dtype=torch.float64)}),
        lambda t, p: between(t, p) or t["middle.random.cpu"].fill_(255),
        lambda t, p: between(t, p) or t.update({"middle.random.cuda": torch.zeros(16, dtype=torch.uint8)}),
    ],
)
def test_a_state_is_that_of_the_run_or_refused(change, begun, data):
    other_state(begun, change)
    with pytest.raises(DamagedError, match=r"state\.safetensors is damaged"):
        fit(SETTINGS, data, begun)


def test_a_state_between_two_validations_may_say_what_it_likes_of_its_place(begun, data):
    """Steps that an epoch does not have are none that are left to take."""
    other_state(begun, lambda t, p: between(t, p) or p["middle"].update(steps=10**9))
    assert fit(SETTINGS, data, begun)["status"] == "done"


def test_a_state_goes_on(begun, data, finished):
    """What is stored is enough: the same numbers as those of a run that was not stopped."""
    fit(SETTINGS, data, begun)
    assert towns.result(begun) == towns.result(finished)


def test_no_pickle_is_read(begun, data, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "marker"),)

    (begun / "state.safetensors").unlink()
    torch.save({"epoch": Evil()}, begun / "state.pt")
    torch.save({"correct": Evil()}, begun / "weights.safetensors")
    np.savez(begun / "test.npz", correct=np.array([Evil()], dtype=object))
    fit(SETTINGS, data, begun)
    np.savez(begun / "test.npz", correct=np.array([Evil()], dtype=object))
    with pytest.raises(DamagedError):
        read_runs([begun])
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    "name", ["metrics.jsonl", "weights.safetensors", "state.safetensors", "test.npz", "curve.png", "run.json"]
)
def test_going_on_writes_through_no_link(name, begun, data, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (begun / name).unlink(missing_ok=True)
    (begun / name).symlink_to(outside)
    one_line(lambda: fit(SETTINGS, data, begun))
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("inner", [False, True])
def test_logs_are_written_through_no_link(inner, begun, data, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(begun / "tensorboard", ignore_errors=True)
    if inner:
        (begun / "tensorboard").mkdir()
        (begun / "tensorboard" / "events.out.tfevents.1.here.1.0").symlink_to(outside / "events")
    else:
        (begun / "tensorboard").symlink_to(outside)
    assert "symbolic link" in one_line(lambda: fit(SETTINGS, data, begun))
    assert not list(outside.iterdir())


def test_metrics_are_appended_through_no_link(begun, tmp_path):
    """Not even through one that appears while a run goes on."""
    (begun / "metrics.jsonl").unlink()
    (begun / "metrics.jsonl").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="symbolic link"):
        run_directory.append_metrics(begun, {"epoch": 1})
    assert not (tmp_path / "outside").exists()


ROW = {"epoch": 1, "step": 1, "train_accuracy": 0.5, "val_accuracy": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "[]\n",
        "3\n",
        json.dumps(ROW | {"epoch": "1"}) + "\n",
        json.dumps({"epoch": 1}) + "\n",
        json.dumps(ROW | {"val_accuracy": 10**400}) + "\n",
        json.dumps(ROW | {"val_accuracy": [1]}) + "\n",
        json.dumps(ROW | {"step": 1e300}) + "\n",
        "{\n" + json.dumps(ROW) + "\n",
        "x" * 1_000_000,
        "\x00\n" * 10,
    ],
)
def test_metrics_are_numbers_or_refused(text, begun, data):
    (begun / "metrics.jsonl").write_text(text)
    with pytest.raises(DamagedError, match=r"metrics\.jsonl is damaged, line 1"):
        fit(SETTINGS, data, begun)


def test_metrics_are_as_many_as_a_run_has(begun, monkeypatch):
    (begun / "metrics.jsonl").write_text((json.dumps(ROW) + "\n") * 30)
    monkeypatch.setattr(run_directory, "_MOST_ROWS", 20)
    with pytest.raises(DamagedError, match="more than 20 rows"):
        run_directory.read_metrics(begun)


def test_a_stream_reads_no_table_that_a_data_set_names(tmp_path):
    """A manifest may name any file of this machine; it holds the frequencies that the examples were drawn
    with.
    """
    table = tmp_path / "table.csv"
    table.write_text("entity,subject,object\na,3,1\nb,1,1\nc,1,2\n")
    generate(
        towns.replace(towns.TOWN, n=20, val=4, test=4, frequencies=str(table)), tmp_path / "set", workers=1
    )
    table.unlink()
    os.mkfifo(table)
    settings = small("question-only", stream=True, train_size=8, max_steps=2, batch=8)
    assert fit(settings, tmp_path / "set", tmp_path / "run")["status"] == "done"


# Cells


def test_a_cell_is_kept_through_no_link(done, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / f"{done.name}.json").symlink_to(tmp_path / "outside")
    assert "symbolic link" in one_line(lambda: cells.save(done, tmp_path / "kept"))
    assert not (tmp_path / "outside").exists()


# Pictures


def png(size, mode="RGB", **more):
    file = io.BytesIO()
    Image.new(mode, size).save(file, "PNG", **more)
    return file.getvalue()


def text_bomb():
    words = PngInfo()
    words.add_text("a", "x" * 5_000_000, zip=True)
    return png((8, 8), pnginfo=words)


def saved(form, **more):
    file = io.BytesIO()
    Image.new("RGB", (64, 64)).save(file, form, **more)
    return file.getvalue()


POSTSCRIPT = (
    b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n%%EndComments\n0 0 moveto 64 64 lineto "
    b"stroke\nshowpage\n%%EOF\n"
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (POSTSCRIPT, "not a PNG or JPEG"),
        (saved("GIF"), "not a PNG or JPEG"),
        (saved("TIFF"), "not a PNG or JPEG"),
        (saved("PDF"), "not a PNG or JPEG"),
        (text_bomb(), "damaged"),
        (png((64, 64))[:-30], "truncated"),
        (saved("JPEG")[:300], "cannot be read"),
        (png((64, 64)).replace(b"IDAT", b"IDAX"), "cannot be read"),
        (b"", "not a PNG or JPEG"),
        (b"\x89PNG\r\n\x1a\n" + b"\xff" * 100, "cannot be read"),
        (b"\xff\xd8" + b"\xff\xe1\xff\xff" * 50, "cannot be read"),
    ],
)
def test_what_is_no_picture_is_one_line(content, words, done, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for name in ("gs", "gswin64c"):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/marker\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(
        SettingsError, match=f"cannot be read as a picture: .*{words}" if words != "cannot be read" else words
    ):
        predict(done, tmp_path / "x.png", "Is a sedan left of a school bus?")
    assert not (tmp_path / "marker").exists()


def test_every_kind_of_png_and_jpeg_is_a_picture_in_three_colours(tmp_path):
    pictures = {mode: png((5, 4), mode) for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")}
    pictures |= {mode: saved("JPEG") for mode in ("jpeg",)} | {
        "many": png((5, 4), save_all=True, append_images=[Image.new("RGB", (5, 4))] * 3)
    }
    pictures["mpo"] = saved("MPO", save_all=True, append_images=[Image.new("RGB", (64, 64))])
    for name, content in pictures.items():
        (tmp_path / name).write_bytes(content)
        picture = open_picture(tmp_path / name)
        assert (picture.mode, picture.size) == ("RGB", (5, 4) if name not in ("jpeg", "mpo") else (64, 64)), (
            name
        )
    (tmp_path / "link").symlink_to(tmp_path / "RGB")
    assert open_picture(tmp_path / "link").size == (5, 4), "the person named it"
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(RefusedError, match="not a regular file"):
            open_picture(tmp_path / name)


def test_boxes_far_outside_are_drawn_at_once():
    boxes = np.array([[-1e30, -1e30, 1e30, 1e30], [1e18, 1e18, 1e19, 1e19]])
    assert draw(Image.new("RGB", (60, 40)), ModelAnswer(0.5, boxes, (0, 0, 60, 40))).size == (60, 40)


# The command line


def test_a_report_is_written_through_no_link(done, tmp_path, cli):
    for outside, link in (("outside", done / "complexity"), ("elsewhere", tmp_path / "runs")):
        (tmp_path / outside).mkdir()
        link.symlink_to(tmp_path / outside)
    cli("complexity", done, "--replicates", 40).refuses("complexity is a symbolic link")
    assert not list((tmp_path / "outside").iterdir())


def test_a_run_is_written_through_no_link_that_nobody_named(data, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "runs").symlink_to("outside")
    cli("fit", data, "--model", "question-only", "--max-steps", 4).refuses("runs is a symbolic link")
    assert not list((tmp_path / "outside").iterdir())


def test_evaluation_names_what_is_wrong(done, data):
    changed(done, "run.json", lambda run: run["settings"].update(stream="yes"))
    with pytest.raises(DamagedError, match=r"settings\.stream: 'yes' where true or false belongs"):
        evaluate(done, data, torch.device("cpu"))
    changed(done, "run.json", lambda run: run.update(format="other"))
    with pytest.raises(ForeignDirectoryError):
        evaluate(done, data, torch.device("cpu"))
