"""Files are written whole or not at all, under names that nothing had before."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

from simtown.core import files
from simtown.core.files import ForeignDirectoryError


def test_a_replaced_link_leaves_what_it_led_to(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "out.json"
    victim.write_text("precious")
    path.symlink_to(victim)
    files.save_json(path, {"a": 1})
    assert victim.read_text() == "precious"
    assert not path.is_symlink()
    assert json.loads(path.read_text()) == {"a": 1}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "victim"]


def test_the_temporary_file_is_new_and_goes_when_the_writer_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    with contextlib.suppress(ZeroDivisionError), files.replacing(path, ".mp4") as temporary:
        assert (temporary.stat().st_size, temporary.suffix) == (0, ".mp4")
        assert files.becoming(temporary.name) == "out.bin"
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_planted_temporary_name_is_not_written_through(tmp_path, monkeypatch) -> None:
    """Even if somebody could guess it."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda size: "0" * 2 * size)
    (tmp_path / f".out.{'0' * 16}.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        files.save_text(tmp_path / "out", "evil")
    assert victim.read_text() == "precious"


def test_only_our_own_leftovers_are_cleared(tmp_path: Path) -> None:
    digits = "0123456789abcdef"
    names = [f".ours.{digits}.tmp", f".theirs.{digits}.tmp", ".ours.12345.tmp", "ours.tmp"]
    names += [f".link.{digits}.tmp", f".folder.{digits}.tmp"]
    for name in names[:4]:
        (tmp_path / name).touch()
    (tmp_path / names[4]).symlink_to(tmp_path / "ours.tmp")
    (tmp_path / names[5]).mkdir()
    files.clear_leftovers(tmp_path, lambda name: name != "theirs")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names[1:])


def test_a_linked_partial_directory_is_left_alone(tmp_path: Path) -> None:
    victim, out = tmp_path / "victim", tmp_path / "page"
    victim.mkdir()
    (victim / "precious").touch()
    for name in (".page.simtown-partial", f".page.{'0' * 16}.simtown-partial"):
        (tmp_path / name).symlink_to(victim)
    with files.whole(out, "simtown gallery") as directory:
        (directory / "index.html").touch()
    assert sorted(p.name for p in out.iterdir()) == ["index.html"]
    assert sorted(p.name for p in victim.iterdir()) == ["precious"]


def test_a_killed_run_is_cleared_and_a_running_one_is_not(tmp_path: Path) -> None:
    out = tmp_path / "page"
    killed = tmp_path / f".page.{'1' * 16}.simtown-partial"
    (killed / "data").mkdir(parents=True)
    with files.whole(out, "simtown gallery") as first:
        assert not killed.exists()
        with pytest.raises(ForeignDirectoryError, match="being written"), files.whole(out, "simtown gallery"):
            pass
        assert first.is_dir()
        (first / "index.html").touch()
    with pytest.raises(ForeignDirectoryError, match="there already"), files.whole(out, "simtown gallery"):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["page"]


def test_json_holds_null_for_nan_and_plain_numbers_for_numpys() -> None:
    content = {"a": np.array([[1.0, np.nan]]), "b": (np.float32(0.5), np.int64(3), np.inf, np.bool_(True))}
    assert files.as_json(content) == {"a": [[1.0, None]], "b": [0.5, 3, None, True]}
    json.dumps(files.as_json(content), allow_nan=False)
