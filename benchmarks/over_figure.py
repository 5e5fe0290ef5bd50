"""Draw accuracy and threshold of several models against the size of the world, and their table.

    python benchmarks/over_figure.py FIGURE.png PBN=over-pbn/over.csv CNN-LSTM=over-cnn-lstm/over.csv ...

Each CSV is what `simtown evaluate MODEL --over entities=...` wrote. Writes benchmarks/results/over.csv, too.
"""

import sys
from pathlib import Path

from machine import RESULTS

from simtown.core.files import save_text
from simtown.core.tables import Table, read_rows
from simtown.vlm.world_sizes import AXES, draw


def main() -> None:
    out, *given = sys.argv[1:]
    lines = {}
    for name, _, place in (argument.partition("=") for argument in given):
        lines[name] = [
            {"model": name, **row.cells} for row in read_rows(Path(place), ["accuracy", "threshold"])
        ]
    rows = [row for own in lines.values() for row in own]
    save_text(RESULTS / "over.csv", Table.of_records(rows).csv())
    draw(lines, next(name for name in AXES if name in rows[0]), Path(out))


if __name__ == "__main__":
    main()
