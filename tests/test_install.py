"""What is installed where: markers, pins, and the tools behind make resolve and make stress."""

import json
import platform
import sys
import tomllib
from pathlib import Path

import pytest

requirements = pytest.importorskip("packaging.requirements")
pytest.importorskip("uv")
from packaging.utils import canonicalize_name  # noqa: E402

from simtown.town import physics  # noqa: E402
from tools import resolve, stress  # noqa: E402

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
def test_clip_sends_to_the_extra_where_the_extra_installs_something(version, system, machine, monkeypatch):
    """The marker of the extra and the words of the error are one rule."""
    (bullet,) = (requirements.Requirement(line) for line in EXTRAS["physics"])
    here = {"python_version": ".".join(map(str, version)), "sys_platform": system, "platform_machine": machine}
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    words = physics._how_to_install()
    assert ("has no wheel" not in words) == bullet.marker.evaluate(here), words
    assert "pip install" in words


def test_clip_says_in_one_line_that_pybullet_is_missing(cli, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    cli("clip", "--out", tmp_path / "a.gif").refuses("pybullet", "pip install")
    assert not list(tmp_path.iterdir())


def pins():
    lines = [line.strip() for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()]
    return [line.split("==") for line in lines if line and not line.startswith("#")]


def test_every_package_is_pinned_once_whatever_the_platform():
    names = [canonicalize_name(name) for name, _ in pins()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_pins_lie_in_the_ranges_of_the_project(extra):
    versions = {canonicalize_name(name): version for name, version in pins()}
    for line in EXTRAS[extra] if extra else PROJECT["dependencies"]:
        wanted = requirements.Requirement(line)
        if wanted.name != "simtown":
            assert versions[canonicalize_name(wanted.name)] in wanted.specifier, line


def test_no_extra_of_all_is_missing_on_linux():
    """What `all` and `dev` name exists; the two extras that machines lack are the ones that the documents name."""
    lacking = {name for name in EXTRAS if any(resolve.is_empty(name, EXTRAS, "3.13", where) for where in resolve.PLATFORMS)}
    assert lacking == {"physics", "cuda"}
    assert not any(resolve.is_empty(name, EXTRAS, "3.11.2", "Linux x86-64") for name in EXTRAS)


def test_an_extra_that_does_not_resolve_is_named(monkeypatch, capsys):
    def attempt(extras, python, platform, constrained):
        return "no wheels for it" if "vg" in extras and platform == "macOS arm64" and python == "3.13" and constrained else ""

    monkeypatch.setattr(resolve, "resolve", attempt)
    assert resolve.check(EXTRAS) == 1
    out = capsys.readouterr().out
    assert "vg, Python 3.13, macOS arm64, with constraints.txt:\n  no wheels for it" in out
    (row,) = (line for line in out.splitlines() if line.startswith("vg "))
    assert row.split() == ["vg", *["yes"] * 10, "NO", *["yes"] * 5]


@pytest.mark.slow
def test_stress_keeps_what_passed_and_repeats_what_failed(monkeypatch, tmp_path, capsys):
    """Of two runs, one of which fails until a variable is set; a second start does the failed one alone."""
    (tmp_path / "test_it.py").write_text("import os\n\ndef test_it():\n    assert os.environ.get('GOOD') == '1'\n")
    arguments = (str(tmp_path / "test_it.py"), "-c", "/dev/null", "-p", "no:cacheprovider", "--rootdir", str(tmp_path))
    runs = {
        "good": stress.Run("a test", busy=2, arguments=arguments, variables={"GOOD": "1"}),
        "bad": stress.Run("a test", arguments=arguments),
    }
    monkeypatch.setattr(stress, "RUNS", runs)
    monkeypatch.setattr(stress, "OUT", tmp_path / "out")
    monkeypatch.setattr(stress, "digest", lambda: "these sources")
    monkeypatch.setattr(sys, "argv", ["stress"])
    monkeypatch.delenv("GOOD", raising=False)
    assert stress.main() == 1
    first = {name: json.loads((tmp_path / "out" / f"{name}.json").read_text()) for name in runs}
    assert [(result["passed"], result["failed"]) for result in first.values()] == [(1, 0), (0, 1)]
    assert "FAILS: out/stress/bad.log" in capsys.readouterr().out
    monkeypatch.setenv("GOOD", "1")
    assert stress.main() == 0
    assert "good: a test ..." not in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "good.json").read_text()) == first["good"]
