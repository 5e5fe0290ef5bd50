"""The names of the numbers in a data set, so that a reader needs nothing but its manifest."""

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words.questions import PHRASINGS, RELEASES, STYLES
from simtown.scenes.weather import DEFAULT_WEATHERS, WEATHERS, weather_numbers


def names(settings: Settings) -> dict[str, list[str]]:
    """Names for the numbers in a data set's arrays: the name of number i is entry i.

    Vehicles have their catalogue numbers, so a world that is not the catalogue's first kinds leaves some
    numbers unused. A relation, weather, phrasing or street kind that was added to simtown later is named only
    if the data set uses it or one after it: the manifests of all other data sets stay as they are.
    """
    phrasings, relations, _ = RELEASES[0]
    relations = max(relations, *(1 + RELATION_NAMES.index(name) for name in settings.relations))
    weathers = max(len(DEFAULT_WEATHERS), 1 + int(weather_numbers(settings.weathers).max()))
    phrasings = max(phrasings, 1 + max(STYLES[settings.phrasing]))
    result = {
        "entities": list(ENTITIES[: max(settings.kinds) + 1]),
        "props": list(PROPS),
        "relations": list(RELATION_NAMES[:relations]),
        "weathers": list(WEATHERS[:weathers]),
        "phrasings": list(PHRASINGS[:phrasings]),
        "paints": list(PAINTS),
    }
    return result | source_of(settings).names()
