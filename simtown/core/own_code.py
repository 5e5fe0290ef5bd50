"""The user's own code, such as a model, a metric or a kind: it may raise anything, or end the program."""

import importlib
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

#: Beginnings of files that are not the user's, and characters of the longest description.
_OURS = (str(Path(__file__).parents[1]), importlib.__file__, "<frozen ")
_LONGEST = 400


@contextmanager
def own_code(
    refusal: Callable[[str], Exception], passed: type[BaseException] = KeyboardInterrupt
) -> Iterator[None]:
    """Whatever the block raises, SystemExit too, becomes the `refusal` of its description in one line.

    Args:
        refusal: makes the exception that is raised instead.
        passed: type of exceptions that are ours; they stay as they are, and so does Ctrl-C.
    """
    try:
        with chdir("."):  # where it may leave
            yield
    except (KeyboardInterrupt, passed):
        raise
    except BaseException as error:
        raised = traceback.TracebackException.from_exception(error, lookup_lines=False)
        frames = [frame for frame in raised.stack if not frame.filename.startswith(_OURS)]
        own = [frame for frame in frames if frame.filename == frames[0].filename]
        where = "".join(f" in {frame.filename}, line {frame.lineno}" for frame in own[-1:])
        words = " ".join(str(raised).split()) or "it does not say why"  # str(error) may fail
        raise refusal(f"{type(error).__name__}{where}: {words:.{_LONGEST}}") from error
