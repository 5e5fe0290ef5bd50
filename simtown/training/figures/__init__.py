"""Figures of experiments: samples needed, learning curves, the curve of one run."""

from simtown.training.figures.learning_curves import learning
from simtown.training.figures.look import COLOURS, NAMES
from simtown.training.figures.needs import samples
from simtown.training.figures.run_curve import curve

__all__ = ["COLOURS", "NAMES", "curve", "learning", "samples"]
