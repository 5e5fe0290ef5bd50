"""Released files of Visual Genome in small, and their content by json.load."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from benchmarks import vg_files


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """released(kind, version="1.4", packing="", n=60): the path of a file of that kind, made once."""
    folder, made = tmp_path_factory.mktemp("visual-genome"), {}

    def make(kind, version="1.4", packing="", n=60):
        key = (kind, version, packing, n)
        if key not in made:
            made[key] = folder / f"{kind}-{version}-{n}.json{packing}"
            vg_files.write(made[key], kind, n, version=version)
        return made[key]

    return make


def _plain(path):
    path = Path(path)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read(archive.namelist()[0]))
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


@pytest.fixture(scope="session")
def plain_json():
    """Content of a released file, whichever packing, by the standard library."""
    return _plain
