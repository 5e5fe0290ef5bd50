"""What `simtown fit` says while it trains."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from simtown.core.console import PlainConsole  # noqa: E402
from simtown.training import display, pace  # noqa: E402
from simtown.training.display import FitDisplay  # noqa: E402
from simtown.training.fit_settings import FitSettings  # noqa: E402
from simtown.training.pace import Pace, Pacer  # noqa: E402

SETTINGS = FitSettings("pbn", 60_000, protocol="paper")  # 469 steps an epoch
ROW = {
    "epoch": 1,
    "step": 469,
    "train_loss": 0.6929,
    "train_accuracy": 0.512,
    "val_accuracy": 0.534,
    "images_per_second": 500.0,
}
HERE = Pace(epoch=2, step=500, loss=0.6934, examples=3_968, of=60_000, images_per_second=512.0)


def shown(fit_display, width=80):
    """What a terminal shows, line by line."""
    console = PlainConsole(width=width)
    with console.capture() as printed:
        console.print(fit_display._drawn())
    return printed.get().splitlines()


@pytest.mark.parametrize("width", [80, 140])
def test_a_terminal_shows_where_a_run_stands_in_lines_that_it_holds(width):
    fit_display = FitDisplay("fit runs/simtown-60-60000-pbn-60000-seed0", SETTINGS)
    fit_display.on_validation(ROW, {"epoch": 1, "step": 469, "val_accuracy": 0.534})
    fit_display.on_pace(HERE)
    bar, now, validated = shown(fit_display, width)
    assert "pbn-60000-seed0" in bar
    assert "epoch 2" in bar
    assert now.strip() == "step 500, loss 0.693, 512 images/s, 2 min to validation, at least 19 min left"
    assert validated.strip() == "epoch 1 validated: loss 0.693, train 0.512, val 0.534, best 0.534 in epoch 1"


def test_elsewhere_it_is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(display, "EVERY", -1.0)
    with FitDisplay("fit there", SETTINGS, str.upper) as fit_display:
        fit_display.on_compare(500, 70_000)
        fit_display.on_note("keeps 60,000 pictures in memory")
        fit_display.on_pace(HERE)
        monkeypatch.setattr(display, "EVERY", 1e9)
        fit_display.on_pace(HERE)
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("progress: fit there: ") for line in lines)
    assert [line.removeprefix("progress: fit there: ") for line in lines] == [
        "reading examples, to know the run by them: 500 of 70,000",
        "KEEPS 60,000 PICTURES IN MEMORY",
        "epoch 2, step 500, loss 0.693, 512 images/s, 2 min to validation, at least 19 min left",
    ]


def test_the_least_time_left_is_until_patience_or_the_last_step_ends_a_run():
    least = {}
    for name, choice in (("patience", {}), ("steps", {"max_steps": 600}), ("epoch", {"max_steps": 400})):
        fit_display = FitDisplay("", FitSettings("pbn", 60_000, protocol="paper", **choice))
        fit_display.on_pace(HERE)
        least[name] = fit_display._lines["now"].rpartition("at least ")[2]
    assert least == {"patience": "19 min left", "steps": "2 min left", "epoch": "2 min left"}


class Sum:
    """A sum on a card: reading it takes long."""

    def __init__(self):
        self.value, self.read = 0.0, 0

    def __float__(self):
        self.read += 1
        return self.value


def test_the_loss_is_read_now_and_then_and_is_that_of_the_steps_since(monkeypatch):
    clock, loss, paces = [0.0], Sum(), []
    monkeypatch.setattr(pace, "perf_counter", lambda: clock[0])
    pacer = Pacer(paces.append, loss, examples=100, of=2_000)
    losses = np.linspace(1.0, 0.1, 100)
    for step, value in enumerate(losses):
        clock[0] += 0.1
        loss.value += 8 * float(value)
        pacer.stepped(1, step + 1, 100 + 8 * (step + 1))
    assert loss.read == 1 + len(paces)
    assert 8 <= len(paces) <= 10
    steps = [0, *(told.step for told in paces)]
    for told, begin, end in zip(paces, steps, steps[1:], strict=False):
        assert told.loss == pytest.approx(losses[begin:end].mean())
        assert told.images_per_second == pytest.approx(80)
        assert (told.epoch, told.of, told.examples) == (1, 2_000, 100 + 8 * end)
        assert told.seconds == pytest.approx((2_000 - told.examples) / 80)
