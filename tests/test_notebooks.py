"""What a notebook shows: pictures with words, and how far a call is."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

import simtown
from simtown.core import progress
from simtown.core.callbacks import ProgressCallback
from simtown.core.notebook import OBJECT, SUBJECT
from simtown.datasets.reading.reader import open_dataset
from tests.conftest import HANGS

TINY = simtown.Settings(entities=2, n=12, val=4, test=4, width=32, height=32)
NEEDS = "needs nbclient and ipykernel: pip install '.[docs]'"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    place = tmp_path_factory.mktemp("notebook") / "a <b> & c"
    simtown.generate(TINY, place)
    return open_dataset(place)


def pictures(page):
    """The pictures of a piece of HTML, (h, w, 3) uint8."""
    encoded = re.findall(r'src="data:image/webp;base64,([^"]+)"', page)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(each)))) for each in encoded]


def test_an_example_shows_its_picture_with_both_boxes_its_question_and_its_answer(data):
    example = data.train[0]
    page = example._repr_html_()
    (picture,) = pictures(page)
    assert picture.shape == (384, 384, 3)
    for slot, colour in ((example.subject_slot, SUBJECT), (example.object_slot, OBJECT)):
        x0, y0, x1, y1 = (int(12 * edge) for edge in example.boxes[slot])
        edges = picture[[y0, y1 - 1], (x0 + x1) // 2], picture[(y0 + y1) // 2, [x0, x1 - 1]]
        assert np.abs(np.concatenate(edges) - np.array(colour, dtype=float)).max(axis=1).min() < 40
    assert re.sub("<[^>]+>", "", page).startswith(
        f"{example.question} {'yes' if example.answer else 'no'}, by "
    )
    assert example.question in repr(example)
    assert "\n" not in repr(example)


def test_a_split_and_a_data_set_show_the_first_eight_examples(data):
    assert len(pictures(data.train._repr_html_())) == 8
    assert len(pictures(data.test._repr_html_())) == 4
    page = data._repr_html_()
    assert len(pictures(page)) == 8
    assert "a &lt;b&gt; &amp; c" in page
    assert "12 examples" in repr(data.train)


def test_a_town_and_its_truth_name_what_is_seen():
    town = simtown.Town.random(3)
    truth = town.truth((320, 180))
    for value in (town, truth):
        page = value._repr_html_()
        assert len(pictures(page)) == 1
        assert all(vehicle.name in page and vehicle.name in repr(value) for vehicle in town.vehicles)
        assert len(repr(value)) < 300
    (picture,) = pictures(truth._repr_html_())
    scale = picture.shape[1] // 320
    x0, y0, x1, _ = (scale * edge for edge in truth[town.vehicles[0].name].seen)
    assert np.abs(picture[y0, (x0 + x1) // 2] - np.array([0, 114, 178.0])).max() < 60
    assert repr(town.ask("How many vehicles are there?")).startswith("3: ")
    town.clear("vehicle")
    assert "no vehicle" in repr(town.truth(64))


def test_progress_is_shown_where_somebody_watches(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manifest = simtown.generate(TINY, "quiet")
    assert re.fullmatch(r"quiet: 12 train \+ 4 val \+ 4 test examples, .* MB in 3 shards", repr(manifest))
    assert len(manifest["shards"]) == 3
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    simtown.generate(TINY, "silent", callback=ProgressCallback())
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(progress, "PATIENCE", 0)
    simtown.generate(TINY, "shown")
    assert "20 of 20" in capsys.readouterr().err


CELLS = (
    "import simtown; settings = simtown.Settings(entities=2, n=12, val=4, test=4, width=32, height=32)",
    "simtown.generate(settings, 'set')",
    "simtown.open_dataset('set').train",
    "simtown.fit(simtown.FitSettings('question-only', max_steps=2, batch=4), 'set', 'run')",
)


@pytest.mark.slow
def test_a_kernel_shows_progress_pictures_and_sentences(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason=NEEDS)
    nbformat = pytest.importorskip("nbformat", reason=NEEDS)
    pytest.importorskip("ipykernel", reason=NEEDS)
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    more = {"timeout": HANGS, "startup_timeout": HANGS, "resources": {"metadata": {"path": str(tmp_path)}}}
    nbclient.NotebookClient(page, kernel_name="python3", **more).execute()
    made, shown, trained = (page.cells[number].outputs for number in (1, 2, 3))
    assert [output.output_type for output in made + trained] == ["display_data", "execute_result"] * 2
    assert made[0].data["text/plain"].startswith("generate set: 20 of 20")
    assert made[1].data["text/plain"].startswith("set: 12 train + 4 val")
    assert len(pictures(shown[0].data["text/html"])) == 8
    assert "test accuracy" in trained[1].data["text/plain"]
