"""simtown: a cartoon street that asks how visual question answering scales with the world."""

__version__ = "0.1.0"
