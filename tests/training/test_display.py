"""What long commands show while they work, `simtown fit` above all."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from simtown.core import progress
from simtown.core.console import PlainConsole
from simtown.training import display
from simtown.training.display import FitDisplay, SweepDisplay
from simtown.training.fit_settings import FitSettings

SETTINGS = FitSettings("pbn", 60_000, protocol="paper")  # 469 steps an epoch
ROW = {"epoch": 1, "step": 469, "train_loss": 0.6929, "train_accuracy": 0.512, "val_accuracy": 0.534}
BEST = {"epoch": 1, "step": 469, "val_accuracy": 0.534}


class Loss:
    """A loss on a card: reading it takes long."""

    read = 0

    def __float__(self):
        self.read += 1
        return 0.6934


def step(fit_display, clock, steps=21):
    """Steps of 128 examples, a quarter of a second each."""
    loss = Loss()
    for number in range(480, 480 + steps):
        fit_display.on_step(2, number, 128, loss)
        clock[0] += 0.25
    return loss


@pytest.fixture
def clock(monkeypatch):
    time = [100.0]
    for module in (display, progress):
        monkeypatch.setattr(module, "monotonic", lambda: time[0])
    return time


@pytest.mark.parametrize("width", [80, 140])
def test_a_terminal_shows_where_a_run_stands_in_lines_that_it_holds(width, clock):
    fit_display = FitDisplay("fit runs/simtown-60-60000-pbn-60000-seed0", SETTINGS)
    fit_display.on_validation(ROW, BEST)
    loss = step(fit_display, clock)
    console = PlainConsole(width=width)
    with console.capture() as printed:
        console.print(fit_display._render())
    bar, now, validated = printed.get().splitlines()
    assert "pbn-60000-seed0" in bar
    assert all(part in now for part in ("epoch 2", "step 500", "loss 0.693", "512 images/s"))
    assert all(part in validated for part in ("epoch 1", "0.512", "0.534"))
    assert loss.read == 5, "once a second"


def test_elsewhere_a_note_is_a_line_at_once(capsys, clock):
    with FitDisplay("fit there", SETTINGS) as fit_display:
        fit_display.on_note("keeps 60,000 pictures in memory")
        step(fit_display, clock)
    note, line = capsys.readouterr().err.splitlines()
    assert (note, line[:20]) == (
        "progress: fit there: keeps 60,000 pictures in memory",
        "progress: fit there:",
    )


#: Displays, and what tells them that work goes on.
PLAN = SimpleNamespace(preset="grid", targets=(), cells=["a"])
GOES_ON = {
    "a bar": (lambda: progress.Progress("make"), lambda bar, second: bar.on_progress(1)),
    "a run": (
        lambda: FitDisplay("fit", SETTINGS),
        lambda run, second: run.on_step(1, second, 128, 0.5),
    ),
    "validations": (lambda: FitDisplay("fit", SETTINGS), lambda run, second: run.on_validation(ROW, BEST)),
    "a sweep": (
        lambda: SweepDisplay(PLAN),
        lambda sweep, second: sweep.on_change("a", "running", {"step": second, "best": 0.5}),
    ),
}


@pytest.mark.parametrize("kind", GOES_ON)
def test_elsewhere_lines_come_at_5_seconds_and_then_ever_more_seldom(kind, capsys, clock):
    begin, go_on = GOES_ON[kind]
    printed = []
    with begin() as shown:
        for second in range(1, 7200):
            clock[0] += 1
            go_on(shown, second)
            printed += [second] * len(capsys.readouterr().err.splitlines())
    waits = [later - earlier for earlier, later in pairwise([0, *printed])]
    assert waits[0] == 5
    assert all(later > earlier for earlier, later in pairwise(waits))
    assert len(waits) < 20


def test_a_terminal_is_drawn_on_while_a_run_lasts(capsys, monkeypatch, clock):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with FitDisplay("fit there", SETTINGS) as fit_display:
        step(fit_display, clock)
    drawn = capsys.readouterr().err
    assert "fit there" in drawn
    assert "step 500" in drawn
