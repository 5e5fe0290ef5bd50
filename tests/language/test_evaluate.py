"""The evaluator equals its oracle on random programs in random streets; programs are stored and read back."""

import contextlib
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.language.meaning.evaluate import CLOSE, ILL_POSED, KNOWN, evaluate
from simtown.language.meaning.nouns import STREET_NOUNS
from simtown.language.meaning.programs import (
    END,
    LENGTH,
    Form,
    ProgramError,
    check,
    decode,
    encode,
    grammar,
    parse,
    stored,
)
from simtown.scenes.crowd import crowd_camera, place_crowds
from simtown.scenes.paint import may_change
from simtown.scenes.scene import Scene, SceneBatch, Vehicle, empty_batch
from simtown.scenes.street import SLOTS, draw_street
from simtown.scenes.weather import WEATHERS
from tests.language.plain import plain_scenes

SIZE = (256, 144)
BESIDE = (*STREET_NOUNS, "furniture", "building", "pedestrian", "man")
#: Forms that end a program, and those of which there are more.
SIMPLE = ("all", "the", "has", "exist", "among")
OFTEN = {"TRUTH": 9, "count": 2, "holds": 8, "filter": 5, "all": 2, "the": 3, "related": 2, "among": 0.5}
OFTEN["related(between, THE, THE)"] = 8


def random_streets(n, seed):
    """n streets of two to eight vehicles, some of them of one kind, with other paints, in all weathers."""
    rng, index = np.random.default_rng(seed), np.arange(n)
    batch = empty_batch(n, 8, SLOTS)
    kinds = rng.integers(0, len(ENTITIES), (n, 12))
    batch.entity[:] = np.take_along_axis(kinds, rng.integers(0, 12, (n, 8)), axis=1)
    batch.entity[np.arange(8) >= rng.integers(2, 9, (n, 1))] = -1
    batch.camera[:] = crowd_camera(8).row()
    batch.camera[:, 3] += rng.normal(0, 0.03, n)
    batch.pose[:], visible, placed = place_crowds(
        Stream(seed, "", "crowd"), index, index, batch.entity, batch.camera
    )
    painted = rng.random((n, 8)) < 0.5
    batch.paint[:] = np.where(painted & may_change()[batch.entity], rng.integers(0, 36, (n, 8)), -1)
    batch.weather[:], batch.intensity[:] = rng.integers(0, len(WEATHERS), n), rng.random(n)
    street = draw_street(Stream(seed, "", "street"), index, batch.weather)
    batch.prop[:], batch.prop_pose[:], batch.prop_style[:] = street
    visible = np.where(rng.random((n, 8)) < 0.3, rng.choice([0.65, 0.8, 0.97], (n, 8)), visible)
    return batch[placed], visible[placed].astype(np.float32)


#: Parts of programs over several pictures, which tests/language/test_moments.py has.
OVER_PICTURES = re.compile(
    "motion|drive|pace|change|camera|seat|place|moment|DEED|WHOLE|MOTION|DRIVE|SPEED|passes|nears"
    r"|^(at|ever|always|first|earlier|differs|fastest|slowest)\b"
)


class Writer:
    """Writes programs at random. Nouns are mostly those of `names`, what stands in the street."""

    def __init__(self, rng, names):
        self.rng, self.names = rng, names

    def part(self, kind, depth):
        """A part of a type of the grammar, at most so many forms deep if it can be."""
        if isinstance(kind, Form):
            parts = list(kind.parts)
            if parts[-1] == "...":
                parts[-1:] = parts[-2:-1] * self.rng.integers(0, 2)
            return Form(kind.name, tuple(self.part(part, depth - 1) for part in parts))
        if kind not in grammar():
            return kind
        if kind == "NOUN":
            return self.noun()
        if kind == "NUMBER":
            return int(self.rng.integers(1, 4))
        own = [choice for choice in grammar()[kind] if not OVER_PICTURES.search(str(choice))]
        every = own or grammar()[kind]
        choices = [c for c in every if depth > 0 or getattr(c, "name", "") in SIMPLE] or every
        weights = [OFTEN.get(str(choice), OFTEN.get(getattr(choice, "name", ""), 1)) for choice in choices]
        place = np.searchsorted(np.cumsum(weights), self.rng.random() * sum(weights))
        return self.part(choices[place], depth)

    def noun(self):
        beside, general = self.rng.random(2) < (0.15, 0.2)
        nouns = BESIDE if beside else ("vehicle", "car", "truck", "bus", "van") if general else self.names
        return str(self.rng.choice(nouns))


def random_programs(batch, n, seed):
    """n programs, each of a street of its own."""
    rng = np.random.default_rng(seed)
    rows, forms = rng.integers(0, len(batch), n), []
    for row in rows:
        names = [ENTITIES[kind] for kind in batch.entity[row] if kind >= 0]
        form = Writer(rng, names).part("QUESTION", int(rng.integers(2, 6)))
        try:
            encode(form)
        except ProgramError:  # too long
            form = parse("query(weather)")
        forms.append(form)
    return rows, forms


def programs_of_what_stands_between(batch, n, seed):
    """Programs in which one clause judges some vehicles, and the next whether another stands between two."""
    rows, forms = np.arange(len(batch)), []
    for kinds in batch.entity:
        a, b, c, *_ = [ENTITIES[kind] for kind in kinds if kind >= 0] * 2
        clause = f"related(right of, a(filter(all({a}), has(lane, near))))"
        forms.append(
            parse(f"holds(the(all({c})), or({clause}, related(between, the(all({a})), the(all({b})))))")
        )
    return rows, forms


def compare(streets, programs, seed, write=random_programs):
    """How often each state occurs where the evaluator and its oracle agree; they always do."""
    batch, visible = random_streets(streets, seed)
    rows, forms = write(batch, programs, seed)
    values = evaluate(batch[rows], stored([encode(form) for form in forms]), visible[rows], SIZE)
    plain, states = [*plain_scenes(batch, visible, SIZE)], Counter()
    for k, (row, form) in enumerate(zip(rows, forms, strict=True)):
        state, answer, number, idle = plain[row].value(form)
        assert values.state[k] == state, (seed, k, str(form))
        assert values.idle[k] == idle or state == ILL_POSED, (seed, k, str(form))
        states[form.name, state] += 1
        if state == KNOWN:
            assert values.answer[k] == answer, (seed, k, str(form))
            if number is None:
                assert np.isnan(values.number[k])
            elif form.parts[0] == "box":
                assert values.number[k] == np.flatnonzero(batch.entity[row] >= 0)[number]
            else:
                assert values.number[k] == pytest.approx(number, abs=1e-6)
            assert values.margin[k] >= 0
    return states


def test_the_evaluator_equals_its_oracle():
    states = compare(300, 3000, 0)
    total = Counter()
    for (_, state), number in states.items():
        total[state] += number
    assert min(total[state] for state in (KNOWN, CLOSE, ILL_POSED)) > 100


def test_a_clause_within_a_clause_has_its_own_subjects():
    assert compare(150, 0, 5, programs_of_what_stands_between)["holds", KNOWN] > 50


def programs_of_every_other_one(batch, n, seed):
    """Programs about every vehicle, and how it stands to one or two of them."""
    rows, forms = np.arange(len(batch)), []
    tests = (
        "related(right of, the(all({a})))", "not(related(behind, the(most(leftmost, all(vehicle)))))",
        "or(related(right of, the(all({a}))), same(lane, the(all({b}))))", "compared(nearest, the(all({a})))",
        "and(has(lane, near), related(left of, and(the(all({a})), the(all({b})))))",
        "related(between, the(all({a})), the(all({b})))", "related(behind, or(the(all({a})), the(all({b}))))",
    )  # fmt: skip
    for row, kinds in enumerate(batch.entity):
        a, b, *_ = [ENTITIES[kind] for kind in kinds if kind >= 0]
        test = tests[row % len(tests)].format(a=a, b=b)
        forms.append(parse(f"holds(every(all(vehicle)), {test})"))
    return rows, forms


def test_every_leaves_out_what_it_is_compared_with():
    states = compare(200, 0, 6, programs_of_every_other_one)
    assert states["holds", KNOWN] > 50
    places = ("taxi", -7.0), ("coach", 0.0), ("tram", 9.0)
    scene = Scene([Vehicle(kind, x, 1.85, 0.0) for kind, x in places])
    batch = SceneBatch.of([scene])
    program = stored([encode(parse("holds(every(all(vehicle)), related(right of, the(all(taxi))))"))])
    values = evaluate(batch, program)
    assert (values.state[0], values.answer[0]) == (KNOWN, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_the_evaluator_equals_its_oracle_on_many_programs(seed):
    compare(1000, 10_000, seed)


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_programs_are_stored_and_printed_and_read_back(seed, depth):
    rng = np.random.default_rng(seed)
    form = Writer(rng, ENTITIES).part("QUESTION", depth)
    check(form)
    try:
        numbers = encode(form)
    except ProgramError:
        assert sum(1 for _ in form.forms()) > LENGTH / 3
        return
    (row,) = stored([numbers])
    assert decode(numbers) == decode(row) == parse(str(form)) == form


@given(st.lists(st.one_of(st.integers(-2, 5000), st.integers(0, 220)), max_size=12))
def test_numbers_are_a_program_or_refused(numbers):
    with contextlib.suppress(ProgramError):
        assert encode(decode(numbers)) == [number for number in numbers if number != END]


WRONG = (
    "", "bus", "count", "count(all(bus)", "count(all(bus)))", "count(all(bus)) all(bus)", "count(all(buss))",
    "exist(3)", "count(bus)", "weather()", "equal(count(all(bus)), 1000)", "query(colour, a(all(bus)))",
    "holds(the(all(bus)), has(colour, far))", "related(behind, the(all(bus)))", "count(all(bus), all(car))",
)  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_program_is_refused_by_its_text(text):
    with pytest.raises(ProgramError, match=re.escape(f"'{text}' is not a program")):
        parse(text)


def test_no_buses_are_a_number_of_buses():
    assert str(parse("equal(count(all(bus)), 0)")) == "equal(count(all(bus)), 0)"
