"""The contact sheets of tools/sheets.py."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simtown.assets.catalogue import ENTITIES, STREET
from simtown.datasets.showing import preview
from simtown.render.raster import Raster
from simtown.scenes.camera import NEAR
from simtown.scenes.silhouette import unclipped_boxes
from tools import sheets

ROOT = Path(__file__).parents[1]
SIZE = 64


def run(*words):
    sheets.make([str(word) for word in words])


def test_a_kind_is_shown_whole_in_each_weather():
    names = ["kick scooter", "double-decker bus", "tram"]
    for lane in (0, 1):
        pictures = list(sheets.kinds(names, ["clear", "night"], lane, SIZE, 0))
        assert [name for name, _ in pictures] == names
        shape = (round(sheets.WINDOW[1] * SIZE), 2 * round(sheets.WINDOW[0] * SIZE), 3)
        assert all(rgb.shape == shape for _, rgb in pictures)
        # what differs between two kinds before one street reaches no edge of the window but where their
        # shadows lie: nothing is cut off
        clear = [rgb[:, : shape[1] // 2].astype(int) for _, rgb in pictures]
        changed = np.abs(clear[0] - clear[2]).max(axis=2) > 40
        assert changed.any()
        assert not changed[: shape[0] // 2, [0, -1]].any()


def test_every_vehicle_of_the_catalogue_fits_its_picture():
    scenes = preview.portraits(list(range(len(ENTITIES))))
    box = unclipped_boxes(scenes.entity, scenes.pose, scenes.camera, 192, 128)[:, 0] / (192, 128, 192, 128)
    assert box.min() > 0.03
    assert box.max() < 0.97
    assert (box[:, 2] - box[:, 0] > 0.3).all()


@pytest.mark.parametrize("group", sheets.GROUPS)
def test_every_thing_of_a_group_is_shown(group):
    pictures = list(sheets.things(group, SIZE))
    assert [name for name, _ in pictures] == list(STREET[group])
    for _, rgb in pictures:
        assert rgb.shape == (SIZE, SIZE * (3 if group == "person" else 1), 3)
        assert len(np.unique(rgb.reshape(-1, 3), axis=0)) > 20


def test_the_gallery_is_every_sheet(monkeypatch, tmp_path):
    fog = "kinds --kinds sedan --weather fog"
    monkeypatch.setattr(sheets, "GALLERY", {"a.webp": fog, "b.png": f"person --size {SIZE}"})
    run("gallery", "--out", tmp_path)
    pictures = {path.name: Image.open(path) for path in tmp_path.iterdir()}
    assert {name: (picture.format, picture.mode) for name, picture in pictures.items()} == {
        "a.webp": ("WEBP", "RGB"),
        "b.png": ("PNG", "RGB"),
    }


def test_the_sheets_of_the_gallery_are_listed_with_their_commands():
    page = (ROOT / "docs" / "gallery" / "README.md").read_text(encoding="utf-8")
    for name, text in sheets.GALLERY.items():
        assert (ROOT / "docs" / "gallery" / name).stat().st_size <= 500_000, name
        assert f"]({name})\n" in page, name
        assert f"\npython -m tools.sheets {text} --out {name}\n" in page, name


@pytest.mark.parametrize("group", sheets.GROUPS)
def test_nothing_is_cut_open_by_the_near_plane(group):
    for name, scenes in sheets.portraits(group):
        assert Raster().render(scenes, SIZE, SIZE).depth.min() > 1.2 * NEAR, name
