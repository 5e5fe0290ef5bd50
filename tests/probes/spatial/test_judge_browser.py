"""The judging page in a real browser: sliders moved by mouse and by keyboard, a reload in the middle, the
end, the export.
"""

import csv
import threading

import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install '.[dev]'")

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from simtown.probes.spatial.judge.answers import RatingsFile, read
from simtown.probes.spatial.judge.server import serve
from simtown.probes.spatial.judge.trials import trials_of
from tests.conftest import HANGS


@pytest.fixture
def page(browser, tmp_path):
    """The page opened anew, and what a person does on it."""
    with RatingsFile(tmp_path / "judgements.csv") as answers, serve(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        browser.get(server.address)
        browser.execute_script("localStorage.clear()")
        browser.get(server.address)
        yield Person(browser, tmp_path / "judgements.csv", server, answers)
        server.shutdown()
        thread.join()


class Person:
    """Whoever sits before the page."""

    def __init__(self, browser, file, server, ratings):
        self.browser, self.file, self.server, self.ratings = browser, file, server, ratings

    def at(self, name):
        return self.browser.find_element(By.ID, name)

    def until(self, condition):
        WebDriverWait(self.browser, HANGS, 0.02).until(lambda _: condition())

    def begin(self, name):
        self.at("worker").send_keys(name)
        self.browser.find_element(By.CSS_SELECTOR, "#hello button").click()
        self.until(lambda: self.at("trial").is_displayed())

    def words(self):
        return self.at("first").text, self.at("second").text

    def value(self):
        return int(self.at("slider").get_property("value"))

    def drag(self, share):
        """Press the slider's thumb where it is, and let go at a share of its way."""
        slider = self.at("slider")
        wide = slider.size["width"] - 30
        here = (self.value() / 100 - 0.5) * wide
        move = (
            ActionChains(self.browser, duration=20)
            .move_to_element_with_offset(slider, int(here), 0)
            .click_and_hold()
        )
        move.move_by_offset(int((share - 0.5) * wide - here), 0).release().perform()

    def next(self):
        before = self.at("count").text
        self.at("next").click()
        self.until(lambda: self.at("count").text != before or self.at("thanks").is_displayed())


def rating(trial):
    """A share of the slider's way, right for catches."""
    return {"self": 1.0, "green": 0.0}.get(trial.kind, 0.2 + 0.6 * (len(trial.first) % 2))


@pytest.mark.parametrize("answered", [64, pytest.param(0, marks=pytest.mark.slow)])
def test_to_the_last_trial_and_the_export(answered, page, cli):
    """From the first trial, or, as somebody who comes back, from a late one."""
    trials = trials_of("dora")
    for number, trial in enumerate(trials[:answered]):
        page.ratings.add("dora", number, round(100 * rating(trial)), 1.0)
    page.begin("dora")
    for number, trial in enumerate(trials[answered:], answered):
        assert page.words() == (trial.first, trial.second)
        assert page.at("count").text == f"{number + 1} of {len(trials)}"
        assert not page.at("next").is_enabled()  # nobody answers without moving
        page.drag(rating(trial))
        moved = page.value()
        assert abs(moved - 100 * rating(trial)) <= 6
        if number in (3, 67):  # a reload, with a slider moved and not yet sent
            page.browser.refresh()
            page.until(lambda: page.at("trial").is_displayed())
            assert page.words() == (trial.first, trial.second)
            assert page.value() == moved
        page.next()
    assert page.at("thanks").is_displayed()
    assert not page.at("trial").is_displayed()
    rows = list(csv.DictReader(page.file.read_text().splitlines()))
    assert [(r["first"], r["second"]) for r in rows] == [(t.first, t.second) for t in trials]
    assert all(
        abs(int(r["rating"]) - 100 * rating(t)) <= 6 and float(r["seconds"]) > 0
        for r, t in zip(rows, trials, strict=True)
    )
    assert (
        "1 workers, 0 taken out; 66 ratings"
        in cli("probe", "spatial", "judgements", page.file).succeeds().out
    )
    assert [entry for entry in page.browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_by_keyboard_alone(page):
    page.until(
        lambda: page.browser.switch_to.active_element.get_attribute("id") == "worker"
    )  # autofocus waits for a frame
    page.browser.switch_to.active_element.send_keys("eve", Keys.ENTER)
    page.until(lambda: page.at("trial").is_displayed())
    for number in range(3):
        slider = page.browser.switch_to.active_element
        assert slider.get_attribute("id") == "slider"  # the next trial is ready to be answered
        slider.send_keys(Keys.ARROW_RIGHT * 3, Keys.ENTER)
        page.until(
            lambda number=number: (
                len(read(page.file)) == number + 1 and page.at("count").text.startswith(f"{number + 2} ")
            )
        )
    assert [a.rating for a in read(page.file)] == [53, 53, 53]


def test_an_answer_that_does_not_arrive_is_told_and_can_be_sent_again(page):
    page.begin("finn")
    page.drag(0.9)
    moved = page.value()
    page.browser.execute_script(
        "window.kept = window.fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))"
    )
    page.at("next").click()
    page.until(lambda: page.at("error").text)
    assert "judge" in page.at("error").text
    assert page.value() == moved
    assert read(page.file) == []
    page.browser.execute_script("window.fetch = window.kept")
    token, page.server.token = page.server.token, "another"  # as if the command had been started again
    page.at("next").click()
    page.until(lambda: "open the one that the command printed last" in page.at("error").text)
    assert page.value() == moved
    page.server.token = token
    page.browser.get_log("browser")
    page.next()
    assert [a.rating for a in read(page.file)] == [moved]
    assert not page.at("error").text
