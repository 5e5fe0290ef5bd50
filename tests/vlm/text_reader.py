"""An oracle that only reads: it knows sentences, not scenes, and takes what no sentence says as false.

``simtown evaluate python:text_reader:read DATA --show text --allow-model text_reader:read`` asks it.
"""

import re
from collections import defaultdict
from math import cos, radians, sin

from simtown.assets.entities import ENTITIES
from simtown.language.meaning.nouns import NOUNS, group_of, plural
from simtown.language.meaning.programs import COLOURS
from simtown.language.words.grammar import parse

PLURALS = {plural(noun): noun for noun in NOUNS}
LANES = {"in the near lane": "near", "in the far lane": "far", "parked at the kerb": "parked"}
FACING = {
    "facing left": "left",
    "facing right": "right",
    "facing the viewer": "viewer",
    "facing away": "away",
}
DRIVERS = {
    "on the left of": "driver-left",
    "on the right of": "driver-right",
    "ahead of": "driver-front",
    "at the back of": "driver-behind",
}
THIRDS = ("Less than a third", "More than a third")
HIDDEN = {"None": "none of it"} | {share: share.lower() for share in THIRDS}
COMPARE = {
    "equal": lambda a, b: a == b,
    "more": lambda a, b: a > b,
    "fewer": lambda a, b: a < b,
    "least": lambda a, b: a >= b,
    "utmost": lambda a, b: a <= b,
}


def read(prompt, picture, choices):
    """The answer to a prompt with a text."""
    *lines, question = prompt.split("\n")
    question = question.partition(" Answer with")[0]
    told = Told(lines)
    if not told.names:
        return choices[0]  # no text
    if told.unclear:
        return "cannot tell"
    return told.answer(parse(ENTITIES, question)[0])


def split(names):
    return re.split(r", | and ", names)


def name_of(words):
    words = words.strip().removeprefix("The ").removeprefix("the ")
    return words[0].lower() + words[1:] if words[0:1].isupper() and words not in ENTITIES else words


class Told:
    """What a text says."""

    def __init__(self, lines):
        self.names, self.orders, self.counts = [], {}, {}
        self.said, self.metres, self.between = defaultdict(set), {}, []
        self.places, self.hidden, self.thirds, self.driven = {}, {}, {}, set()
        self.weather, self.unclear, self.letters = None, False, {}
        rows, true = [], True
        for line in lines:
            if line in ("This is so:", "This is not so:"):
                true = line == "This is so:"
            elif true and re.fullmatch(r"[A-H.]( [A-H.])*", line):
                rows.append(line.split())
            elif true:
                self.take(line)
        if rows:
            columns = [letter for column in zip(*rows, strict=True) for letter in column if letter != "."]
            self.orders["left to right"] = [self.letters[letter] for letter in columns]
            back = [letter for row in reversed(rows) for letter in row if letter != "."]
            self.orders["front to back"] = [self.letters[letter] for letter in back]
        if self.places:
            for place, order in ((0, "left to right"), (1, "front to back")):
                self.orders[order] = sorted(self.places, key=lambda name: self.places[name][place])

    def take(self, line):
        if line == "What is asked is too close to say.":
            self.unclear = True
        elif found := re.fullmatch(r"The vehicles are (.+)\.", line):
            self.names = [name_of(name) for name in split(found[1])]
        elif found := re.fullmatch(r"From (left to right|front to back) are (.+)\.", line):
            self.orders[found[1]] = [name_of(name) for name in split(found[2])]
        elif found := re.fullmatch(r"Seen from above, with the viewer below the last row, (.+):", line):
            for part in split(found[1]):
                letter, _, name = part.partition(" is ")
                self.letters[letter] = name_of(name)
        elif found := re.fullmatch(r"The number of (.+) beside the road is (\d+)\.", line):
            self.counts[found[1]] = int(found[2])
        elif found := re.fullmatch(r"The weather is (.+)\.", line):
            self.weather = found[1]
        elif found := re.fullmatch(
            r"(None|Less than a third|More than a third|Some) of (.+) is hidden\.", line
        ):
            self.hidden[name_of(found[2])] = HIDDEN.get(found[1], "some")
        elif found := re.fullmatch(r"(.+) is at bearing (\S+) degrees, ahead (\S+) m, x (\S+) m, y (\S+) m, "
                                   r"heading (\S+) degrees\.", line):  # fmt: skip
            self.places[name_of(found[1])] = [float(number) for number in found.groups()[1:]]
        elif found := re.fullmatch(r"(.+) is (\S+) m from (.+)\.", line):
            one, other = name_of(found[1]), name_of(found[3])
            self.metres[one, other] = self.metres[other, one] = float(found[2])
        elif found := re.fullmatch(r"(.+) is in the (\w+ third) of the picture\.", line):
            self.thirds[name_of(found[1])] = found[2]
        elif found := re.fullmatch(r"(.+) is between (.+) and (.+)\.", line):
            if not found[1].endswith(" not"):
                self.between.append((name_of(found[1]), {name_of(found[2]), name_of(found[3])}))
        elif found := re.fullmatch(rf"(.+) is ({'|'.join(DRIVERS)}) (.+)'s driver\.", line):
            self.driven.add((DRIVERS[found[2]], name_of(found[1]), name_of(found[3])))
        elif found := re.fullmatch(r"(.+?) is (.+)\.", line):
            self.said[name_of(found[1])].add(found[2])
        else:
            assert "between" in line, line

    def kind(self, name):
        return re.sub(r" \d+$", "", name)

    def colours(self, name):
        return [word for words in self.said[name] for word in split(words) if word in COLOURS]

    def value(self, name, attribute):
        tables = {"lane": LANES, "direction": FACING}
        if attribute in tables:
            return next(
                (tables[attribute][said] for said in self.said[name] if said in tables[attribute]), None
            )
        if attribute == "colour":
            return (self.colours(name) or [None])[0]
        if attribute in ("kind", "group"):
            return self.kind(name) if attribute == "kind" else group_of(self.kind(name))
        return {"hidden": self.hidden, "box": self.thirds}[attribute].get(name)

    # Sets

    def members(self, form):
        match form.name, *form.parts:
            case "all", noun:
                kinds = {noun, *NOUNS.get(noun, ())}
                return [name for name in self.names if self.kind(name) in kinds]
            case "filter", inner, test:
                return [name for name in self.members(inner) if self.is_(name, test)]
            case "most", order, inner, *to:
                return self.ordered(order, self.members(inner), *to)[:1]
            case "nth", number, order, inner:
                return self.ordered(order, self.members(inner))[number - 1 : number]
        return [name for part in form.parts for name in self.members(part.parts[0])]

    def ordered(self, order, names, *to):
        if to:
            (end,) = self.members(to[0].parts[0])
            key = lambda name: self.metres[name, end]  # noqa: E731
            names = [name for name in names if name != end]
        elif order in ("leftmost", "rightmost"):
            key = self.orders["left to right"].index if len(names) > 1 else str
        else:
            key = lambda name: self.metres[name, "viewer"]  # noqa: E731
        return sorted(names, key=key, reverse=order in ("rightmost", "farthest"))

    def over(self, phrase, judge):
        if phrase.name in ("and", "or"):
            return (all if phrase.name == "and" else any)(self.over(part, judge) for part in phrase.parts)
        names = self.members(phrase.parts[0])
        if phrase.name == "every":
            return all(map(judge, names))
        return any(map(judge, names)) != (phrase.name == "no")

    # Truths

    def is_(self, name, test):
        match test.name, *test.parts:
            case "not", inner:
                return not self.is_(name, inner)
            case ("and" | "or") as join, *parts:
                return (all if join == "and" else any)(self.is_(name, part) for part in parts)
            case "has", "colour", colour:
                return colour in self.colours(name)
            case "has", "sight", sight:
                return (self.hidden.get(name) != "none of it") == (sight == "partly hidden")
            case "has", attribute, value:
                return self.value(name, attribute) == value
            case "same", attribute, phrase:
                return self.over(
                    phrase, lambda o: o != name and self.value(name, attribute) == self.value(o, attribute)
                )
            case "among", phrase:
                return name in self.members(phrase.parts[0])
            case "related", "between", one, other:
                (a,), (b,) = self.members(one.parts[0]), self.members(other.parts[0])
                return (name, {a, b}) in self.between
            case "related", relation, phrase:
                return self.over(phrase, lambda other: other != name and self.related(relation, name, other))
            case "compared", order, phrase, *to:
                return self.over(
                    phrase, lambda o: o != name and self.ordered(order, [name, o], *to)[0] == name
                )
        raise ValueError(test)

    def related(self, relation, one, other):
        if relation.startswith("driver"):
            if not self.places:
                return (relation, one, other) in self.driven
            _, _, x, y, _ = self.places[one]
            _, _, x0, y0, heading = self.places[other]
            c, s = cos(radians(heading)), sin(radians(heading))
            ahead, left = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
            metres = {"left": left, "right": -left, "front": ahead, "behind": -ahead}
            return metres[relation.removeprefix("driver-")] > 0
        order = self.orders["left to right" if relation in ("left of", "right of") else "front to back"]
        before = order.index(one) < order.index(other)
        return before == (relation in ("left of", "in front of"))

    # Questions

    def count(self, form):
        if isinstance(form, int):
            return form
        (inner,) = form.parts
        if inner.name == "all" and plural(inner.parts[0]) in self.counts:
            return self.counts[plural(inner.parts[0])]
        return len(self.members(inner))

    def truth(self, form):
        match form.name, *form.parts:
            case "not", part:
                return not self.truth(part)
            case ("and" | "or") as join, *parts:
                return (all if join == "and" else any)(map(self.truth, parts))
            case "exist", _:
                return self.count(form) > 0
            case "holds", phrase, test:
                return self.over(phrase, lambda name: self.is_(name, test))
        return COMPARE[form.name](*map(self.count, form.parts))

    def answer(self, form):
        match form.name, *form.parts:
            case "count", _:
                return str(self.count(form))
            case "query", "weather":
                return self.weather
            case "query", "distance", one, other:
                (a,), (b,) = self.members(one.parts[0]), self.members(other.parts[0])
                return f"{self.metres[a, b]} m"
            case "query", attribute, phrase:
                value = self.value(self.members(phrase.parts[0])[0], attribute)
                return {"near": "near lane", "far": "far lane"}.get(value, value)
        return "yes" if self.truth(form) else "no"
