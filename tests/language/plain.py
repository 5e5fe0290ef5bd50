"""The values of programs in one readable scene, plainly: the oracle of
:mod:`simtown.language.meaning.evaluate`.

Truth is True, False, or None where something is too close to say. A set is a dictionary: its members, each
True if it surely belongs to the set and None if it possibly does. Things are numbers: vehicles, then, if the
program names one, what stands beside the road.
"""

import operator
from functools import cached_property
from itertools import product
from math import atan2, cos, dist, sin

import numpy as np
from scipy.spatial import ConvexHull

from simtown.assets.entities import ENTITIES
from simtown.assets.palette import ALSO_CALLED, COLOUR_WORDS
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.colours import seen
from simtown.language.meaning.evaluate import CLOSE, ILL_POSED, KNOWN
from simtown.language.meaning.limits import (
    CLEAR_COLOUR,
    HIDDEN,
    HIDDEN_MARGIN,
    LEAST_FOG,
    LEAST_INTENSITY,
    NEARER,
    NO_COLOUR,
)
from simtown.language.meaning.nouns import NOUNS, called_by, group_of, perhaps_called_by
from simtown.language.meaning.relations import LATERAL, RELATIONS
from simtown.language.meaning.sights import also_shown, street_sights
from simtown.language.meaning.solids import SOLID_RELATIONS, Solid
from simtown.language.meaning.views import ENDS_ALIKE
from simtown.scenes.footprints import extents, outline
from simtown.scenes.silhouette import boxes

#: Metres within which left and right are too close to say, and in front and behind.
ASIDE, ALONG = 0.5, 1.5
#: Which way a vehicle heads for the viewer, degrees counter-clockwise of the viewer's right.
HEADINGS = {"right": 0, "away": 90, "left": 180, "viewer": 270}


def negation(truth):
    return None if truth is None else not truth


def conjunction(truths):
    truths = list(truths)
    return False if False in truths else None if None in truths else True


def disjunction(truths):
    return negation(conjunction(map(negation, truths)))


def beyond(metres, margin):
    """Whether a signed distance is clearly positive, or clearly negative."""
    return True if metres > margin else False if metres < -margin else None


def to_segment(p, a, b):
    """Metres from a point to a segment."""
    ab, ap = (b[0] - a[0], b[1] - a[1]), (p[0] - a[0], p[1] - a[1])
    square = ab[0] ** 2 + ab[1] ** 2
    along = min(max((ap[0] * ab[0] + ap[1] * ab[1]) / square, 0), 1) if square else 0
    return dist(p, (a[0] + along * ab[0], a[1] + along * ab[1]))


def to_border(p, polygon):
    return min(to_segment(p, a, b) for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True))


def depth(p, points):
    """Metres from a point within the hull of points to its border, negative outside."""
    hull = ConvexHull(points)
    inside = max(float(a * p[0] + b * p[1] + c) for a, b, c in hull.equations) <= 0
    border = to_border(p, [tuple(points[i]) for i in hull.vertices])
    return border if inside else -border


class Plain:
    """One scene, and what of it is visible.

    Args:
        scene: a readable scene.
        visible: the visible share of each vehicle.
        sights: of each prop 1, 0 or -1, as street_sights has them.
        shares: by vehicle, the share of each colour in the paint that is seen.
        boxes: of each vehicle x0, y0, x1, y1 in pixels.
        width: of the picture, pixels.
    """

    def __init__(self, scene, visible, sights, shares, boxes, width):
        self.scene, self.visible, self.sights = scene, visible, sights
        self.shares, self.boxes, self.width = shares, boxes, width
        self.vehicles, self.distances = len(scene.vehicles), {}
        self.things = [*scene.vehicles, *scene.props]
        self.kinds = [*(v.entity for v in scene.vehicles), *(p.kind for p in scene.props)]

    def value(self, form):
        """(state, answer, number, idle) of a program; answer and number are None if they are not known."""
        self.known_sets = {}
        parts = list(form.forms())
        idle = any(self.is_idle(part) for part in parts)
        if any(self.is_ill_posed(part) for part in parts):
            return ILL_POSED, None, None, idle
        answer, number = self.question(form)
        state = CLOSE if answer is None else KNOWN
        return state, answer, None if answer is None else number, idle

    def is_ill_posed(self, part):
        """Whether a part is about what is not there, not once, or the same thing twice."""
        match part.name, *part.parts:
            case "the", members:
                found = self.members(members)
                return not found or list(found.values()).count(True) > 1
            case "every", members:
                return not self.members(members)
            case "all", noun:
                return any(self.is_called(thing, noun) for thing in range(self.vehicles))
            case ("query", "distance", one, other) | ("related", "between", one, other):
                return self.the(one) is not None and self.the(one) == self.the(other)
            case "holds", phrase, test:
                doubtful = any(
                    self.is_doubtful(part, lambda t: self.holds(t, test)) for part in self.alone(phrase)
                )
                return doubtful or any(not self.others(part, test) for part in self.alone(phrase, "every"))
            case "compared", _, phrase, end:
                return any(
                    self.the(part) is not None and self.the(part) == self.the(end)
                    for part in self.alone(phrase)
                )
            case "query", attribute, phrase:
                thing = self.the(phrase)
                if thing is None:
                    return self.is_doubtful(
                        phrase, lambda t: self.value_of(t, attribute), whichever=attribute != "box"
                    )
                return thing >= self.vehicles
        return False

    def is_called(self, thing, noun):
        """Whether a reader may call a vehicle by a noun for vehicles that does not mean it."""
        kind, meant = self.kinds[thing], NOUNS.get(noun, (noun,))
        if kind in meant or not {*meant} & {*ENTITIES}:
            return False
        colour, _, rest = noun.partition(" ")
        if colour in COLOUR_WORDS and rest and kind in (*called_by(rest), *perhaps_called_by(rest)):
            return self.body(thing) == colour or self.may_be_called(thing, colour)
        return kind in (*called_by(noun), *perhaps_called_by(noun))

    def is_doubtful(self, phrase, judge, whichever=True):
        """Whether all that "the ..." may mean agree in something, though perhaps there is none of it."""
        things, exists = self.referents(phrase)
        values = {judge(thing) for thing in things}
        return (
            self.the(phrase) is None
            and len(values) == 1
            and None not in values
            and not (exists and whichever)
        )

    def alone(self, phrase, quantifier="the"):
        """The phrases with "the" of some that are joined."""
        if phrase.name in ("and", "or"):
            return [one for part in phrase.parts for one in self.alone(part, quantifier)]
        return [phrase] if phrase.name == quantifier else []

    def others(self, phrase, test):
        """What "every" means, without what the predicate is a relation to."""
        out = self.references(test)
        members = {t: truth for t, truth in self.members(phrase.parts[0]).items() if not out.get(t)}
        return {t: None if t in out else truth for t, truth in members.items()}

    def is_idle(self, part):
        if part.name == "filter":
            members, test = part.parts
            sure = [thing for thing, truth in self.members(members).items() if truth]
            return not any(self.holds(thing, test) is False for thing in sure)
        if part.name in ("most", "nth"):
            return list(self.candidates(part).values()).count(True) < 2
        if part.name == "holds":
            every = [self.others(phrase, part.parts[1]) for phrase in self.alone(part.parts[0], "every")]
            return any(list(others.values()).count(True) < 2 for others in every)
        return part.name == "every" and list(self.members(part.parts[0]).values()).count(True) < 2

    # Questions.

    def question(self, form):
        """An answer and a number."""
        match form.name, *form.parts:
            case "count", members:
                low, high = self.count(members)
                return (low if low == high else None), None
            case "query", "weather":
                return ANSWERS["weather"].index(self.scene.weather.kind) if self.is_clear() else None, None
            case "query", "distance", one, other:
                a, b = self.the(one), self.the(other)
                metres = None if a is None or b is None else self.metres(a, b)
                return None if metres is None else round(metres), metres
            case "query", "box", phrase:
                thing = self.the(phrase)
                return (None if thing is None else self.value_of(thing, "box")), thing
            case "query", attribute, phrase:
                value = self.agreed(phrase, lambda thing: self.value_of(thing, attribute))
                return None if value is None else ANSWERS[attribute].index(value), None
        truth = self.truth(form)
        return None if truth is None else int(truth), None

    def value_of(self, thing, attribute):
        """The value of an attribute of a thing, None if it is not clear or it has none."""
        if thing >= self.vehicles:
            return None
        if attribute != "box":
            return self.attribute(thing, attribute)
        x0, _, x1, _ = self.boxes[thing]
        middle = 3 * (x0 + x1) / 2 / self.width
        unclear = min(abs(middle - 1), abs(middle - 2)) < 0.05
        return None if unclear else min(int(middle), 2)

    def truth(self, form):
        match form.name, *form.parts:
            case "not", part:
                return negation(self.truth(part))
            case "and", *parts:
                return conjunction(map(self.truth, parts))
            case "or", *parts:
                return disjunction(map(self.truth, parts))
            case "exist", members:
                return disjunction(self.members(members).values())
            case "weather", *kinds:
                return self.scene.weather.kind in kinds if self.is_clear() else None
            case "holds", phrase, test:
                return self.subject(phrase, test)
        comparisons = {"equal": "eq", "more": "gt", "fewer": "lt", "least": "ge", "utmost": "le"}
        compare = getattr(operator, comparisons[form.name])
        ranges = [range(low, high + 1) for low, high in map(self.amount, form.parts)]
        possible = {compare(a, b) for a, b in product(*ranges)}
        return possible.pop() if len(possible) == 1 else None

    def is_clear(self):
        """Whether the weather is strong enough to be told."""
        weather = self.scene.weather
        if weather.kind not in ("cloudy", "rain", "fog", "snow"):
            return True
        return weather.intensity >= (LEAST_FOG if weather.kind == "fog" else LEAST_INTENSITY)

    def amount(self, part):
        return (part, part) if isinstance(part, int) else self.count(part.parts[0])

    def count(self, members):
        found = list(self.members(members).values())
        return found.count(True), len(found)

    # Sets and phrases.

    def members(self, form):
        if form not in self.known_sets:
            self.known_sets[form] = self.found(form)
        return self.known_sets[form]

    def found(self, form):
        match form.name, *form.parts:
            case "all", noun:
                return self.named(NOUNS.get(noun, (noun,)))
            case "filter", members, test:
                judged = {
                    t: conjunction([sure, self.holds(t, test)]) for t, sure in self.members(members).items()
                }
                return {thing: truth for thing, truth in judged.items() if truth is not False}
            case "union", *phrases:
                result = {}
                for thing, truth in [item for phrase in phrases for item in self.meant(phrase).items()]:
                    result[thing] = result.get(thing) or truth
                return result
        place = form.parts[0] - 1 if form.name == "nth" else 0
        to = form.parts[2] if form.name == "most" and len(form.parts) == 3 else None
        return self.ranked(self.candidates(form), place, form.parts[form.name == "nth"], to)

    def named(self, kinds):
        """What a noun means: vehicles, and what enough shows of."""
        doubtful, result = also_shown(kinds), {}
        for thing, kind in enumerate(self.kinds):
            sight = 1 if thing < self.vehicles else self.sights[thing - self.vehicles]
            if sight >= 0 and (kind in kinds or kind in doubtful):
                result[thing] = True if kind in kinds and sight == 1 else None
        return result

    def candidates(self, form):
        """What is put in order."""
        if form.name == "nth" or len(form.parts) < 3:
            return self.members(form.parts[-1])
        end = self.meant(form.parts[2])
        return {
            t: True if truth and t not in end else None
            for t, truth in self.members(form.parts[1]).items()
            if end.get(t) is not True
        }

    def ranked(self, members, place, order, to):
        result = {}
        for thing, truth in members.items():
            before = [
                (sure, self.before(order, other, thing, to))
                for other, sure in members.items()
                if other != thing
            ]
            least = sum(conjunction(pair) is True for pair in before)
            most = sum(conjunction(pair) is not False for pair in before)
            if least <= place <= most:
                result[thing] = True if truth and least == most else None
        return result

    def the(self, phrase):
        """What "the ..." means, None if it is not clear."""
        members = self.members(phrase.parts[0])
        return next(iter(members)) if list(members.values()) == [True] else None

    def referents(self, phrase):
        """All that "the ..." may mean, and whether one of them surely is it."""
        set_form = phrase.parts[0]
        members = self.members(set_form)
        exists = True in members.values()
        if set_form.name in ("most", "nth"):
            place = set_form.parts[0] if set_form.name == "nth" else 1
            exists = exists or list(self.candidates(set_form).values()).count(True) >= place
        return list(members), exists

    def agreed(self, phrase, judge):
        """What is the same for all that "the ..." may mean, None if it is not, or perhaps there is none."""
        things, exists = self.referents(phrase)
        values = {judge(thing) for thing in things}
        return values.pop() if exists and len(values) == 1 else None

    def meant(self, phrase):
        members = self.members(phrase.parts[0])
        return dict.fromkeys(members) if phrase.name == "the" and self.the(phrase) is None else members

    def subject(self, phrase, test):
        """The truth of a predicate of a subject; "every" leaves out what the predicate is a relation to."""
        if phrase.name in ("and", "or"):
            join = conjunction if phrase.name == "and" else disjunction
            return join([self.subject(part, test) for part in phrase.parts])
        out = self.references(test) if phrase.name == "every" else {}
        return self.over(phrase, lambda thing: self.holds(thing, test), out)

    def references(self, form):
        """What a predicate or a phrase is about: "the ..." of any part joined by "and", of all by "or"."""
        match form.name, *form.parts:
            case "the", _:
                return self.meant(form)
            case ("and" | "or") as join, *parts:
                return self.together(join, map(self.references, parts))
            case "not", part:
                return self.references(part)
            case "compared", _, phrase, *_:
                return self.references(phrase)
            case (("related" | "same"), _, *phrases):
                return self.together("and", map(self.references, phrases))
        return {}

    def together(self, join, parts):
        parts = list(parts)
        every = {thing for part in parts for thing in part}
        number = len(parts) if join == "or" else 1
        found = {t: [part[t] for part in parts if t in part] for t in every}
        return {
            t: True if truths.count(True) >= number else None
            for t, truths in found.items()
            if len(truths) >= number
        }

    def over(self, phrase, judge, out=None):
        """The truth of something of what a phrase means; the things in `out` are left out, perhaps."""
        out = out or {}
        if phrase.name in ("and", "or"):
            join = conjunction if phrase.name == "and" else disjunction
            return join([self.over(part, judge, out) for part in phrase.parts])
        if phrase.name == "the":
            return self.agreed(
                phrase, lambda t: judge(t) if t not in out else None if out[t] is None else False
            )
        members = {
            t: truth for t, truth in self.members(phrase.parts[0]).items() if t not in out or out[t] is None
        }
        members = {t: None if t in out else truth for t, truth in members.items()}
        if phrase.name == "every":
            all_ = conjunction(disjunction([negation(truth), judge(t)]) for t, truth in members.items())
            return conjunction([all_, disjunction(members.values())])
        some = disjunction(conjunction([truth, judge(t)]) for t, truth in members.items())
        return negation(some) if phrase.name == "no" else some

    # Predicates.

    def holds(self, thing, test):
        """Whether a predicate is true of a thing."""
        itself = {thing: True}
        match test.name, *test.parts:
            case "not", part:
                return negation(self.holds(thing, part))
            case "and", *parts:
                return conjunction(self.holds(thing, part) for part in parts)
            case "or", *parts:
                return disjunction(self.holds(thing, part) for part in parts)
            case "has", attribute, value:
                return self.has(thing, attribute, value)
            case "same", attribute, phrase:
                return self.over(phrase, lambda other: self.same(thing, other, attribute), itself)
            case "among", phrase:
                return self.meant(phrase).get(thing, False)
            case "related", "between", one, other:
                return self.agreed(one, lambda a: self.agreed(other, lambda b: self.between(thing, a, b)))
            case "related", relation, phrase:
                return self.over(phrase, lambda other: self.related(thing, relation, other), itself)
            case "compared", order, phrase:
                return self.over(phrase, lambda other: self.before(order, thing, other), itself)
            case "compared", order, phrase, end:
                ends = self.meant(end)
                if ends.get(thing):
                    return False
                return self.over(phrase, lambda other: self.before(order, thing, other, end), ends | itself)
        raise AssertionError(test)

    def has(self, thing, attribute, value):
        if thing >= self.vehicles:
            return False
        if attribute == "colour":
            own = self.colour(thing)
            if own is None or self.may_be_called(thing, value):
                return None
            share = self.shares[thing][list(COLOUR_WORDS).index(value.replace("grey", "gray"))]
            return True if value == own else False if share <= NO_COLOUR else None
        if attribute == "sight":
            hidden = beyond(1 - self.visible[thing] - HIDDEN[0], HIDDEN_MARGIN[0])
            return hidden if value == "partly hidden" else negation(hidden)
        if attribute == "lane":
            return self.lane(thing) == value
        actual = self.attribute(thing, "direction")
        return None if actual is None else actual == value

    def same(self, thing, other, attribute):
        if max(thing, other) >= self.vehicles:
            return False
        values = [self.attribute(t, attribute) for t in (thing, other)]
        return None if None in values else values[0] == values[1]

    def attribute(self, thing, name):
        """The value of an attribute of a vehicle, as answers have it, None if it is not clear."""
        vehicle = self.things[thing]
        if name in ("kind", "group"):
            return vehicle.entity if name == "kind" else group_of(vehicle.entity)
        if name == "colour":
            return None if self.may_be_called(thing) else self.colour(thing)
        if name == "lane":
            lane = self.lane(thing)
            return f"{lane} lane" if lane in ("near", "far") else lane
        if name == "hidden":
            share = 1 - float(self.visible[thing])
            if any(abs(share - border) <= near for border, near in zip(HIDDEN, HIDDEN_MARGIN, strict=True)):
                return None
            return ANSWERS["hidden"][sum(share > border for border in HIDDEN)]
        if vehicle.entity in ENDS_ALIKE:
            return None
        turn = np.degrees(vehicle.yaw - self.scene.camera.yaw)
        off = {name: abs((turn - angle + 180) % 360 - 180) for name, angle in HEADINGS.items()}
        nearest = min(off, key=off.get)
        return nearest if off[nearest] <= 40 else None

    def lane(self, thing):
        y = self.things[thing].y
        if abs(y) < 3.7:
            return "near" if y < 0 else "far"
        return "parked" if y < 0 else None

    def paint(self, thing):
        from simtown.assets.atlas import atlas
        from simtown.assets.palette import MATERIALS

        vehicle = self.things[thing]
        return vehicle.paint or MATERIALS[atlas().own_paint[ENTITIES.index(vehicle.entity)]].name

    def body(self, thing):
        paint = self.paint(thing)
        return next(
            (c.replace("gray", "grey") for c, paints in COLOUR_WORDS.items() if paint in paints), None
        )

    def may_be_called(self, thing, colour=None):
        """Whether people may call a body by several colours, and by this one."""
        others = ALSO_CALLED.get(self.paint(thing), ())
        words = [*(word.replace("gray", "grey") for word in others), self.body(thing)]
        return bool(others) and (colour is None or colour in words)

    def colour(self, thing):
        """The colour of a vehicle's body, if there is enough of it to be seen."""
        body = self.body(thing)
        if body is None:
            return None
        x0, y0, x1, y1 = self.boxes[thing]
        share = self.shares[thing][list(COLOUR_WORDS).index(body.replace("grey", "gray"))]
        pixels = share * (x1 - x0) * (y1 - y0) * self.visible[thing] / 2
        clear = share >= max(CLEAR_COLOUR, *self.shares[thing])
        return body if clear and pixels >= 24 else None

    # Where things are.

    def place(self, thing):
        """Metres to the right of the camera and ahead of it."""
        camera, it = self.scene.camera, self.things[thing]
        dx, dy, c, s = it.x - camera.x, it.y - camera.y, cos(camera.yaw), sin(camera.yaw)
        return dx * c + dy * s, dy * c - dx * s

    def right_of(self, thing, other):
        """Metres by which the viewer sees a thing to the right of another."""
        (x, ahead), (other_x, other_ahead) = self.place(thing), self.place(other)
        return (x / ahead - other_x / other_ahead) * (ahead + other_ahead) / 2

    def related(self, thing, relation, other):
        if relation in SOLID_RELATIONS:  # as towns have it
            if max(thing, other) >= self.vehicles:
                return False
            solid = SOLID_RELATIONS[relation]
            return beyond(solid.measure(self.solid(thing), self.solid(other)), solid.margin)
        if relation.startswith("driver-"):
            if other >= self.vehicles:
                return False
            it, driver = self.things[thing], self.things[other]
            angle = atan2(it.y - driver.y, it.x - driver.x) - driver.yaw
            away = dist((it.x, it.y), (driver.x, driver.y))
            ahead, left = away * cos(angle), away * sin(angle)
            metres = {"left": left, "right": -left, "front": ahead, "behind": -ahead}[relation[7:]]
            return beyond(metres, ASIDE if relation[7:] in ("left", "right") else ALONG)
        aside, farther = self.right_of(thing, other), self.place(thing)[1] - self.place(other)[1]
        metres = {"left of": -aside, "right of": aside, "in front of": -farther, "behind": farther}
        if relation not in metres:  # a contributor's
            own = next(r for r in RELATIONS if r.name == relation)
            return beyond(own.sign * (aside if own.axis == LATERAL else farther), own.margin)
        return beyond(metres[relation], ASIDE if relation in ("left of", "right of") else ALONG)

    def solid(self, thing):
        it = self.things[thing]
        return Solid(np.array(self.outlines[thing]), 0.0, lambda x, y: 0.0, np.array([it.x, it.y]), it.yaw)

    def before(self, order, thing, other, to=None):
        """Whether a thing comes before another."""
        if order in ("leftmost", "rightmost"):
            aside = self.right_of(thing, other)
            return beyond(aside if order == "rightmost" else -aside, 0.5)
        if order in ("biggest", "smallest"):
            more = self.bulk(thing) - self.bulk(other)
            return beyond(more if order == "biggest" else -more, NEARER)
        camera = self.scene.camera
        if to is None:
            metres = [to_border((camera.x, camera.y), self.outlines[t]) for t in (thing, other)]
        else:
            end = self.the(to)
            if end is None:
                return None
            metres = [self.metres(t, end) for t in (thing, other)]
        farther = metres[0] - metres[1]
        return beyond(farther if order == "farthest" else -farther, NEARER)

    def metres(self, a, b):
        """Metres between two outlines."""
        if (a, b) not in self.distances:
            one, other = self.outlines[a], self.outlines[b]
            least = min([to_border(p, other) for p in one] + [to_border(p, one) for p in other])
            self.distances[a, b] = self.distances[b, a] = least
        return self.distances[a, b] if a != b else 0.0

    def between(self, thing, one, other):
        """Whether the middle of a thing is in the hull of two others, and in neither of them."""
        if one == other:
            return None
        if thing in (one, other):
            return False
        middle, ends = (
            (self.things[thing].x, self.things[thing].y),
            [self.outlines[one], self.outlines[other]],
        )
        return beyond(min(depth(middle, ends[0] + ends[1]), *(-depth(middle, end) for end in ends)), 0.1)

    def bulk(self, thing):
        it = self.things[thing]
        size = extents(self.kinds[thing], getattr(it, "style", 0)) * getattr(it, "scale", 1)
        return float(size[0] * size[1] * size[2]) ** (1 / 3)

    @cached_property
    def outlines(self):
        result = []
        for kind, it in zip(self.kinds, self.things, strict=True):
            c, s, scale = cos(it.yaw), sin(it.yaw), getattr(it, "scale", 1)
            corners = outline(kind, getattr(it, "style", 0)).tolist()
            result.append(
                [(scale * (x * c - y * s) + it.x, scale * (x * s + y * c) + it.y) for x, y in corners]
            )
        return result


def plain_scenes(scenes, visible, size):
    """The scenes of a batch, of vehicles that are visible so much, in pictures of a size."""
    sights, columns = street_sights(scenes, size), (visible, seen(scenes), boxes(scenes, *size))
    for row, present in enumerate(scenes.entity >= 0):
        shares_seen, colours, own_boxes = (column[row][present].tolist() for column in columns)
        props = sights[row][scenes.prop[row] >= 0].tolist()
        yield Plain(scenes.scene(row), shares_seen, props, colours, own_boxes, size[0])
