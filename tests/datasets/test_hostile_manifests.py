"""Folders of a stranger: a manifest is believed in nothing that its bytes do not account for, and no name or
link leads out of it.
"""

import json
import os
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest

from simtown.assets.frequencies import frequencies
from simtown.assets.palette import PAINTS
from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError
from simtown.datasets import manifests, timings
from simtown.datasets.job import generate
from simtown.datasets.mirror import Mirror
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import LARGEST_SHARD, MOST_SHARDS, Settings, SettingsError
from simtown.datasets.shards import task_of, tasks
from simtown.datasets.stores import DirectoryStore, Remote, store_of
from simtown.datasets.verify import verify
from simtown.scenes.paint import paint_frequencies
from simtown.scenes.scene import Scene

TINY = Settings(entities=5, n=4, val=2, test=2, width=32, height=32, shard=2)
WORDS = ["--entities", 5, "--n", 4, "--val", 2, "--test", 2, "--size", 32, "--shard", 2, "--workers", 1]
HUGE, ENDLESS = 10**400, float("1e308") * 10


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("made") / "town"
    generate(TINY, directory, workers=1)
    return directory


@pytest.fixture
def town(made, copy):
    return copy(made, "town")


@contextmanager
def little_memory(most=30_000_000):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def put(*path):
    """put("a", "b", value): writes a value into nested dictionaries and lists."""
    *way, last, value = path

    def edit(manifest):
        for key in way:
            manifest = manifest[next(iter(manifest)) if key is first else key]
        manifest[last] = value(manifest[last]) if callable(value) else value

    return edit


def first():
    """In the place of a key: the first one."""


def both(*edits):
    def edit(manifest):
        for one in edits:
            one(manifest)

    return edit


MANIFESTS = {
    "a thousand million shards": both(
        put("settings", "n", 2 * 10**9), put("complete", False), put("shards", {}), put("summary", {})
    ),
    "a thousand million shards, whole": put("settings", "n", 2 * 10**9),
    "one shard of all": both(put("settings", "n", 10**12), put("settings", "shard", 10**12)),
    "a million rows in a small file": both(put("settings", "n", 10**6), put("settings", "shard", 10**6)),
    "as many rows as it says": both(
        put("settings", "n", 10**6),
        put("settings", "shard", 10**6),
        put(
            "shards", lambda s: {"train-00000.h5": {**s["train-00000.h5"], "examples": 10**6, "bytes": 10**5}}
        ),
    ),
    "huge n": put("settings", "n", HUGE),
    "negative n": put("settings", "n", -2),
    "n as a float": put("settings", "n", 4.0),
    "n as a truth": put("settings", "n", True),
    "endless jitter": put("settings", "jitter", ENDLESS),
    "jitter that is no number": put("settings", "jitter", float("nan")),
    "huge jitter": put("settings", "jitter", HUGE),
    "wide pictures": put("settings", "width", 10**9),
    "no pictures": put("settings", "height", 0),
    "kinds": put("settings", "entities", 10**9),
    "kinds of another world": both(put("settings", "entities", 10**9), put("settings", "catalogue", 77)),
    "a world of another version": both(put("settings", "catalogue", 77), put("settings", "world_seed", 3)),
    "negative shards": put("settings", "shard", -2),
    "many weathers": put("settings", "weathers", ["clear"] * 10_000),
    "strange weathers": put("settings", "weathers", [["clear"]]),
    "relations": put("settings", "relations", [1, 2]),
    "probabilities above 1": put("settings", "subject_frequencies", lambda p: [5.0, *p[1:]]),
    "no sum": put("settings", "subject_frequencies", [0.0] * 5),
    "one kind alone": both(
        *(put("settings", f"{role}_frequencies", [1.0, 0, 0, 0, 0]) for role in ("subject", "object"))
    ),
    "numbers that are none": put("settings", "object_frequencies", [float("nan")] * 5),
    "a list of lists": put("settings", "object_frequencies", [[[]]] * 5),
    "a long file": put("settings", "frequencies", "\x1b]0;owned\x07" * 10_000),
    "schema as a truth": put("schema", True),
    "schema as a list": put("schema", ["2"] * 1000),
    "a million words": put("vocabulary", ["word"] * 10_000),
    "a long word": put("vocabulary", ["word" * 1000]),
    "a word for the terminal": put("vocabulary", ["\x1b[2J"]),
    "words that are none": put("vocabulary", [["yes"]]),
    "a version for the terminal": put("simtown", "1.0\x1b]0;owned\x07"),
    "a long version": put("simtown", "1" * 100_000),
    "many names": put("names", "props", ["x"] * 10_000),
    "names with lines": put("names", "weathers", ["clear\nrain"]),
    "fewer names": put("names", "entities", ["sedan"]),
    "no names": put("names", []),
    "huge counts": put("summary", "train", "answer", [HUGE, 1]),
    "negative counts": put("summary", "train", "answer", [-1, 5]),
    "counts of nothing": put("summary", "train", "answer", [0, 0]),
    "counts of more": put("summary", "test", "relation", lambda counts: [counts[0] + 1, *counts[1:]]),
    "counts as floats": put("summary", "train", "hidden", [1.5, 2.5]),
    "counts of strangers": put("summary", "../train", {}),
    "no hash": put("shards", first, "sha256", "../" * 21 + "x"),
    "a long hash": put("shards", first, "sha256", "0" * 100_000),
    "negative bytes": put("shards", first, "bytes", -1),
    "huge bytes": put("shards", first, "bytes", HUGE),
    "bytes for no example": put("shards", first, "bytes", 1),
    "huge loops": put("shards", first, "tried", "entity", [HUGE, HUGE]),
    "many loops": put("shards", first, "tried", {str(i): [1, 1] for i in range(1_000)}),
    "loops for the terminal": put("shards", first, "tried", {"\x1b[31m": [1, 1]}),
    "a shard elsewhere": put("shards", lambda shards: {**shards, "../outside.h5": shards["train-00000.h5"]}),
    "a shard with lines": put(
        "shards", lambda shards: {**shards, "train-00000.h5\n": shards["train-00000.h5"]}
    ),
    "a shard too many": put("shards", lambda shards: {**shards, "train-00002.h5": shards["train-00000.h5"]}),
    "a shard in a folder": put(
        "shards", lambda shards: {**shards, "train/00000/train-00000.h5": shards["train-00000.h5"]}
    ),
    "shards as a list": put("shards", [["train-00000.h5"]]),
    "shards that are none": put("shards", {"train-00000.h5": "milk"}),
    "huge acceptance": put("acceptance", first, "proposed", HUGE),
    "endless acceptance": put("acceptance", first, "rate", ENDLESS),
    "much acceptance": put("acceptance", lambda a: {str(i): next(iter(a.values())) for i in range(1_000)}),
    "nested": put("acceptance", json.loads("[" * 900 + "]" * 900)),
}


def fake(directory, edit):
    """Edit a manifest and seal it anew, as a deceiver would."""
    manifest = json.loads((directory / manifests.NAME).read_text())
    edit(manifest)
    (directory / manifests.NAME).write_text(
        json.dumps(manifests.sealed(manifest), indent=1, sort_keys=True) + "\n"
    )
    return directory


@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_manifest_that_no_data_set_has_is_refused(kind, town):
    fake(town, MANIFESTS[kind])
    with little_memory():
        for use in (open_dataset, lambda place: verify(place, None)):
            with pytest.raises(DamagedError, match=r"manifest\.json") as caught:
                use(town)
            assert len(str(caught.value).removeprefix(str(town))) < 600
            assert "\n" not in str(caught.value)
            assert "\x1b" not in str(caught.value)


def test_every_command_refuses_it_in_one_line(town, cli, tmp_path):
    fake(town, MANIFESTS["a thousand million shards"])
    commands = (
        ["info", town],
        ["preview", town, "--out", tmp_path / "x.png"],
        ["verify", town],
        ["gallery", town, "--out", tmp_path / "g"],
        ["export", town, "--to", "png", "--out", tmp_path / "e"],
        ["captions", town, "--out", tmp_path / "c"],
        ["render", f"{town}/train:0", "--out", tmp_path / "r.png"],
        ["info", f"{town}/train:0"],
        ["generate", *WORDS, "--out", town],
    )
    for words in commands:
        cli(*words).refuses("manifest.json", code=1)
    assert {path.name for path in tmp_path.iterdir()} == {"town"}


NO_JSON = {
    "open": "[",
    "zero": "\0",
    "digits": '{"a": 1' + "0" * 5_000 + "}",
}


@pytest.mark.parametrize("kind", NO_JSON)
def test_what_is_no_json_is_refused(kind, town):
    (town / manifests.NAME).write_text(NO_JSON[kind])
    with pytest.raises(DamagedError, match=r"manifest\.json"):
        open_dataset(town)


def test_as_many_shards_as_a_manifest_lists(cli, tmp_path):
    """What generate could not read again, it does not begin."""
    most = 2 * MOST_SHARDS
    Settings(n=most - 4, val=2, test=2, shard=2).check_apart_from_frequencies()
    with pytest.raises(SettingsError, match="larger `shard`"):
        Settings(n=most - 2, val=2, test=2, shard=2).check_apart_from_frequencies()
    with pytest.raises(SettingsError, match=r"^shard must be"):
        Settings(shard=LARGEST_SHARD + 2).check_apart_from_frequencies()
    cli("generate", "--n", 2 * 10**9, "--shard", 2, "--out", tmp_path / "t").refuses("1,000,001,500 files")
    assert not list(tmp_path.iterdir())


def test_every_shard_has_its_own_name():
    for settings in (TINY, Settings(n=4_004, val=6, test=0, shard=2)):
        listed = tasks(settings)
        assert [task_of(settings, task.name) for task in listed] == listed
    for name in (
        "train-00002.h5",
        "val-00001.h5",
        "train-0.h5",
        "train-00000.h5\n",
        "x/00000/train-00000.h5",
        "train-٠٠٠٠٠.h5",
        "",
    ):
        assert task_of(TINY, name) is None


def test_a_table_that_a_manifest_names_is_never_opened(town, tmp_path, monkeypatch, cli):
    """The frequencies stand in the manifest; where they came from is a name, and may be of a pipe."""
    for setting, values in (("frequencies", None), ("paint", [1 / len(PAINTS)] * len(PAINTS))):
        os.mkfifo(tmp_path / setting)
        fake(town, put("settings", setting, str(tmp_path / setting)))
        if values:
            fake(town, put("settings", "paint_frequencies", values))
    assert len(open_dataset(town).train) == 4
    assert verify(town, None).problems  # its paints are others
    cli("info", town).succeeds()
    cli("preview", town, "--out", tmp_path / "x.png").succeeds()


# what lies in the folder


@pytest.mark.parametrize("name", ["manifest.json", "timings.json", "train-00001.h5", "preview.png"])
def test_nothing_is_written_or_read_through_a_link(name, town, tmp_path, cli):
    """generate continues in the folder; what its links lead to stays as it was."""
    outside = tmp_path / "outside"
    (town / "preview.png").write_bytes(b"a picture")
    (town / name).rename(outside)
    (town / name).symlink_to(outside)
    before = outside.read_bytes()
    done = cli("generate", *WORDS, "--out", town)
    assert outside.read_bytes() == before
    if name in ("timings.json", "preview.png"):
        done.succeeds()
        assert not timings.load(store_of(town)) or name != "timings.json"
    else:
        assert len(done.messages) == 1
        assert name in done.messages[0]
        assert "symbolic link" in done.messages[0]
    (town / "train-00000.h5").unlink()
    cli("generate", *WORDS, "--out", town)
    assert outside.read_bytes() == before


def test_a_link_to_nowhere_is_nothing(town, tmp_path, cli):
    (town / "train-00001.h5").unlink()
    (town / "train-00001.h5").symlink_to(tmp_path / "outside.h5")
    cli("generate", *WORDS, "--out", town).refuses("symbolic link")
    assert not (tmp_path / "outside.h5").exists()


def test_folders_of_shards_are_no_links(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "town").mkdir()
    (tmp_path / "town" / "train").symlink_to(tmp_path / "outside")
    store = DirectoryStore(tmp_path / "town")
    name = "train/00000/train-00000.h5"
    for use in (lambda: store.making(name), lambda: store.reading(name, 100)):
        with pytest.raises(RefusedError, match="symbolic link"), use():
            pass
    with pytest.raises(RefusedError, match="symbolic link"):
        store.check([name])
    assert not list((tmp_path / "outside").iterdir())


def test_only_files_that_we_began_are_removed(town, tmp_path):
    half = ".train-00000.h5.0123456789abcdef.tmp"
    (tmp_path / "outside").write_bytes(b"mine")
    (town / half).symlink_to(tmp_path / "outside")
    (town / ".val-00000.h5.0123456789abcdef.tmp").mkdir()
    os.mkfifo(town / ".test-00000.h5.0123456789abcdef.tmp")
    (town / ".train-00001.h5.77.tmp").write_bytes(b"of the person")
    (town / ".train-00001.h5.0123456789abcdef.tmp").write_bytes(b"ours")
    DirectoryStore(town).tidy()
    assert sorted(p.name for p in town.glob(".*")) == sorted(
        [
            half,
            ".val-00000.h5.0123456789abcdef.tmp",
            ".test-00000.h5.0123456789abcdef.tmp",
            ".train-00001.h5.77.tmp",
        ]
    )
    assert (tmp_path / "outside").read_bytes() == b"mine"


@pytest.mark.parametrize(
    "name", ["a\nb", "\x1b[2J", os.fsdecode(b"\xff\xfe")], ids=["line", "terminal", "bytes"]
)
def test_names_of_strangers_are_one_line(name, town, cli):
    (town / name).write_bytes(b"")
    done = cli("verify", town)
    assert done.code == 1
    assert len(done.messages) == 2
    assert "\x1b" not in done.err


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        '{"runs": 7}',
        '{"runs": [7]}',
        "[",
        '{"runs": [{"examples": 1' + "0" * 400 + "}]}",
        json.dumps(
            {
                "runs": [
                    {
                        "examples": HUGE,
                        "wall_seconds": 1,
                        "workers": 1,
                        "stage_seconds": {},
                        "stage_shares": {},
                    }
                ]
            }
        ),
    ],
    ids=["list", "number", "numbers", "nested", "digits", "huge"],
)
def test_timings_that_are_none_are_left_out(content, town, cli):
    (town / "timings.json").write_text(content)
    assert "How it was made" not in cli("info", town).succeeds().out
    (town / "timings.json").unlink()
    os.mkfifo(town / "timings.json")
    assert timings.load(store_of(town)) == []


def test_many_runs_of_timings_are_not_all_shown(town):
    run = json.loads((town / "timings.json").read_text())["runs"][0]
    (town / "timings.json").write_text(json.dumps({"runs": [run] * 2_000}))
    assert len(timings.load(store_of(town))) == 1_000
    (town / "timings.json").write_text(json.dumps({"runs": [{**run, "workers": "\x1b[2J"}]}))
    assert timings.load(store_of(town)) == []


# behind a URL


@pytest.fixture
def remote(made, monkeypatch, tmp_path):
    """The data set behind a URL, and a function that exchanges a file there."""
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install '.[cluster]'")
    files, url = fsspec.filesystem("memory"), f"memory://{tmp_path.name}/town"
    for path in made.iterdir():
        files.pipe_file(f"{url}/{path.name}", path.read_bytes())
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))
    return url, lambda name, content: files.pipe_file(f"{url}/{name}", content)


def test_a_download_is_no_larger_than_it_may_be(remote, tmp_path, monkeypatch):
    url, exchange = remote
    exchange("train-00000.h5", bytes(20_000_000))
    data = open_dataset(url)
    with pytest.raises(RefusedError, match="larger than"):
        data.train.images([0])
    with pytest.raises(RefusedError, match="larger than"):
        Remote(url).get("train-00000.h5", tmp_path / "x", 1_000_000)
    assert (tmp_path / "x").stat().st_size < 10_000_000
    monkeypatch.setattr(manifests, "LARGEST", 1_000)
    with pytest.raises(RefusedError, match="larger than"):
        open_dataset(url)


def test_a_cache_leads_nowhere_else(remote, tmp_path):
    url, _ = remote
    (tmp_path / "outside").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "data").symlink_to(tmp_path / "outside")
    with pytest.raises(RefusedError, match="symbolic link"):
        open_dataset(url)
    (tmp_path / "cache" / "data").unlink()
    place = Mirror(Remote(url)).path
    (tmp_path / "secret").write_bytes(b"mine")
    (place / "train-00000.h5").symlink_to(tmp_path / "secret")
    with pytest.raises(RefusedError, match="symbolic link"):
        open_dataset(url).train.column("answer")
    assert not list((tmp_path / "outside").iterdir())


# tables and scenes

TABLES = {
    "a long cell": 'entity,subject,object\nsedan,"' + "1" * 200_000 + '",1\n' * 2,
    "zero": "entity,subject,object\nsedan,\0,1\n",
    "endless": "entity,subject,object\nsedan,1e999,1\nbus,1,1\n",
    "no numbers": "entity,subject,object\nsedan,nan,1\nbus,1,1\n",
    "huge": "entity,subject,object\nsedan,1" + "0" * 5_000 + ",1\nbus,1,1\n",
    "fewer columns": "entity,subject,object\nsedan\nbus\n",
    "no text": "\xff\xfe",
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_that_are_none_are_refused(kind, tmp_path, cli):
    path = tmp_path / "table.csv"
    path.write_text(TABLES[kind], encoding="latin-1")
    with pytest.raises(ValueError, match=r"table\.csv|frequencies must be"):
        frequencies(str(path), 2)
    path.write_text(
        TABLES[kind].replace("entity,subject,object", "paint,weight").replace("sedan", "red"),
        encoding="latin-1",
    )
    with pytest.raises(ValueError, match=r"table\.csv"):
        paint_frequencies(str(path))
    for option in ("--frequencies", "--paint"):
        done = cli("generate", option, path, "--entities", 2, "--out", tmp_path / "t")
        assert done.code == 2
        assert len(done.messages) == 1
    assert not (tmp_path / "t").exists()


def test_a_table_is_a_plain_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path), "x\0y", "x" * 5_000):
        with pytest.raises(ValueError, match="unknown frequencies"):
            frequencies(name, 2)
        with pytest.raises(ValueError, match="unknown paint"):
            paint_frequencies(name)
    (tmp_path / "table.csv").write_text("entity,subject,object\nsedan,1,1\nbus,3,1\n")
    (tmp_path / "link.csv").symlink_to("table.csv")  # named by the person
    assert frequencies(str(tmp_path / "link.csv"), 2)[0].tolist() == [0.25, 0.75]


SCENE = json.loads(Scene.from_json('{"vehicles": [], "props": [], "weather": {}, "camera": {}}').to_json())
SCENES = {
    "huge place": {"vehicles": [{"entity": "sedan", "x": HUGE, "y": 0}]},
    "endless place": {"vehicles": [{"entity": "sedan", "x": ENDLESS, "y": 0}]},
    "no number": {"vehicles": [{"entity": "sedan", "x": float("nan"), "y": 0}]},
    "text": {"vehicles": [{"entity": "sedan", "x": "0", "y": 0}]},
    "list": {"vehicles": [{"entity": "sedan", "x": [0], "y": 0}]},
    "no name": {"vehicles": [{"entity": ["sedan"], "x": 0, "y": 0}]},
    "no paint": {"vehicles": [{"entity": "sedan", "x": 0, "y": 0, "paint": 7}]},
    "style": {"props": [{"kind": "bench", "x": 0, "y": 0, "style": 1 << 16}]},
    "half a style": {"props": [{"kind": "bench", "x": 0, "y": 0, "style": 1.5}]},
    "seed": {"weather": {"seed": -1}},
    "a storm": {"weather": {"kind": "snow", "intensity": 1e5}},
    "truth": {"weather": {"intensity": True}},
    "camera": {"camera": {"focal": 1e9}},
    "no lens": {"camera": {"focal": 0}},
    "no camera": {"camera": "x"},
    "a stranger": {"camera": {"__class__": 7}},
    "no things": {"props": 7},
}


@pytest.mark.parametrize("kind", SCENES)
def test_scenes_that_are_none_are_refused(kind):
    text = SCENES[kind] if isinstance(SCENES[kind], str) else json.dumps({**SCENE, **SCENES[kind]})
    with pytest.raises((ValueError, TypeError, KeyError)):
        Scene.from_json(text)


def test_nothing_of_a_data_set_names_a_place_of_this_machine(town):
    """Its manifest travels with it."""
    assert str(Path.home()) not in (town / manifests.NAME).read_text()
    assert str(town.parent) not in (town / manifests.NAME).read_text()
