"""The street on the first page of the documentation, in a browser."""

import json
import re

import pytest

from tools import play_lite


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page, with one street and three places: left of the bus, too close to say, right of it."""
    folder = tmp_path_factory.mktemp("play-lite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play_lite, "STREETS", play_lite.STREETS[:1])
        patch.setattr(play_lite, "PLACES", [-3.0, 1.6, 5.0])
        patch.setattr(play_lite, "DEFAULT_WEATHERS", ("clear", "night"))
        play_lite.write(folder)
    return folder / "index.html"


def test_an_answer_flips_while_the_taxi_moves_and_the_weather_changes(page, browser):
    content = json.loads(re.search(r"const CONTENT = (.*);\n", page.read_text(encoding="utf-8"))[1])
    (street,) = content["streets"]
    question = "Is the taxi left of the school bus?"
    assert [answer["verdict"] for answer in street["answers"][question]] == ["yes", "close", "no"]
    browser.get(page.as_uri())
    verdicts, dots = [], []
    for place in range(3):
        script = "const p = document.getElementById('place'); p.value = arguments[0]; p.oninput();"
        browser.execute_script(script, place)
        line = browser.find_element("css selector", "#log li")
        verdicts.append(line.get_attribute("class").split()[0])
        dots.append(line.find_element("class name", "dot").get_attribute("style"))
    assert verdicts == ["yes", "close", "no"]
    assert len(set(dots)) == 3
    browser.find_element("css selector", "#weathers [value=night]").click()
    assert "night" in browser.find_element("id", "picture").get_attribute("aria-label")
    assert [log for log in browser.get_log("browser") if log["level"] == "SEVERE"] == []
