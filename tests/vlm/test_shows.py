"""What a model is shown: the text decides, favours no twin, and the shows of one run are compared."""

import re
from collections import Counter

import pyarrow.parquet as pq
import pytest

from simtown import generate, open_dataset
from simtown.core.tables import read_rows
from simtown.datasets.settings import Settings
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import score_reply
from simtown.language.words.scene_text import STYLES
from simtown.vlm.compared_shows import compare_shows, interference
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.shows import chosen_shows, context
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import SHOWS, VlmSettings
from tests.vlm import text_reader

READER = "tests.vlm.text_reader:read"


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    out = tmp_path_factory.mktemp("shown") / "twins"
    about = {"questions": ("all",), "crowd": "3-5", "cannot_tell": 0.1, "frequencies": "uniform"}
    generate(
        Settings(entities=15, n=4, val=0, test=276, width=64, height=64, twins=True, **about), out, workers=1
    )
    return open_dataset(out)


@pytest.fixture(params=["twins", "families", "paper"])
def data(request, towns):
    if request.param == "twins":
        return request.getfixturevalue("twins")
    return open_dataset(towns[request.param == "families"])


@pytest.mark.parametrize("style", STYLES)
def test_a_reader_of_the_text_alone_is_always_right(data, style):
    asked, wrong = AskedSplit(data, "test"), []
    show = chosen_shows(VlmSettings(show=("text",), text_as=style))["text"]
    for number in range(len(asked)):
        (query,) = show(asked[number])
        assert query.picture is None
        reply = text_reader.read(query.text, None, query.gold.choices)
        if score_reply(reply, query.gold, spoken_names(query.gold.type)) != 1:
            wrong.append((query.text, reply, query.gold.answer))
    assert wrong == []


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("distractors", [0, 3])
def test_texts_of_twins_have_the_same_words(twins, style, distractors):
    asked = AskedSplit(twins, "test")
    for number in range(0, len(asked), 5):
        texts = [context(one, style, distractors) for one in (asked[number], asked[number].twin)]
        one, other = (Counter(re.findall(r"[\w-]+(?:[.']\w+)?", text)) for text in texts)
        assert one == other
        assert texts[0] != texts[1]


def test_which_is_said_first_does_not_say_what_is_so(twins):
    asked = AskedSplit(twins, "test")
    texts = [context(asked[number], "sentences", 2) for number in range(len(asked))]
    firsts = [min(text.find("This is so:"), text.find("This is not so:")) == text.find("This is so:")
              for text in texts if "This is so:" in text]  # fmt: skip
    assert 0.35 < sum(firsts) / len(firsts) < 0.65


def test_shows_of_one_run_are_compared(twins, tmp_path):
    settings = VlmSettings(show=SHOWS, controls=0, examples=184)
    results = evaluate_model(f"python:{READER}", twins, settings, tmp_path / "out", allow_model=(READER,))
    assert list(results.tasks) == [*SHOWS]
    assert results.tasks["text"]["accuracy"] == results.tasks["both"]["accuracy"] == 1
    assert results.tasks["picture"]["accuracy"] == results.tasks["none"]["accuracy"] < 0.7
    for name in SHOWS:
        assert pq.read_table(tmp_path / "out" / f"{name}.parquet").num_rows == 184
    rows = [row.cells for row in read_rows(tmp_path / "out" / "shows.csv", ["part", "n", "reads", "sees"])]
    assert int(rows[0]["n"]) == 184
    assert float(rows[0]["reads"]) == 1
    for prefix in ("margin", "vehicles"):
        assert sum(prefix in row["part"] for row in rows) > 1
    more = VlmSettings(show=("text",), controls=0, examples=184)
    again = evaluate_model(f"python:{READER}", twins, more, tmp_path / "out", allow_model=(READER,))
    assert list(again.tasks) == ["text"]


def test_a_picture_that_hurts_is_said_to():
    def rows(right):
        same = {"family": "lane", "relation": "", "margin": float("nan"), "vehicles": 2}
        return [{**same, "right": own, "cluster": n} for n, own in enumerate(right)]

    text, both = rows([True] * 100), rows([n % 3 > 0 for n in range(100)])
    assert "hurts" in interference({"text": text, "both": both})
    assert "hurts" not in interference({"text": text, "both": text})
    table = compare_shows({"text": text, "both": both}, 5)
    assert table.rows[0][:3] == ["all, 5 kinds in the world", 100, 1.0]


def test_an_example_knows_its_twin(twins):
    for number in (0, 1, 2, 7):
        example = twins.test[number]
        assert example.twin.question == example.question
        assert example.twin.reply != example.reply
        assert example.twin.twin.reply == example.reply
    assert open_dataset(twins.path).test[0].twin is not None


def test_without_twins_there_is_no_twin(paper):
    assert paper.test[0].twin is None
