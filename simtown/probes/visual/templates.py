"""Templates for data that we mined: section 3.3's kind, [X] the subject and [Y] what is asked.

The release brings its own.
"""

from __future__ import annotations

TEMPLATES: dict[str, tuple[str, ...]] = {
    "color": (
        "[X] can be of color [Y] .",
        "the color of a [X] is [Y] .",
        "a [X] is usually [Y] .",
        "there is a [Y] [X] .",
        "the [X] is [Y] .",
    ),
    "shape": (
        "[X] has shape [Y] .",
        "the shape of a [X] is [Y] .",
        "a [X] is usually a [Y] .",
        "there is a [Y] [X] .",
    ),
    "material": (
        "[X] is made of [Y] .",
        "the material of a [X] is [Y] .",
        "a [X] is usually made of [Y] .",
        "there is a [Y] [X] .",
    ),
    "cooccurrence": (
        "[X] co-occurs with [Y] .",
        "a [X] is often seen with a [Y] .",
        "there is a [X] beside a [Y] .",
        "a [X] and a [Y] .",
    ),
    "size_larger": ("[X] is larger than [Y] .", "a [X] is bigger than a [Y] .", "[Y] is smaller than [X] ."),
    "size_smaller": (
        "[X] is smaller than [Y] .",
        "a [X] is not as big as a [Y] .",
        "[Y] is larger than [X] .",
    ),
}
