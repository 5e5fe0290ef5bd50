"""A curriculum follows skill, not luck, and deals no task twice."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.gym import LEVELS, Street
from simtown.gym.curriculum import Curriculum

CHANCES = {level: Street(level).chances for level in (1, 7)}


def tasks_until_it_moves(level, skill, seed, most, *, by_family=False):
    """Of a learner that knows a share `skill` of the answers and guesses others; most + 1 if it stays."""
    curriculum, rng = Curriculum(level=level, by_family=by_family), np.random.default_rng([seed, level])
    families = [*CHANCES[level]][: 1 if by_family else None]
    for number in range(1, most + 1):
        family = families[rng.integers(len(families))]
        right = rng.random() < skill + (1 - skill) * CHANCES[level][family]
        curriculum.record({"level": level, "family": family}, float(right))
        if {*curriculum.levels.values()} != {level}:
            return number
    return most + 1


@pytest.mark.parametrize("by_family", [False, True])
@pytest.mark.parametrize("level", CHANCES)
def test_a_learner_below_the_bar_stays_and_one_above_it_is_promoted(level, by_family):
    weak = [tasks_until_it_moves(level, 0.7, seed, 2_000, by_family=by_family) for seed in range(40)]
    able = [tasks_until_it_moves(level, 0.9, seed, 600, by_family=by_family) for seed in range(40)]
    assert np.mean(np.array(weak) <= 2_000) <= 0.1  # 5 % of 40 runs, and what luck allows
    assert np.median(able) <= 150
    assert np.mean(np.array(able) <= 600) >= 0.95


def test_guessing_alone_never_moves_up():
    for seed in range(20):
        curriculum, rng = Curriculum(level=7), np.random.default_rng(seed)
        families = [*CHANCES[7]]
        for _ in range(1_000):
            family = families[rng.integers(len(families))]
            curriculum.record({"level": 7, "family": family}, float(rng.random() < CHANCES[7][family]))
            assert curriculum.levels["all"] <= 7


@given(st.lists(st.floats(0, 1), max_size=60), st.integers(1, 9), st.booleans())
def test_scores_move_by_a_level_at_most_and_resuming_changes_nothing(scores, level, by_family):
    family = "hops" if level > 6 else "exist"
    first, second = (Curriculum(level=level, by_family=by_family) for _ in range(2))
    name = family if by_family else "all"
    for score in scores:
        before = first.levels[name]
        for curriculum in (first, second):
            curriculum.record({"level": before, "family": family}, score)
        second = Curriculum(by_family=by_family, state=json.loads(json.dumps(second.state)))
        assert abs(first.levels[name] - before) <= 1
        assert first.levels[name] >= before or score < 0.5
        assert first.state == second.state


def test_levels_follow_success_and_no_task_comes_twice():
    curriculum, seen = Curriculum(seed=3), []
    while curriculum.levels["all"] < 3:
        seen.append(next(curriculum))
        curriculum.record(seen[-1], 1.0)
    while curriculum.levels["all"] > 1:
        seen.append(next(curriculum))
        curriculum.record(seen[-1], 0.0)
    resumed = Curriculum(seed=3, state=json.loads(json.dumps(curriculum.state)))
    for _ in range(4):
        seen.append(next(resumed))
        assert seen[-1].png == next(curriculum).png
        assert seen[-1].metadata["level"] == 1
    assert len({(task.metadata["level"], task.metadata["index"]) for task in seen}) == len(seen)


def test_each_family_goes_its_own_way_and_new_ones_join():
    curriculum, joined = Curriculum(seed=2, by_family=True), {*LEVELS[0].questions}
    assert curriculum.levels == dict.fromkeys(LEVELS[0].questions, 1)
    for task in curriculum:
        family = task.metadata["family"]
        assert task.metadata["level"] == curriculum.levels[family]
        curriculum.record(task.metadata, float(family in ("exist", "colour", "relations")))
        if curriculum.levels.get("relations", 0) > 2:
            break
    assert curriculum.levels["lane"] == 1
    assert min(curriculum.levels["exist"], curriculum.levels["colour"]) > 1
    assert {*curriculum.levels} > joined
    again = Curriculum(seed=2, by_family=True, state=curriculum.state)
    assert [next(again).png for _ in range(5)] == [next(curriculum).png for _ in range(5)]


def test_ranks_share_no_task():
    whole = Curriculum(seed=5)
    ranks = [whole.shard(rank, 2) for rank in range(2)]
    first, second = ({next(own).metadata["index"] for _ in range(9)} for own in ranks)
    assert first == {*range(0, 18, 2)}
    assert second == {*range(1, 18, 2)}
    assert next(Curriculum(seed=5, state=ranks[1].state)).metadata["index"] == 19


def test_scores_of_a_level_that_is_left_do_not_count():
    curriculum = Curriculum()
    late = [next(curriculum) for _ in range(40)]
    for task in late:
        curriculum.record(task, 1.0)
    assert curriculum.levels == {"all": 2}
    assert curriculum.state == {**Curriculum(level=2).state, "turn": 40, "positions": [40] + [0] * 8}


def test_the_top_and_the_bottom_are_ends():
    for level, score in ((1, 0.0), (9, 1.0)):
        curriculum = Curriculum(level=level)
        family = next(iter(CHANCES.get(level) or Street(level).chances))
        for _ in range(200):
            curriculum.record({"level": level, "family": family}, score)
        assert curriculum.levels == {"all": level}
    curriculum = Curriculum(level=9, by_family=True)
    families = {*curriculum.levels}
    for _ in range(20):
        curriculum.record({"level": 9, "family": "order"}, 0.0)
    assert curriculum.levels["order"] == 8
    assert {*curriculum.levels} == families


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"state": Curriculum(seed=7).state}, "state is of seed=7: give the same, or leave the state out"),
        ({"state": Curriculum(by_family=True).state}, "state is of by_family=True"),
        ({"state": {"level": 2, "positions": [], "scores": []}}, "state is not of a curriculum"),
        ({"state": {"seed": 0, "by_family": False}}, "state is not of a curriculum"),
        ({"up": 1.0}, "up is 1.0"),
        ({"up": 0.3}, "down 0.4"),
        ({"level": 10}, "from 1 to 9"),
    ],
)
def test_impossible_settings_and_states_of_other_tasks_get_one_line(settings, problem):
    with pytest.raises(ValueError, match=problem) as caught:
        Curriculum(**settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("score", [-0.1, 1.5, float("nan")])
def test_a_score_is_from_0_to_1(score):
    with pytest.raises(ValueError, match="give a number from 0 to 1"):
        Curriculum().record({"level": 1, "family": "exist"}, score)
