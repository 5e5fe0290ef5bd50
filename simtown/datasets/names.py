"""What the numbers in a data set stand for, so that a reader needs nothing but its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.datasets import version1
from simtown.datasets.settings import Settings
from simtown.language.questions import PHRASINGS
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.weather import WEATHERS


def names(settings: Settings) -> dict[str, list[str]]:
    """What the numbers in a data set's arrays stand for: the name of number i is entry i.

    Vehicles have their catalogue numbers, so a world that is not the catalogue's first kinds leaves some numbers unused.
    """
    return {
        "entities": list(ENTITIES[: max(settings.kinds) + 1]),
        "props": list(version1.PROP_NAMES if settings.schema == 1 else PROPS),
        "relations": list(RELATION_NAMES),
        "weathers": list(WEATHERS),
        "phrasings": list(PHRASINGS),
        "paints": list(PAINTS),
    }


def names_of(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """The same of a data set that was made: what its manifest says, or what version 1 of the world means."""
    told: dict[str, list[str]] = manifest.get("names") or names(Settings.from_resolved(manifest["settings"]))
    return told
