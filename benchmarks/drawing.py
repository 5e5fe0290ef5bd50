"""Two builds of the kernels draw the same scenes in turns: is the new one faster, with the same bytes?

    python benchmarks/drawing.py old.so new.so [--scenes 128] [--sizes 128,256] [--rounds 15]

A build is what `python simtown/kernels/compiling.py` leaves in simtown/kernels/lib of a checkout. Each build
has a process of its own; they take turns, and processor time counts, so a machine that does other work too
tells them apart. Colour, depth and ids are drawn. What was tried is in benchmarks/results/drawing-tried.csv.
"""

from hashlib import sha256
from statistics import median
from time import process_time

from machine import Apart, options

from simtown.bench.engines import the_scenes
from simtown.kernels import LEVEL
from simtown.render.raster import Raster


class Drawing:
    """Scenes at one size, drawn with the kernels of this process."""

    def __init__(self, scenes: int, size: int) -> None:
        self._batch, self._size = the_scenes(scenes), size

    def draw(self) -> tuple[float, str]:
        """Draw all scenes; return frames a second of the processor, and the digest of what was drawn."""
        begun = process_time()
        frames = Raster().render(self._batch, self._size, self._size)
        seconds = process_time() - begun
        drawn = sha256()
        for pictures in (frames.rgb, frames.depth, frames.ids):
            drawn.update(pictures)
        return len(self._batch) / seconds, drawn.hexdigest()


def measure(builds: list[str], size: int, scenes: int, rounds: int) -> str:
    """Return a line of text: frames a second of both builds, and the ratio of the median pair."""
    drawings = [Apart(Drawing, scenes, size, **{LEVEL: build}) for build in builds]
    for drawing in drawings:
        drawing.call("draw")  # the first one is slower
    pairs = [[drawing.call("draw") for drawing in drawings] for _ in range(rounds)]
    for drawing in drawings:
        drawing.end()
    old, new = ([frames for frames, _ in runs] for runs in zip(*pairs, strict=True))
    ratio = median(b / a for a, b in zip(old, new, strict=True))
    same = "same bytes" if len({digest for pair in pairs for _, digest in pair}) == 1 else "OTHER BYTES"
    return f"{size} px: {median(old):.0f} and {median(new):.0f} frames a second, ratio {ratio:.3f}, {same}"


if __name__ == "__main__":
    chosen = options(__doc__, "old", "new", scenes=128, sizes=[128, 256], rounds=15)
    for size in chosen.sizes:
        builds = [str(path.resolve()) for path in (chosen.old, chosen.new)]
        print(measure(builds, size, chosen.scenes, chosen.rounds), flush=True)
