"""The page of an evaluation: its rows are those of the results, pictures are there, and no reply is code."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from simtown import open_dataset
from simtown.core.untrusted import RefusedError
from simtown.probes.report import Results
from simtown.vlm.evaluation_page import write_page
from simtown.vlm.vlm_run import RECORD, evaluate_model
from simtown.vlm.vlm_settings import VlmSettings

HOSTILE = """\
def say(prompt, picture, choices):
    return f"</script><script>alert(1)</script> The answer is {choices[len(prompt) % len(choices)]}."
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory, towns):
    place = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        (place / "hostile_model.py").write_text(HOSTILE)
        data, how = open_dataset(towns[1]), VlmSettings(controls=20)
        allowed = {"allow_model": ["hostile_model:say"]}
        results = evaluate_model("python:hostile_model:say", data, how, place / "out", **allowed)
        page = write_page(results, data)
    text = (page.parent / "rows.js").read_text()
    assert text.startswith("evaluation.begin(")
    about = json.loads(text.removeprefix("evaluation.begin(").rstrip(")\n"))
    rows = [dict(zip(about["columns"], row, strict=True)) for row in about["rows"]]
    return page, about, rows, data


def test_every_question_and_reply_is_on_the_page(written):
    page, about, rows, _ = written
    for condition in {row["condition"] for row in rows}:
        stored = pq.read_table(page.parent / f"{condition}.parquet").to_pylist()
        own = [row for row in rows if row["condition"] == condition]
        assert [row["key"] for row in own] == [row["key"] for row in stored]
        right = [row["outcome"] == "right" for row in own]
        assert right == [row["right"] for row in stored]
        assert [row["outcome"] == "unread" for row in own] == [row["unparsed"] for row in stored]
    assert len(about["families"]) == len({row["part"] for row in rows})
    assert len(about["verdict"]) == 2
    assert any(row["reason"] for row in rows)


def test_every_picture_is_there(written):
    page, _, rows, data = written
    shown = {row["picture"] for row in rows if row["picture"] is not None}
    assert shown == set(range(len(data.test)))
    assert all((page.parent / "pictures" / f"{number}.webp").stat().st_size for number in shown)
    assert {row["picture"] for row in rows if row["condition"] == "no-picture"} == {None}


def test_a_page_is_written_into_its_directory_alone(written, tmp_path, contents):
    page, _, _, data = written
    out, outside = tmp_path / "out", tmp_path / "outside"
    shutil.copytree(page.parent, out)
    outside.mkdir()
    for name in ("rows.js", "pictures/0.webp", "index.html"):
        (out / name).unlink()
        (outside / "letter").write_text("Dear Ann,")
        (out / name).symlink_to(outside / "letter")
    before, results = contents(outside), Results(out, RECORD.load(out))
    write_page(results, data)
    assert contents(outside) == before
    shutil.rmtree(out / "pictures")
    (out / "pictures").symlink_to(outside)
    with pytest.raises(RefusedError, match="pictures"):
        write_page(results, data)
    assert contents(outside) == before


def test_a_reply_is_no_code_and_a_second_run_writes_the_same(written):
    page, _, _, data = written
    assert "alert(1)" not in page.read_text()
    assert "script-src 'sha256-" in page.read_text()
    before = page.read_bytes(), (page.parent / "rows.js").read_bytes()
    how, allowed = VlmSettings(controls=20), {"allow_model": ["hostile_model:say"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(page.parent.parent)
        results = evaluate_model("python:hostile_model:say", data, how, page.parent, **allowed)
    write_page(results, data)
    assert (page.read_bytes(), (page.parent / "rows.js").read_bytes()) == before
