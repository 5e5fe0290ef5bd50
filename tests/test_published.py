"""What is given to others names no folder of this machine, and nothing in it is a command."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from simtown.core.files import ForeignDirectoryError
from simtown.datasets.addresses import name_of
from simtown.datasets.export import export
from simtown.datasets.making import manifests
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.remote import Remote
from simtown.datasets.settings import Settings
from simtown.datasets.showing.gallery import gallery
from simtown.probes.model_names import without_folders

#: Part of every path of these tests.
HOME = "home-of-ann"
#: Names that a spreadsheet, a page, LaTeX, matplotlib or its legend would not take for words.
EVIL = ["=cmd|' /C calc'!A0", "[x](javascript:alert(1))", "<img src=x onerror=alert(1)>", "$\\frac$"]
EVIL += ["_hidden", "\x1b[2J a|b"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A data set whose frequencies and paints come from files of somebody's home, in that home."""
    place = tmp_path_factory.mktemp(HOME)
    rows = "".join(f"e{i},{9 - i},{i + 1}\n" for i in range(5))
    (place / "counts.csv").write_text(f"entity,subject,object\n{rows}")
    (place / "paints.csv").write_text("paint,weight\nred,3\nblue,1\n")
    small = {"entities": 5, "n": 4, "val": 2, "test": 2, "width": 32, "height": 32, "masks": True}
    settings = Settings(**small, frequencies=str(place / "counts.csv"), paint=str(place / "paints.csv"))
    generate(settings, place / "town", workers=1)
    return place, settings


def texts(directory):
    """The content of all files, by name."""
    paths = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def nobodys(directory):
    """No file says where it was made."""
    assert [name for name, content in texts(directory).items() if HOME.encode() in content] == []
    return True


def test_a_data_set_and_what_is_made_of_it(home, tmp_path):
    place, _ = home
    assert nobodys(place / "town")
    recorded = json.loads((place / "town" / "manifest.json").read_text())["settings"]
    assert recorded["frequencies"].startswith("counts.csv (table ")
    data = open_dataset(place / "town")
    gallery(data, tmp_path / "gallery")
    pytest.importorskip("pyarrow")
    for form in ("parquet", "coco"):
        export(data, form, ["train"], tmp_path / form)
    assert nobodys(tmp_path)


def test_the_same_table_continues_and_another_is_refused(home, tmp_path):
    place, settings = home
    assert generate(settings, place / "town", workers=1)["complete"]
    (tmp_path / "counts.csv").write_text((place / "counts.csv").read_text())
    moved = replace(settings, frequencies=str(tmp_path / "counts.csv"))
    assert generate(moved, place / "town", workers=1)["complete"]
    (tmp_path / "counts.csv").write_text((place / "counts.csv").read_text().replace("e0,9", "e0,90"))
    with pytest.raises(ForeignDirectoryError, match=r"`frequencies` counts.csv .*, now counts"):
        generate(moved, place / "town", workers=1)


def test_a_manifest_of_an_older_simtown_continues(home, copy):
    place, settings = home
    directory = copy(place / "town")
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["settings"] |= {"frequencies": settings.frequencies, "paint": settings.paint}
    manifests.require_settings("the copy", manifest, settings)
    manifests.save(directory, manifest)
    assert generate(settings, directory, workers=1)["complete"]


def test_a_moved_table_is_not_read(home, cli, copy):
    """The manifest has the frequencies themselves: nothing reads the file that it names, wherever that is."""
    place, _ = home
    directory = copy(place / "town")
    for words in (["info", directory], ["verify", directory, "--pictures", 0]):
        cli(*words).succeeds()
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["settings"]["frequencies"] = "/etc/passwd"
    manifests.save(directory, manifest)
    assert "root:" not in cli("info", directory).succeeds().out


def test_runs_and_their_streams(home, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from simtown.training.fit import fit
    from simtown.training.fit_settings import FitSettings

    place, _ = home
    monkeypatch.chdir(tmp_path)
    settings = FitSettings("question-only", 4, 0, {}, "paper", 2, 1, 4, 1e-3, 1, stream=True)
    run = fit(settings, place / "town", tmp_path / "run")
    assert run["data"]["name"] == "town"
    assert run["data"]["frequencies"].startswith("counts.csv (table ")
    assert nobodys(tmp_path / "run")
    assert fit(settings, place / "town", tmp_path / "run") == run
    older = {**run, "data": {**run["data"], "path": str(place), "frequencies": str(place / "counts.csv")}}
    (tmp_path / "run" / "run.json").write_text(json.dumps(older))
    assert fit(settings, place / "town", tmp_path / "run")["status"] == "done"


def test_models_are_named_without_the_folders_before_them():
    for same in ("hf:bert-base-uncased", "glove:data/glove.txt", "majority", "lstm:../lm"):
        assert without_folders(same) == same
    one, other = (without_folders(f"hf:/{home}/lm/final") for home in (HOME, "elsewhere"))
    assert one.startswith("hf:lm/final (path ")
    assert one != other
    assert without_folders(one) == one


def test_urls_are_named_without_passwords():
    store = Remote("memory://ann:secret@bucket/town?sig=secret")
    assert str(store) == "memory://bucket/town"
    assert name_of(store.url) == "town"
    assert "secret" not in name_of("https://ann:secret@host")
    with pytest.raises((OSError, ValueError)) as error:
        Remote("nonsense+scheme://ann:secret@bucket/town").listing()
    assert "secret" not in str(error.value)
    quoting = OSError(5, 'Invalid bucket name "ann:secret@bucket" in town?sig=secret')  # as libraries write
    with pytest.raises(OSError, match="bucket") as error, store._files():
        raise PermissionError(quoting)
    assert "secret" not in str(error.value)


def test_a_heat_map_of_evil_names_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("msgspec")
    from simtown.visualgenome.sparsity import Sparsity, heatmap, write_tables

    n = len(EVIL)
    counts = np.ones((3, n, n), dtype=np.int64)
    found = Sparsity(tuple(EVIL), np.ones(n, dtype=np.int64), 9, *counts, 0)
    heatmap(found, tmp_path / "map.png")
    write_tables(found, tmp_path / "map.csv")
    assert (tmp_path / "map.csv").read_text().count("\n") == 1 + n * (n - 1)
    assert os.path.getsize(tmp_path / "map.png") > 1000
