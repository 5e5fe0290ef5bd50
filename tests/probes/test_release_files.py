"""Files of a release: the first place that has one, packed or not, and never outside the folder."""

import gzip

import pytest

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError
from simtown.probes.release_files import ReleaseFiles, read_text

FILES = ReleaseFiles("example.org/repository", {"words": ("data/{}.txt", "{}.txt")})


def write(path, text="blue\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_first_place_that_has_the_file(tmp_path):
    assert FILES.find(tmp_path, "words", "colours") is None
    second = write(tmp_path / "colours.txt")
    (tmp_path / "data/colours.txt").mkdir(parents=True)  # a folder of that name is no file
    assert FILES.path(tmp_path, "words", "colours") == second
    (tmp_path / "data/colours.txt").rmdir()
    first = write(tmp_path / "data/colours.txt")
    assert FILES.path(tmp_path, "words", "colours") == first


def test_a_packed_file_is_read_alike(tmp_path):
    (tmp_path / "colours.txt.gz").write_bytes(gzip.compress(b"blue\n"))
    path = FILES.path(tmp_path, "words", "colours")
    assert read_text(path) == "blue\n"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DamagedError, match=r"colours\.txt\.gz"):
        read_text(path)


def test_what_is_missing_is_named_with_its_places_and_its_origin(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"colours\.txt.*example\.org"):
        FILES.path(tmp_path, "words", "colours")
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        FILES.path(tmp_path / "nowhere", "words", "colours")


def test_links_are_refused(tmp_path):
    inside, outside = tmp_path / "release", write(tmp_path / "outside.txt")
    write(inside / "data/colours.txt")
    (tmp_path / "link").symlink_to(inside)  # the folder itself may be a link
    assert FILES.find(tmp_path / "link", "words", "colours")
    (inside / "data/hues.txt").symlink_to("colours.txt")
    (inside / "data/tints.txt").symlink_to(outside)
    for name in ("hues", "tints"):
        with pytest.raises(RefusedError, match="symbolic link"):
            FILES.find(inside, "words", name)
