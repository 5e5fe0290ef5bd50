"""simtown clip: files that players read, the same for the same seed, and never over another file."""

import resource

import cv2
import numpy as np
import pytest
from PIL import Image, ImageSequence

from simtown.town.checks import TownError
from simtown.town.motion import clip
from simtown.town.motion.filming import TownFilm
from simtown.town.motion.traffic import traffic
from simtown.town.snapshot import Frame
from tests.conftest import HANGS

QUICK = ("--seconds", "0.5", "--fps", "10", "--size", "96x54", "--seed", "3")


def shown(path):
    """(n, h, w, 3) frames of an MP4 by OpenCV, or of others by Pillow."""
    if path.suffix != ".mp4":
        with Image.open(path) as gif:
            return np.stack([np.asarray(picture.convert("RGB")) for picture in ImageSequence.Iterator(gif)])
    reader, pictures = cv2.VideoCapture(str(path)), []
    while (read := reader.read())[0]:
        pictures.append(read[1][..., ::-1])
    return np.stack(pictures)


@pytest.mark.parametrize("ending", clip.ENDINGS)
def test_a_clip_shows_the_town_in_motion(cli, tmp_path, ending):
    path = tmp_path / f"street{ending}"
    done = cli("clip", *QUICK, "--out", path).succeeds()
    assert str(path) in done.out
    shown_frames = shown(path).astype(int)
    assert shown_frames.shape == (5, 54, 96, 3)
    first = traffic(3).render((96, 54)).rgb
    assert np.abs(shown_frames[0] - first).mean() < 12  # lossy
    assert (np.abs(shown_frames[-1] - shown_frames[0]).max(axis=2) > 60).mean() > 0.01
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", clip.ENDINGS)
@pytest.mark.parametrize("share", [0, 0.5, 0.999])
def test_a_clip_that_finds_no_room_is_refused_and_leaves_nothing(cli, tmp_path, monkeypatch, ending, share):
    noise = np.random.default_rng(0).integers(0, 256, (20, 54, 96, 3), dtype=np.uint8)
    frames = [Frame(picture, *[None] * 3) for picture in noise]
    monkeypatch.setattr(TownFilm, "__iter__", lambda film: iter(frames))
    whole = tmp_path / f"whole{ending}"
    cli("clip", *QUICK, "--out", whole).succeeds()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(share * whole.stat().st_size), limits[1]))
    try:
        cli("clip", *QUICK, "--out", tmp_path / f"cut{ending}").refuses()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [whole]


@pytest.mark.parametrize("seconds", [0.01, 1, 2.3])
def test_a_gif_of_every_speed_lasts_as_long_as_it_should(tmp_path, seconds):
    levels = np.linspace(0, 255, 200)[:, None].repeat(3, axis=1)
    for fps in range(1, 51):
        n = max(1, round(seconds * fps))
        pictures = [np.tile(np.uint8(np.roll(levels, k)), (3, 1, 1)) for k in range(n)]
        clip.write(pictures, path := tmp_path / f"{fps}.gif", fps, (64, 36), lambda n: None)
        with Image.open(path) as gif:
            ends = np.cumsum([frame.info["duration"] for frame in ImageSequence.Iterator(gif)])
        assert np.abs(ends - 1000 * np.arange(1, n + 1) / fps).max() <= 5
    for fps in range(51, 61):
        with pytest.raises(TownError, match=f"at most 50 pictures a second, not {fps}"):
            clip.check(tmp_path / "fast.gif", fps, (64, 36))


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


def test_the_same_seed_is_the_same_clip(cli, tmp_path):
    for name in ("a.gif", "b.gif"):
        cli("clip", *QUICK, "--out", tmp_path / name).succeeds()
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    cli("clip", *QUICK[:-1], "4", "--out", tmp_path / "c.gif").succeeds()
    assert (tmp_path / "c.gif").read_bytes() != (tmp_path / "a.gif").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "{}/street.avi"], ["street.avi", ".mp4, .webp or .gif"]),
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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("seconds", [4.0, 60.0])
def test_at_least_two_vehicles_are_in_view_all_the_time(seed, seconds):
    film = traffic(seed, seconds=seconds).film(seconds, 9, (256, 144))
    for frame in film:
        vehicles = {vehicle.entity for vehicle in film.scenes[0].vehicles}
        assert sum(name.rstrip(" 0123456789") in vehicles for name in frame.seen()) >= 2


def test_traffic_is_a_film_for_as_long_as_one_may_be():
    town = traffic(3, vehicles=40, seconds=600.0)
    assert len(town.film(600.0, 3)) == 3
