"""A table of one's own items, asked of any model: ``simtown probe ask ITEMS.csv``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core.options import option
from simtown.probes.item_study import ItemSettings, ItemStudy
from simtown.probes.study import Source

if TYPE_CHECKING:
    from simtown.probes.items import ItemSet


@dataclass(frozen=True)
class AskSettings(ItemSettings):
    """What decides the numbers, besides the table.

    Attributes:
        template: sentences with [X] for the subject and [Y] for the class, for tables without that column.
        classes: with commas between, such as "yellow,green,grey=gray", for items that name none.
    """

    template: tuple[str, ...] = option(
        (), "A sentence with [X] for the subject and [Y] for the class, if the table has none. Repeatable."
    )
    classes: str | None = option(
        None,
        "Classes to choose among, with commas between; other spellings after =: yellow,grey=gray. "
        "Default: all that are right for some item.",
    )


class AskStudy(ItemStudy):
    """A table of items."""

    name = "ask"
    title = "Your own table of subjects and right answers."
    about = (
        "Ask a model about a table of your own: subjects, the classes that may fit, and which one is "
        "right.\n\n"
        "ITEMS is CSV with the columns subject and gold, and perhaps classes, template, group and train "
        "(docs/probes.md). Writes every item's answer as Parquet, accuracy or rank correlation with "
        "intervals, prior and ceiling as JSON, CSV and Markdown, and a picture.\n\n"
        "Start with: simtown probe ask fruit.csv --template 'a [X] is [Y] .' --model hf:bert-base-uncased "
        "--out fruit-bert"
    )
    source = Source("items", "A CSV file with the columns subject and gold.", argument=True)
    settings = AskSettings
    task_names = ("items",)

    def open(self, source: Path, settings: Any) -> dict[str, ItemSet]:
        from simtown.probes.items import read_items

        classes = settings.classes.split(",") if settings.classes else ()
        return {"items": read_items(source, settings.template, classes)}


ASK = AskStudy()
