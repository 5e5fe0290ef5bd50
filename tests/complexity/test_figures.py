"""The figures: they are drawn from any report, show what is censored, and share no state."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from PIL import Image

from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run
from simtown.complexity.learning_figure import learning
from simtown.complexity.model_looks import LOOKS, looks_of
from simtown.complexity.needs_figure import samples
from simtown.core import plots
from tests.complexity.simulated import exact

SIZES = (500, 1000, 2000, 5000, 10000)


def runs_of(models, worlds=(5, 15, 60), distractors=(False, True), seeds=2, sizes=SIZES):
    rng = np.random.default_rng(0)

    def correct(i, k, d, n):
        return rng.random(200) < 0.5 + 0.49 / (1 + (200 * k ** (0.3 + 0.5 * i) * (1 + d) / n) ** 2)

    every = product(enumerate(models), worlds, distractors, sizes, range(seeds))
    return [Run(model, k, d, n, s, f"{k}{d}", correct(i, k, d, n)) for (i, model), k, d, n, s in every]


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """The figure that would be saved."""

    def draw(figure_of, report, **settings):
        kept = []
        monkeypatch.setattr(plots, "save_figure", lambda figure, path: kept.append(figure))
        figure_of(report, tmp_path, **settings)
        monkeypatch.undo()
        return kept[0]

    return draw


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]


ANY = [(("pbn",), {"seeds": 1, "distractors": (False,)})]
ANY += [(("pbn", "cnn-lstm"), {"sizes": (2000,)})]
ANY += [("abcdefg", {"distractors": (False,), "worlds": (5, 6), "seeds": 1})]


@pytest.mark.parametrize(("models", "settings"), ANY)
def test_any_report_is_drawn(tmp_path, models, settings):
    report = estimate(runs_of(models, **settings), replicates=40)
    samples(report, tmp_path / "samples.png")
    learning(report, tmp_path / "learning.png")
    for name in ("samples.png", "learning.png"):
        with Image.open(tmp_path / name) as picture:
            assert min(picture.size) > 300
            assert len(set(picture.convert("L").resize((100, 100)).tobytes())) > 5


def test_the_papers_arrangement(drawn):
    runs = runs_of(("pbn", "cnn-lstm")) + runs_of(("film",), distractors=(False,), worlds=(5,))
    figure = drawn(samples, estimate(runs, replicates=40))
    assert titles(figure) == [
        *("All models at 90 %, no distractor", "CNN-LSTM", "FiLM ResNet", "PBN"),
        *("All models at 90 %, with distractor", "CNN-LSTM", "PBN"),
    ]
    first, second = (axes for axes in figure.axes if axes.get_title(loc="left").startswith("All"))
    assert first.get_xlim() == second.get_xlim()


def test_one_target_has_one_panel_for_each_condition(drawn):
    report = estimate(runs_of(("pbn", "cnn-lstm")), replicates=40, targets=(0.825,))
    panels = ["Model at 82.5 %, no distractor", "Model at 82.5 %, with distractor"]
    assert titles(drawn(samples, report, compared="Model")) == panels


def test_models_have_names_colours_and_markers_of_their_own():
    groups = [f"group {i:02}" for i in range(40)]
    assert len({look[1:] for look in looks_of(groups).values()}) == 40
    for part in zip(*looks_of(list(LOOKS)).values(), strict=True):
        assert len(set(part)) == len(LOOKS)
    looks = looks_of(["question-only", "pbn", "a.b:Net", "c.d:Net", "my.models:Big", "head:hf:encoders/town"])
    names = ["Question only", "PBN", "a.b:Net", "c.d:Net", "Big", "head on town"]
    assert [look.name for look in looks.values()] == names


def test_a_row_whose_first_world_is_missing_names_its_accuracies(drawn):
    runs = [run for run in runs_of(("pbn",)) if not (run.distractor and run.entities == 5)]
    figure = drawn(learning, estimate(runs, replicates=40))
    labelled = [axes for axes in figure.axes if axes.get_visible() and axes.get_ylabel()]
    names = ["5 entities, no distractor", "15 entities, with distractor"]
    assert [axes.get_title(loc="left") for axes in labelled] == names
    assert all(axes.yaxis.get_tick_params()["labelleft"] for axes in labelled)


@pytest.mark.parametrize("count", [2, 20])
def test_legends_lie_on_the_page_and_on_no_panel(drawn, count):
    groups = [f"a rather long name, number {i:02}" for i in range(count)]
    report = estimate(runs_of(groups, worlds=(5, 15), distractors=(False,), seeds=1), replicates=40)
    for figure_of in (samples, learning):
        figure = drawn(figure_of, report)
        figure.draw_without_rendering()
        assert figure.legends
        for box in (legend.get_window_extent() for legend in figure.legends):
            assert figure.bbox.x0 <= box.x0
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
            visible = [axes for axes in figure.axes if axes.get_visible()]
            assert not any(box.overlaps(axes.get_window_extent()) for axes in visible)


def test_a_model_that_reaches_nothing_is_named_below(drawn):
    stuck = [exact("question-only", k, n, 0.55, test=f"{k}", items=200) for k in (5, 15, 60) for n in SIZES]
    figure = drawn(samples, estimate(runs_of(("pbn",), distractors=(False,)) + stuck, replicates=40))
    assert titles(figure) == ["All models at 90 %, no distractor", "PBN"]
    assert f"Question only ({max(SIZES):,} samples at most)" in " ".join(figure.get_supxlabel().split())
    figure = drawn(samples, estimate(stuck, replicates=40))
    assert titles(figure) == ["All models at 90 %, no distractor", "Question only"]


def test_censored_samples_are_open_triangles(drawn):
    shares = {5: (0.96, 0.97, 0.98), 15: (0.6, 0.8, 0.97), 60: (0.5, 0.5, 0.6)}
    cells = [(k, n, share) for k in shares for n, share in zip((500, 2000, 8000), shares[k], strict=True)]
    runs = [exact("pbn", k, n, share, test=f"t{k}") for k, n, share in cells]
    axes = drawn(samples, estimate(runs, replicates=40, targets=(0.9,))).axes[0]
    white = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    open_marks = {(line.get_marker(), float(line.get_ydata()[0])) for line in white}
    assert {mark for mark in open_marks if mark[0] in "^v"} == {("v", 500.0), ("^", 8000.0)}
    assert ":" in {line.get_linestyle() for line in axes.lines if len(set(line.get_xdata())) == 2}


@pytest.mark.parametrize(("first", "size"), [(0.99, 2_000), (0.99, 50_000), (0.5, 2_000), (0.5, 50_000)])
def test_two_bounds_are_joined_if_they_tell_whether_the_need_rises(first, size, drawn):
    # at most, or more than, 20,000 with 5 entities, and more than `size` with 15
    cells = {5: (20_000, first), 15: (size, 0.5)}
    runs = [exact("pbn", k, n, share, s, test=f"{k}") for k, (n, share) in cells.items() for s in (0, 1)]
    lines = drawn(samples, estimate(runs, replicates=40, targets=(0.8,))).axes[0].lines
    assert any(line.get_linestyle() == ":" for line in lines) == ((first, size) == (0.99, 50_000))


def test_too_narrow_bars_are_dotted(drawn):
    for seeds, style in ((1, "--"), (3, "-")):  # any pattern of dashes is called "--"
        report = estimate(runs_of(("pbn",), distractors=(False,), seeds=seeds), replicates=40, targets=(0.8,))
        lines = drawn(samples, report).axes[0].lines
        bars = [line for line in lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
        assert {line.get_linestyle() for line in bars} == {style}


def test_one_world_without_a_size_shows_needs_against_targets(drawn):
    runs = runs_of(("Net: small", "Net: large"), worlds=(1,), distractors=(False,), seeds=1)
    report = estimate(runs, replicates=40, targets=(0.6, 0.7), reference="Net: small", world="")
    figure = drawn(samples, report)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "test accuracy to reach"
    assert {"Net: small", "Net: large"} <= {line.get_label() for line in axes.lines}
    assert "too narrow" in figure.get_supxlabel()


def test_neither_torch_nor_the_town_nor_pyplot_is_imported():
    code = (
        "import io, sys, simtown.complexity.need_report, simtown.complexity.needs_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from simtown.core.plots import new_figure\n"
        "new_figure(1, 1).savefig(io.BytesIO())\n"
        "heavy = ('torch', 'simtown.kernels', 'simtown.scenes', 'simtown.datasets', 'matplotlib.pyplot')\n"
        "sys.exit([m for m in heavy if m in sys.modules] or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_size_of_training_set_is_said_instead_of_drawn(drawn):
    figure = drawn(samples, estimate(runs_of(["pbn"], sizes=(2000,)), replicates=40))
    assert not figure.axes
    assert "at least two sizes" in figure.texts[0].get_text()
