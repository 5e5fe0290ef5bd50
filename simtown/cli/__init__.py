"""The command line: a command parses, calls one function of the package, and prints. Heavy imports wait until they are needed."""

# The commands register themselves, in the order in which --help lists them.
from simtown.cli import town, export, audit, clip, training, visualgenome, lm  # isort: skip
from simtown.cli import probe_physical, probe_visual, probe_spatial, probe_tables, probe_grid, bench  # isort: skip
from simtown.cli.app import main

__all__ = [
    "audit",
    "bench",
    "clip",
    "export",
    "lm",
    "main",
    "probe_grid",
    "probe_physical",
    "probe_spatial",
    "probe_tables",
    "probe_visual",
    "town",
    "training",
    "visualgenome",
]
