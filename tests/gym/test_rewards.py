"""Rewards: the right answer earns most, hedging earns nothing, and nearer numbers earn no less."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.gym import LEVELS, Street, rewards
from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import Gold, score_reply

#: Tasks of every family, and of levels with few and many kinds.
TASKS = [*Street(1, seed=6).at(range(64)), *Street(7, seed=6).at(range(384))]
TASK = st.sampled_from(TASKS)
#: A question of each type of answer, also one that may be answered with "cannot tell".
GOLDS = st.sampled_from([*ANSWERS]).flatmap(
    lambda type: st.tuples(
        st.just(type), st.sampled_from(ANSWERS[type]), st.sampled_from([(), (*ANSWERS[type], CANNOT_TELL)])
    )
)
STATED = st.sampled_from(
    (
        "{}",
        "**{}**",
        "Answer: {}",
        "<think>Hm.</think>{}",
        '{{"answer": "{}"}}',
        "<answer>{}</answer>",
        "\\boxed{{{}}}",
    )
)
BETWEEN = st.sampled_from((" or ", ", ", " and ", "\n", " / ", ". "))
PIECES = (
    "yes",
    "no",
    "3",
    "taxi",
    "red",
    "Answer:",
    "5 m",
    "<answer>",
    "</answer>",
    "not",
    ".",
    "maybe",
    "-",
)


def test_the_tasks_have_every_family():
    assert {task.metadata["family"] for task in TASKS} >= {f.name for f in Street(7)._families}


@given(TASK, STATED, st.lists(st.sampled_from(PIECES), max_size=6))
def test_no_reply_earns_more_than_the_right_answer(task, form, pieces):
    right = task.reward(form.format(task.answer))
    assert right == (1, 1, 1, 0)
    assert right.total == 1
    for text in (" ".join(pieces), *map(form.format, task.gold.choices)):
        reward = task.reward(text)
        assert all(0 <= part <= 1 for part in reward)
        assert reward.answer == task.score(text)
        assert 0 <= reward.total <= (1 if reward.answer else 0.3)
        assert reward.total >= 0.9 or not reward.answer


@given(GOLDS, STATED)
def test_the_right_answer_of_every_type_earns_all(question, form):
    type, answer, choices = question
    gold = Gold(type, answer, choices)
    assert rewards.reward_reply(form.format(answer), gold).total == 1
    assert score_reply(form.format(answer), gold, spoken_names(type)) == 1


@given(TASK, BETWEEN, st.booleans(), st.data())
def test_hedging_earns_nothing(task, between, first, data):
    other = data.draw(st.sampled_from([text for text in task.gold.choices if text != task.answer]))
    pair = [task.answer, other] if first else [other, task.answer]
    for text in (
        between.join(pair),
        f"<answer>{between.join(pair)}</answer>",
        f"maybe {task.answer}",
        "",
        "I pass",
    ):
        assert task.reward(text) == (0, 0, 0, 1), text
        assert task.reward(text).total == 0


@given(
    st.sampled_from(["count", "metres"]),
    st.integers(0, 40),
    st.floats(0, 2),
    st.lists(st.floats(0, 1e6), min_size=2, max_size=2),
    st.booleans(),
)
def test_a_nearer_number_earns_no_less(type, true, tolerance, misses, above):
    whole = type == "count"
    gold = Gold(type, str(true)) if whole else Gold(type, f"{true} m", (), tolerance, float(true))
    totals = []
    for missed in sorted(misses):
        number = true + (round(missed) if whole else missed) * (1 if above else -1)
        if number < 0:
            return
        totals.append(rewards.reward_reply(f"{number}" if whole else f"{number:.9f} m", gold).total)
    assert totals[0] >= totals[1]


@pytest.mark.parametrize(("level", "share"), [(1, 0.3), (5, 0.05)])
def test_iterating_skips_what_is_not_kept_and_addresses_stay(level, share):
    tasks, wanted = Street(level, seed=2), LEVELS[level - 1].questions[1]
    kept = Street(level, seed=2, keep=lambda task: task.metadata["family"] == wanted)
    found = list(islice(kept, 20))
    assert {task.metadata["family"] for task in found} == {wanted}
    indices = [task.metadata["index"] for task in found]
    every = [
        task.metadata["index"]
        for task in tasks.at(range(indices[-1] + 1))
        if task.metadata["family"] == wanted
    ]
    assert indices == every
    assert kept[0].prompt == tasks[0].prompt
    assert [next(iter(kept.shard(rank, 2))).metadata["index"] % 2 for rank in range(2)] == [0, 1]


def test_a_filter_that_keeps_nothing_ends_with_one_line(monkeypatch):
    monkeypatch.setattr("simtown.gym.tasks.REFUSALS", 200)
    with pytest.raises(ValueError, match="keep refuses 200 tasks in a row"):
        next(iter(Street(1, keep=lambda task: False)))
