"""A module that a wheel holds beside the package: verifiers imports tasksets by names without dots."""

from simtown.gym.adapters.verifiers import StreetTaskset as StreetTaskset

__all__ = ["StreetTaskset"]
