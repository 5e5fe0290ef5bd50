"""Instructions for a model: a question, the form of its answer, and the picture."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from simtown.language.meaning.answers import CANNOT_TELL

#: Answers that are listed at most.
_LISTED = 24


def instruction(answer_type: str, choices: Sequence[str]) -> str:
    """A sentence such as "Answer with yes or no.".

    Args:
        answer_type: a key of :data:`simtown.language.meaning.answers.ANSWERS`.
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


def user_message(text: str, png: bytes | None) -> dict[str, Any]:
    """A message of a user in OpenAI's content parts: perhaps a PNG file as a data URL, and a text."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if png is not None:
        url = f"data:image/png;base64,{b64encode(png).decode()}"
        content.insert(0, {"type": "image_url", "image_url": {"url": url}})
    return {"role": "user", "content": content}
