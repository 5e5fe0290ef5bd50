"""Logical forms in words: sets and phrases as nouns, singular and plural, and predicates behind "is"."""

from __future__ import annotations

from typing import Any

from simtown.assets.entities import ENTITIES, with_article
from simtown.language.meaning import relations
from simtown.language.meaning.nouns import ORDINALS, plural
from simtown.language.meaning.programs import Form

#: Relations as a question words them, behind "is".
RELATIONS = {relation.name: relation.caption for relation in relations.RELATIONS}
#: Where a driver sees something, with the driver's vehicle.
DRIVERS = {
    "driver-left": "on the left of {0}'s driver", "driver-right": "on the right of {0}'s driver",
    "driver-front": "ahead of {0}'s driver", "driver-behind": "at the back of {0}'s driver",
}  # fmt: skip
#: Where a driver sees something, from there.
SEEN = {relation.name: relation.caption for relation in relations.DRIVER_RELATIONS}
LANES = {"near": "in the near lane", "far": "in the far lane", "parked": "parked at the kerb"}
DIRECTIONS = {
    "left": "facing left", "right": "facing right", "viewer": "facing the viewer", "away": "facing away",
}  # fmt: skip
_PACES = {
    "goes on": "going on as before", "speeds up": "speeding up", "slows down": "slowing down",
    "starts": "starting", "stops": "stopping",
}  # fmt: skip
#: Orders behind an ordinal number: "the second from the left".
FROM = {
    "leftmost": "from the left",
    "rightmost": "from the right",
    "nearest": "nearest",
    "farthest": "farthest",
}
_ORDINALS = dict(enumerate(ORDINALS, 1))
#: What a distance is from, if nothing else is said.
_FROM_VIEWER = {"nearest": " to the viewer", "farthest": " from the viewer"}


def noun(form: Form, many: bool = False) -> str:
    """A set as a noun: "red bus", "buses to the left of the taxi", "second vehicle from the left"."""
    match form.name, *form.parts:
        case "all", kind:
            return plural(kind) if many else kind
        case "filter", inner, Form("has", ("colour" | "sight", word)) if (
            f"{word} {noun(inner)}" not in ENTITIES
        ):
            return f"{word} {noun(inner, many)}"
        case "filter", inner, Form("has", ("lane" | "direction", _)) | Form("related") as clause:
            return f"{noun(inner, many)} {predicate(clause)}"
        case "filter", inner, clause:
            return f"{noun(inner, many)} that {'are' if many else 'is'} {predicate(clause)}"
        case "most", order, inner, *to:
            end = [f" {'from' if order == 'farthest' else 'to'} {phrase(other)}" for other in to]
            return f"{order} {noun(inner, many)}{''.join(end)}"
        case "nth", number, order, inner:
            if order in ("leftmost", "rightmost"):
                return f"{ORDINALS[number - 1]} {noun(inner)} {FROM[order]}"
            return f"{ORDINALS[number - 1]} {order} {noun(inner)}"
        case "union", *phrases:
            return " or ".join(map(phrase, phrases))
    raise ValueError(f"{form} is not a set that has words")


def phrase(form: Form) -> str:
    """A phrase in words: "the red bus", "a taxi", "every truck"."""
    if form.name in ("and", "or"):
        return f" {form.name} ".join(map(phrase, form.parts))
    (inner,) = form.parts
    if form.name == "one":  # a thing itself, which a town tries in the place of "the ..."
        return str(inner) if str(inner)[-1:].isdigit() else f"the {inner}"
    return with_article(noun(inner)) if form.name == "a" else f"{form.name} {noun(inner)}"


def predicate(form: Form) -> str:
    """A predicate behind "is": "to the left of the taxi", "red", "in the near lane", "not red"."""
    match form.name, *form.parts:
        case "not", Form("or", (one, other)):
            return f"neither {predicate(one)} nor {predicate(other)}"
        case "not", inner:
            return f"not {predicate(inner)}"
        case ("and" | "or") as join, *parts:
            return f" {join} ".join(map(predicate, parts))
        case "has", "lane", lane:
            return LANES[lane]
        case "has", "direction", direction:
            return DIRECTIONS[direction]
        case "has", "motion", ("right" | "left") as side:
            return f"going {side}"
        case "has", "drive", way:
            return f"driving {way}"
        case "has", "pace", pace:
            return _PACES[pace]
        case "has", _, value:
            return str(value)
        case "passes", other:
            return f"past {phrase(other)}"
        case "nears", other:
            return f"nearest to {phrase(other)}"
        case "related", "between", one, other:
            return f"between {phrase(one)} and {phrase(other)}"
        case "related", relation, other if relation in DRIVERS:
            return DRIVERS[relation].format(phrase(other))
        case "related", relation, other:
            return f"{RELATIONS.get(relation, relation)} {phrase(other)}"
        case "compared", order, other, *to:
            end = f" to {phrase(to[0])}" if to else _FROM_VIEWER.get(order, "")
            return f"{order[:-3]}er{end} than {phrase(other)}"
        case "same", attribute, other:
            link = {"lane": "in ", "direction": "facing ", "group": "of "}.get(attribute, "")
            return f"{link}the same {attribute} as {phrase(other)}"
        case "among", other:
            return phrase(other)
    raise ValueError(f"{form} is not a predicate that has words")


def alternative(question: Form) -> str:
    """The words that a question offers as one of several answers: "left of", "blue", "tram", "night"."""
    clause = question.parts[1] if question.name == "holds" else question
    match clause.name, *clause.parts:
        case "related", relation, _ if relation != "on":
            return str(relation).removesuffix(" of").removesuffix(" from")
        case "compared", order, _:
            return f"{order[:-3]}er"
        case "among", Form(_, (things,)):
            return noun(things)
        case "more", Form(_, (things,)), _:
            return noun(things, many=True)
        case "weather", *kinds:
            return kinds[0] if len(kinds) == 1 else "day"
    return predicate(clause)


def fill(text: str, slots: list[Any]) -> str:
    """A text of a template with the words of its slots, such as {1}, {a 1}, {many 1}."""
    values: dict[str, str] = {}
    for place, slot in enumerate(slots, 1):
        if not isinstance(slot, Form):
            word = _ORDINALS.get(slot) or RELATIONS.get(slot, DRIVERS.get(slot, str(slot)))
            values |= {str(place): word.removesuffix(" {0}'s driver"), f"bare {place}": str(slot)}
            values |= {f"from {place}": FROM.get(slot, ""), f"seen {place}": SEEN.get(slot, "")}
        elif slot.name in ("the", "a", "every"):
            values |= {str(place): phrase(slot), f"a {place}": with_article(noun(slot.parts[0]))}
        elif slot.name in ("has", "related", "not", "and", "or", "compared"):
            values[str(place)] = predicate(slot)
        else:
            one = noun(slot)
            values |= {str(place): one, f"a {place}": with_article(one), f"many {place}": noun(slot, True)}
    for name, words in values.items():
        text = text.replace(f"{{{name}}}", words)
    return text[0].upper() + text[1:]
