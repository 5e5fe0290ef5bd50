"""Ready worlds: named settings that never change, so that a paper can cite "simtown-twins, seed 0"."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from simtown.core.options import deciding
from simtown.core.untrusted import parse_toml
from simtown.datasets.resolved_settings import canonical, settings_from
from simtown.datasets.settings import Settings, SettingsError

#: What the user of a ready world may choose. Everything else is part of its name.
FREE = (*deciding(Settings, "size"), "seed")
#: The licence of their data, as SPDX names it.
LICENCE = "CC-BY-4.0"


@dataclass(frozen=True)
class ReadyWorld:
    """A ready world: what is in it, its settings, and digests of its first examples by split."""

    holds: str
    settings: Settings
    sha256: dict[str, str]


@cache
def worlds() -> dict[str, ReadyWorld]:
    """All ready worlds by name, the simplest first."""
    tables = parse_toml((files(__package__) / "worlds.toml").read_text(encoding="utf-8"))
    return {
        name: ReadyWorld(table["holds"], settings_from(table["settings"]), table.get("sha256", {}))
        for name, table in tables.items()
    }


def ready(name: str, **free: int) -> Settings:
    """The settings of a ready world, with other sizes of splits or another seed (FREE).

    Without others, val and test have their default sizes, which are the world's. Raises SettingsError.
    """
    if name not in worlds():
        raise SettingsError(f"{name} is unknown: choose among {', '.join(worlds())}", "world")
    whole = worlds()[name].settings
    chosen: dict[str, Any] = {"val": None, "test": None, **free}
    return replace(whole, **chosen)


def cited(settings: Settings) -> str:
    """A data set as papers cite it: "simtown-twins, seed 0", and its sizes if they are others; "" if it is
    no ready world.
    """
    for name, world in worlds().items():
        own: dict[str, Any] = {field: getattr(settings, field) for field in FREE}
        if canonical(replace(world.settings, shard=settings.shard, **own)) == canonical(settings):
            counts = " + ".join(f"{count:,} {split}" for split, count in settings.counts().items())
            same = settings.counts() == world.settings.counts()
            return f"{name}, seed {settings.seed}" + f" ({counts})" * (not same)
    return ""
