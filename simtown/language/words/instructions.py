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


def user_message(text: str, *pngs: bytes, is_behind: bool = False) -> dict[str, Any]:
    """A message of a user in OpenAI's content parts: PNG files as data URLs, and a text.

    Args:
        text: the question.
        pngs: PNG files.
        is_behind: whether they stand behind the text.
    """
    urls = [f"data:image/png;base64,{b64encode(png).decode()}" for png in pngs]
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return {"role": "user", "content": message_parts(text, pictures, is_behind)}


def message_parts(
    text: str, pictures: Sequence[dict[str, Any]], is_behind: bool = False
) -> list[dict[str, Any]]:
    """The parts of a message: a picture and a text, or several pictures, each behind its name, "Picture 1:".

    Args:
        text: the question.
        pictures: parts that hold a picture each.
        is_behind: whether they stand behind the text.
    """
    content = []
    for number, picture in enumerate(pictures, 1):
        name = [{"type": "text", "text": f"Picture {number}:"}] if len(pictures) > 1 else []
        content += [*name, picture]
    words = [{"type": "text", "text": text}]
    return [*words, *content] if is_behind else [*content, *words]
