"""The names of the numbers in a data set, so that a reader needs nothing but its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.datasets import version1
from simtown.datasets.settings import Settings
from simtown.language.questions import PHRASINGS, RELEASES, STYLES
from simtown.language.relations import RELATION_NAMES, relation_numbers
from simtown.scenes.weather import DEFAULT_WEATHERS, WEATHERS, weather_numbers


def names(settings: Settings) -> dict[str, list[str]]:
    """What the numbers in a data set's arrays stand for: the name of number i is entry i.

    Vehicles have their catalogue numbers, so a world that is not the catalogue's first kinds leaves some
    numbers unused. A relation, weather or phrasing that was added to simtown later is named only if the data
    set uses it or one after it: the manifests of all other data sets stay as they are.
    """
    phrasings, relations, _ = RELEASES[0]
    relations = max(relations, 1 + int(relation_numbers(settings.relations).max()))
    weathers = max(len(DEFAULT_WEATHERS), 1 + int(weather_numbers(settings.weathers).max()))
    phrasings = max(phrasings, 1 + max(STYLES[settings.phrasing]))
    return {
        "entities": list(ENTITIES[: max(settings.kinds) + 1]),
        "props": list(version1.PROP_NAMES if settings.schema == 1 else PROPS),
        "relations": list(RELATION_NAMES[:relations]),
        "weathers": list(WEATHERS[:weathers]),
        "phrasings": list(PHRASINGS[:phrasings]),
        "paints": list(PAINTS),
    }


def names_of(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """The same of a finished data set: what its manifest says, or what version 1 of the world means."""
    listed: dict[str, list[str]] | None = manifest.get("names")
    return listed or names(Settings.from_resolved(manifest["settings"]))
