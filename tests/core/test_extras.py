"""With the core alone installed, every command works or says in one line which extra it wants."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from simtown.core import extras
from tests.conftest import every_command

#: Modules of the extras' packages whose names differ from the packages'.
MODULES = {"scikit-learn": "sklearn", "pyopengl": "OpenGL", "pyspellchecker": "spellchecker"}
MODULES |= {"cuda-core": "cuda.core", "nvidia-cuda-nvrtc": "nvidia.cu13"}
PLAIN = "plain"
#: What each command is called with; those under PLAIN need no extra.
CALLS = """
[plain]
generate: --entities 3 --n 8 --val 0 --test 4 --size 32 --out made
preview: town --out sheet.png
render: town/test-00000.h5:0 --size 64 --out one.png
info: town
verify: town
captions: town --out captions.txt
export: town --to coco --out coco
gallery: town --out gallery
demo: --no-open
doctor:
clip: --out street.gif
[audit]
audit: town
[train]
fit: town --out fit
evaluate: fit town
predict: fit one.png 'is there a bus?'
play --run: --run fit --no-open
sweep: --preset tiny --out sweep
complexity: sweep
bench render: --size 32 --scenes 1 --repeats 1 --device cpu --out b.csv
[vlm]
check: hf:a
thresholds: a
compare: a b
[vg]
vg prepare: relationships.json --out vg
vg stats: vg
vg sparsity: vg --out sparsity.png
vg frequencies: vg
lm train: words.txt --out lm
info --plot: town --plot
[probes]
probe ask: items.csv --model ngram:words.txt --template '[X] [Y]' --out asked
probe physical: --data data --model ngram:words.txt --out physical
probe visual: --data data --model ngram:words.txt --out visual
probe visual mine: --text words.txt --subjects data --out mined
probe visual distill: words.txt --teacher hf:a --student hf:b --out distilled
probe visual figure: 7 --data data --out figure.png
probe visual bridge: town --out bridge
probe spatial: --model ngram:words.txt --corpus words.txt --out spatial
probe spatial judge: --out judge.html
probe spatial judgements: judgements.csv
probe spatial town: town --model lstm:lm --out town.png
probe compare: a b
probe reproduce: forbes-table1 --data data
probe grid: grid.toml --out grid
[export]
export --to: town --to parquet --out parquet
[cluster]
generate --engine: --engine ray --out ray
generate --out s3: --out s3://bucket/town
"""


def _calls():
    """{extra: {name: words}} of the calls."""
    found = {}
    for line in CALLS.strip().splitlines():
        if line.startswith("["):
            of_extra = found[line.strip("[]")] = {}
        else:
            name, _, words = line.partition(":")
            of_extra[name] = shlex.split(words)
    return found


#: What in a command line stands for an option's name of CALLS.
MARKS = {"export --to": "parquet", "generate --engine": "--engine", "generate --out s3": "s3://"}


def needed(words):
    """The extras of a command line."""
    for extra, calls in _calls().items():
        for name in calls if extra != PLAIN else ():
            command, option = name.partition(" --")[::2]
            if words.startswith(f"simtown {command} ") and (not option or MARKS.get(name, option) in words):
                yield extra


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_commands_of_a_page_come_after_the_line_that_installs_what_they_need(page):
    installed, missing = set(), []
    for line in (Path(__file__).parents[2] / page).read_text(encoding="utf-8").splitlines():
        installed |= {
            extra for extras in re.findall(r"'\.\[([\w,]+)\]'", line) for extra in extras.split(",")
        }
        missing += [line for extra in needed(line) if extra not in installed]
    assert missing == []


@pytest.fixture(scope="module")
def endings(tmp_path_factory, plain, together):
    """(name, extra, outcome) of every call, where no module of an extra can be imported."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

    def package(requirement):
        return requirement.split(";")[0].split("[")[0].split(">")[0].strip().lower()

    core = {package(line) for line in project["dependencies"]} | {"simtown"}
    extras = {package(line) for group in project["optional-dependencies"].values() for line in group}
    modules = [MODULES.get(name, name.replace("-", "_")) for name in sorted(extras - core)]
    folder = tmp_path_factory.mktemp("core")
    (folder / "town").symlink_to(plain)
    (folder / "words.txt").write_text("a bus on the road\n")
    for name in ("fit/run.json", "vg/prepared.json", "a/summary.json", "b/summary.json", "data/x", "sweep/x"):
        (folder / name).parent.mkdir()
        (folder / name).touch()
    for name in ("judgements.csv", "items.csv", "relationships.json"):
        (folder / name).touch()
    grid = 'version = 1\n[[grid]]\nstudy = "physical"\ndata = "data"\nmodel = "ngram:words.txt"\n'
    (folder / "grid.toml").write_text(grid)
    # what stands behind an option's name only tells a call from another of the same command
    named = [
        (extra, name, arguments) for extra, calls in _calls().items() for name, arguments in calls.items()
    ]
    calls = [[*name.split(" --")[0].split(), *arguments] for _, name, arguments in named]
    outcomes = together(*calls, without=modules, cwd=folder)
    return [(name, extra, end) for (extra, name, _), end in zip(named, outcomes, strict=True)]


def test_every_command_is_tried():
    def runs(name, command):
        return not hasattr(command, "commands") or (name and command.invoke_without_command)

    commands = {name for name, command in every_command().items() if runs(name, command)}
    assert {name.split(" --")[0] for calls in _calls().values() for name in calls} == commands


@pytest.mark.slow
def test_the_core_is_enough_for_the_town(endings):
    assert [(name, end.err) for name, extra, end in endings if extra == PLAIN and end.code != 0] == []


def test_doctor_knows_every_extra():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for_users = project["optional-dependencies"].keys() - {"docs", "bench", "dev", "all"}
    assert extras.ENABLES.keys() == extras.MODULES.keys() == for_users
    core = {extras.package_of(module) for module in extras.CORE.split()}
    assert core == {line.partition(">")[0] for line in project["dependencies"]}


def test_what_an_extra_is_wanted_for_says_which(endings):
    for name, extra, end in endings:
        if extra != PLAIN:
            assert end.code == 2, (name, end.err)
            assert "Traceback" not in end.err, name
            wanted = end.messages[-1].partition("pip install '.[")[2]
            assert extra in wanted.split("]")[0].split(","), (name, end.err)
