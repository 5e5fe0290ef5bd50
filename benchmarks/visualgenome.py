"""How fast is Visual Genome read and prepared, in how much memory? Against json.load and plain loops, in the
same run.

    python benchmarks/visualgenome.py
        a file of 500 MB, as large as the released relationships.json

The file is made first, in the released format (benchmarks/vg_files.py), with strings that never stop being
new. Every way runs in a process of its own, whose peak of resident memory is printed. "read" goes through
every statement; "prepare" makes what simtown vg prepare makes, and the counts of the two ways are compared.
Times are the processor's, of one core. Results go into benchmarks/results/visualgenome.csv, where a run
replaces the rows of an earlier one with the same size.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vg_files
from machine import machine

RESULTS = Path(__file__).parent / "results" / "visualgenome.csv"


def _first(thing: dict[str, Any]) -> str:
    said = thing.get("names") or thing.get("name")
    return said[0] if isinstance(said, list) else said


def read_simtown(path: Path, out: Path) -> dict[str, Any]:
    """Every statement's strings, numbers and box."""
    from simtown.visualgenome.records import Graph
    from simtown.visualgenome.stream import Records

    n = sum(
        1
        for graph in Records(path, Graph)
        for r, s, o in graph.statements()
        if (s.text, r.predicate, o.text, s.x, s.number)
    )
    return {"triples": n}


def read_json(path: Path, out: Path) -> dict[str, Any]:
    """The same by json.load."""
    with open(path, encoding="utf-8") as file:
        images = json.load(file)
    n = 0
    for image in images:
        for r in image["relationships"]:
            s, o = r["subject"], r["object"]
            n += bool((_first(s), r["predicate"], _first(o), s["x"], s["object_id"]))
    return {"triples": n}


def prepare_simtown(path: Path, out: Path) -> dict[str, Any]:
    """simtown vg prepare, without the command line."""
    from simtown.visualgenome.prepare import PREDICATES, prepare, read

    content = prepare(path, out)
    kept = read(out, PREDICATES).to_pylist()
    return {
        "triples": content["statements"]["stated"],
        "check": sorted((r["predicate"], r["count"]) for r in kept),
    }


def prepare_json(path: Path, out: Path) -> dict[str, Any]:
    """json.load, then all steps on every statement in turn, each string's result remembered; counts, but no
    Parquet.
    """
    from simtown.visualgenome import clean, clean_settings

    with open(path, encoding="utf-8") as file:
        images = json.load(file)
    raw = [
        (_first(r["subject"]), r["predicate"], _first(r["object"]))
        for image in images
        for r in image["relationships"]
    ]
    words = Counter(word for parts in raw for part in parts for word in clean.plain(part).split())
    cleaner = clean.Cleaner(counts=words)
    cleaned = [(cleaner.entity(s), cleaner.predicate(p), cleaner.entity(o)) for s, p, o in raw]
    whole = [triple for triple in cleaned if all(triple)]
    predicates = Counter(predicate for _, predicate, _ in whole)
    Counter(triple for triple in whole if predicates[triple[1]] >= clean_settings.THRESHOLD)
    return {"triples": len(raw), "check": sorted(predicates.items())}


WAYS: dict[tuple[str, str], Callable[[Path, Path], dict[str, Any]]] = {
    ("read", "simtown"): read_simtown,
    ("read", "json.load and loops"): read_json,
    ("prepare", "simtown"): prepare_simtown,
    ("prepare", "json.load and loops"): prepare_json,
}


def _child(task: str, way: str, path: Path) -> None:
    """Run one way in this process and print what it took."""
    from simtown.visualgenome import prepare  # noqa: F401  (importing is not what is measured)
    from simtown.visualgenome.clean import Cleaner
    from simtown.visualgenome.records import Graph
    from simtown.visualgenome.stream import Records

    Cleaner().entity("warm up")
    next(iter(Records(path, Graph)))  # compile
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        begun = time.process_time()
        result = WAYS[task, way](path, Path(folder) / "out")
        result["seconds"] = time.process_time() - begun
    result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


def main() -> None:
    """Make the file, run every way, print and keep the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=500, help="megabytes of JSON")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        task, way, path = given.child
        _child(task, way, Path(path))
        return
    rows, checks = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relationships.json"
        vg_files.write(path, "relationships", size=given.size * 1_000_000)
        size, where = path.stat().st_size / 1e6, machine("msgspec", "pyarrow")
        for task, way in WAYS:
            command = [sys.executable, __file__, "--child", task, way, str(path)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            result = json.loads(done.stdout.splitlines()[-1])
            seconds, triples = result["seconds"], result["triples"]
            row = [given.size, task, way, f"{seconds:.1f}", f"{size / seconds:.0f}", triples]
            row += [f"{triples / seconds:.0f}", f"{result['peak']:.0f}", where]
            print(*row, sep=",", flush=True)
            rows.append(list(map(str, row)))
            checks += [result["check"]] if "check" in result else []
    print("counts of predicates: " + ("the same" if checks[0] == checks[1] else "DIFFERENT"))
    with open(RESULTS, encoding="utf-8", newline="") as file:
        header, *old = csv.reader(file)
    new = {tuple(row[:3]) for row in rows}
    with open(RESULTS, "w", encoding="utf-8", newline="") as file:
        kept = [row for row in old if tuple(row[:3]) not in new]
        csv.writer(file, lineterminator="\n").writerows([header, *kept, *rows])


if __name__ == "__main__":
    main()
