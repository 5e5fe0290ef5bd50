"""How fast simtown is: the CSV files of benchmarks/results, each with the machine that it was measured on."""

from __future__ import annotations

import re

from simtown.core.tables import Table
from tools.parts.results import Results, percent


def measured(results: Results, _: str, file: str, column: str, *conditions: str) -> str:
    """The cell of the one line that meets all conditions, such as `size=128` or `engine=2 threads`.

    A cell that ends as a condition says meets it.
    """
    wanted = [condition.split("=") for condition in conditions]
    rows = results.csv(f"{file}.csv")
    (row,) = (row for row in rows if all(row[name].endswith(end) for name, end in wanted))
    return number(row[column])


def number(text: str) -> str:
    """To three digits, or whole."""
    value = float(text)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def machine(results: Results, _: str, file: str) -> str:
    """Where a file was measured: `AMD EPYC, 2 cores`."""
    text = (results.folder / f"{file}.csv").read_text(encoding="utf-8")
    (name, *_) = re.findall(r"(?:AMD|Intel|NVIDIA).*?(?=, Linux)", text)
    return re.sub(r" ?\(.*?\)", "", name)


def drawing(results: Results) -> str:
    """Frames a second of each renderer, and how much faster simtown with as many threads is."""
    engines: dict[str, list[str]] = {}
    for row in results.csv("render.csv"):
        simtown = row["engine"].startswith("simtown")
        faster = "" if simtown else f"{float(row['raster_is_faster']):.3g}×"
        engines.setdefault(row["engine"], [row["engine"]]).extend([number(row["fps"]), faster])
    head = ["frames/s", "128 × 128", "raster is", "256 × 256", "raster is "]
    return Table(head, list(engines.values())).markdown(1)


def on_card(results: Results) -> str:
    """Frames a second on a graphics card, by the scenes of a launch at 128 × 128."""
    rows = [r for r in results.csv("card.csv") if (r["lanes"], r["pictures"]) == ("2", "left")]
    sizes = sorted({int(row["size"]) for row in rows})
    found = {(int(r["launch"]), int(r["size"])): number(r["frames_per_second"]) for r in rows}
    launches = sorted({launch for launch, _ in found})
    lines = [[f"{launch:,}", *(found.get((launch, size), "") for size in sizes)] for launch in launches]
    return Table(["scenes of a launch", *(f"{size} × {size}" for size in sizes)], lines).markdown(0)


def making(results: Results) -> str:
    """Examples a second of `simtown generate`, and where the time of its workers goes."""
    rows = results.csv("generate.csv")

    def share(row: dict[str, str], *stages: str) -> str:
        return percent(sum(float(row[stage]) for stage in stages))

    lines = [
        ["examples/s, start of the workers included", *(number(row["examples_per_second"]) for row in rows)],
        ["sample and question", *(share(row, "sample", "question") for row in rows)],
        ["render, share of the workers' time", *(share(row, "render") for row in rows)],
        ["encode and write", *(share(row, "encode", "write") for row in rows)],
        ["KiB an example", *(f"{float(row['bytes_per_example']) / 1024:.1f}" for row in rows)],
    ]
    head = [f"{r['size']} × {r['size']}, {r['workers']} worker{'s' * (r['workers'] != '1')}" for r in rows]
    return Table(["", *head], lines).markdown(1)


#: Loaders of reading.csv that benchmarks/reading.py still measures, as a page names them.
LOADERS = {
    "simtown": "`data.train.torch()`",
    "simtown, blocks": "`simtown.datasets.reading.shuffled.Shuffled`",
    "png": "PNG files, Pillow",
    "datasets": "Parquet with PNG inside, `datasets`",
    "webdataset": "tar files with PNG inside, webdataset",
    "litdata": "raw pixels, LitData",
    "grain": "raw pixels, grain with array-record",
    "spdl": "PNG files, OpenCV in threads of SPDL",
}


def reading(results: Results) -> str:
    """Examples a second of each loader from warm files, without and with two workers."""
    rates: dict[tuple[str, str, str], list[str]] = {}
    for r in results.csv("reading.csv"):
        if r["files"] == "warm":
            key = r["loader"], r["size"], r["pictures"]
            rates.setdefault(key, []).append(number(r["examples_per_second"]))
    columns = {
        "128 × 128": ("128", "whole"),
        "128 × 128, cut": ("128", "cut and mirrored"),
    }
    lines = [
        [name, *(" / ".join(rates.get((loader, *column), [])) for column in columns.values())]
        for loader, name in LOADERS.items()
    ]
    return Table(["loader", *columns], lines).markdown(1)


def scale(results: Results) -> str:
    """What examples of 128 × 128 pixels cost, by the rate and the bytes of two workers on two cores."""
    (row,) = (r for r in results.csv("generate.csv") if (r["size"], r["workers"]) == ("128", "2"))
    hours, size = 2 / 3600 / float(row["examples_per_second"]), float(row["bytes_per_example"])
    lines = [
        [f"{n:,}", *(number(str(n * each)) for each in (hours, 60 / 64 * hours, size / 1e9))]
        for n in (10**6, 10**8, 10**9)
    ]
    return Table(["examples", "core hours", "minutes on 64 cores", "GB"], lines).markdown(0)
