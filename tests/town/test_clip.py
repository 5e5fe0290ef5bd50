"""simtown clip: files that players read, the same for the same seed, and never over another file."""

import resource
from importlib.util import find_spec

import cv2
import numpy as np
import pytest
from PIL import Image, ImageSequence

from simtown.town import Town
from simtown.town.checks import TownError
from simtown.town.motion import clip
from simtown.town.motion.traffic import traffic
from tests.conftest import HANGS

needs_motion = pytest.mark.skipif(
    find_spec("pybullet") is None,
    reason="needs pybullet: pip install '.[physics]' under Python 3.11 on Linux x86-64",
)
QUICK = ("--seconds", "0.5", "--fps", "10", "--size", "96x54", "--seed", "3")


def shown(path):
    """(n, h, w, 3) frames of an MP4 by OpenCV, or of a GIF by Pillow."""
    if path.suffix == ".gif":
        with Image.open(path) as gif:
            return np.stack([np.asarray(picture.convert("RGB")) for picture in ImageSequence.Iterator(gif)])
    reader, pictures = cv2.VideoCapture(str(path)), []
    while (read := reader.read())[0]:
        pictures.append(read[1][..., ::-1])
    return np.stack(pictures)


@needs_motion
@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_a_clip_shows_the_town_in_motion(cli, tmp_path, ending):
    path = tmp_path / f"street.{ending}"
    done = cli("clip", *QUICK, "--out", path).succeeds()
    assert str(path) in done.out
    shown_frames = shown(path).astype(int)
    assert shown_frames.shape == (5, 54, 96, 3)
    first = traffic(3).render((96, 54)).rgb
    assert np.abs(shown_frames[0] - first).mean() < 12  # lossy
    assert (np.abs(shown_frames[-1] - shown_frames[0]).max(axis=2) > 60).mean() > 0.01
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@needs_motion
@pytest.mark.parametrize("ending", ["mp4", "gif"])
@pytest.mark.parametrize("share", [0, 0.5, 0.999])
def test_a_clip_that_finds_no_room_is_refused_and_leaves_nothing(cli, tmp_path, monkeypatch, ending, share):
    noise = np.random.default_rng(0).integers(0, 256, (20, 54, 96, 3), dtype=np.uint8)
    monkeypatch.setattr(clip, "frames", lambda *_: ((picture, []) for picture in noise))
    whole = tmp_path / f"whole.{ending}"
    cli("clip", *QUICK, "--out", whole).succeeds()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(share * whole.stat().st_size), limits[1]))
    try:
        cli("clip", *QUICK, "--out", tmp_path / f"cut.{ending}").refuses()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [whole]


@pytest.mark.parametrize("seconds", [0.01, 1, 2.3])
def test_a_gif_of_every_speed_lasts_as_long_as_it_should(tmp_path, monkeypatch, seconds):
    levels = np.linspace(0, 255, 200)[:, None].repeat(3, axis=1)
    for fps in range(1, 51):
        n = max(1, round(seconds * fps))
        pictures = [(np.tile(np.uint8(np.roll(levels, k)), (3, 1, 1)), []) for k in range(n)]
        monkeypatch.setattr(clip, "frames", lambda *_, pictures=pictures: iter(pictures))
        clip.write(None, path := tmp_path / f"{fps}.gif", seconds, fps, (64, 36), lambda n: None)
        with Image.open(path) as gif:
            ends = np.cumsum([frame.info["duration"] for frame in ImageSequence.Iterator(gif)])
        assert np.abs(ends - 1000 * np.arange(1, n + 1) / fps).max() <= 5
    for fps in range(51, 61):
        with pytest.raises(TownError, match=f"at most 50 frames a second, not {fps}"):
            clip.check(tmp_path / "fast.gif", seconds, fps, (64, 36))


@needs_motion
def test_a_browser_plays_the_mp4(cli, browser, tmp_path):
    cli("clip", *QUICK, "--out", tmp_path / "street.mp4").succeeds()
    (tmp_path / "page.html").write_text('<video id="v" src="street.mp4" muted autoplay></video>')
    browser.set_script_timeout(HANGS)
    browser.get(f"file://{tmp_path}/page.html")
    played = browser.execute_async_script("""
        const done = arguments[0], video = document.getElementById("v");
        const report = () => done([video.videoWidth, video.error && 1]);
        if (video.readyState > 1 || video.error) report();
        else video.onloadeddata = video.onerror = report;
    """)
    assert played == [96, None]


@needs_motion
def test_the_same_seed_is_the_same_clip(cli, tmp_path):
    for name in ("a.gif", "b.gif"):
        cli("clip", *QUICK, "--out", tmp_path / name).succeeds()
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    cli("clip", *QUICK[:-1], "4", "--out", tmp_path / "c.gif").succeeds()
    assert (tmp_path / "c.gif").read_bytes() != (tmp_path / "a.gif").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "{}/street.avi"], ["street.avi", ".mp4 or .gif"]),
        (["--out", "{}/nowhere/street.mp4"], ["not a directory"]),
        (["--out", "{}/there.gif"], ["there.gif exists"]),
        (["--out", "{}/a.mp4", "--seconds", "0"], ["--seconds", "above 0"]),
        (["--out", "{}/a.mp4", "--fps", "0"], ["--fps", "1 to 60"]),
        (["--out", "{}/a.mp4", "--size", "95x54"], ["even"]),
        (["--out", "{}/a.mp4", "--size", "9x9"], ["size"]),
        (["--out", "{}/a.mp4", "--vehicles", "99"], ["vehicles is 99"]),
        (["--out", "{}/a.mp4", "--entities", "0"], ["entities is 0"]),
        (["--out", "{}/a.mp4", "--weather", "hail"], ["--weather hail is unknown"]),
    ],
)
def test_what_cannot_be_filmed_is_refused_in_one_line(cli, tmp_path, options, words):
    (tmp_path / "there.gif").write_text("mine")
    cli("clip", *(o.format(tmp_path) for o in options)).refuses(*words)
    assert (tmp_path / "there.gif").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


@needs_motion
@pytest.mark.parametrize("seed", range(2))
def test_at_least_two_vehicles_are_in_view_all_the_time(seed):
    town = traffic(seed)
    for _ in range(9):
        assert len(town.seen() & {t.name for t in town.vehicles}) >= 2
        town.step(0.5)


@needs_motion
def test_a_town_films_itself(tmp_path):
    town, still = Town.random(3), Town.random(3)
    names = [t.name for t in town.things]
    moved = {"fps": 10, "size": (96, 54)}
    town.film(tmp_path / "a.gif", seconds=2, **moved)
    assert np.abs(shown(tmp_path / "a.gif")[0].astype(int) - still.render((96, 54)).rgb).mean() < 12
    assert (town.time, [t.name for t in town.things]) == (pytest.approx(1.9), names)
    for car in town.vehicles:
        assert abs(car.x - still[car.name].x) > 1.0
        assert car.name in town.seen()
    still.drive("scooter", 3.0)  # who moves already decides who moves
    still.film(tmp_path / "b.gif", seconds=1, **moved)
    assert still["kick scooter"].x == Town.random(3)["kick scooter"].x
    with pytest.raises(TownError, match="exists"):
        still.film(tmp_path / "b.gif")


@needs_motion
def test_traffic_drives_and_walks_and_no_vehicle_touches_anything():
    for seed in range(2):
        town = traffic(seed, vehicles=8)
        assert len(town.vehicles) == 8
        start = {t.name: t.x for t in town.things}
        for _ in range(8):
            for contact in town.step(0.5):
                assert {town[contact.first].group, town[contact.second].group} <= {"person", "furniture"}
                assert contact.impulse < 200  # people may brush past each other
        assert min(abs(t.x - start[t.name]) for t in town.vehicles) > 2.0
        people = [t for t in town.things if t.group == "person"]
        assert np.mean([abs(t.x - start[t.name]) / (4 * t.pace) for t in people]) > 0.5
        assert all(3.6 < t.y < 6.9 for t in people)
