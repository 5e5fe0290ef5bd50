"""Held-out compositions, against an oracle that reads one scene and one program after the other."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.assets.palette import COLOUR_WORDS, MATERIALS
from simtown.datasets import family_questions
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.source import check_settings, source_of
from simtown.language.asking.hold_out import FRAMES, OTHERS, read_rule
from simtown.language.meaning.nouns import NOUNS
from simtown.language.meaning.programs import Form, decode
from simtown.scenes.weather import WEATHERS

RULES = (
    ("kind-kind:0.2",), ("kind-colour:0.15",), ("kind-weather:0.2",), ("kind-relation:0.15",),
    ("taxi+sedan",), ("snow+school bus",), ("grey+taxi",), ("left of+taxi",), ("truck+car",),
    ("count>2",), ("depth>2",), ("frame:driver",), ("taxi+red", "count>1", "frame:driver", "kind-kind:0.1"),
)  # fmt: skip


def settings_of(rules, **others):
    named = {"entities": 14, "n": 600, "questions": ("all",), "paint": "natural", "crowd": "3-5"}
    return Settings(**named | {"hold_out": rules} | others)


@cache
def drawn(rules, split, n=80, **others):
    settings = settings_of(rules, **others)
    return settings, source_of(settings).draw(split, np.arange(n))


def noun(form):
    """The noun of a set or phrase."""
    while form.name != "all":
        form = form.parts[-1] if form.name in ("most", "nth") else form.parts[0]
    return form.parts[0]


def said(form, of=None):
    """(what, noun or "", value) of everything that a form says of a noun."""
    if form.name == "has" and form.parts[0] == "colour":
        yield "colour", of, form.parts[1]
    if form.name == "related":
        for one in (of, *(noun(phrase) for phrase in form.parts[1:])):
            yield "relation", one, form.parts[0]
    of = noun(form.parts[0]) if form.name in ("filter", "holds") else of
    for part in form.parts:
        if isinstance(part, Form):
            yield from said(part, of)


def steps(form):
    """How deep a program is."""
    own = form.name in ("all", "related", "same", "compared")
    return own + max((steps(part) for part in form.parts if isinstance(part, Form)), default=0)


class Oracle:
    """Which compositions a rule holds out, and which examples hold one, for one example at a time."""

    def __init__(self, rule, settings):
        world = family_questions.world(settings, "test")
        self.rule, self.world = rule, [ENTITIES[kind] for kind in np.flatnonzero(world.chances)]
        self.limit = int(rule.partition(">")[2] or 99)
        held = read_rule(rule, world, settings.seed)
        self.pairs = {
            (what, ENTITIES[kind], OTHERS[what][other])
            for what in OTHERS
            for kind, other in np.argwhere(held.tables[what]).tolist()
        }

    def every(self, what, one, value):
        """Whether the rule holds out each kind that a noun means, with a value or each kind of a noun."""
        kinds = [kind for kind in NOUNS.get(one, (one,)) if kind in self.world]
        values = [kind for kind in NOUNS.get(value, (value,)) if kind in self.world or what != "kind"]
        return bool(kinds and values) and all((what, k, v) in self.pairs for k in kinds for v in values)

    def seen(self, scene, i):
        """Whether the picture shows a composition."""
        slots = np.flatnonzero(scene.entity[i] >= 0)
        kinds = [ENTITIES[kind] for kind in scene.entity[i, slots]]
        paints = [MATERIALS[p].name for p in scene.body_paints()[i, slots]]
        words = [next((w for w, names in COLOUR_WORDS.items() if p in names), "") for p in paints]
        weather = WEATHERS[scene.weather[i]]
        return (
            any(("kind", a, b) in self.pairs for a in kinds for b in kinds)
            or any(
                ("colour", k, w.replace("gray", "grey")) in self.pairs
                for k, w in zip(kinds, words, strict=True)
            )
            or any(("weather", kind, weather) in self.pairs for kind in kinds)
        )

    def asks(self, form, count):
        """Whether the question asks for a composition."""
        relations = [value for what, _, value in said(form) if what == "relation"]
        frame = FRAMES.get(self.rule.partition(":")[2], ())
        return (
            (self.rule.startswith("count") and count > self.limit)
            or (self.rule.startswith("depth") and steps(form) > self.limit)
            or any(relation in frame for relation in relations)
            or any(what == "relation" and of and self.every(what, of, v) for what, of, v in said(form))
        )

    def names(self, form):
        """Whether the words name a composition that a picture would show."""
        nouns = form.nouns()
        return any(self.every("kind", a, b) for a in nouns for b in nouns) or any(
            what == "colour" and of and self.every(what, of, value) for what, of, value in said(form)
        )


def judged(rules, settings, batch):
    """(n,) whether an example holds a composition, and whether its words name one, by the oracle."""
    oracles = [Oracle(rule, settings) for rule in rules]
    families = family_questions.families_of(settings)
    holds, names = [], []
    for i, family in enumerate(batch.family.tolist()):
        form = decode(batch.program[i])
        count = batch.answer[i] if families[family].answer == "count" else -1
        holds.append(any(o.seen(batch.scene, i) or o.asks(form, count) for o in oracles))
        names.append(any(o.names(form) for o in oracles))
    return np.array(holds), np.array(names)


# the last rules are all sorts together
SORTS = [pytest.param(rules, marks=[pytest.mark.slow] * (rules != RULES[-1])) for rules in RULES]


@pytest.mark.parametrize("rules", SORTS, ids=",".join)
def test_training_holds_no_composition_and_the_fourth_split_holds_nothing_else(rules):
    for split in ("train", "test", COMPOSITION):
        settings, batch = drawn(rules, split)
        holds, names = judged(rules, settings, batch)
        assert holds.all() if split == COMPOSITION else not (holds | names).any()
        assert family_questions.keeps_rules(batch, settings, split).all()


@pytest.mark.slow
@pytest.mark.parametrize(("twins", "each", "unclear"), [(1, 1, 0.0), (0, 4, 0.0), (1, 2, 0.0), (1, 1, 0.2)])
@pytest.mark.parametrize(
    "rules",
    [("kind-kind:0.2",), ("kind-weather:0.2",), ("taxi+red", "sedan+snow"), ("count>2",), ("left of+taxi",)],
    ids=",".join,
)
def test_twins_and_further_questions_keep_to_the_rules_too(rules, twins, each, unclear):
    """Of twins both pictures do, but that one of two neighbouring counts is held out."""
    more = {"twins": bool(twins), "questions_per_picture": each, "cannot_tell": unclear}
    if each > 1 and rules in [("count>2",), ("left of+taxi",)]:
        with pytest.raises(SettingsError, match="one question a picture"):
            check_settings(settings_of(rules, val=8, test=8, **more))
        return
    for split in ("train", COMPOSITION):
        settings, batch = drawn(rules, split, **more)
        holds, names = judged(rules, settings, batch)
        if rules == ("count>2",) and split == COMPOSITION:
            holds = holds.reshape(-1, 2).any(axis=1)
        assert holds.all() if split == COMPOSITION else not (holds | names).any()
        assert family_questions.keeps_rules(batch, settings, split).all()


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES, ids=",".join)
def test_examples_without_a_hold_out_are_judged_as_the_oracle_judges(rules):
    settings, batch = settings_of(rules), drawn((), "train", 200)[1]
    holds, names = judged(rules, settings, batch)
    assert np.array_equal(family_questions.keeps_rules(batch, settings, "train"), ~(holds | names))
    assert np.array_equal(family_questions.keeps_rules(batch, settings, COMPOSITION), holds)


def test_neighbours_differ_and_words_do_not_hint_at_answers():
    """Of every noun in a question of yes or no, as many are answered yes as no."""
    rules = ("taxi+sedan", "school bus+snow", "fire truck+grey")
    for split in ("train", COMPOSITION):
        families = ("exist", "paper", "logic", "relations")
        batch = drawn(rules, split, 1200, questions=families, entities=6)[1]
        assert (batch.answer[::2] != batch.answer[1::2]).all()
        answers = defaultdict(Counter)
        for program, answer in zip(batch.program, batch.answer.tolist(), strict=True):
            for word in {*decode(program).nouns()}:
                answers[word][answer] += 1
        for word, counts in answers.items():
            n = counts.total()
            assert abs(counts[1] - n / 2) < 3.5 * np.sqrt(n) / 2 + 1, (split, word, counts)


def test_the_rest_of_the_distribution_stays():
    """Families, weathers, and kinds in the weathers that are left to them are as without rules."""
    (settings, ruled), (_, free) = (drawn(rules, "train", 600) for rules in (("kind-weather:0.1",), ()))
    assert np.array_equal(ruled.family, free.family)
    assert np.mean(ruled.scene.weather == free.scene.weather) > 0.9
    held = family_questions.hold_out(settings, alone=False).held[0].tables["weather"]
    for kind in range(settings.entities):
        left = [batch.scene[~held[kind, batch.scene.weather]] for batch in (ruled, free)]
        shares = [(scenes.entity == kind).sum(axis=1).mean() for scenes in left]
        assert abs(shares[0] - shares[1]) < 0.12


def test_pairs_have_addresses():
    """A larger world holds out the pairs of a smaller one; another seed holds out others."""

    def pairs(entities, seed=0, test_seed=None):
        settings = settings_of((), entities=entities, seed=seed, test_seed=test_seed)
        held = read_rule("kind-kind:0.3", family_questions.world(settings, "test"), settings.seed_of("test"))
        return held.tables["kind"]

    small, large = pairs(10), pairs(40)
    assert np.array_equal(small[:10, :10], large[:10, :10])
    assert np.array_equal(large, large.T)
    assert 0.2 < large[:40, :40].mean() < 0.4
    assert not np.array_equal(large, pairs(40, seed=1))
    assert np.array_equal(large, pairs(40, seed=1, test_seed=0))  # a test split of several data sets is one


@pytest.mark.parametrize(
    ("rules", "others", "message"),
    [
        (("taxi+buss",), {}, "did you mean bus"),
        (("taxi",), {}, "write kind-kind:0.1"),
        (("taxi+car",), {}, "write kind-kind:0.1"),
        (("taxi+tram",), {}, "there is no tram in this world: give more `entities`"),
        (("kind-kind:0.9",), {}, "above 0 and at most 0.5"),
        (("kind-colour:0.1",), {"paint": "own"}, "give `paint=uniform`"),
        (("red truck+blue",), {}, "no such vehicle has that colour and others"),
        (("taxi+snow",), {"weathers": ("clear", "rain")}, "add it to `weathers`"),
        (("taxi+behind",), {"questions": ("paper",)}, "add it to `relations`"),
        (("count>3",), {}, "two must be left"),
        (("count>1",), {"questions": ("paper",)}, "no question of these `questions` and `crowd` holds it"),
        (("depth>6",), {}, "no question of these `questions` and `crowd` holds it"),
        (("frame:driver",), {"questions": ("driver",)}, "holds out every question"),
        (("sedan+fire truck",), {"questions": ("paper",), "entities": 2, "crowd": "2"}, "leaves no question"),
        (("kind-colour:0.5",), {"questions": ("colour",), "entities": 5}, "no question of the family colour"),
    ],
)  # fmt: skip
def test_what_cannot_be_held_out_is_refused_with_the_rule(rules, others, message):
    with pytest.raises(SettingsError, match=r"hold_out .*") as refused:
        check_settings(settings_of(rules, **others))
    assert message in str(refused.value)
    assert rules[0] in str(refused.value)
