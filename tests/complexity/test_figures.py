"""The figures: that they are drawn from any report, say what is censored, and share no state."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path
from PIL import Image

from simtown.complexity import learning_figure, model_looks, needs_figure
from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import MODELS, Run
from simtown.complexity.model_looks import SHAPES, colours_of, markers_of, names_of
from simtown.training import run_curve

SIZES = (500, 1000, 2000, 5000, 10000)


def runs_of(models, worlds=(5, 15, 60), distractors=(False, True), seeds=2, sizes=SIZES, items=200):
    rng = np.random.default_rng(0)
    return [
        Run(
            m,
            k,
            d,
            n,
            s,
            f"{k}{d}",
            rng.random(items) < 0.5 + 0.49 / (1 + (200 * k ** (0.3 + 0.5 * i) * (1 + d) / n) ** 2),
        )
        for i, m in enumerate(models)
        for k in worlds
        for d in distractors
        for n in sizes
        for s in range(seeds)
    ]


def drawn(monkeypatch, draw, report, path, **settings):
    """The figure that would be saved."""
    kept = []
    for module in (needs_figure, learning_figure, run_curve):
        monkeypatch.setattr(module, "save_figure", lambda figure, path: kept.append(figure))
    draw(report, path, **settings)
    monkeypatch.undo()
    return kept[0]


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]


@pytest.mark.parametrize(
    ("models", "settings", "rule"),
    [
        (("pbn", "cnn-lstm"), {}, "isotonic"),
        (("pbn",), {"seeds": 1, "distractors": (False,)}, "smallest"),
        (("cnn-lstm", "mine.models:Net"), {"distractors": (True,), "worlds": (31,)}, "smallest"),
        (("pbn", "cnn-lstm"), {"sizes": (2000,)}, "isotonic"),
        (("pbn", "cnn-lstm"), {"sizes": (2000, 5000)}, "smallest"),
        (("a", "b", "c", "d", "e", "f", "g"), {"distractors": (False,), "worlds": (5, 6)}, "isotonic"),
    ],
)
def test_any_report_is_drawn(tmp_path, models, settings, rule):
    report = estimate(runs_of(models, **settings), replicates=40)
    needs_figure.samples(report, tmp_path / "samples.png", rule)
    learning_figure.learning(report, tmp_path / "learning.png")
    for name in ("samples.png", "learning.png"):
        with Image.open(tmp_path / name) as picture:
            assert min(picture.size) > 300
            assert len(set(picture.convert("L").resize((100, 100)).tobytes())) > 5
    assert {p.name for p in tmp_path.iterdir()} == {"samples.png", "learning.png"}


def test_the_papers_arrangement(tmp_path, monkeypatch):
    report = estimate(runs_of(("pbn", "cnn-lstm")), replicates=40)
    assert titles(drawn(monkeypatch, needs_figure.samples, report, tmp_path)) == [
        panel
        for setting in ("no distractor", "with distractor")
        for panel in (f"All models at 90%, {setting}", "CNN-LSTM", "PBN")
    ]
    only = replace(
        report,
        curves=[c for c in report.curves if c.distractor],
        rows=[r for r in report.rows if r.distractor],
    )
    assert len(titles(drawn(monkeypatch, needs_figure.samples, only, tmp_path))) == 3
    assert titles(drawn(monkeypatch, learning_figure.learning, only, tmp_path)) == [
        f"{k} entities, with distractor" for k in (5, 15, 60)
    ]


def test_one_target_has_one_panel_for_each_condition(tmp_path, monkeypatch):
    report = estimate(runs_of(("pbn", "cnn-lstm")), replicates=40, targets=(0.8,))
    assert titles(drawn(monkeypatch, needs_figure.samples, report, tmp_path)) == [
        "All models at 80%, no distractor",
        "All models at 80%, with distractor",
    ]

    def conditions(report, path):
        needs_figure.samples(report, path, compared="PBN")

    assert titles(drawn(monkeypatch, conditions, report, tmp_path))[0] == "PBN at 80%, no distractor"


def test_a_model_without_results_in_a_condition_has_no_panel_there(tmp_path, monkeypatch):
    report = estimate(
        runs_of(("pbn", "cnn-lstm")) + runs_of(("film",), distractors=(False,), worlds=(5,)), replicates=40
    )
    figure = drawn(monkeypatch, needs_figure.samples, report, tmp_path)
    assert titles(figure) == [
        "All models at 90%, no distractor",
        "CNN-LSTM",
        "FiLM ResNet",
        "PBN",
        "All models at 90%, with distractor",
        "CNN-LSTM",
        "PBN",
    ]
    first, second = (axes for axes in figure.axes if axes.get_title(loc="left").startswith("All"))
    assert first.get_xlim() == second.get_xlim()


def test_a_model_keeps_its_colour(tmp_path, monkeypatch):
    for models in (("pbn", "cnn-lstm"), ("pbn",), ("zebra", "pbn")):
        report = estimate(runs_of(models, distractors=(False,)), replicates=40)
        for draw in (needs_figure.samples, learning_figure.learning):
            axes = drawn(monkeypatch, draw, report, tmp_path).axes[0]
            colours = {line.get_label(): line.get_color() for line in axes.lines}
            assert colours["PBN"] == model_looks.COLOURS["pbn"]


def test_a_model_looks_alike_in_both_figures(tmp_path, monkeypatch):
    never = [
        replace(run, model="aa", correct=np.arange(200) < 100)
        for run in runs_of(("x",), distractors=(False,))
    ]
    report = estimate(runs_of(("bb", "cc"), distractors=(False,)) + never, replicates=40)
    looks = []
    for draw in (needs_figure.samples, learning_figure.learning):
        axes = drawn(monkeypatch, draw, report, tmp_path).axes[0]
        lines = {line.get_label(): (line.get_color(), line.get_marker()) for line in axes.lines}
        looks.append([lines[name] for name in ("bb", "cc")])
    assert looks[0] == looks[1]


def test_forty_groups_all_look_different():
    groups = [f"group {i:02}" for i in range(40)]
    colours, markers = colours_of(groups), markers_of(groups)
    assert len({(colours[group], markers[group]) for group in groups}) == 40


@pytest.mark.parametrize("sizes", [(3000, 4000), (30000,), (10**12, 3 * 10**15)])
def test_some_sizes_stand_on_the_axis(tmp_path, monkeypatch, sizes):
    report = estimate(runs_of(("pbn",), worlds=(5, 15), distractors=(False,), sizes=sizes), replicates=40)
    for axes in drawn(monkeypatch, learning_figure.learning, report, tmp_path).axes:
        low, high = axes.get_xlim()
        assert [tick for tick in axes.get_xticks() if low <= tick <= high]


def test_a_row_whose_first_world_is_missing_names_its_accuracies(tmp_path, monkeypatch):
    runs = [run for run in runs_of(("pbn",)) if not (run.distractor and run.entities == 5)]
    figure = drawn(monkeypatch, learning_figure.learning, estimate(runs, replicates=40), tmp_path)
    labelled = [axes for axes in figure.axes if axes.get_visible() and axes.get_ylabel()]
    assert [axes.get_title(loc="left") for axes in labelled] == [
        "5 entities, no distractor",
        "15 entities, with distractor",
    ]
    assert all(axes.yaxis.get_tick_params()["labelleft"] for axes in labelled)


def test_the_title_names_the_target_as_it_is(tmp_path, monkeypatch):
    report = estimate(runs_of(("pbn",), distractors=(False,)), targets=(0.975,), replicates=40)
    figure = drawn(monkeypatch, needs_figure.samples, report, tmp_path)
    assert "at 97.5%" in figure.axes[0].get_title(loc="left")


def test_long_names_and_many_groups_stay_on_the_page(tmp_path, monkeypatch):
    groups = [f"a rather long name, number {i:02}" for i in range(20)]
    report = estimate(runs_of(groups, worlds=(5, 15), distractors=(False,), seeds=1), replicates=40)
    for draw in (needs_figure.samples, learning_figure.learning):
        figure = drawn(monkeypatch, draw, report, tmp_path)
        figure.draw_without_rendering()
        for legend in figure.legends:
            box = legend.get_window_extent()
            assert figure.bbox.x0 <= box.x0
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
            assert not any(
                box.overlaps(axes.get_window_extent()) for axes in figure.axes if axes.get_visible()
            )


def test_no_legend_lies_on_a_plot(tmp_path, monkeypatch):
    report = estimate(runs_of(("pbn", "cnn-lstm", "a", "b", "c")), replicates=40)
    for draw, given in (
        (needs_figure.samples, report),
        (learning_figure.learning, report),
        (run_curve.curve, metrics(9)),
    ):
        figure = drawn(monkeypatch, draw, given, tmp_path)
        figure.draw_without_rendering()
        legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
        assert legends
        for legend in legends:
            box = legend.get_window_extent()
            assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)
            assert figure.bbox.x0 <= box.x0
            assert box.x1 <= figure.bbox.x1


def test_models_are_named_briefly_and_apart():
    names = names_of(["question-only", "pbn", "a.b:Net", "c.d:Net", "my.models:Big"])
    assert list(names.values()) == ["Question only", "PBN", "a.b:Net", "c.d:Net", "Big"]


def test_a_model_that_reaches_nothing_is_named_below(tmp_path, monkeypatch):
    stuck = [
        Run("question-only", k, False, n, 0, f"{k}False", np.arange(200) < 110)
        for k in (5, 15, 60)
        for n in SIZES
    ]
    report = estimate(runs_of(("pbn",), distractors=(False,)) + stuck, replicates=40)
    figure = drawn(monkeypatch, needs_figure.samples, report, tmp_path)
    assert titles(figure) == ["All models at 90%, no distractor", "PBN"]
    words = f"No target reached in any world: Question only ({max(SIZES):,} samples at most)."
    assert words in " ".join(figure.get_supxlabel().split())
    figure.draw_without_rendering()
    assert figure.bbox.x0 <= figure._supxlabel.get_window_extent().x0
    figure = drawn(monkeypatch, needs_figure.samples, estimate(stuck, replicates=40), tmp_path)
    assert titles(figure) == ["All models at 90%, no distractor", "Question only"]


def arrows(axes):
    """Height of the tip of every censoring arrow's marker: 1 up, -1 down."""
    found = []
    for line in axes.lines:
        marker = line.get_marker()
        if hasattr(marker, "vertices"):
            found.append((float(line.get_ydata()[0]), float(max(marker.vertices[:, 1], key=abs))))
    return found


def test_censored_samples_are_open_arrows(tmp_path, monkeypatch):
    def run(k, n, share):
        return Run("pbn", k, False, n, 0, f"t{k}", np.arange(400) < 400 * share)

    shares = {5: (0.96, 0.97, 0.98), 15: (0.6, 0.8, 0.97), 60: (0.5, 0.5, 0.6)}
    runs = [
        run(k, n, a)
        for k, accuracies in shares.items()
        for n, a in zip((500, 2000, 8000), accuracies, strict=True)
    ]
    report = estimate(runs, replicates=40, targets=(0.9,))
    axes = drawn(monkeypatch, needs_figure.samples, report, tmp_path).axes[0]
    assert sorted(arrows(axes)) == [(500.0, -1.0), (8000.0, 1.0)]
    assert {
        line.get_linestyle()
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_xdata()[0] != line.get_xdata()[1]
    } >= {":"}


def test_single_seeds_are_dots_and_chance_is_a_line(tmp_path, monkeypatch):
    report = estimate(runs_of(("pbn",), worlds=(5,), distractors=(False,), seeds=4), replicates=40)
    axes = drawn(monkeypatch, learning_figure.learning, report, tmp_path).axes[0]
    assert any(len(line.get_ydata()) == 4 * len(SIZES) for line in axes.lines)
    assert any(set(np.asarray(line.get_ydata())) == {0.5} for line in axes.lines)


def metrics(epochs):
    rows = []
    for e in range(1, epochs + 1):
        losses = {"train_loss": 1 / e, "val_loss": 1.1 / e}
        rows.append(
            {
                "epoch": e,
                "step": 9 * e,
                "train_accuracy": 0.5 + 0.4 * e / 9,
                "val_accuracy": 0.9 - 0.1 * abs(e - 4),
            }
            | losses
        )
    return rows


@pytest.mark.parametrize("epochs", [1, 2, 9])
def test_a_runs_curve_marks_the_best_epoch(tmp_path, monkeypatch, epochs):
    rows = metrics(epochs)
    run_curve.curve(rows, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000
    axes = drawn(monkeypatch, run_curve.curve, rows, tmp_path).axes[1]
    best = min(4, epochs)
    assert f"best, epoch {best}: {rows[best - 1]['val_accuracy']:.3f}" in [
        line.get_label() for line in axes.lines
    ]


def test_a_curve_with_gaps(tmp_path):
    rows = metrics(5)
    rows[1]["val_accuracy"] = None
    del rows[2]["train_loss"]
    run_curve.curve(rows, tmp_path / "curve.png")
    run_curve.curve([{"epoch": 1}], tmp_path / "empty.png")
    with pytest.raises(ValueError, match="no metrics"):
        run_curve.curve([], tmp_path / "none.png")


def test_a_figure_is_whole_or_not_there(tmp_path, monkeypatch):
    (tmp_path / "curve.png").write_bytes(b"old")

    def fail(self, path, **settings):
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="no space"):
        run_curve.curve(metrics(2), tmp_path / "curve.png")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


def test_neither_torch_nor_pyplot_is_imported():
    code = (
        "import io, sys, simtown.complexity.need_report, simtown.complexity.needs_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from simtown.core.plots import new_figure\n"
        "new_figure(1, 1).savefig(io.BytesIO())\n"
        "print([m for m in ('torch', 'matplotlib.pyplot') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.strip()
        == "[]"
    )


def test_one_world_without_a_size_shows_needs_against_targets(tmp_path, monkeypatch):
    runs = runs_of(("Net: small", "Net: large"), worlds=(1,), distractors=(False,), seeds=1)
    report = estimate(runs, replicates=40, targets=(0.6, 0.7), reference="Net: small", world="")
    figure = drawn(monkeypatch, needs_figure.samples, report, tmp_path)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "test accuracy to reach"
    labels = {line.get_label() for line in axes.lines}
    assert {"Net: small", "Net: large"} <= labels
    assert "too narrow" in figure.get_supxlabel()
    learning_figure.learning(report, tmp_path / "learning.png")


@pytest.mark.parametrize("middle", [1500, 4000, 9000])
def test_the_words_on_the_proportional_line_cross_no_other_line(tmp_path, monkeypatch, middle):
    halfway = {5: 3500, 15: middle, 60: 6500}
    rng = np.random.default_rng(0)
    runs = [
        Run("pbn", k, False, n, s, f"{k}", rng.random(400) < 0.5 + 0.49 / (1 + (halfway[k] / n) ** 3))
        for k in halfway
        for n in (*SIZES, 20000)
        for s in range(3)
    ]
    report = estimate(runs, targets=(0.75,), replicates=40)
    figure = drawn(monkeypatch, needs_figure.samples, report, tmp_path)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    box = axes.texts[0].get_window_extent()
    assert axes.texts[0].get_text() == "in proportion to entities"
    words = Path([box.min, box.max])  # they rise
    lines = [line.get_path().transformed(line.get_transform()) for line in axes.lines]
    assert not any(words.intersects_path(line, filled=False) for line in lines)


def test_too_narrow_bars_are_dotted(tmp_path, monkeypatch):
    for seeds, style in ((1, "--"), (3, "-")):  # any pattern of dashes is called "--"
        report = estimate(runs_of(("pbn",), distractors=(False,), seeds=seeds), replicates=40, targets=(0.8,))
        axes = drawn(monkeypatch, needs_figure.samples, report, tmp_path).axes[0]
        bars = [line for line in axes.lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
        assert bars
        assert {line.get_linestyle() for line in bars} == {style}


def test_all_models_have_colours_and_markers_of_their_own():
    for look in (model_looks.COLOURS, SHAPES, model_looks.NAMES):
        assert set(look) == set(MODELS)
        assert len(set(look.values())) == len(MODELS)


@pytest.mark.parametrize(
    ("first", "size", "joined"),
    [(0.99, 2_000, False), (0.99, 50_000, True), (0.5, 2_000, False), (0.5, 50_000, False)],
)
def test_two_bounds_are_joined_if_they_tell_whether_the_need_rises(
    first, size, joined, tmp_path, monkeypatch
):
    # at most, or more than, 20,000 with 5 entities, and more than `size` with 15
    right = {5: (20_000, first), 15: (size, 0.5)}
    runs = [
        Run("pbn", k, False, n, seed, f"{k}", np.arange(200) < round(200 * share))
        for k, (n, share) in right.items()
        for seed in range(2)
    ]
    report = estimate(runs, replicates=40, targets=(0.8,))
    lines = drawn(monkeypatch, needs_figure.samples, report, tmp_path).axes[0].lines
    assert any(line.get_linestyle() == ":" for line in lines) == joined
