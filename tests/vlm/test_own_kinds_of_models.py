"""Kinds of models that an installed package adds by an entry point."""

import sys

import pyarrow.parquet as pq
import pytest

from simtown.core.options import SettingsError
from simtown.vlm.models import open_model
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import GROUP, KINDS, VlmSettings, is_model

METADATA = "Metadata-Version: 2.1\nName: parrots\nVersion: 1\n"
PACKAGE = """\
from simtown.vlm.vision_model import BatchedModel, Said

class Parrot(BatchedModel):
    holds_turns = True

    def __init__(self, place, settings, device):
        self.place, self.batch = place, settings.batch

    def answer(self, queries):
        assert len(queries) <= self.batch
        return [Said(self.place, written=1) for query in queries]

def nothing(place, settings, device):
    return place
"""


@pytest.fixture
def parrots(tmp_path, monkeypatch):
    """A folder with a package that is installed, and its entry points."""
    folder = tmp_path / "site"
    (folder / "parrots-1.dist-info").mkdir(parents=True)
    (folder / "parrots.py").write_text(PACKAGE)
    kinds = {"parrot": "Parrot", "nothing": "nothing", "gone": "Dodo", "hf": "Parrot"}
    points = "".join(f"{name} = parrots:{value}\n" for name, value in kinds.items())
    (folder / "parrots-1.dist-info" / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    (folder / "parrots-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: parrots\nVersion: 1\n"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    yield folder
    sys.modules.pop("parrots", None)


def test_a_kind_of_ones_own_is_asked_as_any_other(paper, parrots, tmp_path):
    settings = VlmSettings(controls=0, batch=5, system="Speak.", price="0,1000000")
    results = evaluate_model("parrot:no", paper, settings, tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "picture.parquet").to_pylist()
    assert {row["answer"] for row in rows} == {"no"}
    assert results.content["total"]["cost"] == len(rows) == 24


@pytest.mark.slow
def test_the_command_knows_it(towns, parrots, tmp_path, together):
    calls = [
        ["evaluate", "parrot:yes", towns[0], "--dry-run"],
        ["evaluate", "parrot:yes", towns[0], "--controls", 0, "--out", tmp_path / "out"],
    ]
    predicted, asked = together(*calls, cwd=tmp_path)
    assert predicted.code == asked.code == 0, asked.err
    assert (tmp_path / "out" / "index.html").is_file()


def test_what_gives_no_model_is_named(parrots):
    for name in ("nothing:here", "gone:here", "parrot:", "parakeet:here"):
        with pytest.raises(SettingsError, match=name.partition(":")[0]):
            open_model(name, VlmSettings())


def test_no_package_takes_the_place_of_a_kind_of_ours(parrots, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_model(f"hf:{tmp_path / 'nowhere'}", VlmSettings())
    assert all(map(is_model, (f"{kind}:x" for kind in KINDS)))
    assert not any(map(is_model, ("runs/town", "runs/a:b", "parrots", "")))
