"""A command that would fill the disk is refused before it writes."""

import shutil

import pytest

from simtown.core.amounts import duration, size
from simtown.core.disk_space import RoomError, require_room


@pytest.mark.parametrize("words", [("generate", "--n", 40_000, "--out"), ("export", "--to", "png", "--out")])
def test_too_little_room_is_refused_before_anything_is_made(words, many, cli, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=10_000))
    source = [] if words[0] == "generate" else [many]
    cli(words[0], *source, *words[1:], tmp_path / "made").refuses("where 10 kB are free")
    assert not list(tmp_path.glob("made/*"))
    assert not (tmp_path / "made" / "images").exists()


def test_a_directory_that_does_not_exist_yet_has_the_room_of_its_disk(tmp_path):
    require_room(tmp_path / "a" / "b", 1)
    with pytest.raises(RoomError, match=str(tmp_path)):
        require_room(tmp_path / "a" / "b", 1e18)


def test_amounts_in_words():
    counts = (0, 999, 1_000, 9_940, 9_999, 12_345_678, 999_600_000, 1.2e9, 15e12)
    words = ["0 bytes", "999 bytes", "1.0 kB", "9.9 kB", "10 kB", "12 MB", "1.0 GB", "1.2 GB", "15 TB"]
    assert [size(count) for count in counts] == words
    assert [duration(s) for s in (3.2, 600, 12_600, 259_200)] == ["3 s", "10 min", "3.5 h", "3 days"]
