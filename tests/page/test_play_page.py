"""The page in a real browser: a taxi is dragged, and the answer flips."""

import threading
from contextlib import contextmanager

import pytest

from simtown.page.overlays import PLANE
from simtown.page.server import PlayServer
from simtown.town.checks import INTENSITY


def text(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0])?.textContent ?? ''", selector)


@pytest.fixture
def page(browser, until, session):
    """The page of a street, and its session."""
    with PlayServer(session) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.get(server.url)
        until(lambda: browser.execute_script("return document.documentElement.dataset.ready"))
        yield session, server
        browser.get("about:blank")
        server.shutdown()
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


def spot(browser, session, name):
    """Where a thing is, pixels of the stage from its middle."""
    box = next(t["box"] for t in session.look((416, 234), moving=True)["town"]["things"] if t["name"] == name)
    size = browser.find_element("id", "stage").size
    scale = size["width"] / PLANE[0]
    x, y = (box[0] + box[2]) / 2 - PLANE[0] / 2, box[1] + 0.6 * (box[3] - box[1]) - PLANE[1] / 2
    return int(x * scale), int(y * scale)


@contextmanager
def holding(browser, session, name):
    from selenium.webdriver import ActionChains

    hand, stage = ActionChains(browser, duration=10), browser.find_element("id", "stage")
    hand.move_to_element_with_offset(stage, *spot(browser, session, name)).click_and_hold().perform()
    yield lambda dx, dy=0: ActionChains(browser, duration=10).move_by_offset(dx, dy).perform()
    ActionChains(browser).release().perform()


def test_a_taxi_is_dragged_past_a_bus_and_the_answer_flips(page, browser, until):
    session, _ = page
    assert text(browser, "#log .verdict") == "yes"
    seen = []
    with holding(browser, session, "taxi") as move:
        for _ in range(60):
            move(8)
            until(lambda: browser.execute_script("return document.querySelectorAll('#log li').length"))
            seen.append(text(browser, "#log .verdict"))
            if seen[-1] == "no":
                break
    assert list(dict.fromkeys(seen)) == ["yes", "too close to say", "no"]
    until(lambda: "Now no" in text(browser, "#status"))
    assert session.town["taxi"].x > 2.0
    browser.find_element("id", "undo").click()
    until(lambda: text(browser, "#log .verdict") == "yes")
    assert session.town["taxi"].x == -4.0


def test_a_place_that_is_taken_turns_the_ghost_red(page, browser, until):
    session, _ = page
    x = session.town["taxi"].x
    session.do("change", {"thing": "city bus", "y": -1.85, "x": 3.0})
    browser.refresh()
    until(lambda: browser.execute_script("return document.documentElement.dataset.ready"))
    with holding(browser, session, "taxi") as move:
        move(20)
        for _ in range(60):
            move(12)
            if "overlap" in text(browser, "#tip"):
                break
        until(lambda: browser.execute_script("return document.querySelector('#marks .ghost')"))
    assert x < session.town["taxi"].x < session.town["city bus"].x


def test_the_keyboard_alone_moves_turns_paints_adds_asks_and_removes(page, browser, until):
    from selenium.webdriver import Keys

    session, _ = page
    town, stage = session.town, browser.find_element("id", "stage")
    stage.send_keys("]")
    assert text(browser, "#chosen b") == "taxi"
    stage.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "R")
    until(lambda: town["taxi"].x == -3.5 and town["taxi"].yaw)
    until(lambda: "taxi: -3.50 m along" in text(browser, "#status"))
    stage.send_keys("p")
    browser.switch_to.active_element.send_keys(Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    until(lambda: town["taxi"].paint == "white")
    stage.send_keys("a")
    browser.switch_to.active_element.send_keys("fire truck")
    browser.find_element("css selector", "#kinds button").send_keys(Keys.ENTER)
    until(lambda: len(town.vehicles) == 3)
    until(lambda: text(browser, "#chosen b") == "fire truck")
    stage.send_keys("/")
    browser.switch_to.active_element.send_keys("How many vehicles are there?", Keys.ENTER)
    until(lambda: text(browser, "#log .verdict") == "3")
    stage.send_keys(Keys.DELETE)
    until(lambda: text(browser, "#log .verdict") == "2")


def test_a_vehicle_drives_and_the_slider_moves_time(page, browser, until):
    from selenium.webdriver import Keys

    session, _ = page
    stage = browser.find_element("id", "stage")
    assert not browser.find_element("id", "second").is_displayed()
    stage.send_keys("]")
    speed = browser.find_element("id", "speed")
    speed.clear()
    speed.send_keys("3", Keys.ENTER)
    until(lambda: session.town["taxi"].pace == 3.0)
    until(lambda: browser.find_element("id", "second").is_displayed())
    script = "const s = document.getElementById('second'); s.value = 3.5; s.oninput();"
    browser.execute_script(script)
    until(lambda: text(browser, "#log .verdict") == "no")
    assert session.second == 3.5
    browser.find_element("id", "go").click()
    until(lambda: session.second == 4.0 and "Go" in text(browser, "#go"))
    stage.send_keys(Keys.ARROW_LEFT)
    until(lambda: session.second == 0.0 and text(browser, "#log .verdict") == "yes")


def test_a_double_click_paints_and_the_shelf_is_dragged_into_the_street(page, browser, until):
    from selenium.webdriver import ActionChains

    session, _ = page
    stage, painting = browser.find_element("id", "stage"), browser.find_element("id", "painting")
    kind = browser.find_element("css selector", "#kinds button[value=sedan]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'end'})", kind)
    hand, road = ActionChains(browser, duration=10).click_and_hold(kind), browser.find_element("id", "map")
    hand.move_to_element_with_offset(road, 120, 20).release().perform()
    until(lambda: any(thing.name == "sedan" for thing in session.town.vehicles))
    browser.execute_script("scrollTo(0, 0)")
    ActionChains(browser).move_to_element_with_offset(
        stage, *spot(browser, session, "taxi")
    ).double_click().perform()
    until(lambda: painting.get_attribute("open"))
    browser.find_element("css selector", ".swatch[value=red]").click()
    until(lambda: session.town["taxi"].paint == "red")


def test_a_question_that_is_not_understood_is_answered_with_others(page, browser, until):
    session, _ = page
    browser.find_element("id", "question").send_keys("What is the meaning of the taxi?\n")
    until(lambda: text(browser, "#instead button"))
    browser.find_element("css selector", "#instead button").click()
    until(lambda: len(session.asked) == 2)
    until(lambda: browser.execute_script("return document.getElementById('instead').hidden"))


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_page_fits_and_fingers_hit_its_buttons(width, page, browser, screen):
    screen(width, 844)
    wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    heights = """return [...document.querySelectorAll('button, summary, .button, #weathers label')]
        .filter((e) => e.offsetParent && e.offsetHeight < 44).map((e) => e.outerHTML.slice(0, 80))"""
    assert width > 900 or browser.execute_script(heights) == []


def test_a_weather_is_as_strong_as_its_name_and_the_strip_says_what_it_means(page, browser, until):
    session, _ = page
    session.town.weather = "cloudy", 0.1
    browser.find_element("css selector", "#weathers [value=snow]").click()
    until(lambda: session.town.weather.kind == "snow")
    assert session.town.weather.intensity == INTENSITY
    until(lambda: text(browser, "#marks .strip") == text(browser, "#map .strip") == "too close to say")
    assert "0.5 m" in text(browser, ".track .margin")


def test_a_command_that_is_killed_leaves_a_calm_banner(browser, started, until):
    process = started("play", "--no-open")
    browser.get(process.stdout.readline().split()[0])
    until(lambda: browser.execute_script("return document.documentElement.dataset.ready"))
    process.kill()
    browser.find_element("css selector", "[data-camera=bird]").click()
    until(lambda: "has stopped" in text(browser, "#banner"))
    assert browser.find_element("id", "picture").is_displayed()
    browser.get("about:blank")
    browser.get_log("browser")


def test_two_fingers_pan_and_zoom_and_so_do_the_mouse_and_the_keys(page, browser, until):
    from selenium.webdriver import ActionChains, Keys

    session, _ = page
    town, start = session.town, session.town.camera
    stage = browser.find_element("id", "stage")
    place, size = stage.location, stage.size
    x, y = place["x"] + size["width"] / 2, place["y"] + size["height"] * 0.9

    def touch(kind, *spots):
        points = [{"x": x + dx, "y": y + dy, "id": i} for i, (dx, dy) in enumerate(spots)]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (-50, 0))
    touch("touchStart", (-50, 0), (50, 0))
    for step in range(1, 6):  # to the left and down, and apart
        touch("touchMove", (-50 - 25 * step, 4 * step), (50 - 5 * step, 4 * step))
    touch("touchEnd")
    until(lambda: town.camera.x > 0.5)
    until(lambda: town.camera.focal > 1.5 * start.focal)
    assert town.camera.y > start.y
    assert browser.execute_script("return scrollY") == 0
    assert town["taxi"].x == -4.0
    browser.find_element("id", "undo").click()
    until(browser.find_element("id", "redo").is_enabled)  # the page has the camera that the town has
    assert town.camera == start  # a gesture is one step
    hand = ActionChains(browser, duration=10).move_to_element_with_offset(stage, 0, int(0.4 * size["height"]))
    hand.click_and_hold().move_by_offset(60, 0).release().perform()
    until(lambda: town.camera.x < -0.5)
    stage.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP, "+")
    until(lambda: town.camera.focal > start.focal)
    assert town.camera.y > start.y
