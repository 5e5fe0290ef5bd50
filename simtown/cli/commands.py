"""Importing this module registers every command, in the order in which --help lists them."""

from simtown.cli import town, export, audit, clip, training, visualgenome, lm  # noqa: F401  # isort: skip
from simtown.cli import probe, probe_visual, probe_spatial, probe_tables, probe_grid, bench  # noqa: F401  # isort: skip

from simtown.cli.app import app

__all__ = ["app"]
