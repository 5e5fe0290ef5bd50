"""Joins the files of finished cells into one table: python -m tools.cells FOLDER...

`simtown sweep --resume-from FOLDER` keeps a file a cell, so that a sweep may be stopped at any time. Before
they are committed, this program puts them into FOLDER/cells.csv (simtown/complexity/cell_table.py), beside
those that are there, and removes the files. The commit of a new cell is the one that is checked out.
"""

import argparse
import csv
import subprocess
from pathlib import Path

from simtown.complexity.cell_table import TABLE, read_table, write_table
from simtown.core.untrusted import read_json


def commits_of(table: Path) -> dict[str, str]:
    """The commit of each cell of a table."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("# "))
        return {row["cell"]: row["commit"] for row in rows}


def join(folder: Path, commit: str) -> int:
    """Put the files of a folder's cells into its table; returns how many there were."""
    table, files = folder / TABLE, sorted(folder.glob("*.json"))
    cells, commits = (read_table(table), commits_of(table)) if table.exists() else ({}, {})
    cells |= {file.stem: read_json(file) for file in files}
    commits |= {file.stem: commit for file in files}
    if files:
        write_table(table, cells, commits)
    for file in files:
        file.unlink()
    return len(files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    words = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    for folder in parser.parse_args().folders:
        print(f"{folder}: {join(folder, commit)} cells joined")


if __name__ == "__main__":
    main()
