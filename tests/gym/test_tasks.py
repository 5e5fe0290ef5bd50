"""Tasks of the gym: the same everywhere, shared without overlap, and right."""

import json
from base64 import b64decode
from io import BytesIO
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simtown.core.portable_png import png_bytes
from simtown.gym import LEVELS, Level, Street


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 255), st.integers(0, 2**32 - 1), st.booleans())
def test_a_png_file_holds_the_picture(height, width, most, seed, rare):
    rng = np.random.default_rng(seed)
    shape = (height, width, 3)
    picture = 2 ** rng.geometric(0.5, shape).clip(0, 8) - 1 if rare else rng.integers(0, most + 1, shape)
    file = BytesIO(png_bytes(picture.astype(np.uint8)))
    assert (np.array(Image.open(file)) == picture).all()


@pytest.mark.parametrize("level", range(1, len(LEVELS) + 1))
def test_a_task_is_what_its_metadata_say(level):
    tasks = Street(level, seed=3)
    for task in islice(tasks, 12):
        (message,) = task.messages
        *parts, text = message["content"]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        shown = [Image.open(BytesIO(b64decode(url.partition(",")[2]))) for url in urls]
        assert (np.array([np.array(picture) for picture in shown]) == task.pictures).all()
        assert task.pictures.shape == (tasks.settings.shots, 224, 224, 3)
        assert (task.pictures[0] == task.picture).all()
        assert len(parts) == (len(shown) if len(shown) == 1 else 2 * len(shown))
        assert text["text"] == f"{task.question} {task.instruction}"
        assert json.loads(json.dumps(task.metadata)) == task.metadata
        assert task.answer in task.gold.choices
        assert task.score(task.answer) == 1
        assert all(task.score(other) == 0 for other in task.gold.choices if other != task.answer)


def test_items_do_not_depend_on_how_they_are_reached():
    tasks, other = Street(4, seed=1), Street(4, seed=1)
    far = other[1000]
    assert [task.metadata["index"] for task in islice(tasks.from_(998), 3)] == [998, 999, 1000]
    assert (tasks[1000].png, tasks[1000].prompt) == (far.png, far.prompt)
    assert Street(4, seed=2)[1000].png != far.png


def test_every_task_belongs_to_one_rank():
    tasks = Street(1, seed=5)
    shards = [tasks.shard(rank, 3) for rank in range(3)]
    workers = [shards[1].shard(worker, 2) for worker in range(2)]
    assert [shard[2].prompt for shard in shards] == [tasks[6 + rank].prompt for rank in range(3)]
    assert [[w[k].metadata["index"] for k in range(3)] for w in workers] == [[1, 7, 13], [4, 10, 16]]


def test_answers_of_a_level_are_balanced_and_margins_are_wide():
    tasks = list(islice(Street(2, seed=0), 512))
    yes = [task.answer == "yes" for task in tasks if task.gold.type == "truth"]
    assert abs(np.mean(yes) - 0.5) < 4 * 0.5 / len(yes) ** 0.5
    margins = [task.metadata["margin"] for task in tasks if task.metadata["margin"] is not None]
    assert np.mean(np.array(margins) >= LEVELS[1].margin) > 0.9


@pytest.mark.parametrize("level", range(1, len(LEVELS) + 1))
def test_tasks_of_a_block_are_pairs_of_one_family_with_other_answers(level):
    tasks = Street(level, seed=4)
    answers = {}
    for task in tasks.at(range(128)):
        answers.setdefault(task.metadata["family"], []).append(task.answer)
    for family, given_answers in answers.items():
        assert len(given_answers) % 2 == 0, family
        most_frequent = max(map(given_answers.count, given_answers))
        assert most_frequent <= len(given_answers) / 2, family


def test_an_answer_does_not_tell_the_next_one():
    level = Level(10, "2-3", ("exist",), ("clear",), 0, "yes or no")
    given_answers = [task.answer for task in Street(level).at(range(512))]
    equal = np.mean(np.array(given_answers[::2]) == given_answers[1::2])
    assert 0.35 < equal < 0.65


def test_one_may_make_a_level_of_ones_own():
    level = Level(8, "2-3", ("relations",), ("clear",), 0, "mine")
    assert {task.metadata["family"] for task in islice(Street(level), 8)} == {"relations"}
    with pytest.raises(ValueError, match="from 1 to 12"):
        Street(13)
