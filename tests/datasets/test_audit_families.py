"""The audit of questions of families passes what is fair, and finds shortcuts that are planted."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install '.[audit]'")

from simtown.assets.entities import ENTITIES
from simtown.datasets import family_questions
from simtown.datasets.audit import fairness
from simtown.datasets.audit.findings import judge
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.meaning.programs import ENTITY, encode, parse, stored

SETTINGS = Settings(questions=("all",), entities=12, n=3_600, val=0, test=0, width=64, height=64)
FAMILIES = [family.name for family in family_questions.families_of(SETTINGS)]
TRUTHS = [family.name for family in family_questions.families_of(SETTINGS) if family.answer == "truth"]


@pytest.fixture(scope="module")
def fair():
    """Columns of questions of all families, without pictures."""
    source, parts = source_of(SETTINGS), []
    for first in range(0, SETTINGS.n, 600):
        index = np.arange(first, first + 600)
        parts.append(source.columns(source.draw("train", index), index))
    return {name: np.concatenate([part[name] for part in parts]) for name in fairness.COLUMNS}


def warned(columns):
    """Names of the checks that warn."""
    counts = fairness.FamilyCounts.of(columns, SETTINGS)
    found = [*fairness.findings(counts, columns, SETTINGS, "train")]
    found += fairness.blind_findings({"train": columns}, SETTINGS)
    return {finding.check for finding in judge(found) if finding.status == "warn"}


def changed(columns, **new):
    return columns | {name: value.astype(columns[name].dtype) for name, value in new.items()}


def values(columns, family):
    """Rows of a family, and the places of its answers in the closed vocabulary."""
    rows = np.flatnonzero(columns["family"] == FAMILIES.index(family))
    return rows, np.flatnonzero(fairness.answer_numbers(SETTINGS)[FAMILIES.index(family)] >= 0)


@pytest.mark.slow
def test_fair_questions_pass(fair):
    assert not warned(fair)


def some(families):
    """A few in the default run, all in the slow one."""
    return [pytest.param(f, marks=() if f in ("count", "driver") else pytest.mark.slow) for f in families]


@pytest.mark.slow
@pytest.mark.parametrize("family", some(FAMILIES))
def test_a_word_that_gives_the_answer_away_is_found(family, fair):
    rows, _ = values(fair, family)
    tokens = fair["tokens"].copy()
    telling = rows[np.random.default_rng(0).random(len(rows)) < 0.9]
    tokens[telling, -1] = 400 + fair["value"][telling]
    checks = warned(changed(fair, tokens=tokens))
    assert checks == {f"question only by {family}"}


@pytest.mark.parametrize(
    "family",
    some(sorted({*TRUTHS} - {"logic", "exist", "compare", "street-exist", "quantifiers", "same-colour"})),
)
def test_an_answer_that_follows_how_common_a_kind_is_is_found(family, fair):
    rows, (no, yes) = values(fair, family)
    program = fair["program"][rows].astype(int)
    named = (program >= ENTITY) & (program < ENTITY + len(ENTITIES))
    first = np.where(named.any(axis=1), program[np.arange(len(rows)), named.argmax(axis=1)], 0)
    value = fair["value"].copy()
    common = first < np.median(first)
    leans = np.random.default_rng(0).random(len(rows)) < 0.9
    value[rows] = np.where(leans, np.where(common, yes, no), value[rows])
    assert {f"question only by {family}", f"information by {family}"} & warned(changed(fair, value=value))


def test_words_that_vary_in_training_alone_do_no_harm(fair):
    rows, _ = values(fair, "count")
    words, one = ({name: fair[name][part] for name in fairness.WORDS} for part in (rows, rows[:1]))
    assert fairness.blind(words, one) <= 1


def test_a_template_that_is_never_true_is_found(fair):
    rows, (no, _) = values(fair, "exist")
    value = fair["value"].copy()
    value[rows[fair["template"][rows] == 1]] = no
    assert {"answers by template", "information by exist"} <= warned(changed(fair, value=value))


def test_an_answer_of_another_type_is_found(fair):
    rows, counts = values(fair, "count")
    value, truths = fair["value"].copy(), values(fair, "exist")[1]
    for number in (0, 1):
        value[rows[fair["value"][rows] == counts[number]]] = truths[number]
    checks = warned(changed(fair, value=value))
    assert {"answers of another type", "wrong answers"} <= checks


def test_a_part_that_changes_nothing_is_found(fair):
    rows, (_, yes) = values(fair, "exist")
    row = next(
        row
        for row in rows
        if (fair["scene/pose"][row, :, 1][(kinds := fair["scene/entity"][row]) >= 0] < 3.6).any()
        and len({*kinds[kinds >= 0].tolist()}) == (kinds >= 0).sum()
    )
    slot = int(np.flatnonzero(fair["scene/entity"][row] >= 0)[0])
    y = fair["scene/pose"][row, slot, 1]
    lane = "far" if y > 0 else "near" if y > -3.7 else "parked"
    form = parse(f"exist(filter(all({ENTITIES[fair['scene/entity'][row, slot]]}), has(lane, {lane})))")
    program, value = fair["program"].copy(), fair["value"].copy()
    program[row], value[row] = stored([encode(form)])[0], yes
    assert "idle parts" in warned(changed(fair, program=program, value=value))


def test_answers_that_lean_with_the_place_in_the_split_are_found(fair):
    rows, _ = values(fair, "lane")
    value = fair["value"].copy()
    value[rows] = np.sort(value[rows])
    assert "information by lane" in warned(changed(fair, value=value))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["exist", "heading", "same-colour"])
@pytest.mark.parametrize("what", ["scene/entity", "scene/weather"])
def test_an_answer_that_a_glance_tells_is_found(family, what, fair):
    rows, (no, yes) = values(fair, family)
    value, shown = fair["value"].copy(), fair[what][rows]
    shown = (shown >= 0).sum(axis=1) if what == "scene/entity" else shown
    leans = np.random.default_rng(0).random(len(rows)) < 0.7
    value[rows] = np.where(leans, np.where(shown > np.median(shown), yes, no), value[rows])
    assert f"glance by {family}" in warned(changed(fair, value=value))


def test_what_a_question_asks_for_is_no_hint(fair):
    """A picture in which one lane is empty shows at a glance where a vehicle does not stand."""
    counts = fairness.FamilyCounts.of(fair, SETTINGS)
    found = {f.check: f for f in fairness.findings(counts, fair, SETTINGS, "train")}
    assert "vehicles in each lane" in found["glance by lane"].details["inherent"]
    assert found["glance by weather"].details["inherent"] == ["weather"]
