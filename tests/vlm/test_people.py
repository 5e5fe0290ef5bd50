"""People as a row: the page that asks them, in a browser; their answers as results; how far two agree."""

import csv
import json
import re
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from simtown import generate, open_dataset
from simtown.datasets.settings import Settings
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.leaderboard import kappa
from simtown.vlm.people_model import HEAD, QUESTIONS, page
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.conftest import HANGS

MODEL = "def first(prompt, picture, choices): return choices[0]\n"


def survey(html):
    """What the page asks."""
    return json.loads(re.search(r"const survey = (.*);\n", html)[1])


def write_answers(path, asked, answers):
    lines = [[asked["data"], key, text, f"{1 + number / 8}"] for number, (key, text) in enumerate(answers)]
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([asked["head"], *lines])


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A folder with a data set of more questions than people answer, what they were asked, and a person."""
    place = tmp_path_factory.mktemp("people")
    small = {"n": 2, "val": 0, "width": 32, "height": 32, "frequencies": "uniform"}
    generate(Settings(entities=5, test=QUESTIONS + 12, **small), place / "town", workers=1)
    asked = survey(page(open_dataset(place / "town"), "test"))
    write_answers(place / "ann.csv", asked, [(it["key"], "yes") for it in asked["questions"]])
    return place, asked


def golds(data):
    return {
        example.query().key: example.gold().answer
        for example in map(AskedSplit(data, "test").__getitem__, range(len(data.test)))
    }


def test_everyone_is_asked_the_same_first_questions_without_their_answers(town, towns):
    _, asked = town
    keys = [it["key"] for it in asked["questions"]]
    assert sorted(keys) == sorted(f"test:{number}" for number in range(QUESTIONS))
    assert keys[:3] != ["test:0", "test:1", "test:2"]
    assert {name for it in asked["questions"] for name in it} == {
        "key",
        "question",
        "choices",
        "metres",
        "picture",
    }
    assert page(open_dataset(towns[0]), "test") == page(open_dataset(towns[0]), "test")


def test_answers_become_a_result_that_is_compared_over_the_same_rows(town, cli, tmp_path, monkeypatch):
    place, asked = town
    monkeypatch.chdir(tmp_path)
    shown = cli("evaluate", f"people:{place / 'ann.csv'}", place / "town", "--out", "ann").succeeds()
    assert f"of {QUESTIONS} questions" in shown.out
    rows = pq.read_table("ann/picture.parquet").to_pylist()
    right = golds(open_dataset(place / "town"))
    assert [row["right"] for row in rows] == [right[f"test:{i}"] == "yes" for i in range(QUESTIONS)]
    times = {it["key"]: 1 + number / 8 for number, it in enumerate(asked["questions"])}
    assert [row["seconds"] for row in rows] == [times[f"test:{i}"] for i in range(QUESTIONS)]
    assert Path("ann/index.html").exists()

    Path("town_model.py").write_text(MODEL)
    data, allowed = open_dataset(place / "town"), ["town_model:first"]
    evaluate_model(
        "python:town_model:first", data, VlmSettings(controls=12), tmp_path / "model", allow_model=allowed
    )
    out = cli("compare", "model", "ann", "--out", "both").succeeds().out
    assert "no row of people" not in out
    with open("both/comparison.csv", newline="") as file:
        records = list(csv.DictReader(file))
    assert {(row["condition"], row["n"]) for row in records if row["questions"] == "all"} == {
        ("picture", "200")
    }
    with open("both/leaderboard.csv", newline="") as file:
        shares = {row["model"]: float(row["accuracy"]) for row in csv.DictReader(file)}
    yes = sum(right[f"test:{i}"] == "yes" for i in range(QUESTIONS)) / QUESTIONS
    assert sorted(shares.values()) == pytest.approx(sorted([yes, 1 - yes]))  # the model always says no

    evaluate_model(
        "python:town_model:first", data, VlmSettings(controls=0), tmp_path / "again", allow_model=allowed
    )
    evaluate_model(
        "python:town_model:first", data, VlmSettings(controls=0), tmp_path / "third", allow_model=allowed
    )
    cli("compare", "again", "third", "--out", "none").succeeds()
    assert "no row of people" in Path("none/leaderboard.md").read_text()


def test_every_right_answer_of_every_family_is_right(towns, tmp_path):
    data = open_dataset(towns[1])
    right = golds(data)
    write_answers(tmp_path / "best.csv", survey(page(data, "test")), right.items())
    results = evaluate_model(f"people:{tmp_path / 'best.csv'}", data, VlmSettings(), tmp_path / "out")
    assert results.tasks["picture"]["accuracy"] == 1
    assert list(results.tasks) == ["picture"]


def test_what_cannot_be_used_is_refused_in_one_line(town, towns, together, tmp_path):
    place, _ = town
    head, *lines = (place / "ann.csv").read_text().splitlines()
    data, key, _, _ = lines[0].split(",")
    elsewhere = next(line for line in lines if ",test:7," in line)
    changed = {
        "line 2 is damaged: 'maybe'": [head, f"{data},{key},maybe,1", *lines[1:]],
        "line 2 is damaged: 'soon'": [head, f"{data},{key},yes,soon", *lines[1:]],
        "line 2 is damaged: 'nan'": [head, f"{data},{key},yes,nan", *lines[1:]],
        "line 2 has 3 cells": [head, f"{data},{key},yes", *lines[1:]],
        "a second time": [head, *lines, lines[0]],
        "not among the 200": [head, *lines, f"{data},test:207,yes,1"],
        "such as to test:7": [head, *(line for line in lines if line != elsewhere)],
        "has no column 'data'": lines,
    }
    calls = {}
    for number, (word, content) in enumerate(changed.items()):
        file = tmp_path / f"{number}.csv"
        file.write_text("\n".join(content) + "\n")
        calls[word] = [f"people:{file}", place / "town"]
    own = f"people:{place / 'ann.csv'}"
    calls["another data set"] = [own, towns[0]]
    calls["nowhere.csv"] = ["people:nowhere.csv", place / "town"]
    calls["but --split"] = [own, place / "town", "--samples", "3"]
    calls["instead of --over"] = ["people", "--over", "entities=3"]
    calls["give a data set"] = ["people"]
    calls["has no examples"] = ["people", place / "town", "--split", "val"]
    outcomes = together(*(["evaluate", *words] for words in calls.values()), cwd=tmp_path)
    for word, outcome in zip(calls, outcomes, strict=True):
        assert outcome.code == 2, word
        assert len(outcome.err.splitlines()) == 1, word
        assert word in outcome.err
    assert not (tmp_path / "evaluations").exists()


@given(st.lists(st.tuples(*[st.sampled_from(["yes", "no", "5 m", None])] * 2), min_size=1, max_size=30))
def test_kappa_is_that_of_another_library(pairs):
    one, other = (np.array(own, object) for own in zip(*pairs, strict=True))
    mine = kappa(one, other)
    if len({*one, *other}) == 1:
        assert np.isnan(mine)
    else:
        assert mine == pytest.approx(cohen_kappa_score(*([str(it) for it in own] for own in (one, other))))


def test_the_page_from_the_first_question_to_the_file(browser, web, cli, towns, tmp_path):
    """Keys, fields and buttons answer; going back and closing the page lose nothing."""
    from selenium.webdriver.common.action_chains import ActionChains

    file = tmp_path / "ask.html"
    cli("evaluate", "people", towns[1], "--out", file).succeeds()
    cli("evaluate", "people", towns[1], "--out", file).refuses("--out")
    asked = survey(file.read_text())
    downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    run = browser.execute_script
    browser.get(f"{web}/{file.name}")
    run("document.getElementById('person').value = 'dora'; document.querySelector('#hello button').click()")
    given_answers = {}
    for number, it in enumerate(asked["questions"]):
        if number == 20:
            browser.refresh()
        if number == 30:
            run("document.getElementById('back').click()")
            before = asked["questions"][29]
            assert run("return document.getElementById('question').textContent") == before["question"]
            answer(run, ActionChains(browser), before, -1)
            given_answers[before["key"]] = before["choices"][-1]
        assert run("return document.getElementById('question').textContent") == it["question"]
        place = number % len(it["choices"])
        answer(run, ActionChains(browser), it, place)
        given_answers[it["key"]] = it["choices"][place]
    assert browser.find_element("id", "thanks").is_displayed()
    browser.find_element("id", "download").click()
    answers, end = tmp_path / "dora.csv", time.monotonic() + HANGS
    while not answers.exists() and time.monotonic() < end:
        time.sleep(0.05)
    rows = list(csv.DictReader(answers.read_text().splitlines()))
    assert list(rows[0]) == list(HEAD)
    assert {row["key"]: row["answer"] for row in rows} == given_answers
    assert all(float(row["seconds"]) > 0 for row in rows)
    cli("evaluate", f"people:{answers}", towns[1], "--out", tmp_path / "dora").succeeds()
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def answer(run, actions, question, place):
    """Give the answer at a place of the choices: by its key, or by the field."""
    choice = question["choices"][place]
    keys = run("return [...document.querySelectorAll('#buttons kbd')].map(key => key.textContent)")
    if keys:
        assert len({*keys}) == len(question["choices"])
        actions.send_keys(keys[place]).perform()
    elif choice == "cannot tell":
        run("document.getElementById('unsure').click()")
    else:
        text = choice.removesuffix(" m") if question["metres"] else choice
        run("document.getElementById('answer').value = arguments[0]", text)
        run("document.querySelector('#typed .main').click()")
