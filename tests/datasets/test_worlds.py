"""Ready worlds: frozen, citable, and the page of them."""

import re

import pytest

from simtown.datasets.making.ready_worlds import cited, ready, worlds
from simtown.datasets.resolved_settings import resolve, settings_from
from simtown.datasets.settings import Settings, SettingsError
from simtown.gym.levels import LEVELS, SINGLE
from tools import worlds as pages


@pytest.mark.parametrize("name", worlds())
def test_the_first_examples_of_a_world_never_change(name):
    assert pages.digests(name) == worlds()[name].sha256


def test_the_page_lists_every_world():
    """python -m tools.worlds writes it."""
    assert pages.page() == pages.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["simtown-distractor", "simtown-twins"])
def test_a_world_has_a_page_with_pictures(name, tmp_path):
    pages.write(tmp_path, (name,))
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert f"`simtown generate --world {name}`" in text
    assert worlds()[name].sha256["train"] in text
    for picture in re.findall(r"\]\((.*?)\)", text):
        assert (tmp_path / picture).is_file()


@pytest.mark.parametrize("number", range(1, SINGLE + 1))
def test_levels_are_those_of_the_gym(number):
    own, gym = ready(f"simtown-levels-{number}", n=2, val=0, test=0, seed=5), LEVELS[number - 1].settings(5)
    assert resolve(own) == resolve(gym)


def test_a_world_is_cited_by_its_name():
    for name, world in worlds().items():
        assert cited(world.settings) == f"{name}, seed 0"
        stored = settings_from(resolve(ready(name, seed=7)))
        assert cited(stored) == f"{name}, seed 7"
    assert cited(ready("simtown-60", n=100, test=20)) == "simtown-60, seed 0 (100 train + 100 val + 20 test)"
    assert not cited(Settings(entities=59))
    assert not cited(Settings(test_seed=1))
    with pytest.raises(SettingsError, match=r"simtown-61.*simtown-60, "):
        ready("simtown-61")


def test_generate_makes_a_world_and_refuses_other_settings(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--n", 4, "--test", 2, "--seed", 3, "--workers", 1)
    made = cli("generate", "--world", "simtown-distractor", *words)
    assert "This is simtown-distractor, seed 3 (4 train + 4 val + 2 test); licence CC-BY-4.0." in made.out
    place = "simtown-distractor-4-test2-seed3"
    assert "a ready world: simtown-distractor, seed 3 (4 train" in cli("info", place).out
    export = cli("export", place, "--to", "parquet", "--out", "card")
    assert not export.code, export.err
    card = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
    assert 'license: "cc-by-4.0"' in card
    assert 'cite it as "simtown-distractor, seed 3 (4 train + 4 val + 2 test)"' in card
    for option, value in (("--entities", 60), ("--size", 32), ("--vehicles", 3)):
        refused = cli("generate", "--world", "simtown-60", option, value)
        assert refused.code == 2
        assert f"{option} is set by --world simtown-60" in refused.err
    assert cli("generate", "--world", "list").out.count("\nsimtown-") == len(worlds()) - 1
