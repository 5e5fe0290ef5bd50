"""The curve of one run."""

import pytest

from simtown.training import run_curve


@pytest.mark.parametrize("epochs", [1, 2, 9])
def test_a_runs_curve_marks_the_best_epoch(tmp_path, monkeypatch, epochs):
    losses = dict.fromkeys(("train_loss", "val_loss", "train_accuracy"), 0.6)
    rows = [{"epoch": e, **losses, "val_accuracy": 0.9 - 0.1 * abs(e - 4)} for e in range(1, epochs + 1)]
    kept = []
    monkeypatch.setattr(run_curve, "save_figure", lambda figure, path: kept.append(figure))
    run_curve.curve(rows, tmp_path / "curve.png")
    best = min(4, epochs)
    labels = [line.get_label() for line in kept[0].axes[1].lines]
    assert f"best, epoch {best}: {rows[best - 1]['val_accuracy']:.3f}" in labels
