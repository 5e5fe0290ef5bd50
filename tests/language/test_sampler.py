"""Rejection sampling against brute force: distributions, truths and independence of the batch."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from simtown.assets.catalogue import ENTITIES
from simtown.assets.frequencies import frequencies
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import CAP, ImpossibleError, Recipe, sample
from simtown.scenes.camera import JITTER, Camera
from simtown.scenes.placement import LEAST_VISIBLE
from simtown.scenes.silhouette import unclipped_boxes
from tests.language.parts import arrays, draw_entities

ALL = ("left of", "right of", "in front of", "behind")
SKEWED_SUBJECT, SKEWED_OBJECT = np.array([0.55, 0.25, 0.15, 0.05]), np.array([0.1, 0.2, 0.3, 0.4])
MANY = 20000
SIGNIFICANT = 1e-4


def skewed_sample(n, seed=0, split="train", **options):
    return sample(Recipe(seed, split, SKEWED_SUBJECT, SKEWED_OBJECT, **options), np.arange(n))


def seen(pose, camera):
    """Metres to the right and ahead at which the viewer sees vehicles, by (v, 3) poses and a camera row."""
    yaw = float(camera[3])
    dx, dy = pose[:, 0].astype(np.float64) - camera[0], pose[:, 1].astype(np.float64) - camera[1]
    return dx * np.cos(yaw) + dy * np.sin(yaw), dy * np.cos(yaw) - dx * np.sin(yaw)


def by(relation, pose, camera, i, j):
    """Metres by which vehicle i stands in a relation to vehicle j."""
    right, ahead = seen(pose, camera)
    lateral = (right[i] / ahead[i] - right[j] / ahead[j]) * (ahead[i] + ahead[j]) / 2
    radial = ahead[i] - ahead[j]
    return dict(zip(ALL, (-lateral, lateral, -radial, radial), strict=True))[relation]


def truth(relation, pose, camera, i, j):
    margin = by(relation, pose, camera, i, j)
    least = 0.5 if relation in ("left of", "right of") else 1.5
    return 1 if margin > least else -1 if margin < -least else 0


def exists(relation, entity, pose, camera, subject, obj):
    """Whether some vehicle of kind `subject` stands so to one of kind `obj`: 1, -1, or 0 if undefined."""
    pairs = permutations(range(len(entity)), 2)
    asked_about = [(i, j) for i, j in pairs if entity[i] == subject and entity[j] == obj]
    return max(truth(relation, pose, camera, i, j) for i, j in asked_about)


def asked(ex):
    """(subject, relation, object, answer) of every example, entities by number."""
    rows = np.arange(len(ex.answer))
    return np.stack(
        [ex.scene.entity[rows, ex.subject], ex.relation, ex.scene.entity[rows, ex.object], ex.answer], axis=1
    )


def counted(table, cells):
    counts = Counter(map(tuple, table.tolist()))
    assert set(counts) <= set(cells)
    return np.array([counts[c] for c in cells])


def fit(observed, chances):
    """P value of counts under a distribution; cells expected fewer than five times are pooled."""
    expected = np.asarray(chances) * observed.sum() / np.sum(chances)
    rare = expected < 5
    if rare.any():
        observed, expected = (np.append(x[~rare], x[rare].sum()) for x in (observed, expected))
    return stats.chisquare(observed, expected).pvalue


@pytest.fixture(scope="module")
def skewed():
    return skewed_sample(MANY)


@pytest.fixture(scope="module")
def skewed_all():
    """All four relations and a jittered camera."""
    return skewed_sample(MANY // 2, 1, relations=ALL, jitter=0.5)


@pytest.fixture(scope="module")
def vg():
    return sample(Recipe(2, "train", *frequencies("vg", 15)), np.arange(MANY))


@pytest.fixture(scope="module")
def distracted():
    """Three vehicles of few kinds, all relations, every other option."""
    options = {"phrasing": "varied", "weathers": ("snow", "clear"), "jitter": 0.3}
    return skewed_sample(4000, 3, "val", distractor=True, relations=ALL, **options)


@pytest.fixture(scope="module")
def town():
    """All kinds of vehicles."""
    even = np.full(len(ENTITIES), 1 / len(ENTITIES))
    return sample(Recipe(4, "train", even, even, distractor=True, jitter=0.4), np.arange(1500))


@pytest.fixture(params=["skewed", "skewed_all", "vg", "distracted", "town"])
def ex(request):
    return request.getfixturevalue(request.param)


def posterior(p_subject, p_object):
    """P(subject, relation, object, answer) of section 2.2 for left and right, by enumeration.

    Two vehicles by equation 4, drawn anew while alike; either one left of the other, as likely; a fair
    answer; then every question of equation 5, in proportion, that has both vehicles in the scene and the
    answer for its truth.
    """
    k = len(p_subject)
    chances = dict.fromkeys(product(range(k), (0, 1), range(k), (0, 1)), 0.0)
    scenes = {(a, b): p_subject[a] * p_object[b] for a in range(k) for b in range(k) if a != b}
    for (a, b), weight in scenes.items():
        for leftmost, answer in product((a, b), (0, 1)):
            proposals = {}
            for s, r, o in product(range(k), (0, 1), range(k)):
                holds = (s == leftmost) == (r == 0)
                if {s, o} == {a, b} and holds == bool(answer):
                    proposals[s, r, o] = p_subject[s] * p_object[o] / 2
            weight_of_each = weight / sum(scenes.values()) / 4 / sum(proposals.values())
            for (s, r, o), chance in proposals.items():
                chances[s, r, o, answer] += weight_of_each * chance
    return {cell: chance for cell, chance in chances.items() if chance > 0}


def test_questions_follow_the_posterior(skewed):
    """Subject, relation, object and answer together: a scene is only taken if its mirror image would be."""
    chances = posterior(SKEWED_SUBJECT, SKEWED_OBJECT)
    assert fit(counted(asked(skewed), list(chances)), list(chances.values())) > SIGNIFICANT


def _guessed(table, radial):
    """Accuracy of the best guess without a picture, learnt on half of the questions, tried on the others."""
    s, r, o, answer = table.T
    first = np.where((r % 2 == 0) == (answer == 1), 1, -1) * np.where(s < o, 1, -1)
    learnt, half = np.zeros((2, 4, 4)), len(s) // 2
    cell = r // 2 * radial, np.minimum(s, o), np.maximum(s, o)
    np.add.at(learnt, tuple(c[:half] for c in cell), first[:half])
    return (np.where(learnt > 0, 1, -1)[tuple(c[half:] for c in cell)] == first[half:]).mean()


@pytest.mark.parametrize("name", ["skewed", "skewed_all"])
def test_a_question_alone_says_nothing_of_its_answer(name, request):
    table = asked(request.getfixturevalue(name))
    tries = len(table) - len(table) // 2
    assert abs(_guessed(table, name == "skewed_all") - 0.5) < 4.5 * 0.5 / tries**0.5


def literal(ex, p_subject, p_object, relations, rng):
    """A question for every scene, proposed from all of equation 5 until it is about it and has the answer."""
    k = len(p_subject)
    table = np.full((len(ex.answer), 4), -1)
    truths = {}
    scenes = zip(ex.scene.entity[:, :2].tolist(), ex.scene.pose[:, :2], ex.scene.camera, strict=True)
    for row, (entity, pose, camera) in enumerate(scenes):
        for r, relation in enumerate(ALL):
            if relation in relations:
                truths[row, entity[0], r, entity[1]] = truth(relation, pose, camera, 0, 1)
                truths[row, entity[1], r, entity[0]] = truth(relation, pose, camera, 1, 0)
    pending = np.arange(len(table))
    numbers = [ALL.index(r) for r in relations]
    while n := len(pending):
        subject, obj = (rng.choice(k, n, p=p) for p in (p_subject, p_object))
        proposed = np.stack([subject, rng.choice(numbers, n), obj], 1)
        wanted = np.where(ex.answer[pending], 1, -1)
        rows = zip(pending.tolist(), proposed.tolist(), wanted.tolist(), strict=True)
        fine = np.array([truths.get((row, *question)) == answer for row, question, answer in rows])
        table[pending[fine]] = np.column_stack([proposed[fine], ex.answer[pending[fine]]])
        pending = pending[~fine]
    return table


@pytest.mark.parametrize(
    "relations", [("left of", "right of"), ALL, ("behind",), ("left of", "in front of")], ids=" ".join
)
def test_questions_are_those_of_literal_rejection(relations):
    """On the sampler's own scenes: every proposal of equation 5 drawn, most of them thrown away."""
    ex = skewed_sample(5000, 5, relations=relations, jitter=0.5)
    ours, theirs = asked(ex), literal(ex, SKEWED_SUBJECT, SKEWED_OBJECT, relations, np.random.default_rng(9))
    cells = sorted(set(map(tuple, ours.tolist())) | set(map(tuple, theirs.tolist())))
    both = np.stack([counted(ours, cells), counted(theirs, cells)])
    both = both[:, both.sum(axis=0) >= 10]
    assert len(relations) * 12 <= both.shape[1] <= len(relations) * 24
    assert stats.chi2_contingency(both).pvalue > SIGNIFICANT


def test_marginals_are_equation_4_given_different_kinds(vg):
    subject, obj = frequencies("vg", 15)
    table = asked(vg)
    for column, chances in ((0, subject * (1 - obj)), (2, obj * (1 - subject))):
        assert fit(np.bincount(table[:, column], minlength=15), chances) > SIGNIFICANT
    pairs = list(permutations(range(15), 2))
    assert fit(counted(table[:, [0, 2]], pairs), [subject[s] * obj[o] for s, o in pairs]) > SIGNIFICANT
    assert fit(np.bincount(table[:, 0], minlength=15), obj * (1 - subject)) < 1e-12


def test_three_entities_follow_their_joint_distribution():
    """The distractor by the mean of the marginals, all drawn anew while two are alike."""
    ex = skewed_sample(6000, 6, distractor=True)
    triples = list(permutations(range(4), 3))
    third = (SKEWED_SUBJECT + SKEWED_OBJECT) / 2
    chances = [SKEWED_SUBJECT[a] * SKEWED_OBJECT[b] * third[c] for a, b, c in triples]
    assert fit(counted(ex.scene.entity, triples), chances) > SIGNIFICANT
    proposed, accepted = ex.tried["entity"]
    assert accepted == 6000
    assert accepted / proposed == pytest.approx(sum(chances), abs=0.02)


def test_a_distractor_leaves_the_questions_distribution_alone(distracted):
    table = asked(distracted)
    third = (SKEWED_SUBJECT + SKEWED_OBJECT) / 2
    pairs = list(permutations(range(4), 2))
    chances = [SKEWED_SUBJECT[s] * SKEWED_OBJECT[o] * (1 - third[s] - third[o]) for s, o in pairs]
    assert fit(counted(table[:, [0, 2]], pairs), chances) > SIGNIFICANT


def test_a_long_kind_and_a_short_one_are_as_often_in_front():
    """Where near and far are asked about, a vehicle's length does not tell its lane."""
    chances = np.array([ENTITIES[i] in ("semi-trailer truck", "bicycle") for i in range(len(ENTITIES))]) / 2
    ex = sample(Recipe(7, "train", chances, chances, relations=ALL), np.arange(6000))
    near, far = (ex.scene.pose[:, slot, 1] for slot in (0, 1))
    long_first = ex.scene.entity[:, 0] == ENTITIES.index("semi-trailer truck")
    apart = np.sign(near) != np.sign(far)
    long_near = ((near < far) == long_first)[apart]
    assert stats.binomtest(int(long_near.sum()), len(long_near)).pvalue > SIGNIFICANT


def test_answers_balance_in_every_even_prefix(ex):
    answer = ex.answer
    assert answer.dtype == bool
    prefix = np.cumsum(answer)
    assert np.array_equal(prefix[1::2], np.arange(1, len(answer) // 2 + 1))


def test_answers_are_fair_and_independent_of_the_parity(skewed):
    first = skewed.answer[::2]
    assert stats.binomtest(int(first.sum()), len(first)).pvalue > SIGNIFICANT
    same = int((first[1:] == first[:-1]).sum())
    assert stats.binomtest(same, len(first) - 1).pvalue > SIGNIFICANT


def test_stored_answers_and_margins_are_the_truth(ex):
    for i in range(min(3000, len(ex.answer))):
        scene, relation = (ex.scene.pose[i], ex.scene.camera[i]), ALL[ex.relation[i]]
        assert {int(ex.subject[i]), int(ex.object[i])} == {0, 1}
        assert ex.margin[i] == pytest.approx(by(relation, *scene, ex.subject[i], ex.object[i]), abs=1e-5)
        assert truth(relation, *scene, ex.subject[i], ex.object[i]) == (1 if ex.answer[i] else -1)


def test_answers_are_what_the_picture_shows(skewed):
    """By the middles of picture boxes of vehicles well apart: left is left in the image."""
    box = unclipped_boxes(skewed.scene.entity, skewed.scene.pose, skewed.scene.camera, 256, 128)
    middle = (box[..., 0] + box[..., 2]) / 2
    rows = np.arange(MANY)
    clear = np.abs(middle[:, 0] - middle[:, 1]) > 12
    left = middle[rows, skewed.subject] < middle[rows, skewed.object]
    assert clear.mean() > 0.8
    assert np.array_equal((left == (skewed.relation == 0))[clear], skewed.answer[clear])


@pytest.mark.parametrize("name", ["distracted", "town"])
def test_the_distractor_is_a_third_kind_and_changes_no_answer(name, request):
    """By an evaluator that looks at all vehicles: some such vehicle stands so to some such other."""
    ex = request.getfixturevalue(name)
    assert ex.scene.entity.shape[1] == 3
    for i in range(1500):
        entity, pose, camera = ex.scene.entity[i], ex.scene.pose[i], ex.scene.camera[i]
        assert len(set(entity.tolist())) == 3
        relation = ALL[ex.relation[i]]
        opposite = ALL[ex.relation[i] ^ 1]
        s, o = entity[ex.subject[i]], entity[ex.object[i]]
        assert exists(relation, entity, pose, camera, s, o) == (1 if ex.answer[i] else -1)
        assert exists(opposite, entity, pose, camera, s, o) == (-1 if ex.answer[i] else 1)


@pytest.mark.parametrize("relations", [("in front of",), ("behind", "in front of")])
def test_in_front_and_behind_alone(relations):
    """Only vehicles in different lanes can be asked about."""
    ex = skewed_sample(400, 0, "val", relations=relations)
    y = ex.scene.pose[..., 1]
    rows = np.arange(400)
    assert (np.sign(y[:, 0]) != np.sign(y[:, 1])).all()
    nearer = y[rows, ex.subject] < y[rows, ex.object]
    assert np.array_equal(nearer == (ex.relation == 2), ex.answer)
    assert {ALL[r] for r in ex.relation} == set(relations)


def test_the_camera_moves_by_the_jitter_at_most():
    recipe = Recipe(0, "train", SKEWED_SUBJECT, SKEWED_OBJECT, jitter=0.8)
    moved = sample(recipe, np.arange(5000)).scene.camera - Camera().row()
    most = 0.8 * np.array(JITTER)
    assert (np.abs(moved[:, :4]).max(axis=0) <= most + 1e-6).all()
    assert (np.abs(moved[:, :4]).max(axis=0) > 0.97 * most).all()
    assert not moved[:, 4:].any()
    assert np.abs(np.corrcoef(moved[:, :4].T) - np.eye(4)).max() < 0.07


def test_cameras_that_vary_stand_on_both_sides_low_and_high_and_look_at_the_street():
    recipe = Recipe(0, "train", SKEWED_SUBJECT, SKEWED_OBJECT, relations=ALL, varied=True)
    scene = sample(recipe, np.arange(4000)).scene
    x, y, z, yaw = scene.camera[:, :4].T
    assert (y == np.float32(Camera().y)).all()
    assert (x.min() < -8.5, x.max() > 8.5, z.min() < 2.2, z.max() > 9.2) == (True,) * 4
    assert (np.sign(yaw) == np.sign(x)).all()  # to the middle
    assert np.abs(scene.pose[..., :2].mean(axis=(0, 1))).max() < 0.25  # left and right are alike
    box = unclipped_boxes(scene.entity, scene.pose, scene.camera, 256, 144)
    assert ((box[..., :2] >= 0) & (box[..., 2:] <= (256, 144))).all()


def test_no_examples():
    ex = skewed_sample(0, distractor=True)
    assert len(ex.scene) == len(ex.answer) == 0
    assert ex.scene.entity.shape == (0, 3)


def test_seeds_and_splits_give_other_examples(skewed):
    names = ["answer", *(f"scene.{name}" for name in ("entity", "pose", "prop", "weather", "fall_seed"))]
    for other in (skewed_sample(200, 1), skewed_sample(200, 0, "val")):
        for name in names:
            assert (arrays(other)[name] != arrays(skewed)[name][:200]).mean() > 0.1, name


def test_options_leave_other_draws_alone():
    """A town in the rain has the streets and vehicles of a sunny one."""
    plain, rainy = map(arrays, (skewed_sample(50), skewed_sample(50, weathers=("rain",), phrasing="varied")))
    differing = {name for name in plain if not np.array_equal(plain[name], rainy[name])}
    # props: bare trees and clouds
    assert differing == {"scene.weather", "scene.prop", "scene.sun", "phrasing"}


def test_counters_add_up(ex):
    n = len(ex.answer)
    for loop, (proposed, accepted) in ex.tried.items():
        assert proposed >= accepted >= n, loop
    assert ex.tried["entity"][1] == n
    assert ex.tried["placement"][1] == ex.tried["question"][1]
    assert ("distractor" in ex.tried) == (ex.scene.entity.shape[1] == 3)
    if "distractor" in ex.tried:
        assert ex.tried["distractor"][1] == n
    else:
        assert ex.tried["placement"][1] == n


ONLY, TWO, SKEW = np.array([0.0, 1.0, 0.0]), np.array([0.5, 0.5]), np.array([1 - 1e-9, 1e-9])
IMPOSSIBLE = {
    "one kind": (ONLY, {}, r"1 entities .*`entities` or other `frequencies`"),
    "one kind and a distractor": (ONLY, {"distractor": True}, r"1 entities .*`entities`"),
    "two kinds and a distractor": (TWO, {"distractor": True}, "cannot be drawn from 2 entities"),
    "nearly one kind": (SKEW, {}, "`frequencies` gives nearly all weight to too few"),
    "a camera that sees no road": (SKEWED_SUBJECT, {"jitter": 5000.0}, "`jitter=5000"),
}


@pytest.mark.parametrize(("chances", "options", "words"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_settings_are_named(chances, options, words):
    with pytest.raises(ImpossibleError, match=words):
        sample(Recipe(0, "train", chances, chances, **options), np.arange(1))


def test_kinds_that_are_never_subject_or_never_object():
    """Two marginals without a common kind leave one order only."""
    ex = sample(Recipe(0, "train", np.array([1.0, 0.0]), np.array([0.0, 1.0])), np.arange(200))
    table = asked(ex)
    assert set(table[:, 0].tolist()) == {0}
    assert set(table[:, 2].tolist()) == {1}


def test_a_pair_for_which_no_place_is_found_gives_way_to_another():
    """A caravan and a semi-trailer truck, asked about in depth, fit in one of thousands of places."""
    recipe = source_of(Settings(relations=("left of", "right of", "in front of", "behind"))).recipe("train")
    numbers, rare = np.array([88705, 88706]), {"caravan", "semi-trailer truck"}
    drawn, examples = draw_entities(recipe, numbers, {}), sample(recipe, numbers)
    assert {ENTITIES[kind] for kind in drawn[1]} == rare
    assert {ENTITIES[kind] for kind in examples.scene.entity[1]} != rare
    assert np.array_equal(examples.scene.entity[0], drawn[0])
    assert examples.tried["entity"][1] == 3
    assert examples.tried["placement"][0] > CAP
    assert (examples.visible >= LEAST_VISIBLE).all()
