"""A gate, where processes stop and wait as a test wants, on any machine; a scattered pool."""

import fcntl
import json
import os
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from simtown.core.pool import ignore
from simtown.datasets.making import manifests
from simtown.datasets.making.shards import checksum

#: Files of a data set that say nothing of its examples.
MADE_AFTER = ("timings.json", "preview.png")


def reseal(directory: Path) -> Path:
    """Write the checksums of the shards as they are now into the manifest, as whoever hides a change does."""
    manifest = manifests.load(directory)
    for name, entry in manifest["shards"].items():
        shard = directory / name
        entry |= {"sha256": checksum(shard), "bytes": shard.stat().st_size}
    manifests.save(directory, manifest)
    return directory


@dataclass(frozen=True)
class Moment:
    """From the nth time on: a "worker" or the "parent" of workers comes to an event of sys.audit.

    It is "import" of a module, "open" of a file, or "os.rename" to a file; `name` is a regular expression.
    """

    role: str
    event: str
    name: str
    nth: int = 1


class Gate:
    """Shut at first. Processes that start while it stands wait at its moments until it is open."""

    def __init__(self, place: Path, moments: tuple[Moment, ...]) -> None:
        self.place = place
        (place / "moments.json").write_text(json.dumps([asdict(moment) for moment in moments]))
        self._handle = os.open(place / "gate", os.O_CREAT | os.O_RDWR)
        self.shut()

    def shut(self) -> None:
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def open(self) -> None:
        fcntl.flock(self._handle, fcntl.LOCK_UN)

    def waiting(self, role: str = "*") -> list[int]:
        """Processes that wait now."""
        return sorted(pid for sign in self.place.glob(f"[0-9]*.{role}") if self._lives(pid := int(sign.stem)))

    def _lives(self, pid: int) -> bool:
        """A process that was killed while it waited left its sign behind."""
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False
        return f"SIMTOWN_GATE={self.place}".encode() in environment

    def close(self) -> None:
        os.close(self._handle)


@pytest.fixture
def gate(tmp_path_factory, monkeypatch, started):
    """gate(moment, ...): a Gate for processes started from now on; it opens before `started` awaits them."""
    made, paths = [], [str(Path(__file__).with_name("gate")), os.environ.get("PYTHONPATH")]

    def build(*moments):
        made.append(Gate(tmp_path_factory.mktemp("gate"), moments))
        monkeypatch.setenv("SIMTOWN_GATE", str(made[-1].place))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        return made[-1]

    yield build
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def assert_whole(dataset_of, contents):
    """assert_whole(directory, settings): it holds what one undisturbed process makes, and no other file."""

    def check(directory, settings):
        assert contents(directory, MADE_AFTER) == contents(dataset_of(settings), MADE_AFTER)

    return check


class Scattered:
    """A pool in which all travels as if to other machines and back; the last piece ends first."""

    workers = 2

    def map(self, function, pieces, shared=(), progress=ignore, card=False):
        for piece in reversed(pieces):
            received, *arguments = pickle.loads(pickle.dumps((piece, *shared)))
            yield piece, pickle.loads(pickle.dumps(function(received, progress, *arguments)))


@pytest.fixture(scope="session")
def scattered():
    return Scattered()
