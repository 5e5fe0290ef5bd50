"""The source of a data set's questions: the paper's, or those of families.

:func:`source_of` is the place that asks which. All that makes and proves examples goes through it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simtown.core.options import SettingsError
from simtown.datasets.frequency_tables import tables_of
from simtown.datasets.question_source import QuestionSource

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings


@lru_cache(maxsize=8)
def source_of(settings: Settings) -> QuestionSource:
    """The source of a data set's questions."""
    if settings.sequence:
        from simtown.datasets.sequence_questions import SequenceSource

        return SequenceSource(settings)
    if settings.has_families:
        from simtown.datasets.family_questions import FamilyQuestions

        return FamilyQuestions(settings)
    from simtown.datasets.paper_questions import PaperQuestions

    return PaperQuestions(settings)


def check_settings(settings: Settings) -> None:
    """Raises SettingsError if no data set of these settings can be made."""
    if settings.hand_made:
        raise SettingsError("these are the settings of scenes made by hand: no others can be sampled")
    check_names(settings)
    try:
        tables_of(settings)
        source_of(settings).check()
    except SettingsError:
        raise
    except (ValueError, OSError) as error:
        raise SettingsError(str(error)) from error


def check_names(settings: Settings) -> None:
    """Raises SettingsError if a value is out of range or a family is unknown.

    Reads no table of frequencies, whose CSV file may be gone.
    """
    settings.check()
    source_of(settings).check_names()
