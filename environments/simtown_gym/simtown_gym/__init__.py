"""The street as an environment of verifiers' hub: `vf-eval simtown-gym --env.taskset.level 3`."""

from simtown.gym.adapters.verifiers import StreetTaskset

__all__ = ["StreetTaskset"]
