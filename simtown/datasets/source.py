"""The source of a data set's questions: the paper's, or those of families.

:func:`source_of` is the place that asks which. All that makes and proves examples goes through it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simtown.datasets.question_source import QuestionSource

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings


@lru_cache(maxsize=8)
def source_of(settings: Settings) -> QuestionSource:
    """The source of a data set's questions."""
    if settings.asks:
        from simtown.datasets.family_questions import FamilyQuestions

        return FamilyQuestions(settings)
    from simtown.datasets.paper_questions import PaperQuestions

    return PaperQuestions(settings)
