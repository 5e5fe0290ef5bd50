"""The command line: what commands print and write; whatever is wrong is one clear line and an exit code."""

import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import is_dataclass, replace
from importlib import import_module
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import get_origin

import cv2
import numpy as np
import pytest
import trimesh
from PIL import Image

import simtown
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.cli import places
from simtown.cli.command import RefusalError, command
from simtown.cli.program import COMMANDS, GROUPS, examples_of
from simtown.complexity.need_report import report
from simtown.core import extras, options
from simtown.core.files import DamagedError
from simtown.core.options import SettingsError, options_of, recorded
from simtown.core.progress import PREFIX
from simtown.datasets.making import manifests
from simtown.datasets.proving.verify import verify
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.render.instances import instances
from simtown.render.raster import Raster
from simtown.scenes.scene import Scene, SceneBatch
from simtown.scenes.weather import WEATHERS
from simtown.training.fit_settings import FitSettings
from tests.conftest import every_command

SMALL = ["--entities", 20, "--n", 4, "--val", 0, "--test", 2, "--size", 32, "--workers", 1]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def town(rich, copy):
    return copy(rich, "town")


# help, version, and the process as a whole


def test_help_has_two_examples_that_parse(cli):
    for name, parsed in every_command().items():
        lines = examples_of(f"simtown {name}", getattr(parsed, "commands", {})) if name else []
        shown = cli(*name.split(), "-h" if name else "--help").succeeds().out
        assert shown.lstrip().startswith("Usage:"), name
        assert all(option.help or option.name == "context" for option in parsed.params), name
        assert len(lines) >= 2 or not name, name
        assert all(line in shown for line in lines), name
        for line in lines if not hasattr(parsed, "commands") else ():
            words = shlex.split(line.partition("   (")[0])[1 + len(name.split()) :]
            parsed.make_context(name, words).close()


def test_no_option_or_argument_takes_an_empty_word_for_a_path(cli):
    """`--out "$OUT"` of a variable that is not set must not write here."""
    refused = 0
    for name, parsed in every_command().items():
        taking = [p for p in parsed.params if not getattr(p, "is_flag", False) and p.default != ""]
        arguments = [p for p in taking if p.param_type_name == "argument"]
        for parameter in taking if name and not hasattr(parsed, "commands") else ():
            before = named = [parameter.opts[-1]]
            if parameter in arguments:
                before, named = ["given"] * arguments.index(parameter), []
            cli(*name.split(), *before, "").refuses("empty", *named)
            refused += 1
    assert refused > 200


def test_the_help_of_the_program_groups_every_command(cli):
    out = cli("--help").succeeds().out
    assert all(out.count(f"\n  {name} ") == 1 for name in COMMANDS)
    assert sorted(" ".join(GROUPS.values()).split()) == sorted(COMMANDS)


#: What a command may import of all that takes long.
HEAVY = {"cv2", "h5py", "matplotlib", "numpy", "pandas", "PIL", "pyarrow", "ray", "scipy", "sklearn"}
HEAVY |= {"torch", "transformers", "trimesh"}
LOADED = {
    "": "",
    "--help": "",
    "vg stats --help": "",
    "gnerate": "",
    "fit --modl cnn-lstm": "",
    "info town": "numpy h5py",
    "verify town": "numpy h5py",
    "render town/train:0 --out one.png": "numpy h5py",
    "preview town --out sheet.png": "numpy h5py PIL",
    "generate --entities 3 --n 8 --val 0 --test 4 --size 32 --workers 1 --out more": "numpy h5py PIL",
}
#: A typo is found before anything heavy is imported; tables and what a data set's folder holds need numpy.
TYPOS = {
    "": """info nowhere; info town/trian:0; verify nowhere; captions town --out no/c.txt; gallery nowhere;
    audit nowhere; export town --to huggingface; export town --to png --split trian; fit nowhere.png;
    fit town --model pnb; fit town --device gpu; fit town --seeds a; evaluate nowhere town;
    predict town picture.png question; complexity nowhere; complexity town --targets x; sweep --device gpu;
    lm train nowhere.txt --out lm; vg prepare nowhere --out vg; vg stats nowhere; bench render --device gpu;
    generate --n 1e3; generate --weather snwo; generate --size 64x; generate --entitis 3;
    bench render --size x; preview nowhere; preview town --split training; preview --entity taxy;
    sweep --preset big; sweep --adaptive 2; clip --seconds -1; clip --size 33x; clip --out x.mp5;
    render town/train:999; render --seed -1 --out no/x.png; info town/test:999;
    fit town --train-size 4000;
    probe visual --data nowhere --model glove:x --out o; probe visual figure 4 --data town --out f.png;
    probe ask town/manifest.json --model gloev:x --out o; probe spatial judge --out no/x.html;
    probe compare nowhere town; probe reproduce forbes-table9 --data town; probe grid nowhere --out o""",
    "numpy": "generate --frequencies no.csv",
    "numpy h5py": "generate --out town",
    "numpy torch": "fit town --option hiden=3",  # the classes of models have their options
}
TYPOS = {" ".join(words.split()): names for names, every in TYPOS.items() for words in every.split(";")}


#: Runs commands, each in a fork of a process in which one failed; prints their codes and heavy modules.
FORKS = """
import io, json, os, sys
from simtown.cli import main

def run(words):
    sys.argv, sys.stdout, sys.stderr = ["simtown", *words], io.StringIO(), io.StringIO()
    try:
        main()
    except SystemExit as end:
        return end.code or 0

heavy, commands = json.load(sys.stdin)
shown = sys.stdout
run(["info", "nowhere"])
for words in commands:
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        code = run(words)
        print(json.dumps([code, [name for name in heavy if name in sys.modules]]), file=shown, flush=True)
        os._exit(0)
"""


@pytest.mark.slow
def test_a_command_loads_what_it_needs(plain, tmp_path):
    (tmp_path / "town").symlink_to(plain)
    expected = LOADED | TYPOS
    given = json.dumps([sorted(HEAVY), [words.split() for words in expected]])
    command = [sys.executable, "-c", FORKS]
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=tmp_path)
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    for (words, names), (code, loaded) in zip(expected.items(), ends, strict=True):
        assert loaded == sorted(names.split()), words
        assert code == 2 or words not in TYPOS, words


def test_help_loads_the_program_alone():
    script = "import atexit, sys; sys.argv = ['simtown', '--help'];"
    script += "atexit.register(lambda: print(*sys.modules)); from simtown.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    own = {name.rpartition(".")[2] for name in loaded if name.startswith("simtown.")}
    light = {"command", "options", "program", "stopping", "terminal", "untrusted", "version"}
    assert own <= {"cli", "core", *light}
    assert not loaded & HEAVY


def test_the_version_and_the_start_without_words(cli):
    assert cli("--version").succeeds().out == f"simtown {simtown.__version__}\n"
    out = cli().succeeds().out
    assert len(out.splitlines()) < 10
    for name in ("render", "demo", "generate", "doctor"):
        assert f"simtown {name}" in out


def test_the_package_runs_as_a_module(tmp_path):
    words = [sys.executable, "-m", "simtown"]
    made = [*words, "generate", *map(str, SMALL[:-1]), "2", "--out", "x"]
    generated = subprocess.run(made, capture_output=True, text=True, cwd=tmp_path)
    assert generated.returncode == 0, generated.stderr  # its workers run it as a module again
    assert subprocess.run([*words, "--nonsense"], capture_output=True, cwd=tmp_path).returncode == 2
    helped = subprocess.run([*words, "vg", "-h"], capture_output=True, text=True, cwd=tmp_path)
    assert helped.stdout.startswith("Usage: simtown vg")


# which folder a name means


@pytest.fixture
def several(here, plain):
    """A working directory with two data sets, the second newer, a run and a sweep."""
    for name, time in (("town-a", 1), ("town-b", 2)):
        (here / name).mkdir()
        shutil.copy(plain / "manifest.json", here / name)
        os.utime(here / name / "manifest.json", (time, time))
    for run in ("runs/first-seed0", "sweep-tiny/runs/second"):
        (here / run).mkdir(parents=True)
        (here / run / "run.json").touch()
    return here


@pytest.mark.parametrize(
    ("means", "given", "folder"),
    [
        (places.dataset_named, "latest", "town-b"),
        (places.dataset_named, "town-a", "town-a"),
        (places.example_named, "latest/train:0", "town-b/train:0"),
        (places.example_named, "town-a/test:1", "town-a/test:1"),
        (places.stored_named, "town-b", "town-b"),
        (places.run_named, Path("first"), Path("runs/first-seed0")),
        (places.run_named, Path("first-"), Path("runs/first-seed0")),
        (places.run_named, Path("runs/latest"), Path("runs/first-seed0")),
        (places.answers_named, Path("latest"), Path("runs/first-seed0")),
        (places.runs_named, Path("latest"), Path("sweep-tiny")),
        (places.runs_named, Path("sweep"), Path("sweep-tiny")),
    ],
)
def test_a_folder_goes_by_latest_or_the_beginning_of_its_name(means, given, folder, several, capsys):
    assert means(given) == folder
    said = "" if given == folder else f"note: {str(given).partition('/train')[0]} is "
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        ("runs/first-seed0 town-a --out made", "--out"),
        ("python:json:loads town-a --json made", "--json"),
        ("command:true --over entities=3,5 --json made", "--json"),
        ("runs/first-seed0 --over entities=3,5 --json made", "--json"),
    ],
)
def test_a_file_that_evaluate_would_not_write_is_refused(words, unused, several, cli):
    cli("evaluate", *words.split()).refuses(unused)
    assert not (several / "made").exists()


def test_a_name_that_may_be_several_folders_or_none_is_refused(several, cli):
    cli("info", "town").refuses("town may be town-a or town-b", "latest")
    cli("info", "tow/train:0").refuses("tow may be town-a or town-b")
    cli("info", "city/train:0").refuses("there is no folder city")
    cli("predict", "sec", "x.png", "q").refuses("there is no folder sec", "simtown fit")
    cli("info", "sweep-tiny/latest").refuses("there is no data set in sweep-tiny")


@pytest.mark.parametrize(
    ("means", "name", "folder"),
    [
        (places.dataset_named, "set-20-100", "set-20-1000"),
        (places.example_named, "set-20-100/train:0", "set-20-1000"),
        (places.stored_named, "s", "set-20-1000"),
        (places.run_named, Path("first-seed"), "runs/first-seed0"),
        (places.answers_named, Path("runs/fir"), "runs/first-seed0"),
        (places.runs_named, Path("sweep-t"), "sweep-tiny"),
    ],
)
def test_a_name_cut_within_a_word_is_refused_and_names_the_folder(means, name, folder, several):
    (several / "town-b").rename(several / "set-20-1000")
    with pytest.raises(RefusalError, match=f"may be {folder}"):
        means(name)


# demo, doctor


def test_demo_makes_a_page_and_opens_it_again(here, cli, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    address = (here / "simtown-demo-gallery" / "index.html").as_uri()
    assert cli("demo").succeeds().out.endswith(f"Opened {address}\n")
    assert sorted(path.name for path in here.iterdir()) == ["simtown-demo", "simtown-demo-gallery"]
    assert cli("demo", "--no-open").succeeds().out.endswith(f"Open {address}\n")
    assert opened == [address]


def test_doctor_says_what_works_and_what_to_do(here, cli, monkeypatch):
    content = json.loads(cli("doctor", "--json").succeeds().out)
    assert content["works"]
    assert all(one["works"] for one in content["core"])
    assert [one["name"] for one in content["extras"]] == list(extras.ENABLES)
    monkeypatch.setitem(extras.MODULES, "vg", "there_is_none")
    out = cli("doctor").succeeds().out
    assert "pip install '.[vg]'" in out
    assert max(map(len, out.splitlines()[1:])) <= 80
    monkeypatch.setattr("simtown.kernels.library", lambda: 1 / 0)
    broken = cli("doctor")
    assert broken.code == 1
    assert "division by zero" in broken.out
    assert "install simtown again" in broken.out
    assert not list(here.iterdir())


@pytest.mark.parametrize("command", ["info", "--help", None])
def test_a_reader_that_goes_away_is_no_error(command, simtown, rich):
    words = [*simtown, *([command] if command else []), *([rich] if command == "info" else [])]
    reader, writer = os.pipe()
    os.close(reader)  # gone before there is a word to read
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert [line for line in done.stderr.splitlines() if not line.startswith(PREFIX)] == []
    # A process that is just being forked elsewhere in this one holds the reader a moment longer: then the
    # code is that of no command.
    assert done.returncode in ((0,) if command else (0, 2))


def test_closed_streams_change_nothing(tmp_path):
    made = ["generate", *map(str, SMALL[:-1]), "2", "--out", "x"]
    for words, closed, code in ((made, "<&- >&- 2>&-", 0), (["info", "y"], ">&-", 2)):
        shell = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "simtown", *words]
        done = subprocess.run(shell, capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", code // 2)
    assert (tmp_path / "x" / "preview.png").is_file()


# generate


def test_generate_tells_where_and_what(here, cli):
    outcome = cli("generate", *SMALL).succeeds()
    (made,) = (p.name for p in here.iterdir())
    assert made.startswith("simtown-20-4-32x32")
    first, second = outcome.out.splitlines()
    assert first.startswith(f"{made}: 4 train + 0 val + 2 test examples")
    assert "2 shards" in first
    assert f"simtown verify {made}" in second
    files = {"manifest.json", "preview.png", "test-00000.h5", "timings.json", "train-00000.h5"}
    assert {p.name for p in (here / made).iterdir()} == files
    with Image.open(here / made / "preview.png") as image:
        assert image.width > 300
        assert image.getcolors(50) is None


def test_generate_passes_every_option_on(here, cli):
    words = """--entities 40 --n 6 --val 2 --test 0 --distractor --size 48x32 --seed -3 --frequencies zipf:1
    --relations "right of, left of" --phrasing varied --weather fog,night --jitter 0.25 --masks --depth
    --shard 4 --workers 1 --out deep/er"""
    cli("generate", *shlex.split(words)).succeeds()
    wanted = Settings(
        entities=40, n=6, val=2, test=0, width=48, height=32, seed=-3, distractor=True, frequencies="zipf:1",
        relations=("right of", "left of"), phrasing="varied", weathers=("fog", "night"), jitter=0.25,
        masks=True, depth=True, shard=4,
    )  # fmt: skip
    assert open_dataset(here / "deep" / "er").settings == wanted


@pytest.mark.parametrize(
    ("relations", "distractor", "hints"),
    [("left of,right of", True, False), ("all", False, False), ("all", True, True)],
)
def test_generate_says_that_words_hint_at_depth_beside_a_distractor(relations, distractor, hints, here, cli):
    words = ["--relations", relations, "--weather", "all", "--out", "x", *["--distractor"] * distractor]
    outcome = cli("generate", *SMALL, *words).succeeds()
    assert ("note: beside a distractor" in outcome.err) == hints
    settings = open_dataset(here / "x").settings
    assert settings.weathers == WEATHERS
    assert len(settings.relations) == (4 if relations == "all" else 2)


# preview


@pytest.mark.parametrize(
    ("which", "more"),
    [("plain", []), ("rich", ["--large"]), ("rich", ["--split", "test", "--n", 3]), ("plain", ["--n", 1000])],
)
def test_preview_of_a_data_set(which, more, request, tmp_path, cli, contents):
    directory = request.getfixturevalue(which)
    before = contents(directory)
    outcome = cli("preview", directory, "--out", tmp_path / "sheet.png", *more).succeeds()
    with Image.open(tmp_path / "sheet.png") as image:
        assert outcome.out == f"{tmp_path / 'sheet.png'}: {image.width} x {image.height} pixels\n"
        assert image.getcolors(200) is None
        shades = np.asarray(image.convert("RGB")).reshape(-1, 3)
    for mark in ((38, 110, 220), (226, 110, 20)):
        assert (shades == mark).all(axis=1).sum() > 20, "boxes of the subject and of the object"
    assert contents(directory) == before


SHEETS = [(["--random", "--n", 3, "--distractor", "--seed", 4], "random", (400, 150))]
SHEETS += [(["--random", "--n", 1, "--large"], "random", (500, 500))]
SHEETS += [(["--entity", "all"], "entities", (1200, 1600))]
SHEETS += [(["--entity", "fire truck, sedan,SUV", "--large"], "entities", (1000, 200))]
SHEETS += [(["--weather", "fog,night", "--large", "--seed", 2], "weather", (1000, 500))]


@pytest.mark.parametrize(("words", "kind", "least"), SHEETS)
def test_preview_without_a_data_set(words, kind, least, here, cli):
    outcome, name = cli("preview", *words).succeeds(), f"simtown-{kind}.png"
    assert [p.name for p in here.iterdir()] == [name]
    with Image.open(here / name) as image:
        assert outcome.out == f"{name}: {image.width} x {image.height} pixels\n"
        assert (np.array(image.size) >= least).all()
        assert image.getcolors(100) is None


def test_no_file_that_was_there_is_written_over(town, here, cli):
    cli("render", f"{town}/train:0", "--out", "x.png").succeeds()
    before = (here / "x.png").read_bytes()
    drawn = ("render", f"{town}/train:1", "--out")
    for more in (("--json", "x.png"), ("--glb", "x.png"), ("--json", town / "manifest.json")):
        cli(*drawn, "y.png", *more).refuses("exists; remove it")
    for words in (drawn, ("preview", town, "--out"), ("audit", town, "--json"), ("captions", town, "--out")):
        cli(*words, "x.png").refuses("exists; remove it")
    cli("audit", town, "--json", here).refuses("exists; remove it")
    assert [path.name for path in here.iterdir() if path != town] == ["x.png"]
    assert (here / "x.png").read_bytes() == before
    cli("info", town).succeeds()


# render


def png(path):
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)


@pytest.mark.parametrize("where", ["train:13", "train-00001.h5:3"])
def test_render_draws_a_stored_example_again(where, rich, here, cli):
    """At its own size it is the stored picture, mask and depth; at another it is what the renderer draws."""
    dataset = open_dataset(rich)
    outcome = cli("render", f"{rich}/{where}", "--size", "64x32", "--depth", "--masks").succeeds()
    name = f"{rich.name}-" + {"train:13": "train-13", "train-00001.h5:3": "train-00001-3"}[where]
    suffixes = ("", "-depth", "-depth-view", "-masks")
    assert outcome.out.split() == [f"{name}{suffix}.png" for suffix in suffixes]
    example = dataset.train[13]
    assert np.array_equal(png(here / f"{name}.png")[..., ::-1], example.image)
    with Image.open(here / f"{name}-masks.png") as masks:
        assert np.array_equal(np.asarray(masks), example.mask)
        assert len(masks.convert("RGB").getcolors()) == len(np.unique(example.mask))
    view = png(here / f"{name}-depth-view.png").astype(int).sum(axis=2)
    assert view.max() > 600
    assert (view[np.isinf(example.depth)] < 30).all()
    depth = png(here / f"{name}-depth.png")
    assert depth.dtype == np.uint16
    sky, far = np.isinf(example.depth), example.depth > 65.53
    assert np.array_equal(depth == 0, sky)
    assert (~sky).any()
    assert (depth[far & ~sky] >= 65530).all()
    assert np.abs(depth[~far] / 1000 - example.depth[~far]).max() <= 0.00051
    cli("render", f"{rich}/{where}", "--out", "large.png", "--size", "500x300").succeeds()
    frames = Raster().render(dataset.train.scenes(slice(13, 14)), 500, 300)
    assert np.array_equal(png(here / "large.png")[..., ::-1], frames.rgb[0])


def test_render_writes_a_scene_that_renders_the_same_pixels_and_what_its_mask_numbers(rich, here, cli):
    cli("render", f"{rich}/test:2", "--size", "64x32", "--json", "scene.json").succeeds()
    text = (here / "scene.json").read_text()
    scene = Scene.from_json(text)
    assert [v["entity"] for v in json.loads(text)["vehicles"]] == [v.entity for v in scene.vehicles]
    frames = Raster().render(SceneBatch.of([scene]), 64, 32)
    example = open_dataset(rich).test[2]
    assert np.array_equal(frames.rgb[0], example.image)
    assert np.array_equal(frames.depth[0], example.depth)
    assert scene == example.scene
    words = ("--size", "200x100", "--json", "large.json", "--masks", "--out", "a.png")
    cli("render", f"{rich}/test:2", *words).succeeds()
    ids, mask = (
        json.loads((here / "large.json").read_text())["ids"],
        np.asarray(Image.open(here / "a-masks.png")),
    )
    assert (ids["vehicles"], ids["props"]) == (example.vehicle_ids, example.prop_ids)
    drawn = Raster().render(SceneBatch.of([scene]), 200, 100).ids[0]
    for number, own in enumerate(ids["vehicles"] + ids["props"], start=1):
        assert np.array_equal(mask == own, drawn == number)


def test_render_draws_a_random_street(here, cli):
    words = ("--seed", 3, "--weather", "Snow", "--vehicles", "taxi,school bus", "--size", "160x90")
    outcome = cli("render", *words, "--json", "street.json").succeeds()
    assert outcome.out.split() == ["town-3-Snow-taxi-school-bus.png", "street.json"]
    scene = Scene.from_json((here / "street.json").read_text())
    assert (scene.weather.kind, {v.entity for v in scene.vehicles}) == ("snow", {"taxi", "school bus"})
    truth = simtown.Town.from_scene(scene).truth((160, 90))
    assert np.array_equal(png(here / outcome.out.split()[0])[..., ::-1], truth.rgb)
    assert min(truth["taxi"].visible, truth["school bus"].visible) > 0.3
    cli("render", *words).refuses("town-3-Snow-taxi-school-bus.png exists; remove it or pass another --out")
    cli("render", "--vehicles", "2").succeeds()
    assert png(here / "town-0-2.png").shape == (576, 1024, 3)


def test_render_writes_a_model_for_viewers(rich, here, cli):
    """GLB: a node an instance by its name, metres, y up; each where and as large as in the scene."""
    outcome = cli("render", f"{rich}/train:0", "--size", 32, "--glb", "scene.glb").succeeds()
    assert "scene.glb" in outcome.out.split()
    world = trimesh.load(here / "scene.glb")
    batch = open_dataset(rich).train.scenes(slice(0, 1))
    meshes, poses, *_ = instances(batch)
    props = (PROPS[p] if p >= 0 else "" for p in batch.prop[0])
    names = ["ground", *(ENTITIES[e] for e in batch.entity[0]), *props]
    expected = {f"{k:02d} {names[k]}": k for k in np.flatnonzero(meshes[0] >= 0)}
    assert set(world.graph.nodes_geometry) == set(expected)
    for node, k in expected.items():
        transform, name = world.graph[node]
        found = trimesh.transform_points(world.geometry[name].vertices, transform)
        mesh, (x, y, z, c, s, scale) = atlas().mesh(int(meshes[0, k])), poses[0, k].astype(float)
        corners = mesh.vertices[np.unique(mesh.triangles)] * scale
        street = corners @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (x, y, z)
        upright = street[:, [0, 2, 1]] * [1, 1, -1]
        assert np.allclose(found.min(axis=0), upright.min(axis=0), atol=2e-3), node
        assert np.allclose(found.max(axis=0), upright.max(axis=0), atol=2e-3), node
        assert len(world.geometry[name].faces) == len(mesh.triangles)
    colours = np.concatenate([g.visual.vertex_attributes["color"] for g in world.geometry.values()])
    assert len(np.unique(colours, axis=0)) > 20


def test_a_render_that_finds_the_disk_full_leaves_nothing(rich, here, cli, monkeypatch):
    words = ["render", f"{rich}/train:0", "--depth", "--masks", "--glb", "scene.glb", "--out", "a.png"]
    flushed = []

    def full(number):
        flushed.append(number)
        if len(flushed) == 5:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    cli(*words).refuses("the disk is full")
    assert not list(here.iterdir())
    made = [f"a{suffix}.png" for suffix in ("", "-depth", "-depth-view", "-masks")]
    assert cli(*words).succeeds().out.split() == [*made, "scene.glb"]


# info


def test_info_begins_with_a_summary_fits_a_terminal_and_writes_json(here, cli):
    cli("generate", *SMALL, "--entities", 60, "--out", "x").succeeds()
    short, long = (
        cli("info", "x", "--json", "x.json").succeeds().out,
        cli("info", "x", "--all").succeeds().out,
    )
    assert short.startswith("x: 4 train + 0 val + 2 test examples\n60 entities, 32 x 32 pixels")
    assert max(map(len, long.splitlines())) <= 80
    assert ("sidecar motorcycle" in short, "sidecar motorcycle" in long) == (False, True)
    assert "... and 45 more kinds: --all" in short
    content = json.loads((here / "x.json").read_text())
    train = content["splits"]["train"]
    assert (train["examples"], train["yes"], sum(train["relation"].values())) == (4, 2, 4)
    assert content["settings"]["entities"] == 60


def test_info_without_timings_or_some_splits(here, cli):
    cli("generate", *SMALL, "--test", 0, "--out", "x").succeeds()
    (here / "x" / "timings.json").write_text('{"runs": [{}]}')
    cli("info", "x").succeeds()
    (here / "x" / "timings.json").unlink()
    assert "How it was made" not in cli("info", "x").succeeds().out


# whatever is wrong


#: Words of a command, and what the refusal names.
REFUSED = r"""
    generate --entities 1 : --entities
    generate --entities 103 : --entities
    generate --entities 2 --distractor : --entities
    generate --entities many : --entities
    generate --n 7 : --n
    generate --n 1.5 : --n is '1.5': give a whole number
    generate --val 3 : --val
    generate --size 4097x64 : 4097
    generate --size 64x : 64x
    generate --size '' : --size
    generate --relations 'left of,left of' : twice
    generate --weather nonsense : --weather nonsense
    generate --weather '' : --weather
    generate --weather ' ' : --weather
    generate --weather snow, : --weather snow, has an empty name
    render --vehicles bus,,taxi : --vehicles
    verify town --split train,,val : --split
    generate --out ' ' : --out
    generate --frequencies nonsense : nonsense
    generate --frequencies missing.csv : missing.csv
    generate --frequencies zipf:-1 : zipf:-1
    generate --frequencies few.csv : few.csv
    generate --frequencies zero.csv --entities 2 : zero
    generate --jitter nan : --jitter
    generate --phrasing x : --phrasing x
    generate --shard 3 : --shard
    generate --workers 0 : --workers
    generate --engine x : --engine x
    generate --address auto : --engine ray
    generate --nonsense : --nonsense
    generate extra : extra
    generate --out keep.txt : keep.txt
    generate --out /dev/null/x : /dev/null
    generate --out folder : folder
    generate --out town : entities
    nonsense : nonsense
    preview : --random
    preview town --random : --random
    preview --entity 'fire trck' : fire truck
    preview --entity , : entity
    preview --weather nonsense : nonsense
    preview town --n 0 : --n
    preview town --split exam : --split
    preview town --renderer x : renderer
    preview town --out sheet.jpg : .png
    preview --random --entities 1 : entities
    preview town --out missing/x.png : missing
    preview nowhere : nowhere
    preview keep.txt : keep.txt
    preview foreign : foreign
    render town/train : train:7
    render town/train:-1 : train:7
    render town/train:24 : 0 to 23
    render town/train-00002.h5:4 : 0 to 3
    render missing.h5:0 : missing.h5
    render :3 : SHARD:INDEX
    info : argument
    info folder : folder
    info town more : more
    verify foreign : foreign
    verify town --pictures -1 : --pictures
    render --weather sno : did you mean snow?
    render --vehicles taxii : did you mean taxi
    render --vehicles 99 : vehicles is 99
    render town/train:0 --seed 1 : leave them out
"""


@pytest.fixture
def littered(town, here):
    """A working directory with a data set, a foreign folder and a few files."""
    (here / "folder").mkdir()
    (here / "folder" / "letter.txt").write_text("dear")
    (here / "foreign").mkdir()
    (here / "foreign" / "manifest.json").write_text('{"format": "another"}')
    (here / "keep.txt").write_text("kept")
    (here / "few.csv").write_text("entity,subject,object\na,1,1\nb,1,1\n")
    (here / "zero.csv").write_text("entity,subject,object\na,0,0\nb,0,0\n")
    return here


def test_bad_words_are_refused_in_one_line_that_names_the_option(littered, cli, contents):
    before, failures = contents(littered), []
    small = [str(word) for word in SMALL]
    for line in REFUSED.strip().splitlines():
        words, named = line.strip().rsplit(" : ", 1)
        words = shlex.split(words)
        if words[0] == "generate":
            given = dict(zip(small[::2], small[1::2], strict=True)) | {"--out": "new"}
            words = [*words, *chain(*(pair for pair in given.items() if pair[0] not in words))]
        try:
            cli(*words).refuses(named)
        except AssertionError as error:
            failures.append(f"{words}: {error}")
    assert failures == []
    assert contents(littered) == before


@command
def _fit(settings: FitSettings, *, out: str = "run") -> None:
    if out == "full":
        raise SettingsError("is full", "out")
    if out == "run":
        raise SettingsError("no setting is wrong")
    kinds = {"damaged": DamagedError, "missing": FileNotFoundError}
    raise kinds[out]("another `directory`, or `batch=8`")


def test_an_error_names_the_option_of_its_setting():
    defaults = {name: field.default for name, field in signature(_fit).parameters.items()}
    for words, message in (
        ({"learning_rate": 0.0}, "--lr must be above 0 and below 10, not 0.0"),
        ({"min_steps": -1}, "--min-steps must be at least 0, not -1"),
        ({"out": "full"}, "--out is full"),
        ({"out": "run"}, "no setting is wrong"),
    ):
        with pytest.raises((RefusalError, SettingsError)) as refused:
            _fit(**{**defaults, "out": "else", **words})
        assert str(refused.value) == message
    for out, code in (("damaged", 1), ("missing", 2)):
        with pytest.raises(RefusalError, match="another --out, or --batch 8") as refused:
            _fit(**{**defaults, "out": out})
        assert refused.value.code == code


MODULES = [vars(import_module(f"simtown.cli.{module}")) for module in dict(COMMANDS.values())]
KINDS = {kind.__name__: kind for names in MODULES for kind in names.values() if is_dataclass(kind)}


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if options_of(kind)])
@pytest.mark.parametrize("given", [{}, {"n": 60, "twins": True}, {"n": 3_000, "questions_per_picture": 3}])
def test_a_command_and_python_have_the_same_defaults(kind, given):
    """Also if one depends on others, as the sizes of val and test do."""
    made = []

    def run(settings):
        made.append(settings)

    run.__annotations__ = {"settings": kind}
    options = signature(command(run)).parameters
    given = {name: value for name, value in given.items() if name in options}
    required = {name: "x" for name, option in options.items() if option.default is option.empty}
    defaults = {name: option.default for name, option in options.items()}
    command(run)(**defaults | required | given)
    assert made == [kind(**required, **given)]


#: Values of every type, one of which each option takes beside its default. An address needs an engine.
VALUES = [True, False, 0.25, 0.5, 2, 3, 4, 99, 500, (), ("x",), Path("x.gif")]
VALUES += ["x", "4", "1,2", "{}", "random", "snow", "time", "x.gif"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if "address" not in options_of(kind)])
def test_each_option_is_recorded_if_it_decides_results(kind):
    """Another value of a recorded field makes other settings, which are not continued; of no other field."""
    required = (name for name, field in signature(kind).parameters.items() if field.default is field.empty)
    plain = kind(**dict.fromkeys(required, "majority"))
    for name, (type_, about) in options_of(kind).items():
        type_ = tuple if get_origin(type_) is tuple else type_
        for value in (about.choices[:1], *about.choices, *VALUES):
            if value == getattr(plain, name) or not isinstance(value, type_):
                continue
            with suppress(ValueError, RefusalError):
                changed = replace(plain, **{name: value})
                options.check(changed)
                break
        else:
            pytest.fail(f"no other value of {name}")
        before, after = recorded(plain), recorded(changed)
        assert {n for n in before if before[n] != after[n]} - {"val", "test"} == (
            {name} - {"val", "test"} if about.recorded else set()
        )


PAIRS = {"generate": simtown.generate, "complexity": report, "clip": simtown.Town.film, "verify": verify}
PAIRS |= {"fit": simtown.FitSettings}


@pytest.mark.parametrize("name", PAIRS)
def test_a_verb_and_its_command_have_the_same_defaults(name):
    options = {option.name: option.default for option in every_command()[name].params}
    for argument in signature(PAIRS[name]).parameters.values():
        if argument.name in options and isinstance(argument.default, int | float | str | bool):
            assert options[argument.name] == argument.default, argument


# whatever is damaged


@pytest.mark.parametrize("command", ["preview", "info", "render"])
def test_unfinished_and_incomplete_sets_are_refused(command, littered, cli):
    word = "town/train:0" if command == "render" else "town"
    (littered / "town" / "val-00000.h5").unlink()
    cli(command, word).refuses("val-00000.h5", code=1)
    manifests.save(littered / "town", {**manifests.load(littered / "town"), "complete": False})
    cli(command, word).refuses("unfinished", code=1)


def test_the_shell_completes_commands(shell):
    asked = {"_SIMTOWN_COMPLETE": "complete_bash", "COMP_WORDS": "simtown gene", "COMP_CWORD": "1"}
    assert shell(env={**os.environ, **asked}).succeeds().out.split() == ["generate"]


def test_completion_is_installed(simtown, tmp_path):
    """From a bash that waits for it: the program looks for its shell among the processes that started it."""
    environment = {**os.environ, "HOME": str(tmp_path)}
    words = ["bash", "--norc", "-c", '"$@"; exit $?', "bash", *simtown, "--install-completion", "bash"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "simtown" in (tmp_path / ".bashrc").read_text(encoding="utf-8")


def test_without_what_it_needs_the_program_says_so(cli, monkeypatch):
    cli("--version")
    monkeypatch.setitem(sys.modules, "simtown.cli.program", None)
    monkeypatch.delattr("simtown.cli.program")
    ended = cli("info", "town")
    assert ended.code == 2
    assert "install simtown again" in ended.err
