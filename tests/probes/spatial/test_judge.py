"""The page that asks for judgements, in a browser; its answers, and the rule that removes workers."""

import csv
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simtown.probes.spatial import judge
from simtown.probes.spatial.judge import CATCHES, GREEN, HEAD, WORDS, Rating
from tests.conftest import HANGS


def rate(worker, rating):
    """All of a worker's answers by a function of the kind and the words."""
    trials = [("pair", frozenset(pair)) for pair in combinations(WORDS, 2)]
    trials += [("self", frozenset((word,))) for word in WORDS[:CATCHES]]
    trials += [("green", frozenset((word, GREEN))) for word in WORDS[:CATCHES]]
    return [Rating(worker, kind, words, rating(kind, words)) for kind, words in trials]


def sound(kind, words):
    """Catch trials as they should be, pairs by the words' letters."""
    known = {"self": 100, "green": 0}
    return known.get(kind, len(set.intersection(*map(set, words))) * 13 % 101)


@pytest.mark.parametrize(
    ("kind", "kept", "removed"), [("green", 60, 61), ("self", 90, 89), ("pair", 100, None)]
)
def test_the_cleaning_rule(kind, kept, removed):
    for rating, out in ((kept, set()), (removed, {"a"})):
        if rating is not None:
            one, other = frozenset(("on",)), frozenset(("on", "in"))
            assert judge.disbelieved([Rating("a", kind, one, rating), Rating("b", "pair", other, 1)]) == out


def test_agreement_after_cleaning():
    careless = rate("careless", lambda kind, words: 70)
    agreement = judge.rater_agreement([*rate("a", sound), *rate("b", sound), *careless])
    assert (agreement.workers, agreement.removed, agreement.ratings) == (3, ("careless",), 132)
    assert (agreement.alpha, agreement.one_out) == (pytest.approx(1), pytest.approx(1))
    i, j = WORDS.index("above"), WORDS.index("over")
    assert agreement.means[i, j] == agreement.means[j, i] == sound("pair", ("above", "over"))
    assert np.isnan(np.diag(agreement.means)).all()
    nobody = judge.rater_agreement([])
    assert (nobody.workers, nobody.ratings) == (0, 0)
    assert np.isnan([nobody.alpha, nobody.one_out]).all()


ratings = st.integers(0, 4).map(float) | st.just(np.nan)


@given(arrays(float, st.tuples(st.integers(2, 5), st.integers(2, 4)), elements=ratings))
def test_krippendorffs_alpha_is_one_less_observed_by_expected(table):
    units = [column[np.isfinite(column)] for column in table.T if np.isfinite(column).sum() > 1]
    values = [x for unit in units for x in unit]
    if len(values) < 2 or len(set(values)) == 1:
        assert np.isnan(judge.krippendorff(table))
        return
    observed = sum(sum((a - b) ** 2 for a in u for b in u) / (len(u) - 1) for u in units) / len(values)
    expected = sum((a - b) ** 2 for a in values for b in values) / (len(values) * (len(values) - 1))
    assert judge.krippendorff(table) == pytest.approx(1 - observed / expected)


BAD = ["a,0,pair,on,in,101,1", "a,0,pair,on,on,50,1", "a,0,self,on,in,50,1", "a,0,pair,on,sky,50,1"]
BAD += ["a,0,pair,on,in,x,1", "a,0,pair,on,in,5", "b,1,pair,in,on,50,1\nb,2,pair,on,in,50,1"]


@pytest.mark.parametrize("line", BAD)
def test_a_line_that_is_not_a_judgement_is_named(tmp_path, line):
    file = tmp_path / "judgements.csv"
    for text, words in ((",".join(HEAD) + f"\n{line}\n", "csv, line [23]"), (line, "first line")):
        file.write_text(text)
        with pytest.raises(ValueError, match=words):
            judge.read(file)


def test_judgements_that_a_spreadsheet_has_saved_are_read(tmp_path):
    head = ",".join(reversed(HEAD))
    (tmp_path / "j.csv").write_bytes(f"\ufeff{head}\r\n1.5,50,in,on,pair,0,a\r\n,,,,,,\r\n".encode())
    assert judge.read(tmp_path / "j.csv") == [Rating("a", "pair", frozenset(("on", "in")), 50)]


def test_the_page_from_the_first_trial_to_the_table(browser, web, cli, tmp_path):
    """Every pair and the catches are asked once; closing the page in the middle loses nothing."""
    page = tmp_path / "judge.html"
    cli("probe", "spatial", "judge", "--out", page).succeeds()
    cli("probe", "spatial", "judge", "--out", page).refuses("--out")
    downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    run = browser.execute_script
    browser.get(f"{web}/{page.name}")  # of a file a new Chromium may have two storages for a moment
    run("document.getElementById('worker').value = 'dora'; document.querySelector('#hello button').click()")
    for number in range(72):
        if number == 30:
            browser.refresh()
        assert run("return document.getElementById('count').textContent") == f"{number + 1} of 72"
        assert run("return document.getElementById('next').disabled")  # nobody answers without moving
        run(
            "const [a, b] = ['first', 'second'].map(id => document.getElementById(id).textContent);"
            "const slider = document.getElementById('slider');"
            "slider.value = a === b ? 100 : a === 'green' || b === 'green' ? 0 : 20 + a.length;"
            "slider.dispatchEvent(new Event('input')); document.getElementById('next').click()"
        )
    assert browser.find_element("id", "thanks").is_displayed()
    browser.find_element("id", "download").click()
    file, end = tmp_path / "judgements-dora.csv", time.monotonic() + HANGS
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.05)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [int(row["number"]) for row in rows] == list(range(72))
    assert all(float(row["seconds"]) > 0 for row in rows)
    kinds = [row["kind"] for row in rows]
    assert [kinds.count(kind) for kind in ("pair", "self", "green")] == [66, CATCHES, CATCHES]
    assert len({frozenset((row["first"], row["second"])) for row in rows if row["kind"] == "pair"}) == 66
    table = tmp_path / "means.tsv"
    shown = cli("probe", "spatial", "judgements", file, "--out", table).succeeds().out
    assert "1 workers, 0 removed; 66 ratings" in shown
    assert len(table.read_text().splitlines()) == 1 + len(WORDS)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
