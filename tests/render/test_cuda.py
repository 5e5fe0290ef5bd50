"""The engine on a card that the processor plays: launches, streams, callers' arrays, full memory, errors."""

import gc
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("ziglang", reason="needs ziglang: pip install '.[dev]'")

from simtown.render.cuda import layout
from simtown.render.cuda.arrays import LEGACY, CardArray
from simtown.render.cuda.engine import Cuda
from simtown.render.frames import LARGEST_ON_CARD, CardError, CardRenderer, CardWarning
from simtown.render.raster import Raster, TooManyTrianglesError
from simtown.scenes.scene import empty_batch
from simtown.scenes.weather import WEATHERS
from tests.cuda.host_card import HostCard
from tests.render.streets import streets as make_streets

WIDTH, HEIGHT = 48, 32
TWO_AT_ONCE = 2 * WIDTH * HEIGHT / (128 * 128)  # for Cuda.launch
CALLERS = 4711  # number of a caller's stream


@pytest.fixture(scope="module")
def streets():
    """Seven scenes, one of each weather."""
    return make_streets(len(WEATHERS))


@pytest.fixture(scope="module")
def pictures(streets):
    return Raster().render(streets, WIDTH, HEIGHT)


def engine(card=None, at_once=TWO_AT_ONCE, **more):
    drawer = Cuda(card or HostCard(), **more)
    drawer.launch = at_once
    return drawer


class OnCard:
    """A caller's array on a card, as PyTorch and CuPy show theirs."""

    def __init__(self, card, shape, dtype, stream):
        self.shape, self.values = shape, card.memory.empty(shape, dtype)
        about = {"typestr": self.values.dtype.str, "data": (self.values.ctypes.data, False)}
        self.__cuda_array_interface__ = {"version": 3, "shape": shape, "stream": stream, **about}


def arrays(card, n, width=WIDTH, height=HEIGHT):
    shape = (n, height, width)
    kinds = ((*shape, 3), np.uint8), (shape, np.float32), (shape, np.uint8)
    return [OnCard(card, each, kind, CALLERS) for each, kind in kinds]


def assert_same(frames, pictures):
    for name, expected in vars(pictures).items():
        actual = getattr(frames, name)
        assert actual.dtype == expected.dtype
        assert np.array_equal(actual, expected), name


@pytest.mark.parametrize(("at_once", "lanes"), [(TWO_AT_ONCE, 2), (TWO_AT_ONCE, 1), (8, 2)])
def test_pictures_are_the_processors(streets, pictures, at_once, lanes):
    drawer = engine(at_once=at_once, lanes=lanes)
    assert isinstance(drawer, CardRenderer)
    assert_same(drawer.render(streets, WIDTH, HEIGHT), pictures)
    colour = drawer.render(streets, WIDTH, HEIGHT, geometry=False)
    assert np.array_equal(colour.rgb, pictures.rgb)
    assert colour.depth.shape == colour.ids.shape == (0, HEIGHT, WIDTH)
    assert len(drawer.render(streets[:0], WIDTH, HEIGHT)) == 0
    assert not drawer.too_much
    launched = drawer.card.launches
    assert launched.count("setup") == launched.count("draw") == 2 * (4 if at_once < 1 else 1)


@pytest.mark.parametrize("seed", range(3))
def test_work_is_done_as_late_as_may_be(streets, pictures, seed):
    """Every copy and kernel waits for what it needs, and for nothing else."""
    drawer = engine(HostCard(late=True, seed=seed))
    for _ in range(2):
        assert_same(drawer.render(streets, WIDTH, HEIGHT), pictures)


def drawn_for_a_caller(card, streets, ours_first):
    """What a caller finds in arrays that its own stream uses before and after they are drawn into.

    Our work or the caller's is done first where the events allow it.
    """
    drawer, targets = engine(card), arrays(card, len(streets))
    seen = {}

    def before():
        for target in targets:
            target.values[...] = 7
            card.memory.written(target.values)

    def after():
        for name, target in zip(("rgb", "depth", "ids"), targets, strict=True):
            seen[name] = target.values.copy()

    stream = card.foreign(CALLERS)
    card.queue(stream, before)
    drawer.draw_into(streets, *targets)
    card.queue(stream, after)
    for each in sorted(card.streams, key=lambda each: (each is stream) == ours_first):
        card.drain(each)
    return seen


@pytest.mark.parametrize("ours_first", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_a_callers_stream_is_waited_for_and_waits(streets, pictures, seed, ours_first):
    seen = drawn_for_a_caller(HostCard(late=True, seed=seed), streets, ours_first)
    for name, expected in vars(pictures).items():
        assert np.array_equal(seen[name], expected), name


class Tensor:
    """As PyTorch's: its __cuda_array_interface__ names no stream."""

    __module__ = "torch"

    def __init__(self, array):
        self.shape, self.device = array.shape, "cuda:0"
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "version": 2}
        del self.__cuda_array_interface__["stream"]


@pytest.mark.parametrize(("handle", "stream"), [(4711, 4711), (0, LEGACY)])
def test_pytorchs_current_stream_is_asked_for(streets, handle, stream, monkeypatch):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=handle))
    card = HostCard()
    rgb = arrays(card, len(streets))[0]
    engine(card).draw_into(streets, Tensor(rgb))
    assert list(card.foreign_streams) == [stream]


def test_the_host_does_not_wait_for_the_caller(streets):
    """What a caller has queued before, as a training step, is not done yet when drawing has been queued."""
    card = HostCard(late=True)
    drawer, targets, done = engine(card, at_once=8), arrays(card, len(streets)), []
    card.queue(card.foreign(CALLERS), lambda: done.append(True))
    with card.only_what_must_be():
        drawer.draw_into(streets, *targets)
    assert not done


def test_pictures_on_the_card_are_handed_out(streets, pictures):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    card = HostCard()
    drawer = engine(card)
    frames = drawer.draw(streets, WIDTH, HEIGHT)
    for name, expected in vars(pictures).items():
        assert np.array_equal(torch.from_dlpack(getattr(frames, name)).numpy(), expected), name
    used = card.memory.used
    rgb = np.from_dlpack(frames.rgb)
    del frames
    gc.collect()
    assert np.array_equal(rgb, pictures.rgb)
    assert used - card.memory.used == pictures.depth.nbytes + pictures.ids.nbytes
    del rgb
    gc.collect()
    assert used - card.memory.used == pictures.depth.nbytes + pictures.ids.nbytes + pictures.rgb.nbytes
    assert drawer.draw(streets, WIDTH, HEIGHT, geometry=False).depth is None


def test_a_capsule_that_nobody_takes_lets_go():
    array = CardArray(4096, (2, 3), np.float32, (2, 0))
    capsule = array.__dlpack__(stream=1)
    del capsule
    assert len(gc.get_referrers(array)) <= 1  # this function
    assert array.__dlpack_device__() == (2, 0)


def test_arrays_of_any_library_are_drawn_into(streets, pictures):
    card = HostCard()
    values = card.memory.empty(pictures.rgb.shape, np.uint8)
    array = CardArray(values.ctypes.data, values.shape, np.uint8, card.kind)
    streams = []

    def capsule(stream):
        streams.append(stream)
        return array.__dlpack__()

    # a library without __cuda_array_interface__
    engine(card).draw_into(streets, SimpleNamespace(shape=array.shape, __dlpack__=capsule))
    assert streams == [LEGACY]
    assert np.array_equal(values, pictures.rgb)


def test_other_arrays_are_refused(streets):
    card = HostCard()
    drawer, (rgb, depth, ids) = engine(card), arrays(card, len(streets))
    wrong_arrays = {
        "not an array on a card": (np.zeros(rgb.shape, np.uint8),),
        "rgb is uint8 .6, .* .7, ": (arrays(card, 6)[0],),
        "depth is uint8": (rgb, ids, ids),
        "both or for neither": (rgb, depth),
        "has the shape .7, 32, 48.": (ids,),
    }
    for words, wrong in wrong_arrays.items():
        with pytest.raises(ValueError, match=words):
            drawer.draw_into(streets, *wrong)
    for entry in ({"strides": (1, 1, 1, 1)}, {"data": (rgb.values.ctypes.data, True)}):
        other = arrays(card, len(streets))[0]
        other.__cuda_array_interface__ |= entry
        with pytest.raises(ValueError, match="cannot be written"):
            drawer.draw_into(streets, other)
    card.device_of = lambda address: 3
    with pytest.raises(ValueError, match="card 3"):
        drawer.draw_into(streets, rgb)
    assert not card.launches


def refused(scenes, words, width=WIDTH, height=HEIGHT):
    drawer = engine()
    with pytest.raises(ValueError, match=words):
        drawer.render(scenes, width, height)
    with pytest.raises(ValueError, match=words):
        drawer.draw_into(scenes, *arrays(drawer.card, len(scenes), width, height))


def test_what_a_card_does_not_draw_is_refused(streets):
    large = LARGEST_ON_CARD + 1
    for width, height, words in ((large, 64, "1024 .*`device=cpu`"), (64, large, "cpu"), (16, 64, "32 to")):
        refused(streets, words, width, height)
    scenes = streets[np.arange(len(streets))]
    scenes.camera[1] = 0
    refused(scenes, "focal length")
    refused(empty_batch(1, 3, 253), "at most 255")


def test_a_scene_for_which_there_is_no_room_is_drawn_by_the_processor(streets, pictures, monkeypatch):
    monkeypatch.setattr(layout.Size, "most_pieces", property(lambda size: 1200))
    card = HostCard(late=True)
    drawer, targets = engine(card), arrays(card, len(streets))
    assert_same(drawer.render(streets, WIDTH, HEIGHT), pictures)
    drawer.draw_into(streets, *targets)
    card.drain(card.foreign(CALLERS))
    for target, expected in zip(targets, vars(pictures).values(), strict=True):
        assert np.array_equal(target.values, expected)
    assert drawer.too_much, "nothing was tried"


def test_too_many_triangles_are_told_as_by_the_processor(streets, monkeypatch):
    def crowded(self, batch, *_):
        raise TooManyTrianglesError(0)

    monkeypatch.setattr(layout.Size, "most_pieces", property(lambda size: 1200))
    monkeypatch.setattr(Raster, "render", crowded)
    with pytest.raises(ValueError, match=r"^scene \d .*16351"):
        engine().render(streets, WIDTH, HEIGHT)


def test_launches_are_halved_where_memory_does_not_suffice(streets, pictures):
    for megabytes in (10, 9, 7):
        drawer = engine(HostCard(megabytes), at_once=8)
        with pytest.warns(CardWarning, match=r"draws \d scene") as caught:
            frames = drawer.render(streets, WIDTH, HEIGHT)
        assert_same(frames, pictures)
        assert_same(drawer.render(streets, WIDTH, HEIGHT), pictures)
        assert all(warning.filename == __file__ for warning in caught)


def test_memory_that_does_not_suffice_for_one_scene_is_told(streets):
    card = HostCard(5)
    drawer = engine(card)
    with pytest.warns(CardWarning), pytest.raises(CardError, match="`device=cpu`"):
        drawer.render(streets, WIDTH, HEIGHT)
    assert card.memory.used == drawer.memory()


@pytest.mark.parametrize("call", [2, 8, 14, 20])
def test_after_an_error_nothing_is_written_any_more(streets, call, monkeypatch):
    card = HostCard(late=True)
    drawer, targets, calls = engine(card), arrays(card, len(streets)), iter(range(1, 100))
    launch = card.launch

    def fails(*arguments):
        if next(calls) == call:
            raise CardError("the graphics card does not work")
        launch(*arguments)

    monkeypatch.setattr(card, "launch", fails)
    with pytest.raises(CardError, match="does not work"):
        drawer.draw_into(streets, *targets)
    assert not any(stream.items for stream in card.streams if stream is not card.foreign(CALLERS))
    assert_same(drawer.render(streets, WIDTH, HEIGHT), Raster().render(streets, WIDTH, HEIGHT))


def test_stages_are_timed_and_memory_is_told(streets):
    drawer = engine()
    with drawer.timing() as seconds:
        drawer.render(streets, WIDTH, HEIGHT)
    assert list(seconds) == ["upload", "setup", "arrange", "draw", "wet", "overlay", "copy back"]
    # every launch takes a second on a card without a clock
    assert all(took == 4 for took in seconds.values())
    assert drawer.card.memory.used == drawer.memory()
    drawer.render(streets, WIDTH, HEIGHT)
    assert len(seconds) == 7


def test_all_memory_is_given_back(streets):
    card = HostCard()
    drawer = engine(card)
    drawer.render(streets, WIDTH, HEIGHT)
    del drawer
    gc.collect()
    assert card.memory.used == 0
    assert not card.pinned_memory
