"""All kernels after one another, on an emulated card: their pictures are the processor's, at a cost that is
kept.
"""

import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from simtown.render.cuda.compiler import STAGES, source
from simtown.render.cuda.engine import Cuda
from simtown.render.raster import Raster
from tests.cuda.compiler import compile_ptx
from tests.cuda.emulated_card import EmulatedCard
from tests.cuda.emulator import Kernel
from tests.cuda.resources import measure_source
from tests.render.streets import close_up, crowded, streets

#: SASS-weighted instructions of warps that a frame may take, all kernels together, by the picture's side.
MOST_INSTRUCTIONS = {128: 750_000, 256: 2_300_000}
#: Registers of a thread with which so many blocks fit a multiprocessor as the kernels were written for.
MOST_REGISTERS = {"setup": 96, "arrange": 80, "draw": 80, "wet": 128, "overlay": 64}
#: Shared memory of a multiprocessor of the oldest cards with 228 KB, less what a block takes for itself.
MULTIPROCESSOR, OF_A_BLOCK = 228 * 1024, 1024


def draw(batch, width, height, seed=0, check=True, card=None):
    """The card, after it has drawn a batch, and the names of the pictures that are not the processor's."""
    card = card or EmulatedCard(megabytes=3000, seed=seed, check=check)
    engine = Cuda(card)
    engine.launch = 10**6
    found, expected = engine.render(batch, width, height), Raster().render(batch, width, height)
    return card, [
        name for name, values in vars(expected).items() if getattr(found, name).tobytes() != values.tobytes()
    ]


def per_frame(card, frames):
    """SASS-weighted instructions of a frame, by kernel."""
    return {name: counters.sass / frames for name, counters in card.launches}


@pytest.mark.parametrize(("width", "height"), [(64, 64), (33, 140)])
def test_streets_in_every_weather(width, height):
    assert draw(streets(7), width, height)[1] == []


def test_things_close_up_by_level_and_tilted_cameras():
    assert draw(close_up(), 40, 32)[1] == []


def test_more_things_than_a_block_has_threads():
    assert draw(crowded(2), 64, 33)[1] == []


def test_instructions_of_a_frame():
    card, differing = draw(streets(14), 128, 128, check=False)
    cost = per_frame(card, 14)
    assert differing == []
    assert set(cost) == set(STAGES)
    assert sum(cost.values()) <= MOST_INSTRUCTIONS[128], cost


@pytest.mark.parametrize("name", STAGES)
def test_what_a_kernel_takes_of_a_card(name):
    taken = measure_source(source(name), name)
    assert (taken.stack, taken.spill_stores, taken.spill_loads) == (0, 0, 0)
    assert taken.registers <= MOST_REGISTERS[name]


@pytest.mark.parametrize("height", [32, 64, 97, 128, 256, 1024])
def test_three_blocks_of_draw_share_a_multiprocessor(height):
    from simtown.render.cuda.lane import shared_bytes

    taken = measure_source(source("draw"), "draw")
    assert 3 * (taken.shared + shared_bytes(height) + OF_A_BLOCK) <= MULTIPROCESSOR


@pytest.mark.slow
def test_instructions_of_a_large_frame():
    card, differing = draw(streets(14), 256, 256, check=False)
    assert differing == []
    assert sum(per_frame(card, 14).values()) <= MOST_INSTRUCTIONS[256], per_frame(card, 14)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "height", "first", "count", "check"),
    [
        (32, 32, 0, 80, True),
        (64, 32, 80, 80, True),
        (64, 64, 160, 70, True),
        (97, 97, 230, 40, True),
        (128, 128, 270, 120, False),
        (128, 64, 390, 30, True),
        (128, 128, 420, 20, True),
        (144, 256, 440, 20, False),
        (256, 256, 460, 28, False),
        (512, 512, 488, 10, False),
        (1024, 1024, 498, 2, False),
    ],
)
def test_five_hundred_streets(width, height, first, count, check):
    from simtown.bench.render import the_scenes

    scenes = the_scenes(500)[first : first + count]
    for seed in (1, 2) if check else (1,):  # another order of blocks, warps and lanes
        assert draw(scenes, width, height, seed, check)[1] == []


class Maimed(EmulatedCard):
    """A card on which a kernel lacks one of its barriers."""

    def __init__(self, maimed, barrier):
        super().__init__(megabytes=1024)
        self.maimed, self.barrier = maimed, barrier

    def kernel(self, name, most_shared=0):
        if name != self.maimed:
            return super().kernel(name, most_shared)
        return name, Kernel(compile_ptx(source(name), name=f"{name}.cu"), name, self.barrier), most_shared


def barriers(name):
    return Kernel(compile_ptx(source(name), name=f"{name}.cu"), name).barriers


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arrange", "draw", "wet"])  # the others' are tried by their own tests
def test_every_barrier_is_needed(name):
    missed = []
    for barrier, instruction in enumerate(barriers(name)):
        for batch, width in ((streets(7), 64), (close_up(), 32), (crowded(1), 32)):
            try:
                if draw(batch, width, 64, card=Maimed(name, barrier))[1]:
                    break
            except AssertionError:  # the checks notice
                break
        else:
            missed.append(instruction.source)
    assert missed == []
