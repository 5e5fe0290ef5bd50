"""What a wheel has beside simtown, not in it: verifiers imports tasksets by names without dots."""

from simtown.gym.adapters.verifiers import StreetTaskset as StreetTaskset

__all__ = ["StreetTaskset"]
