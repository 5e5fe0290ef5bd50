"""The site that `make docs` built: no path of a machine, warning or progress bar on a page."""

import html
import os
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
SITE = Path(os.environ.get("SIMTOWN_SITE", ROOT / "out" / "docs"))
#: What a reader of a page must not see.
UNWANTED = re.compile(
    r"/(?:home|root|tmp|Users|var/folders)/[\w.-]+|site-packages|Traceback \(most recent"
    r"|\b\w*Warning: |\d+%\|| \d+(?:\.\d+)?it/s|[━█▏▎▍▌▋▊▉]{2}|<IPython\.|object at 0x"
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="needs the site: make docs"),
]


def texts():
    """Path in the site and visible text of each page, without pages of sources."""
    for path in sorted(SITE.rglob("*.html")):
        if "_modules" not in path.parts and "play-lite" not in path.parts:
            page = re.sub(r"<(script|style)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            yield path.relative_to(SITE).as_posix(), html.unescape(re.sub(r"<[^>]+>", "", page))


def test_no_page_shows_a_path_a_warning_or_a_progress_bar():
    found = [(page, match[0]) for page, text in texts() for match in UNWANTED.finditer(text)]
    # docstrings show what is refused
    assert [each for each in found if not (each[0].startswith("reference/") and "Traceback" in each[1])] == []


def test_every_link_within_the_site_leads_somewhere():
    pages = {path: path.read_text(encoding="utf-8") for path in SITE.rglob("*.html")}
    anchors = {path: {*re.findall(r'\b(?:id|name)="([^"]*)"', page)} for path, page in pages.items()}
    broken = set()
    for path, page in pages.items():
        for link in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', page):
            target, _, anchor = unquote(html.unescape(link)).partition("#")
            if not re.match(r"\w+:", target):
                there = (path.parent / target.partition("?")[0]).resolve() if target else path
                if not there.exists() or (anchor and there in anchors and anchor not in anchors[there]):
                    broken.add((path.relative_to(SITE).as_posix(), link))
    assert sorted(broken) == []


def test_every_picture_of_a_page_is_there_and_has_a_text():
    missing = []
    for path in SITE.rglob("*.html"):
        for tag in re.findall(r"<img\b[^>]*>", path.read_text(encoding="utf-8")):
            source = re.search(r'src="([^"]+)"', tag)
            if source and not source[1].startswith(("http", "data:")):
                picture = path.parent / source[1].partition("?")[0]
                if not picture.exists() or 'alt="' not in tag:
                    missing.append((path.relative_to(SITE).as_posix(), tag))
    assert missing == []


def test_only_figures_turn_dark():
    """Pictures of streets, also those that play, look the same in both modes."""
    pages = (path.read_text(encoding="utf-8") for path in SITE.rglob("*.html"))
    charts = {tag for page in pages for tag in re.findall(r'<img\b[^>]*class="[^"]*chart[^>]*>', page)}
    assert charts
    assert [tag for tag in charts if not re.search(r'src="[^"]+\.png"', tag)] == []
