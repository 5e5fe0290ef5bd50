"""Questions of the town's language as programs of CLEVR's functions (Johnson et al., 2017)."""

from typing import Any

from simtown.assets.entities import ENTITIES
from simtown.language.meaning.nouns import OWN_NOUNS, VEHICLE_NOUNS
from simtown.language.meaning.programs import OWN_RELATIONS, Form
from simtown.language.meaning.relations import RELATIONS

#: CLEVR's word for each of the viewer's relations.
DIRECTION_OF = {relation.name: relation.direction for relation in RELATIONS}
#: Words for which of two is nearer to the viewer.
NEARER = {"nearest": "nearer", "farthest": "farther"}
#: Kinds whose name is part of another's: CLEVR's filters would take both ("value in attribute").
_PARTS = frozenset(name for name in ENTITIES if any(name in other != name for other in ENTITIES))
_COMPARED = {"equal": "equal_integer", "more": "greater_than", "fewer": "less_than"}
_QUERIES = {"kind": "query_shape", "colour": "query_color"}
_SAME = {"kind": "same_shape", "colour": "same_color"}
#: Nouns for the objects of scenes, which are vehicles.
_NOUNS = frozenset((*ENTITIES, *VEHICLE_NOUNS, *OWN_NOUNS))


class InexpressibleError(ValueError):
    """CLEVR has no function for a part of a question, such as "leftmost"."""


def clevr_program(form: Form) -> list[dict[str, Any]]:
    """The steps of a question: "function", "inputs" (numbers of steps before) and "value_inputs".

    Raises InexpressibleError if CLEVR's functions cannot ask it.
    """
    program = _Program()
    program.question(form)
    return program.steps


class _Program:
    """The steps so far; methods add some and return the number of the last."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []

    def step(self, function: str, *inputs: int, value: str = "") -> int:
        values = [value] if value else []
        self.steps.append({"function": function, "inputs": [*inputs], "value_inputs": values})
        return len(self.steps) - 1

    def question(self, form: Form) -> int:
        match form:
            case Form("exist" | "count" as name, (members,)):
                return self.step(name, self.members(members))
            case Form("equal" | "more" | "fewer" as name, (Form("count", (one,)), Form("count", (other,)))):
                counts = [self.step("count", self.members(members)) for members in (one, other)]
                return self.step(_COMPARED[name], *counts)
            case Form("holds", (Form("the", (members,)), Form("not", (predicate,)))):  # of one thing: 0 < 1
                counts = [self.step("count", self.members(m)) for m in (_filter(members, predicate), members)]
                return self.step("less_than", *counts)
            case Form("holds", (Form("the" | "a", (members,)), predicate)):
                return self.step("exist", self.members(_filter(members, predicate)))
            case Form("query", ("kind" | "colour" as attribute, phrase)):
                return self.step(_QUERIES[attribute], self.thing(phrase))
        raise InexpressibleError(str(form))

    def thing(self, phrase: Form) -> int:
        """The thing that "the ..." means."""
        if phrase.name != "the":
            raise InexpressibleError(str(phrase))
        return self.step("unique", self.members(phrase.parts[0]))

    def members(self, form: Form, within: int | None = None) -> int:
        """A set, or its members within the result of another step."""
        match form:
            case Form("all", (noun,)) if noun in _NOUNS:
                start = self.step("scene") if within is None else within
                if noun == "vehicle":
                    return start
                exact = noun in ENTITIES and noun not in _PARTS
                return self.step("filter_shape" if exact else "filter_objectcategory", start, value=noun)
            case Form("filter", (inner, Form("has", ("colour", value)))):
                return self.step("filter_color", self.members(inner, within), value=value)
            case Form("filter", (inner, Form("has", ("lane" | "direction" as attribute, value)))):
                category = category_of(attribute, value)
                return self.step("filter_objectcategory", self.members(inner, within), value=category)
            case Form("filter", (inner, Form("and", (one, other)))):
                return self.members(_filter(_filter(inner, one), other), within)
            case Form("filter", (inner, Form("or", (one, other)))):
                sets = [self.members(_filter(inner, each), within) for each in (one, other)]
                return self.step("union", *sets)
            case Form("filter", (inner, predicate)):
                related = self.related(predicate)
                both = related if within is None else self.step("intersect", within, related)
                return self.members(inner, both)
        raise InexpressibleError(str(form))

    def related(self, predicate: Form) -> int:
        """All that stands so to one thing, or is like it."""
        match predicate:
            case Form("related", (relation, phrase)) if relation in (*DIRECTION_OF, *OWN_RELATIONS):
                return self.step("relate", self.thing(phrase), value=DIRECTION_OF.get(relation, relation))
            case Form("compared", (order, phrase)) if order in NEARER:
                return self.step("relate", self.thing(phrase), value=NEARER[order])
            case Form("same", ("kind" | "colour" as attribute, phrase)):
                return self.step(_SAME[attribute], self.thing(phrase))
            case Form("same", ("lane" | "direction" as attribute, phrase)):
                return self.step("relate", self.thing(phrase), value=f"same {attribute}")
        raise InexpressibleError(str(predicate))


def category_of(attribute: str, value: str) -> str:
    """The name of a lane or heading among an object's categories: "near lane", "facing left"."""
    if attribute == "direction":
        return f"facing {value}"
    return value if value == "parked" else f"{value} lane"


def _filter(members: Form, predicate: Form) -> Form:
    return Form("filter", (members, predicate))
