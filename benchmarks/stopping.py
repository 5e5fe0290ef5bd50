"""Runs that two stopping rules share: takes a preset's cells from a folder of cells that another rule ended.

    python benchmarks/stopping.py benchmarks/presets/paper-rule-64.toml \
        benchmarks/results/fixed-15 benchmarks/results/paper-rule-64
        the runs of the paper's rule among those of the grid of fixed sizes

A rule decides when a run ends, and nothing before. So a run that the preset's rule would have ended at its
last validation, or at an earlier one that was not followed by a better one, has the weights of both rules,
and need not be trained twice. A cell is taken if it differs from the preset's in the rule only, was never
restarted, and its validations show this. What it did beyond the end is cut off, its seconds in proportion.
`trained_with` tells the rule and the steps of the training; what was taken once is not taken again. Cells
that are there already stay.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from simtown.complexity import cells
from simtown.core.files import as_json, save_text
from simtown.core.untrusted import read_json
from simtown.training import identity, plan
from simtown.training.early_stopping import between_validations, reason_to_stop, stale_after
from simtown.training.fit_settings import FitSettings
from simtown.training.plan import SweepCell

#: Settings that make the rule.
RULE = ("protocol", "min_steps", "patience")
#: Validation examples up to which a kept curve, rounded to four digits, tells two accuracies apart.
MOST_EXAMPLES = 10_000


def end_of(settings: FitSettings, steps: list[int], accuracies: list[float]) -> tuple[int, str] | None:
    """After how many of these validations a run with these settings stops, and why.

    None if it would go on, or validates at other steps. The run was never restarted, and accuracies are so
    exact that two that differ differ here.
    """
    between, best, stale = between_validations(settings), -1.0, 0
    for number, (step, accuracy) in enumerate(zip(steps, accuracies, strict=True), 1):
        due = between * number
        if step != (min(due, settings.max_steps) if settings.max_steps else due):
            return None
        stale, best = stale_after(settings, stale, accuracy > best, step), max(best, accuracy)
        if reason := reason_to_stop(settings, step, best, stale):
            return number, reason
    return None


def shared(cell: SweepCell, path: Path) -> dict[str, Any] | None:
    """The content of a kept cell as the run of `cell`; None if it is another run, or may be."""
    run, _ = cells.load(path)
    content = read_json(path)
    before, steps, accuracies = run["settings"], content["curve"]["step"], content["curve"]["val_accuracy"]
    rule = {name: before[name] for name in RULE}
    other = identity.other_settings(run, FitSettings(**(asdict(cell.fit) | rule)), cell.data)
    # a dead network answers all alike, and half of all answers are "yes"
    dead = cell.fit.protocol == "patient" and before["protocol"] != "patient" and 0.5 in accuracies
    if other or run["restarts"] or dead or cell.data.val > MOST_EXAMPLES or "trained_with" in run:
        return None
    end = end_of(cell.fit, steps, accuracies)
    if end is None or steps[end[0] - 1] < run["best"]["step"]:
        return None
    count, reason = end
    share = steps[count - 1] / run["steps"]
    content["curve"] = {name: values[:count] for name, values in content["curve"].items()}
    content["run"] |= {
        "settings": as_json(asdict(cell.fit)),
        "steps": steps[count - 1],
        "epochs": round(run["epochs"] * share),
        "seconds": run["seconds"] * share,
        "stopped": reason,
        "trained_with": {**rule, "steps": run["steps"]},
    }
    return content


def take(preset: str, source: Path, target: Path, device: str = "cpu") -> tuple[int, int]:
    """Add to `target` what `source` holds of the preset's cells; how many were added, and left."""
    taken = left = 0
    target.mkdir(parents=True, exist_ok=True)
    for cell in plan.read(preset, device).cells:
        path, new = cells.path_of(source, cell.name), cells.path_of(target, cell.name)
        if new.exists() or not path.exists():
            continue
        if content := shared(cell, path):
            save_text(new, cells.text_of(content))
            taken += 1
        else:
            left += 1
    return taken, left


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("preset", help="a preset of simtown sweep, or its TOML file: the rule that is wanted")
    parser.add_argument("source", type=Path, help="folder of kept cells that another rule ended")
    parser.add_argument("target", type=Path, help="folder to which the cells of both rules are added")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="that trained the cells")
    taken, left = take(**vars(parser.parse_args()))
    print(f"{taken} runs are those of both rules, {left} are not")


if __name__ == "__main__":
    main()
