"""Progress bars of long work, on stderr."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

#: Seconds before a bar is drawn.
PATIENCE = 2.0
#: Opens a progress bar: takes a title and the number of units (0: unknown), gives what is called with the
#: number of newly finished units.
Bars = Callable[[str, int], Callable[[int], object]]


def no_bars(title: str, total: int) -> Callable[[int], object]:
    """:data:`Bars` that show nothing."""
    return lambda more: None


@contextmanager
def metered(title: str, total: int, shown: bool = True) -> Iterator[Callable[[int], object]]:
    """Gives what takes the number of newly finished units, of `total` (0: unknown).

    It draws a bar on stderr for work that takes longer than :data:`PATIENCE`, unless `shown` is false.
    """
    from simtown.core.progress import Progress

    bar, started, finished, drawn = Progress(title), monotonic(), 0, False

    def progress(more: int) -> None:
        nonlocal finished, drawn
        finished += more
        if drawn:
            bar.on_progress(more)
        elif shown and monotonic() - started > PATIENCE:
            bar.on_begin(total)
            bar.on_progress(finished)
            drawn = True

    with bar:
        yield progress


@contextmanager
def one_bar() -> Iterator[Bars]:
    """Progress bars for the duration, one at a time: each ends the one before."""
    with ExitStack() as bars:

        def start(title: str, total: int) -> Callable[[int], object]:
            bars.close()
            return bars.enter_context(metered(title, total))

        yield start
