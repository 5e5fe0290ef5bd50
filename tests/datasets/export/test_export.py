"""What holds for every format: whole or absent, over nothing, the same bytes, one line for bad input."""

import json
import sys
from dataclasses import replace

import pytest

from simtown.core.files import DamagedError
from simtown.datasets.export import export, png
from simtown.datasets.export.portion import write_listing
from simtown.datasets.export.yaml import yaml
from simtown.datasets.formats import FORMATS
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "pairs"])
def test_the_same_data_set_gives_the_same_bytes_whoever_works(form, exported, contents, tmp_path, scattered):
    out, data = exported(form)
    counted = []
    export(data, form, [], tmp_path / "again", counted.append, scattered)
    assert sum(counted) == 24 + 8 + 6
    assert contents(out) == contents(tmp_path / "again")


def test_a_damaged_shard_is_told_of_whoever_reads_it_and_nothing_is_left(copy, rich, tmp_path, scattered):
    town = copy(rich, "town")
    (town / "test-00000.h5").write_bytes((town / "test-00000.h5").read_bytes()[:2000])
    with pytest.raises(DamagedError, match=r"test-00000\.h5 is damaged"):
        export(open_dataset(town), "png", [], tmp_path / "png", pool=scattered)
    assert [path.name for path in tmp_path.iterdir()] == ["town"]


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "pairs"])
def test_the_command_writes_what_the_function_writes(form, exported, contents, cli, copy, rich):
    town = copy(rich, rich.name)  # tasks are called by the name of the data set
    before = contents(town)
    done = cli("export", town, "--to", form, "--split", "val,test").succeeds()
    assert done.out.splitlines()[0] == f"{town}-{form}: 8 val + 6 test examples for {form}"
    assert contents(town) == before
    made, whole = contents(town.with_name(f"{town.name}-{form}")), contents(exported(form)[0])
    shared = [name for name in whole if name in made and "val" in name]
    assert shared
    assert all(made[name] == whole[name] for name in shared)
    assert not [name for name in made if "train" in name]


def test_parquet_says_how_to_put_it_on_the_hub(cli, plain, tmp_path):
    pytest.importorskip("pyarrow")
    done = cli("export", plain, "--to", "parquet", "--out", tmp_path / "my data").succeeds()
    assert f"hf upload USER/NAME '{tmp_path}/my data' . --repo-type dataset" in done.out


def test_bad_input_is_one_line(cli, plain, tmp_path, copy):
    cli("export", plain, "--to", "xml").refuses("unknown format 'xml'", "coco, clevr")
    cli("export", plain, "--to", "png", "--split", "dev").refuses("--split dev is unknown", "train")
    cli("export", tmp_path, "--to", "png").refuses("holds no simtown data set")
    cli("export", plain, "--to", "png", "--out", plain).refuses("is there already")
    (tmp_path / "file").write_text("mine")
    cli("export", plain, "--to", "png", "--out", tmp_path / "file").refuses("is there already")
    assert (tmp_path / "file").read_text() == "mine"
    town = copy(plain)
    (town / "train-00000.h5").write_bytes((town / "train-00000.h5").read_bytes()[:2000])
    cli("export", town, "--to", "png").refuses("train-00000.h5", "simtown verify", code=1)
    assert not list(tmp_path.glob("*copy-png*"))


def test_a_stopped_export_says_so_and_leaves_nothing(cli, plain, tmp_path, monkeypatch):
    def stop(data, splits, directory):
        assert sum(path.stat().st_size for path in directory.glob(".parts/train-questions-*")) > 0
        raise KeyboardInterrupt

    monkeypatch.setattr(png, "FORMAT", replace(png.FORMAT, finish=stop))
    cli("export", plain, "--to", "png", "--out", tmp_path / "x").refuses("stopped", code=130)
    assert not list(tmp_path.iterdir())


def test_an_empty_split_is_refused_by_name_and_left_out_otherwise(cli, tmp_path, contents):
    generate(Settings(entities=5, n=4, val=0, test=0, width=32, height=32), tmp_path / "t", workers=1)
    cli("export", tmp_path / "t", "--to", "png", "--split", "val").refuses("has no val examples")
    cli("export", tmp_path / "t", "--to", "png").succeeds()
    names = {name.split("/")[0] for name in contents(tmp_path / "t-png")}
    assert names == {"train", "questions.jsonl", ".simtown.json"}


def test_a_library_that_is_missing_is_named_with_its_extra(plain, tmp_path, cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "simtown.datasets.export.parquet", raising=False)
    outcome = cli("export", plain, "--to", "parquet", "--out", tmp_path / "p")
    outcome.refuses("Parquet needs pyarrow: pip install '.[export]'")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("words", [("export", "--to", "png"), ("gallery",)])
def test_what_was_finished_is_complete_and_not_made_again(words, plain, copy, cli, contents, tmp_path):
    town, made = copy(plain), tmp_path / f"copy-{words[-1]}"
    cli(words[0], town, *words[1:]).succeeds()
    before = contents(made)
    assert f"{made} is complete" in cli(words[0], town, *words[1:]).succeeds().out
    generate(Settings(entities=5, n=4, val=0, test=0, width=32, height=32), tmp_path / "other", workers=1)
    cli(words[0], tmp_path / "other", *words[1:], "--out", made).refuses("is there already")
    assert contents(made) == before
    next(made.glob("*.*")).unlink()
    cli(words[0], town, *words[1:]).refuses("is there already")


def test_long_lists_are_the_json_they_should_be(tmp_path):
    info, lists = {"info": {"a": "é"}}, {"some": [{"i": 0}, {"i": 1}], "none": [], "more": [[0], [1]]}
    write_listing(tmp_path / "x.json", info, {name: map(json.dumps, rows) for name, rows in lists.items()})
    assert json.loads((tmp_path / "x.json").read_text()) == info | lists


def test_yaml_is_read_back():
    reader = pytest.importorskip("yaml", reason="needs PyYAML: pip install '.[dev]'")
    value = {"a": {"0": "no", 1: "yes"}, "b": [{"c": [1, 2.5], "d": {"e": True}}, "text: # no"]}
    value |= {"f": [], "g-h": None, "i": {}}
    assert reader.safe_load(yaml(value)) == value
