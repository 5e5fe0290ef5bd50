"""The curve of one run."""

import pytest
from matplotlib.figure import Figure

from simtown.training import run_curve


def metrics(epochs):
    return [
        {
            "epoch": e,
            "step": 9 * e,
            "train_loss": 1 / e,
            "val_loss": 1.1 / e,
            "train_accuracy": 0.5 + 0.4 * e / 9,
            "val_accuracy": 0.9 - 0.1 * abs(e - 4),
        }
        for e in range(1, epochs + 1)
    ]


@pytest.mark.parametrize("epochs", [1, 2, 9])
def test_a_runs_curve_marks_the_best_epoch(tmp_path, monkeypatch, epochs):
    rows, kept = metrics(epochs), []
    monkeypatch.setattr(run_curve, "save_figure", lambda figure, path: kept.append(figure))
    run_curve.curve(rows, tmp_path / "curve.png")
    best = min(4, epochs)
    labels = [line.get_label() for line in kept[0].axes[1].lines]
    assert f"best, epoch {best}: {rows[best - 1]['val_accuracy']:.3f}" in labels


def test_a_curve_with_gaps(tmp_path):
    rows = metrics(5)
    rows[1]["val_accuracy"] = None
    del rows[2]["train_loss"]
    run_curve.curve(rows, tmp_path / "curve.png")
    run_curve.curve([{"epoch": 1}], tmp_path / "empty.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000
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
