"""How the need of one model grows with the world under other conditions: whatever is asked, shown, or drawn
more often.

    simtown sweep --preset benchmarks/presets/zipf-1.toml --out out/zipf-1 --resume-from
    benchmarks/results/skew/zipf-1
    python benchmarks/conditions.py skew --model pbn --seeds 0-2 "uniform=benchmarks/results/skew/uniform" \\
        "Visual Genome=benchmarks/results/sample-complexity" "Zipf 1=benchmarks/results/skew/zipf-1" \\
        "Zipf 2=benchmarks/results/skew/zipf-2"

Every NAME=FOLDER is a condition and its finished cells. The instrument is that of `simtown complexity`, the
conditions take the models' place: needs, exponents and figures are made alike, and the first condition is the
one that ratios and differences refer to. Cells with a distractor are left out. Writes
benchmarks/results/NAME-complexity.csv and -exponents.csv, and the figure docs/gallery/NAME.png; NAME is the
first argument.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from simtown.cli.app import RefusalError
from simtown.cli.training import parse_seeds
from simtown.core.files import DamagedError
from simtown.training import figures
from simtown.training.complexity import estimate
from simtown.training.report import write_tables
from simtown.training.results import read_runs, whole

HERE = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="what the files are called")
    parser.add_argument("conditions", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--model", default="pbn")
    parser.add_argument("--seeds", default="0-4", help="which seeds to read")
    parser.add_argument("--target", type=float, default=0.9)
    args = parser.parse_args()
    pairs = [text.partition("=") for text in args.conditions]
    if not all(name and folder for name, _, folder in pairs):
        parser.error("a condition must be NAME=FOLDER")
    runs = []
    try:
        seeds = set(parse_seeds(args.seeds))
        for name, _, folder in pairs:
            own = [
                run
                for run in read_runs([Path(folder)])
                if run.model == args.model and run.seed in seeds and not run.distractor
            ]
            runs += [replace(run, model=name) for run in whole(own)]
        found = estimate(runs, targets=[args.target], reference=pairs[0][0])
    except (OSError, ValueError, DamagedError, RefusalError) as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory() as folder:
        write_tables(found, Path(folder))
        for table in ("complexity.csv", "complexity-exponents.csv"):
            shutil.copyfile(Path(folder) / table, HERE / "benchmarks" / "results" / f"{args.name}-{table}")
    figures.samples(
        found,
        HERE / "docs" / "gallery" / f"{args.name}.png",
        compared=figures.NAMES.get(args.model, args.model),
    )
    for row in found.rows:
        if row.rule == "isotonic":
            print(f"{row.model}, {row.entities} entities: {row} for {row.target:.0%}, {row.seeds} seeds")
    for exponent in found.exponents:
        if exponent.rule == "isotonic":
            print(f"exponent, {exponent.model}: {exponent} {exponent.verdict}")


if __name__ == "__main__":
    main()
