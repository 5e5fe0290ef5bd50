"""What a model is told behind a question: which form the answer has."""

from __future__ import annotations

from collections.abc import Sequence

from simtown.language.families import CANNOT_TELL

#: Answers that are listed at most.
_LISTED = 24


def instruction(answer_type: str, choices: Sequence[str]) -> str:
    """A sentence such as "Answer with yes or no.".

    Args:
        answer_type: a key of :data:`simtown.language.families.ANSWERS`.
        choices: all answers that the question may have, as a data set's vocabulary spells them.
    """
    own = [choice for choice in choices if choice != CANNOT_TELL]
    forms = {
        "truth": "Answer with yes or no",
        "count": "Answer with a whole number",
        "metres": "Answer with a number of metres, such as 4 m",
        "kind": f"Answer with the kind of the vehicle, such as {own[0]}" if own else "",
    }
    listed = f"Answer with one of: {', '.join(own)}"
    few = answer_type not in ("truth", "count", "metres") and len(own) <= _LISTED
    words = listed if few else forms.get(answer_type, listed)
    return words + (f", or with: {CANNOT_TELL}." if CANNOT_TELL in choices else ".")


def prompt(question: str, answer_type: str, choices: Sequence[str]) -> str:
    """A question and, behind it, which form the answer has."""
    return f"{question} {instruction(answer_type, choices)}"
