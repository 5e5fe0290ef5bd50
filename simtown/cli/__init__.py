"""The command line: a command parses, calls one function of the package, and prints. Heavy imports wait until they are needed."""

# The commands register themselves, in the order in which --help lists them.
from simtown.cli import town, export, audit, clip, training, visualgenome, lm, probe  # isort: skip
from simtown.cli import probe_visual, probe_spatial, probe_grid, bench  # isort: skip
from simtown.cli.app import main

__all__ = [
    "audit",
    "bench",
    "clip",
    "export",
    "lm",
    "main",
    "probe",
    "probe_grid",
    "probe_spatial",
    "probe_visual",
    "town",
    "training",
    "visualgenome",
]
