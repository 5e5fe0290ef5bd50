"""What the package does with CUDA's driver: tests/render/test_cuda_driver.py runs this over driver.c."""

import ctypes
import os
import sys
import warnings

import numpy as np

from simtown.bench.engines import the_scenes
from simtown.render.cuda.card import Card, check_card
from simtown.render.cuda.engine import Cuda
from simtown.render.cuda.lane import OVERLAID
from simtown.render.cuda.layout import JOB, columns, needs
from simtown.render.frames import CardError, CardWarning
from simtown.render.renderers import choose_device

WIDTH, HEIGHT, SCENES, AT_ONCE = 64, 160, 5, 2


def launches_are_what_the_kernels_expect():
    """Names, blocks, threads, shared memory, and a job that points to the batch and to the pictures."""
    batch, engine = the_scenes(SCENES), Cuda()
    engine.launch = AT_ONCE * WIDTH * HEIGHT / 128**2
    frames = engine.empty(SCENES, WIDTH, HEIGHT)
    engine.draw_into(batch, frames.rgb, frames.depth, frames.ids)
    with open(os.environ["FAKE_LOG"], encoding="utf-8") as log:
        lines = [line.split() for line in log]
    whole = needs().size(batch, WIDTH, HEIGHT)
    last = None
    for start in range(0, SCENES, AT_ONCE):
        n = min(AT_ONCE, SCENES - start)
        expected = {"setup": (n, 1, 1, 128, 0), "arrange": (n, 1, 1, 256, 0), "draw": (2, 2, n, 256, 66832)}
        if whole.wet:
            expected["wet"] = (2, 2, n, 256, 0)
        if whole.layered:
            expected["overlay"] = (-(-HEIGHT // OVERLAID), n, 1, 256, 0)
        for name, how in expected.items():
            word, *numbers, address = lines.pop(0)
            assert (word, tuple(map(int, numbers))) == (name, how), (word, numbers, name, how)
        last = start, n, int(address)
    assert not lines
    start, n, address = last
    job = np.frombuffer((ctypes.c_uint8 * JOB.itemsize).from_address(address), JOB)[0]
    assert (job["scenes"], job["width"], job["height"]) == (n, WIDTH, HEIGHT)
    for name, (shape, kind) in columns(whole._replace(scenes=n)).items():
        size = int(np.prod(shape)) * kind.itemsize
        in_memory = np.frombuffer((ctypes.c_uint8 * size).from_address(int(job[name])), kind).reshape(shape)
        assert np.array_equal(in_memory, getattr(batch, name)[start : start + n]), name
    for name, array in vars(frames).items():
        assert job[name] == array.__cuda_array_interface__["data"][0] + start * (array.nbytes // SCENES), name
    with engine.timing() as seconds:
        engine.render(batch, WIDTH, HEIGHT)
    assert abs(seconds["draw"] - 3 * 0.0015) < 1e-6


def refusal(settings, act=check_card):
    """The message of a CardError under some settings of the driver."""
    os.environ.update({f"FAKE_{name.upper()}": str(value) for name, value in settings.items()})
    try:
        act()
    except CardError as error:
        return str(error)
    finally:
        for name in settings:
            del os.environ[f"FAKE_{name.upper()}"]
    raise AssertionError(f"{settings} is no error")


def reasons_are_told_in_words():
    for settings, words in (
        ({"cards": 0}, "no graphics card"),
        ({"version": 12040}, "the graphics driver knows CUDA 12, and CUDA's compiler is 13"),
        ({"capability": 75}, "Fake card is too old: it has compute capability 7.5"),
        ({"capability": 190}, "does not know the card Fake card"),
    ):
        message = refusal(settings)
        assert words in message, message
        assert len(message) < 200
    for function in ("cuModuleLoadData", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"):
        words = "the graphics card does not work (CUDA says CUDA_ERROR_ILLEGAL_ADDRESS)"
        assert words in refusal({"refuses": function}, Cuda)
    engine, batch = Cuda(), the_scenes(4)
    for function in ("cuLaunchKernel", "cuEventSynchronize"):
        assert "does not work" in refusal({"refuses": function}, lambda: engine.render(batch, 64, 64))
    engine.render(batch, 64, 64)


def a_full_memory_halves_launches():
    os.environ["FAKE_MEGABYTES"] = "120"
    engine = Cuda()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        engine.render(the_scenes(150), 64, 64)
    del os.environ["FAKE_MEGABYTES"]
    assert [w.category for w in caught] == [CardWarning] * len(caught)
    assert caught
    assert engine.memory() < 120 << 20


def the_card_is_chosen():
    assert choose_device("auto", print) == choose_device("cuda", print) == "cuda"
    assert Card().name == "Fake card (compute capability 9.0, driver of CUDA 13.0)"


if __name__ == "__main__":
    launches_are_what_the_kernels_expect()
    reasons_are_told_in_words()
    a_full_memory_halves_launches()
    the_card_is_chosen()
    sys.stdout.write("all cases passed\n")
