"""What a stranger tries first: the commands of README.md, its picture, and the notebook for Colab."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.test_docs import commands_of
from tools import hero

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_commands_of_the_readme_run_one_after_the_other(cli, tmp_path, monkeypatch):
    """With 40 examples, two steps of training, and a function in place of the Hub's model."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sure.py").write_text("def yes(picture, prompt, choices):\n    return 'yes'\n")
    readme = re.sub(r"clip:\S+", "python:sure:yes --allow-model sure:yes", README.replace("60000", "40"))
    elsewhere = ("play", "complexity")  # tests/page and tests/complexity/test_page.py
    commands = [words for words in commands_of(readme) if words[0] not in elsewhere]
    assert {"generate", "gallery", "verify", "fit", "evaluate"} <= {words[0] for words in commands}
    for words in commands:
        cli(*words, *(["--max-steps", 2] if words[0] == "fit" else [])).succeeds()


def test_what_the_readme_links_to_is_there():
    """Files of the repository, and pages of the site, whose sources are in docs."""
    links = {link for pair in re.findall(r"\]\(([^)#\s]+)|src=\"([^\"]+)\"", README) for link in pair if link}
    site = {link.partition("github.io/simtown/")[2] for link in links if "github.io/simtown/" in link}
    sources = {f"docs/{page}".replace(".html", ".md") for page in site}
    local = sources | {link for link in links if not link.startswith("https://")}
    assert len(local) > 20
    assert [link for link in sorted(local) if not (ROOT / link).exists()] == []


def test_the_picture_on_top_is_the_street_that_its_program_draws():
    drawn = hero.hero(hero.street())
    with Image.open(ROOT / "docs" / "gallery" / "hero.webp") as kept:
        apart = np.abs(np.asarray(kept.convert("RGB"), dtype=int) - np.asarray(drawn, dtype=int))
    assert apart.mean() < 5, "run python -m tools.hero --out docs/gallery/hero.webp"
    town = hero.street()
    assert {vehicle.kind for vehicle in town.vehicles} == {"school bus", "taxi", "fire truck"}
    assert not any(town.unseen(vehicle) for vehicle in town.vehicles)
    assert len({name for name, _ in hero.STRIPS}) == 7


def test_the_notebook_for_colab_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "examples" / "colab.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {}
    for cell in cells:
        if not cell.startswith("%pip"):
            exec(cell, names)
    assert len(names["data"].train) == 400
