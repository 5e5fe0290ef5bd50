"""The look of figures, and saving them.

matplotlib's object interface needs no display and shares no state. It comes with an extra, so the functions
import it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

from simtown.core.files import replacing

#: Colours of text, of lines that the eye passes over, of axes, and of what is shown for comparison.
INK, FAINT, AXIS, GREY = "#333333", "#DDDDDD", "#888888", "#9A9A9A"
#: Okabe and Ito's colours, which colour-blind readers can tell apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
#: The most round values on an axis; with more, only powers of ten are labelled.
_MOST_TICKS = 9


def new_figure(width: float, height: float, dpi: int = 150) -> Any:
    """A white figure of a size in inches, whose parts are laid out without overlap."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained", facecolor="white")


def style_axes(axes: Any, grid: Literal["both", "y"] = "both", label_size: float = 9.0) -> None:
    """Two thin spines, and a faint grid behind everything: in both directions, or across only ("y")."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(AXIS)
    axes.tick_params(colors=INK, which="both", labelsize=label_size)
    axes.grid(True, which="major", axis=grid, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)


def draw_chance(axes: Any, chance: float = 0.5) -> None:
    """A line at the accuracy of guessing, by default yes or no, with its name."""
    axes.axhline(chance, color=AXIS, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    look = {"fontsize": 8, "color": "#777777", "ha": "right", "va": "top"}
    axes.annotate("chance", (1, chance), (-2, -3), ("axes fraction", "data"), "offset points", **look)


def add_footnote(figure: Any, text: str) -> None:
    """Small print below the figure, in as many lines as its width asks for."""
    figure.supxlabel(fill(text, int(13 * figure.get_figwidth())), fontsize=8.5, color="#666666")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as PNG or SVG, by the ending of the path; the file is whole, or the old one stays.

    The same figure gives the same bytes.
    """
    from matplotlib import rc_context

    kind = path.suffix.lower().removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "simtown", "svg.fonttype": "none"}), replacing(path) as temporary:
        figure.savefig(temporary, format=kind, metadata=metadata)


def set_log_ticks(axis: Any, values: Sequence[float], label: Callable[[float, Any], str]) -> None:
    """Ticks at these values only, labelled by label(value, position)."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FuncFormatter(label))
    axis.set_minor_locator(NullLocator())


def round_values(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two numbers; the powers alone if there are too many."""
    for steps in ((1, 2, 5), (1,)):
        values = [float(m * 10**e) for e in range(17) for m in steps if low <= m * 10**e <= high]
        if len(values) <= _MOST_TICKS:
            break
    return values


def short_number(value: float, _: object = None) -> str:
    """Such as 250, 1k, 2.5k, 60k, 1M, 1G or 1T; the label of a tick."""
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"
