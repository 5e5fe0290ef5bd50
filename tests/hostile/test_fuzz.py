"""No command runs code of a folder, writes or reads outside, or takes more memory or time than it may, whatever the folder holds.

The slow test draws 2,000 cases, the same everywhere; SIMTOWN_HOSTILE_SEED=7 draws others, SIMTOWN_HOSTILE_CASES=200 fewer. What it finds, it
makes small and prints as a script that runs it again.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests.hostile import commands, mutations
from tests.hostile.cases import Case, Server
from tests.hostile.commands import COMMANDS, DATA, LEFT_OUT, Command
from tests.hostile.mutations import Mutation
from tests.hostile.seeds import Store

EXTRAS = ("torch", "tensorboard", "safetensors", "scipy", "matplotlib", "transformers", "sklearn", "pyarrow", "lemminflect", "msgspec",
          "spellchecker", "textblob")  # fmt: skip
FORKED = tuple(command for command in COMMANDS if not command.process)
SEED = os.environ.get("SIMTOWN_HOSTILE_SEED")
CASES = int(os.environ.get("SIMTOWN_HOSTILE_CASES", "2000"))


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Honest folders, each made when it is first asked for."""
    return Store(tmp_path_factory.mktemp("honest"))


@pytest.fixture(scope="module")
def light(store, tmp_path_factory):
    """A server that has imported what reads data sets."""
    server = Server(store, tmp_path_factory.mktemp("light"), ("simtown.cli.commands", "simtown.datasets.reader"), ())
    yield server
    server.close()


@pytest.fixture(scope="module")
def full(store, tmp_path_factory):
    """A server that has run every command once."""
    for name in EXTRAS:
        pytest.importorskip(name, reason=f"needs {name}: pip install '.[train,probes,vg,export,audit]'")
    server = Server(store, tmp_path_factory.mktemp("full"), (), FORKED)
    yield server
    server.close()


def unread(path: Path) -> bool:
    """A file of a folder that is for people, or for another program."""
    return path.suffix in (".png", ".svg", ".tex", ".md", ".py", ".ipynb") or "tfevents" in path.name


def cases(store: Store) -> st.SearchStrategy[Case]:
    """Commands, the quick ones more often, with one to four mutations of what they read."""
    often = [command for command in FORKED for _ in range(command.weight)]

    @functools.cache
    def files(command: Command) -> tuple[str, ...]:
        found = []
        for item in command.items:
            path = store.path(item)
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not unread(p)) if path.is_dir() else [path]
            found += [str(p.relative_to(store.directory)) for p in inside]
        return tuple(found)

    @st.composite
    def draw_case(draw: st.DrawFn) -> Case:
        command = draw(st.sampled_from(often))
        changes = []
        for _ in range(draw(st.integers(1, 4))):
            file = draw(st.sampled_from(files(command)))
            kind = draw(st.sampled_from(mutations.kinds_for(file)))
            changes.append(Mutation(kind, file, draw(st.integers(0, 999)), draw(st.integers(0, 999))))
        return Case(command, tuple(changes))

    return draw_case()


@pytest.mark.slow
def test_fuzz(full, store):
    @hypothesis.seed(int(SEED or 0))
    @hypothesis.settings(max_examples=CASES, derandomize=SEED is None, deadline=None, database=None, report_multiple_bugs=True,
                         suppress_health_check=list(hypothesis.HealthCheck))  # fmt: skip
    @hypothesis.given(cases(store))
    def holds(case):
        verdict = full.run(case)
        assert not verdict.offences, "\n  ".join([case.script(), *verdict.offences])

    holds()
