"""Figures look alike, and are saved whole, with the same bytes each time."""

import subprocess
import sys

import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib: pip install '.[train]'")

from simtown.core import plots


def figure():
    result = plots.new_figure(4, 3)
    axes = result.subplots()
    plots.style_axes(axes)
    axes.plot([1, 100], [1, 3])
    axes.set_xscale("log")
    plots.set_log_ticks(axes.xaxis, plots.round_values(1, 100), plots.short_number)
    plots.add_footnote(result, "word " * 40)
    return result


@pytest.mark.parametrize("ending", ["png", "svg", "PNG"])
def test_a_figure_has_the_same_bytes_each_time(ending, tmp_path):
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        plots.save_figure(figure(), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(b"\x89PNG" if ending.lower() == "png" else b"<?xml")


def test_values_on_an_axis_are_round_and_few():
    assert plots.round_values(2, 100) == [2, 5, 10, 20, 50, 100]
    assert plots.round_values(1, 10**6) == [10**e for e in range(7)]


def test_a_figure_needs_no_display_and_no_pyplot():
    code = "import sys, io, simtown.core.plots as plots; assert 'matplotlib' not in sys.modules; "
    code += "plots.new_figure(1, 1).savefig(io.BytesIO()); assert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
