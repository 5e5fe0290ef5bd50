"""The compiled sampler against a slow one without batches, images or windows, called in any way."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.core.streams import Stream
from simtown.language.asking.paper import Recipe, sample
from simtown.language.meaning import relations as rel
from simtown.language.meaning.relations import RELATION_NAMES as NAMES
from simtown.scenes.camera import Camera, draw_cameras
from simtown.scenes.placement import LEAST_VISIBLE, apart
from simtown.scenes.silhouette import framed, visibility
from simtown.scenes.weather import WEATHERS
from tests.language import parts
from tests.language.parts import arrays, mirrored

recipes = st.builds(
    Recipe,
    seed=st.integers(-5, 2**40),
    split=st.sampled_from(["train", "val", "test"]),
    subject=st.just(np.array([0.4, 0.3, 0.2, 0.1])),
    object=st.just(np.array([0.1, 0.2, 0.3, 0.4])),
    distractor=st.booleans(),
    relations=st.sampled_from([NAMES[:2], NAMES, NAMES[2:], NAMES[:1], NAMES[1:3]]),
    phrasing=st.sampled_from(["paper", "varied"]),
    weathers=st.sampled_from([("rain",), WEATHERS]),
    jitter=st.sampled_from([0.0, 0.4, 1.0]),
    varied=st.booleans(),
)


def cameras(recipe, numbers):
    return draw_cameras(Camera(), recipe.stream, numbers, recipe.jitter, recipe.varied)


def fits(recipe, entity, pose, camera):
    """Whether a scene and each mirror image that counts is in the picture with every vehicle visible."""
    axes = {r.axis for r in rel.RELATIONS if r.name in recipe.relations}
    images = [(0,)] * (0 in axes)
    if entity.shape[1] == 2:
        images += [(1,)] * (1 in axes) + [(0, 1)] * (len(axes) == 2)
    for scene in [(pose, camera), *(mirrored(pose, camera, image) for image in images)]:
        if not framed(entity, *scene)[0] or (visibility(entity, *scene) < LEAST_VISIBLE).any():
            return False
    return True


def slowly(recipe, index):
    """Entities, poses, (subject, relation) and proposals of one example, by functions of many scenes."""
    numbers, tried = np.array([index]), {"placement": 0, "question": 0, "distractor": 0}
    entity, camera = parts.draw_entities(recipe, numbers, {}), cameras(recipe, numbers)
    wanted = [rel.RELATION_NAMES.index(name) for name in recipe.relations]
    answer = parts.answers(recipe.seed, recipe.split, numbers)[0]
    stream = {loop: Stream(recipe.seed, recipe.split, loop) for loop in tried}

    def truth(pose, relation, subject, obj):
        r, s, o = (np.array([number]) for number in (relation, subject, obj))
        return rel.truths(rel.margins(rel.separations(pose, camera), r, s, o), r)[0]

    for scene in range(10):  # afterwards other kinds are drawn
        for attempt in range(scene * 10000, scene * 10000 + 10000):
            tried["placement"] += 1
            u = stream["placement"].uniform(numbers, 6, attempt).reshape(1, 2, 3)
            pose = parts.draw_pairs(u, entity[:, :2], camera, bool(set(recipe.relations) & set(NAMES[2:])))
            defined = any(truth(pose, r, 0, 1) for r in wanted)
            if defined and apart(entity[:, :2], pose)[0] and fits(recipe, entity[:, :2], pose, camera):
                break
        weight = [recipe.subject[entity[0, s]] * recipe.object[entity[0, 1 - s]] for s in (0, 1)]
        for attempt in range(scene * 10000, scene * 10000 + 10000):
            tried["question"] += 1
            order, which = stream["question"].uniform(numbers, 2, attempt)[0]
            subject, relation = int(order * sum(weight) >= weight[0]), wanted[int(which * len(wanted))]
            if truth(pose, relation, subject, 1 - subject) == (1 if answer else -1):
                break
        if not recipe.distractor:
            return entity, pose, (subject, relation), tried
        for attempt in range(scene * 10000, scene * 10000 + 40):
            tried["distractor"] += 1
            three = np.concatenate([pose, np.zeros((1, 1, 3), dtype=np.float32)], axis=1)
            u = stream["distractor"].uniform(numbers, 2, attempt)
            three[:, 2] = parts.draw_beside(u, entity, three, camera)
            if apart(entity, three)[0] and fits(recipe, entity, three, camera):
                return entity, three, (subject, relation), tried
    return None


@settings(max_examples=12, deadline=None)
@given(recipes, st.integers(0, 2**50))
def test_an_example_is_what_the_procedure_step_by_step_gives(recipe, index):
    expected = slowly(recipe, index)
    if expected is None:
        return
    entity, pose, asked, tried = expected
    example = sample(recipe, np.array([index]))
    assert np.array_equal(example.scene.entity, entity)
    assert np.array_equal(example.scene.pose, pose)
    assert (example.subject[0], example.relation[0], example.object[0]) == (*asked, 1 - asked[0])
    assert np.array_equal(example.visible, visibility(entity, pose, example.scene.camera))
    for loop, (proposed, _) in example.tried.items():
        assert loop == "entity" or proposed == tried[loop]


@settings(max_examples=12, deadline=None)
@given(recipes, st.lists(st.integers(0, 2**50), min_size=1, max_size=12))
def test_an_example_is_the_same_alone_and_among_others(recipe, numbers):
    together = sample(recipe, np.array(numbers))
    alone = [sample(recipe, np.array([number])) for number in numbers]
    for name, values in arrays(together).items():
        expected = np.concatenate([arrays(one)[name] for one in alone])
        assert values.dtype == expected.dtype
        assert np.array_equal(values, expected), name
    for loop, counts in together.tried.items():
        assert counts == tuple(sum(one.tried[loop][k] for one in alone) for k in (0, 1))


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_give_the_same_examples(threads):
    recipe = Recipe(3, "train", np.full(30, 1 / 30), np.full(30, 1 / 30), distractor=True, jitter=0.5)
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda part: sample(recipe, part), np.split(np.arange(120), 12)))
    whole = arrays(sample(recipe, np.arange(120)))
    for name, values in whole.items():
        assert np.array_equal(values, np.concatenate([arrays(part)[name] for part in found])), name
