"""The command line: a command parses, calls one function of the package, and prints. Heavy imports wait until they are needed."""

# The commands register themselves, in the order in which --help lists them.
from simtown.cli import lm, probe, probe_spatial, town, training, visualgenome
from simtown.cli.app import main

__all__ = ["lm", "main", "probe", "probe_spatial", "town", "training", "visualgenome"]
