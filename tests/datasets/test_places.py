"""Commands write beside a data set or into the working directory, never into the set or behind a URL."""

import pytest

from simtown.cli.command import RefusalError
from simtown.cli.places import beside, name_of


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


NAMES = {"out/town/": "town", "/data/my town": "my town", "a/../town": "town", "file:///data/one": "one"}
NAMES |= {"s3://bucket": "bucket", "s3:/bucket/one": "one", "s3://b/a b": "a-b"}
NAMES |= {"https://host/one?version=3": "one"}


@pytest.mark.parametrize("dataset", NAMES)
def test_a_data_set_has_a_name(dataset):
    assert name_of(dataset) == NAMES[dataset]


@pytest.mark.parametrize("dataset", ["/", "s3://b/..."])
def test_what_has_no_name_is_refused(dataset):
    with pytest.raises(RefusalError, match="give --out"):
        name_of(dataset)


def test_what_is_made_of_a_data_set_lies_beside_it(here):
    assert str(beside("out/town", "coco")) == str(beside("out/town/", "coco")) == "out/town-coco"
    assert beside(".", "coco") == here.with_name("here-coco")
    assert beside("..", "coco") == here.parent.with_name(f"{here.parent.name}-coco")
    assert str(beside("s3://bucket/a/town", "coco")) == "town-coco"


WRITERS = ["preview --random --out {url}.png", "render {town}/train:1 --out {url}.png"]
WRITERS += [
    "render {town}/train:1 --glb {url}.glb",
    "captions {town} --out {url}.txt",
    "clip --out {url}.mp4",
]
WRITERS += ["export {town} --to png --out {url}", "gallery {town} --out {url}"]
WRITERS += ["audit {town} --json {url}.json"]


@pytest.mark.parametrize("words", WRITERS)
def test_what_cannot_write_behind_a_url_says_so(words, plain, here, cli):
    filled = (word.format(town=plain, url="s3://b/x") for word in words.split())
    cli(*filled).refuses("s3://b/x", "is a URL")
    assert not list(here.iterdir())


@pytest.fixture(scope="module")
def behind_a_url(plain):
    pytest.importorskip("s3fs", reason="needs s3fs: pip install '.[cluster]'")
    pytest.importorskip("moto.server", reason="needs moto and flask: pip install '.[dev]'")
    import fsspec

    from tests.datasets.s3 import bucket

    with bucket() as url:
        fsspec.filesystem("s3").put(str(plain), f"{url}/towns/one", recursive=True)
        yield f"{url}/towns/one"


MADE = {"gallery": "one-gallery", "export --to png": "one-png", "preview": "one-preview.png"}
MADE |= {"info --plot": "one-marginals.png", "captions --out captions.txt": "captions.txt"}
MADE |= {"audit --json audit.json": "audit.json"}


@pytest.mark.parametrize("command", MADE)
def test_what_is_made_of_a_data_set_behind_a_url_lies_here(command, behind_a_url, here, cli, monkeypatch):
    name, *words = command.split()
    if library := {"audit": "sklearn", "info": "matplotlib"}.get(name):
        pytest.importorskip(library)
    monkeypatch.setenv("SIMTOWN_CACHE", str(here.parent / "cache"))
    outcome = cli(name, behind_a_url, *words).succeeds()
    assert "s3:/" not in outcome.out.replace("s3://", "")
    assert [p.name for p in here.iterdir()] == [MADE[command]]


def test_a_page_of_a_data_set_behind_a_url_names_the_url(behind_a_url, here, cli, monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))
    cli("gallery", behind_a_url).succeeds()
    assert "<title>one · simtown gallery</title>" in (here / "one-gallery" / "index.html").read_text()
    assert f'"place":"{behind_a_url}"' in (here / "one-gallery" / "data" / "index.js").read_text()
    cli("render", f"{behind_a_url}/train:1", "--size", 64).succeeds()  # the command that the page gives
    assert (here / "one-train-1.png").is_file()
