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

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

import vg_files
from machine import RESULTS, Apart, Rows, machine, options

from simtown.visualgenome.clean import Cleaner, plain
from simtown.visualgenome.clean_settings import THRESHOLD
from simtown.visualgenome.prepare import PREDICATES, prepare, read
from simtown.visualgenome.records import Graph
from simtown.visualgenome.stream import Records


def _triples(path: Path) -> Iterator[tuple[str, str, str]]:
    """Strings of every statement, by json.load."""
    with open(path, encoding="utf-8") as file:
        images = json.load(file)
    for image in images:
        for r in image["relationships"]:
            yield _first(r["subject"]), r["predicate"], _first(r["object"])


def _first(thing: dict[str, Any]) -> str:
    names = thing.get("names") or thing.get("name")
    return names[0] if isinstance(names, list) else names


class Ways:
    """What is measured, of a file in the released format; each method returns the number of statements, and
    counts of predicates.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        Cleaner().entity("warm up")
        next(iter(Records(path, Graph)))  # compile

    def read_simtown(self) -> tuple[int, Any]:
        """Every statement's strings, numbers and box."""
        statements = (parts for graph in Records(self.path, Graph) for parts in graph.statements())
        return sum(bool((s.text, r.predicate, o.text, s.x, s.number)) for r, s, o in statements), None

    def read_json(self) -> tuple[int, Any]:
        """The same by json.load."""
        return sum(1 for _ in _triples(self.path)), None

    def prepare_simtown(self) -> tuple[int, Any]:
        """simtown vg prepare, without the command line."""
        with tempfile.TemporaryDirectory(dir=self.path.parent) as folder:
            stated = prepare(self.path, Path(folder) / "out")["statements"]["stated"]
            kept = read(Path(folder) / "out", PREDICATES).to_pylist()
        return stated, sorted((r["predicate"], r["count"]) for r in kept)

    def prepare_json(self) -> tuple[int, Any]:
        """json.load, then all steps on every statement in turn, each string's result remembered; counts, but
        no Parquet.
        """
        raw = list(_triples(self.path))
        cleaner = Cleaner(
            counts=Counter(word for parts in raw for part in parts for word in plain(part).split())
        )
        cleaned = [(cleaner.entity(s), cleaner.predicate(p), cleaner.entity(o)) for s, p, o in raw]
        whole = [triple for triple in cleaned if all(triple)]
        predicates = Counter(predicate for _, predicate, _ in whole)
        Counter(triple for triple in whole if predicates[triple[1]] >= THRESHOLD)
        return len(raw), sorted(predicates.items())

    def measure(self, method: str) -> tuple[int, Any, float, float]:
        """The result of a method, its seconds, and the process's peak of memory, MB."""
        begun = process_time()
        result = getattr(self, method)()
        return *result, process_time() - begun, getrusage(RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Make the file, run every way, print and keep the table."""
    args = options(__doc__, size=500, out=RESULTS / "visualgenome.csv")  # megabytes of JSON
    rows, counts = Rows(args.out, "", "megabytes", "task", "way"), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relationships.json"
        vg_files.write(path, "relationships", size=args.size * 1_000_000)
        megabytes, where = path.stat().st_size / 1e6, machine("msgspec", "pyarrow")
        for task in ("read", "prepare"):
            for way, name in (("simtown", "simtown"), ("json", "json.load and loops")):
                process = Apart(Ways, path)
                triples, check, seconds, peak = process.call("measure", f"{task}_{way}")
                process.end()
                counts.append(check)
                rows.add(
                    {
                        "megabytes": args.size,
                        "task": task,
                        "way": name,
                        "seconds": f"{seconds:.1f}",
                        "mb_per_s": f"{megabytes / seconds:.0f}",
                        "triples": triples,
                        "triples_per_s": f"{triples / seconds:.0f}",
                        "peak_mb": f"{peak:.0f}",
                        "machine": where,
                    }
                )
    print("counts of predicates: " + ("the same" if counts[2] == counts[3] else "DIFFERENT"))


if __name__ == "__main__":
    main()
