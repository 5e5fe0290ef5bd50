"""The words for spatial relations: a lexicon of variants, those of Figure 3, groups that tests use."""

from functools import lru_cache
from itertools import product

_RELATIONS = """
    above, across, against, along, along side, alongside, around, at, at the top of, away, back, back
    of, behind, below, beneath, beside, between, bottom, by, down, during, from, front, here, in, in
    back of, in between, in front of, in the back of, inside, into, left, near, next to, off, on, on
    back of, on bottom of, on front of, on left side of, on side of, on the back of, on the bottom of,
    on the front of, on the side of, on the top of, on top of, onto, out, outside, over, right, side,
    there, through, to, to the left of, to the right of, to the side, together, top, toward, under,
    underneath, up, with, without
    """
#: Rows of Figure 3.
RELATIONS: tuple[str, ...] = tuple(" ".join(name.split()) for name in _RELATIONS.split(","))
#: Columns of Figure 3: relations that enough phrases hold.
_RARE = "along side, at the top of, away, back, front, left, on left side of, right, to the side, toward"
CONTEXTS: tuple[str, ...] = tuple(r for r in RELATIONS if r not in _RARE.split(", "))

#: Words that are each other's opposite (analogies).
OPPOSITES: tuple[tuple[str, str], ...] = (
    *(("left", "right"), ("above", "below"), ("front", "back")),
    *(("with", "without"), ("in", "out"), ("up", "down")),
)
#: Words of a kind (odd one out).
_KINDS = ("left right", "above over under below", "front back", "in out", "near away")
KINDS: tuple[tuple[str, ...], ...] = tuple(tuple(kind.split()) for kind in _KINDS)
#: Words that people judged (appendix D).
JUDGED = ("left", "right", "above", "over", "below", "under", "near", "next to", "away", "in", "on")
#: Relations that say what things do for each other, and those that only say where they are (Dobnik,
#: Ghanimifard and Kelleher 2018).
FUNCTIONAL: tuple[str, ...] = ("at", "in", "on", "over", "under")
GEOMETRIC: tuple[str, ...] = ("above", "below", "left", "right", "across")

#: Directions by axis: what is composed in "on the upper left of" is of two axes.
_SIDES = ("above below over under", "bottom top", "lower upper", "before behind", "back front", "left right")
_AXES = tuple(tuple(sides.split()) for sides in _SIDES)
_ALONE = (
    "about above across after against along alongside amid among apart around at away back backward "
    "before behind below beneath beside between bottom by down downward during east from front here in "
    "inside into left near next north off on onto out outside over parallel perpendicular right side "
    "sideways south there through throughout to together top toward under underneath up upon upward west "
    "with within without"
)
_OTHERWISE = {"along side": "alongside", "amongst": "among", "backwards": "backward", "in between": "between"}
_OTHERWISE |= {"next to": "next", "on to": "onto", "with in": "within", "with out": "without"}
_OTHERWISE |= {
    "to the side": "side",
    **{f"{word} to": word for word in ("parallel", "perpendicular")},
    **{f"{word} of": word for word in ("back", "left", "right", "north", "south", "east", "west")},
}
_AT = tuple(f"{at}{the}" for at in ("at", "by", "in", "on", "to") for the in ("", " the"))


@lru_cache(maxsize=1)
def lexicon() -> dict[str, str]:
    """{surface form: simple relation} of English spatial relations after Landau's and Herskovits's lists:
    3,389 forms of 225 relations.

    Regular forms are composed: "on the left hand side of" is left, "at above and left of" is above_left.
    """
    forms = {word: word for word in _ALONE.split()} | _OTHERWISE
    sides = product(_AT, ("left", "right"), ("", " side", " hand side"))
    forms |= {f"{at} {word}{end} of": word for at, word, end in sides}
    forms |= {f"{at} {word} of": word for at, word in product(_AT, ("back", "front", "side"))}
    forms |= {f"{at} {word} of": word for at, word in product(_AT[:-2], ("bottom", "top"))}
    for first, second in product(_AXES, _AXES):
        if first is not second:
            for a, b in product(first, second):
                forms |= {f"{at} {a}{both} {b} of": f"{a}_{b}" for at, both in product(_AT, ("", " and"))}
    return forms


def simple(relation: str) -> str:
    """The simple relation that a surface form is a variant of; itself if the lexicon does not have it.

    >>> simple("on the back of")
    'back'
    """
    return lexicon().get(relation, relation)
