"""The page of a family of questions: what tools/families.py writes when the site is built."""

import re

import pytest

from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from tools import families

FAMILIES = {f.name: f for f in source_of(Settings(questions=("all",))).recipe("train").families}


@pytest.mark.parametrize("name", ["count", "street"])
def test_a_page_shows_programs_answers_margins_accuracies_and_a_twin(name, tmp_path):
    families.write(tmp_path, (name,))
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    for template in FAMILIES[name].templates:
        assert f"`{template.program}`" in text
    pictures = re.findall(r"!\[.*\]\((.*?)\)", text)
    assert len(pictures) == families.SHOWN + 2
    assert all((tmp_path / picture).is_file() for picture in pictures)
    replies = re.findall(r"\*\*(\w+)\*\*: ", text)
    assert replies[-1] != replies[-2]  # twins
    assert "`cnn-lstm`" in text


def test_every_family_has_margins_of_the_table():
    none = {name for name, family in FAMILIES.items() if "None of its own" in next(families.margins(family))}
    assert none == set()


def test_a_page_that_is_as_it_was_keeps_its_date(tmp_path):
    page = tmp_path / "page.md"
    families.write_changed(page, "text")
    before = page.stat().st_mtime_ns
    families.write_changed(page, "text")
    assert page.stat().st_mtime_ns == before
