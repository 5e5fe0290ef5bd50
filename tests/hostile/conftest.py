"""The servers that run cases."""

import pytest

from tests.hostile.cases import Server
from tests.hostile.commands import COMMANDS, DATA
from tests.hostile.seeds import Store

EXTRAS = (
    "torch", "tensorboard", "safetensors", "scipy", "matplotlib", "transformers", "sklearn", "pyarrow",
    "lemminflect", "msgspec", "spellchecker", "textblob",
)  # fmt: skip
#: What the quick tests run: one that reads, one that draws, one that writes.
WARM = tuple(
    command
    for command in DATA
    if command.words[:2] in (("info", "{town}"), ("preview", "{town}"), ("export", "{rich}"))
)


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Honest folders, each made when it is first asked for."""
    return Store(tmp_path_factory.mktemp("honest"))


@pytest.fixture(scope="session")
def light(store, tmp_path_factory):
    """A server that has imported what reads data sets."""
    server = Server(store, tmp_path_factory.mktemp("light"), WARM)
    yield server
    server.close()


@pytest.fixture(scope="session")
def extras():
    """Skips where an extra is missing."""
    for name in EXTRAS:
        pytest.importorskip(name, reason=f"needs {name}: pip install '.[train,probes,vg,export,audit]'")


@pytest.fixture(scope="session")
def full(extras, store, tmp_path_factory):
    """A server that has run every command once."""
    server = Server(
        store, tmp_path_factory.mktemp("full"), tuple(command for command in COMMANDS if not command.process)
    )
    yield server
    server.close()
