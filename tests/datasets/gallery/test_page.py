"""The page in a real browser, opened from disk."""

import io
import json
import re
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.proving.marginals import targets_of
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.datasets.showing.gallery import gallery
from simtown.language.meaning.nouns import kinds_meant
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.scenes.weather import WEATHERS
from simtown.town.explaining import reason


class Page:
    """The gallery in the browser."""

    def __init__(self, driver, path, until):
        self.driver, self.path, self.until = driver, path, until

    def open(self, hash=""):
        light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"file://{self.path}/index.html#{hash}")
        self.wait("document.documentElement.dataset.ready")
        self.settle()
        return self

    def js(self, code):
        return self.driver.execute_script(f"return {code}")

    def wait(self, code):
        self.until(lambda: self.js(code))

    def settle(self):
        """Until every cell in sight, and the inspector where it is open, has its picture and its words."""
        cells = "[...document.querySelectorAll('.cell')].every((c) => c.dataset.drawn.startsWith('11'))"
        drawn = "(panel) => panel.hidden || panel.dataset.drawn.split(' ')[1].startsWith('11')"
        self.wait(f"{cells} && ({drawn})(document.getElementById('inspector'))")

    def keys(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def click(self, selector):
        event = "new MouseEvent('click', {bubbles: true, cancelable: true})"
        self.js(f"document.querySelector({json.dumps(selector)}).dispatchEvent({event})")

    def text(self, selector):
        element = f"document.querySelector({json.dumps(selector)})"
        return self.js(f"((e) => e.innerText ?? e.textContent)({element})")

    def found(self):
        return int(self.text("#found b").replace(",", ""))

    def picture(self, selector):
        from selenium.webdriver.common.by import By

        png = self.driver.find_element(By.CSS_SELECTOR, selector).screenshot_as_png
        return np.array(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)

    def selected(self):
        return self.js("document.querySelector('[aria-selected=true]').id")


@pytest.fixture(scope="module")
def large(browser, dataset_of, tmp_path_factory, until):
    """The page of 350 examples."""
    out, sizes = tmp_path_factory.mktemp("gallery") / "page", {"n": 200, "val": 50, "test": 100}
    town = dataset_of(Settings(**sizes, entities=5, width=32, height=32, relations=RELATION_NAMES))
    gallery(open_dataset(town), out)
    return Page(browser, out, until), open_dataset(town)


@pytest.fixture
def small(browser, rich_gallery, until):
    return Page(browser, rich_gallery[0], until), rich_gallery[1]


@pytest.fixture(autouse=True)
def quiet(browser):
    """No test leaves an error in the console."""
    yield
    browser.execute_script("localStorage.clear()")
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


def together(data, name):
    return np.concatenate([data[split].column(name) for split in SPLITS])


def test_filters_count_as_numpy_does(large):
    page, data = large
    page.open()
    columns = {name: together(data, name) for name in ("answer", "relation")}
    columns["split"] = np.repeat(np.arange(3), [len(data[name]) for name in SPLITS])
    columns["weather"] = together(data, "scene/weather")
    names = {"split": SPLITS, "answer": ("no", "yes"), "relation": RELATION_NAMES, "weather": WEATHERS}
    assert page.found() == 350
    for key, column in columns.items():
        for value, name in enumerate(names[key]):
            facet = f"[name={key}][value='{name}']"
            assert int(page.text(f"label:has({facet}) output").replace(",", "")) == (column == value).sum()
            page.click(facet)
            assert page.found() == (column == value).sum()
            page.click(facet)
    for facet in ("split][value=test", "answer][value=yes", "weather][value=snow", "weather][value=night"):
        page.click(f"[name={facet}]")
    wanted = (columns["split"] == 2) & columns["answer"]
    wanted &= np.isin(columns["weather"], [WEATHERS.index("snow"), WEATHERS.index("night")])
    assert page.found() == wanted.sum()
    shown = [int(page.text(f"label:has([value='{name}']) output")) for name in RELATION_NAMES]
    assert shown == np.bincount(columns["relation"][wanted], minlength=4).tolist()
    page.click("#clear")
    assert page.found() == 350
    assert page.js("document.querySelectorAll('#facets :checked').length") == 0


@pytest.mark.parametrize(("role", "column"), [("any", "scene/entity"), ("subject",) * 2, ("object",) * 2])
def test_an_entity_is_found_in_its_role(role, column, small):
    page, data = small
    page.open(f"entity=taxi&role={role}")
    taxis = together(data, column) == ENTITIES.index("taxi")
    assert page.found() == (taxis.any(axis=1) if role == "any" else taxis).sum()
    assert page.js("document.querySelector('[name=role]:checked').value") == role


@pytest.mark.parametrize("typed", ["tacsi", "TAXY"])
def test_an_entity_that_does_not_exist_is_named_with_those_like_it(typed, small):
    """Also where the address names it; what was typed stays, and one of the names can be chosen instead."""
    page, data = small
    page.open()
    page.keys("/", typed)
    assert page.js("document.getElementById('entity').value") == typed
    for _ in range(2):
        assert page.found() == 38
        assert page.text("#unknown-entity").startswith(f"No entity is named “{typed}”. Did you mean taxi")
        page.open(f"entity={typed}")
    page.click("#unknown-entity button")
    assert page.found() == (together(data, "scene/entity") == ENTITIES.index("taxi")).any(axis=1).sum()
    assert page.js("document.getElementById('unknown-entity').hidden")
    assert page.js("document.getElementById('entity').value") == "taxi"


OUTSIDE = """[...document.querySelectorAll(
    'button, a, input, section, table, svg, .cell, #found, h1, #inspector code, #grid, #charts, #filters')]
  .filter((e) => {
    const r = e.getBoundingClientRect();
    const cut = e.id && e.scrollWidth > e.clientWidth && e.clientWidth;
    return r.width && (r.left < -0.5 || r.right > innerWidth + 0.5 || cut);
  }).map((e) => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("size", [(320, 640), (390, 844), (768, 1024), (1280, 800)])
@pytest.mark.parametrize("hash", ["", "charts=1", "at=val:3&open=1&boxes=1&masks=1"])
def test_everything_lies_inside_the_window(size, hash, small, screen):
    page, _ = small
    screen(*size)
    page.open(hash)
    if "open" in hash:
        page.wait("document.querySelector('#inspector table')")
    assert page.js("innerWidth") == page.js("document.documentElement.scrollWidth") == size[0]
    assert page.js(OUTSIDE) == []


def test_margins_are_filtered_by_a_range(small):
    from selenium.webdriver import Keys

    page, data = small
    distance = np.abs(together(data, "margin"))
    page.open("to=2")
    assert page.found() == (distance <= 2.005).sum()
    page.driver.find_element("id", "from").send_keys("1.2", Keys.ENTER)
    within = ((distance >= 1.195) & (distance <= 2.005)).sum()
    assert 0 < page.found() == within
    kept = page.js("location.hash.slice(1)")
    page.click("#clear")
    assert page.found() == 38
    page.open(kept)
    assert page.found() == within


def test_an_example_is_found_by_its_number(small, sampled_gallery):
    """Also one that the filters hide; the words say which there are, and how to see one that is not shown."""
    from selenium.webdriver import Keys

    page, data = small
    example = data.val[3]
    page.open(f"answer={'no' if example.answer else 'yes'}")
    page.keys("g", "val 3", Keys.ENTER)
    page.wait("document.querySelector('#inspector .question')")
    assert page.text("#inspector nav b") == "val 3 hidden by the filters"
    assert example.question in page.text("#inspector .question")
    page.open(page.js("location.hash.slice(1)"))
    assert page.text("#inspector nav b").startswith("val 3")
    page.keys(Keys.RIGHT)
    assert "hidden" not in page.text("#inspector nav b")
    for typed, answer in (("train 99", "The last one is train 23."), ("bus", "Give a number")):
        page.open()
        page.keys("g", typed, Keys.ENTER)
        assert page.text("#no-example").startswith(answer)
    sampled = Page(page.driver, sampled_gallery[0], page.until).open()
    sampled.keys("g", "120", Keys.ENTER)
    assert "train 120 is not on this page" in sampled.text("#no-example")


def test_a_twin_is_shown_and_opened_by_a_click(browser, dataset_of, tmp_path, until):
    sizes = {"entities": 40, "n": 32, "val": 4, "test": 4, "width": 64, "height": 64}
    data = open_dataset(dataset_of(Settings(**sizes, questions=("all",), twins=True)))
    gallery(data, tmp_path / "page", reason=reason)
    page, groups = Page(browser, tmp_path / "page", until), data.train.column("group")
    for number in (0, 5, 31):
        example, twin = data.train[number], data.train[number ^ 1]
        answer = urlencode({"answer": example.reply})  # which hides the twin
        page.open(f"{answer}&at=train:{number}&open=1")
        page.wait("document.querySelector('.mates button')")
        mates = "document.querySelectorAll('.mates button').length"
        assert page.js(mates) == (groups == groups[number]).sum() - 1
        assert page.text(".mates button").endswith(twin.reply)
        page.click(".mates button")
        page.settle()
        assert page.text("#inspector nav b").startswith(f"train {number ^ 1}")
        assert page.text("#inspector .question") == f"{twin.question} {twin.reply}"
        page.click(".mates button")
        assert page.text("#inspector nav b") == f"train {number}"


def test_two_data_sets_show_the_same_beside_each_other(cli, rich, plain, tmp_path, browser, screen, until):
    out = tmp_path / "both"
    cli("gallery", rich, plain, "--out", out).succeeds()
    page = Page(browser, out, until)
    for width in (390, 1280):
        screen(width, 844)
        browser.get("about:blank")
        browser.get(f"file://{out}/index.html#relation=left of")
        place = page.js("[...document.querySelectorAll('iframe')].map((e) => [e.offsetLeft, e.offsetTop])")
        assert place[0][width < 500] < place[1][width < 500]

    def found(frame):
        browser.switch_to.frame(frame)
        page.wait("document.documentElement.dataset.ready")
        number = int(page.js("document.getElementById('about').textContent").split()[0].replace(",", ""))
        browser.switch_to.default_content()
        return number

    def expected(data, answer=None):
        which = together(data, "relation") == RELATION_NAMES.index("left of")
        return (which & (answer is None or together(data, "answer") == answer)).sum()

    both = [open_dataset(each) for each in (rich, plain)]
    until(lambda: [found(frame) for frame in (0, 1)] == [expected(data) for data in both])
    browser.switch_to.frame(0)
    page.click("[name=answer][value=yes]")
    browser.switch_to.default_content()
    until(lambda: [found(frame) for frame in (0, 1)] == [expected(data, True) for data in both])
    assert "answer=yes" in page.js("location.hash")


def test_cells_show_their_examples(small):
    page, data = small
    page.open("split=train")
    for number in (0, 7, 8):
        cell, example = f"#example-{number}", data.train[number]
        assert page.text(f"{cell} p span") == example.question
        assert page.text(f"{cell} .answer") == ("yes" if example.answer else "no")
        shown = page.picture(f"{cell} canvas")
        size = shown.shape[1::-1]
        others = [np.array(Image.fromarray(other.image).resize(size)).astype(int) for other in data.train]
        distance = [np.abs(other - shown).mean() for other in others]
        assert int(np.argmin(distance)) == number
        assert distance[number] < 10


def test_boxes_and_masks_lie_on_their_vehicles(small):
    page, data = small
    page.open("at=val:3&open=1")
    page.wait("document.querySelector('#inspector .question')")
    example = data.val[3]
    plain = page.picture("#inspector .picture")
    page.keys("b")
    page.settle()
    corners = "(r) => [r.x, r.y, r.width, r.height].map((l) => l.baseVal.value)"
    boxes = page.js(f"[...document.querySelectorAll('#inspector .picture rect')].map({corners})")
    expected = np.concatenate([example.boxes[:, :2], example.boxes[:, 2:] - example.boxes[:, :2]], axis=1)
    assert np.array(boxes) == pytest.approx(expected, abs=0.11)
    cells, rects = (
        page.js(f"document.querySelectorAll('{name}').length") for name in (".cell", ".cell rect")
    )
    assert rects == 3 * cells
    page.keys("b", "m")
    page.settle()
    changed = np.abs(page.picture("#inspector .picture") - plain).sum(axis=2) > 30
    mask = np.isin(example.mask, [1, 2, 3]).astype(np.uint8)
    mask = np.array(Image.fromarray(mask).resize(changed.shape[::-1], Image.Resampling.NEAREST)).astype(bool)
    assert (changed & mask).sum() / (changed | mask).sum() > 0.8


def test_the_reason_is_the_margin_and_the_places(small):
    from selenium.webdriver import Keys

    page, data = small
    page.open("split=test&open=1")
    for number, example in enumerate(data.test):
        page.wait(f"document.querySelector('#inspector code')?.innerText.includes('/test:{number} ')")
        page.settle()
        words = page.text("#inspector .why")
        assert f"{abs(example.margin):.2f} m" in words
        assert page.text("#inspector .measured") == f"{abs(example.margin):.2f} m"
        assert words.startswith("Across" if example.relation in ("left of", "right of") else "Along")
        # the line that is drawn is as long as the margin that is stored
        a, b = page.js(
            "(() => { const path = document.querySelector('#inspector .measure').getAttribute('d');"
            "const d = path.match(/M([^vh]+)[vh][^M]+M([^L]+)L([^vh]+)/);"
            "return [d[2], d[3]].map((p) => p.split(',').map(Number)); })()"
        )
        assert np.hypot(a[0] - b[0], a[1] - b[1]) == pytest.approx(abs(example.margin), abs=0.01)
        texts = "(r) => [...r.cells].map((c) => c.innerText)"
        rows = page.js(f"[...document.querySelectorAll('#inspector tbody tr')].map({texts})")
        for row, vehicle in zip(rows, example.scene.vehicles, strict=True):
            assert row[0] == vehicle.entity
            assert [float(x) for x in row[2:4]] == pytest.approx([vehicle.x, vehicle.y], abs=0.006)
        page.keys(Keys.RIGHT)


def test_the_command_that_is_shown_works(small, cli, tmp_path, monkeypatch):
    page, data = small
    monkeypatch.chdir(data.path.parent)
    page.open("at=val:2&open=1")
    page.wait("document.querySelector('#inspector code')")
    program, *words = page.text("#inspector code").split()
    assert program == "simtown"
    cli(*words, "--out", tmp_path / "x.png").succeeds()
    assert Image.open(tmp_path / "x.png").size == (1024, 1024)


def test_the_keyboard_does_everything(large):
    from selenium.webdriver import Keys

    page, _ = large
    page.open()
    across = page.js("new Set([...document.querySelectorAll('.cell')].map((c) => c.style.left)).size")
    assert across > 2
    assert page.selected() == "example-0"
    steps = {Keys.RIGHT: 1, Keys.DOWN: 1 + across, Keys.LEFT: across, Keys.UP: 0, Keys.END: 349}
    for key, expected in steps.items():
        page.keys(key)
        page.settle()
        assert page.selected() == f"example-{expected}"
    assert page.js("document.querySelectorAll('.cell').length") < 100  # only what is in sight exists
    page.keys(Keys.HOME, Keys.PAGE_DOWN)
    assert int(page.selected().split("-")[1]) % across == 0
    page.keys(Keys.HOME, Keys.ENTER)
    page.wait("document.querySelector('#inspector .question')")
    page.keys(Keys.RIGHT)
    page.wait("document.querySelector('#inspector nav b').innerText === 'train 1'")
    page.keys(Keys.ESCAPE)
    assert page.js("document.getElementById('inspector').hidden")
    page.keys("d")
    assert not page.js("document.getElementById('charts').hidden")
    page.keys("d", "?")
    assert page.js("document.getElementById('keys').open")
    page.keys(Keys.ESCAPE)
    before = page.js("getComputedStyle(document.body).backgroundColor")
    page.keys("t")
    assert page.js("getComputedStyle(document.body).backgroundColor") != before


def test_distributions_and_their_targets(small):
    page, data = small
    page.open("charts=1&split=train")
    target = targets_of(data, "train")
    for place, role in enumerate(("subject", "object")):
        links = f"document.querySelectorAll('.two > div')[{place}].querySelectorAll('a')"
        labels = page.js(f"[...{links}].map((a) => a.getAttribute('aria-label'))")
        counts = np.bincount(data.train.column(role), minlength=len(ENTITIES))
        assert sorted(labels) == sorted(
            f"{ENTITIES[e]}: {100 * counts[e] / 24:.1f}%, {counts[e]} examples, target {100 * share:.1f}%"
            for e, share in zip(data.settings.kinds, target[role], strict=True)
        )
    answers = page.js("document.querySelector('#chart-answer').innerHTML")
    assert "yes: 50.0%, 12 examples, target 50.0%" in answers
    assert not page.js("document.getElementById('boxes').offsetParent")
    page.click("#chart-weather a")
    assert page.found() == (data.train.column("scene/weather") == 0).sum()
    page.keys("d")
    assert page.js("document.querySelectorAll('#charts .target').length") == 0


#: What could get into the page from a name, were one not escaped, and what the policy refuses of it.
INTRUDERS = {
    "<img src=x onerror='window.evil = 1'>": "script-src-attr",
    "<p style='color: red'>": "style-src-attr",
    "<img src='http://127.0.0.1:9/x.png'>": "img-src",
    "<iframe src='http://127.0.0.1:9/'></iframe>": "frame-src",
    "<base href='http://127.0.0.1:9/'>": "base-uri",
}
#: What a script of a piece could do, as code.
SCRIPT = "document.head.append(Object.assign(document.createElement('script'), %s))"
DEEDS = {
    SCRIPT % "{text: 'window.evil = 1'}": "script-src-elem",
    SCRIPT % "{src: 'http://127.0.0.1:9/'}": "script-src-elem",
    "fetch('http://127.0.0.1:9/').catch(() => 0)": "connect-src",
}


def test_nothing_but_its_own_script_runs_and_nothing_leaves(small):
    page, _ = small
    page.open()
    note = "document.onsecuritypolicyviolation = (e) => refused.push(e.effectiveDirective)"
    page.driver.execute_script(f"window.refused = []; {note}")
    insert = "document.body.insertAdjacentHTML('beforeend', arguments[0])"
    tried = [(insert, markup, directive) for markup, directive in INTRUDERS.items()]
    for code, markup, directive in tried + [(code, None, directive) for code, directive in DEEDS.items()]:
        page.driver.execute_script(f"refused.length = 0; {code}", markup)
        page.wait(f"refused.includes('{directive}')")
    assert page.js("window.evil") is None
    page.driver.get_log("browser")  # which has them all


def test_names_are_text(small, tmp_path):
    """A data set whose name and whose kinds of vehicles are markup, and questions too."""
    page, data = small
    evil = "<img src=x onerror=window.evil=1>'\"&{script}{policy}</script>\u202e"
    place = tmp_path / "<b>town' {script}"
    place.symlink_to(data.path)
    hostile = open_dataset(place)
    hostile.names["entities"] = tuple(f"{name}{evil}" for name in hostile.names["entities"])
    gallery(hostile, tmp_path / "out")
    bad = Page(page.driver, tmp_path / "out", page.until)
    bad.open("at=val:3&open=1&boxes=1")
    bad.wait("document.querySelector('#inspector .question')")
    assert bad.text("h1").startswith("<b>town' {script}")
    assert evil[:20] in bad.text("#inspector table")
    assert "simtown render '<b>town'" in bad.text("#inspector code")
    bad.keys("d")
    assert bad.js("document.querySelectorAll('#charts img, #inspector img, h1 b').length") == 0
    assert bad.js("window.evil") is None


def test_a_sample_says_what_it_is_of(browser, sampled_gallery, until):
    page, data = Page(browser, sampled_gallery[0], until), sampled_gallery[1]
    page.open()
    assert page.found() == 340
    said = page.text("#sample").split("All:")[0].strip()
    assert said == "Shown: 120 of 600 train, 120 of 600 test, evenly spread."
    assert page.text("#sample code") == "simtown gallery town --all"
    assert "600 train · 100 val · 600 test" in page.text("#about")
    for number, shown in ((119, True), (120, False), (500, True)):  # 20 from 0, 100, 200, ... on
        page.open(f"open=1&at=train:{number}")
        assert (page.text("#inspector nav b") == f"train {number}") == shown
        if shown:
            assert page.text("#inspector .question").startswith(data.train[number].question)
            assert f"train:{number} " in page.text("#inspector code")
    page.open("open=1&at=test:100&split=test")
    assert page.text("#inspector .question").startswith(data.test[100].question)


def test_families_show_their_programs_answers_and_reasons(browser, families_town, tmp_path, until):
    data = open_dataset(families_town)
    gallery(data, tmp_path / "page", reason=reason)
    page = Page(browser, tmp_path / "page", until).open("family=distance&open=1&boxes=1")
    first = next(example for example in data.train if example.family == "distance")
    families = [example.family for split in SPLITS for example in data[split]]
    assert page.found() == families.count("distance")
    shown = page.text("#inspector")
    assert first.question in shown
    assert first.program in shown
    assert f"{first.number:.2f} m, right within {first.tolerance:.2f} m" in shown
    page.click("[name=answer][value='3 m']")
    replies = [example.reply for split in SPLITS for example in data[split]]
    assert page.found() == replies.count("3 m")
    page.open("charts=1")
    assert page.js("document.querySelectorAll('#chart-family a').length") == 3
    page.open("entity=taxi")
    scenes = [data[split].column("scene/entity") for split in ("train", "test")]
    assert page.found() == (np.concatenate(scenes) == ENTITIES.index("taxi")).any(axis=1).sum()


def test_what_a_program_names_has_a_box_a_colour_and_a_place_on_the_map(browser, dataset_of, tmp_path, until):
    sizes = {"entities": 20, "n": 12, "val": 0, "test": 0, "width": 128, "height": 72}
    data = open_dataset(dataset_of(Settings(**sizes, questions=("street", "street-exist"), masks=True)))
    gallery(data, tmp_path / "page")
    page, beside = Page(browser, tmp_path / "page", until), 0
    for number, example in enumerate(data.train):
        page.open(f"at=train:{number}&open=1&boxes=1")
        page.wait("document.querySelector('#inspector tbody')")
        nouns = re.findall(r"all\(([^()]*)\)", example.program)
        props = zip(example.scene.props, example.prop_ids, strict=True)
        masks = {kind: [] for noun in nouns for kind in kinds_meant(noun)}
        for prop, id_ in props:
            if prop.kind in masks and (mask := example.mask == id_).any():
                masks[prop.kind].append(mask)
        names = [name for name, found in masks.items() for _ in found]
        beside += len(names)
        names += [vehicle.entity for vehicle in example.scene.vehicles]
        rows = "[...document.querySelectorAll('#inspector tbody tr')].map((row) => row.cells[0].innerText)"
        marks = "[...document.querySelectorAll('#inspector .plan .name')].map((name) => name.textContent)"
        assert sorted(page.js(rows)) == sorted(page.js(marks)) == sorted(names)
        strokes = "[...document.querySelectorAll('#inspector .frame')].map((e) => getComputedStyle(e).stroke)"
        assert len(set(page.js(strokes))) == len(page.js(strokes)) == len(names)
        corners = "((r) => [r.x, r.y, r.width, r.height].map((l) => l.baseVal.value))"
        boxes = page.js(f"[...document.querySelectorAll('#inspector .frame')].map({corners})")
        for found in masks.values():
            for mask in found:
                y, x = np.nonzero(mask)
                assert [x.min(), y.min(), np.ptp(x) + 1, np.ptp(y) + 1] in boxes
    assert beside
