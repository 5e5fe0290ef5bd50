"""Endless tasks: a picture of a street, a question about it, and a verifier that knows the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from operator import index as whole
from typing import Any

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.core.portable_png import png_bytes
from simtown.core.streams import Stream
from simtown.datasets import family_questions
from simtown.datasets.source import check_settings, source_of
from simtown.gym.levels import LEVELS, SIZE, Level
from simtown.gym.rewards import Reward, reward_reply
from simtown.language.meaning.programs import decode
from simtown.language.words.grammar import spoken_names
from simtown.language.words.instructions import instruction, user_message
from simtown.language.words.replies import Gold, score_reply
from simtown.render.renderers import make_renderer
from simtown.scenes.scene import SceneBatch
from simtown.scenes.sequence import stored_pictures
from simtown.scenes.weather import WEATHERS

#: Tasks that are drawn together, in an order of their own, and the most of such blocks whose streets are
#: sampled together.
BLOCK, AHEAD = 128, 8
#: Pairs of streets, of which a pair of tasks takes the first where both margins are wide enough.
CHANCES = 4
#: Tasks in a row that `keep` may refuse.
REFUSALS = 10_000


@dataclass(frozen=True, eq=False)
class Task:
    """One question about one picture, or about several.

    Attributes:
        pictures: (P, h, w, 3) uint8, in their order.
        question: in words.
        instruction: which form the answer has, such as "Answer with yes or no."
        gold: the answer, and what it is compared with.
        metadata: of plain JSON values: the address (level, seed, index), family, type of answer, program, the
            margin in metres (None where places do not matter), vehicles in the street, weather; of the
            vehicles that the question names, the least visible share and the least height in pixels.

    >>> import simtown.gym
    >>> task = simtown.gym.Street(level=3, seed=7)[0]
    >>> task.picture.shape, task.instruction
    ((224, 224, 3), 'Answer with yes or no.')
    >>> task.score(task.answer), task.score("I do not know")
    (1.0, 0.0)
    """

    pictures: np.ndarray
    question: str
    instruction: str
    gold: Gold
    metadata: dict[str, Any]

    @property
    def answer(self) -> str:
        """The right answer: "yes", "3", "taxi", "4 m"."""
        return self.gold.answer

    @property
    def picture(self) -> np.ndarray:
        """(h, w, 3) uint8: the picture, or the first one."""
        return np.asarray(self.pictures[0])

    @cached_property
    def pngs(self) -> list[bytes]:
        """The pictures as PNG files, the same bytes on every machine."""
        return [png_bytes(picture) for picture in self.pictures]

    @property
    def png(self) -> bytes:
        """The picture, or the first one, as a PNG file."""
        return self.pngs[0]

    @property
    def prompt(self) -> str:
        """The question with its instruction."""
        return f"{self.question} {self.instruction}"

    @property
    def messages(self) -> list[dict[str, Any]]:
        """One message of a user, in OpenAI's content parts: the pictures as data URLs, and the prompt."""
        return [user_message(self.prompt, *self.pngs)]

    def score(self, text: Any) -> float:
        """1 for a right reply, 0 for any other (:mod:`simtown.language.words.replies` has the rule)."""
        return score_reply(text, self.gold, spoken_names(self.gold.type))

    def reward(self, text: str) -> Reward:
        """What a reply earns in training, in parts; ``.total`` is their sum, at most 1, for the right answer.

        >>> import simtown.gym
        >>> task = simtown.gym.Street(level=5, seed=7)[2]
        >>> task.question, task.answer
        ('How many metres are between the garbage truck and the tow truck?', '5 m')
        >>> replies = ("5 m", "It looks like 5 m to me", "6 m", "5 or 6 m")
        >>> [round(task.reward(reply).total, 2) for reply in replies]
        [1.0, 0.9, 0.17, 0.0]
        """
        return reward_reply(text, self.gold)

    def __repr__(self) -> str:
        at = ", ".join(f"{name} {self.metadata[name]}" for name in ("level", "seed", "index"))
        return f"<Task: {self.question} {self.answer}; {at}>"


class Street:
    """Endless tasks of one level: ``tasks[i]`` is the same on every machine, in every release.

    Args:
        level: from 1 to 12, or a :class:`simtown.gym.Level` of one's own.
        seed: other seeds are other tasks.
        keep: tells of a task whether iterating gives it, such as one whose replies do not all earn the same;
            ``tasks[i]`` and :meth:`at` give all.

    Raises:
        SettingsError: the level is impossible.

    >>> import simtown.gym
    >>> tasks = simtown.gym.Street(level=3, seed=7)
    >>> prompts = [task.prompt for task in tasks.at(range(100))]
    >>> half = tasks.shard(rank=1, ranks=2)  # tasks 1, 3, 5, ...
    >>> half[0].question == tasks[1].question
    True
    """

    def __init__(
        self, level: int | Level = 1, seed: int = 0, keep: Callable[[Task], bool] | None = None
    ) -> None:
        self.level, self.seed, self.keep = level, seed, keep
        if not isinstance(level, Level) and level not in range(1, len(LEVELS) + 1):
            raise ValueError(f"level is {level}: give a whole number from 1 to {len(LEVELS)}")
        self._level = level if isinstance(level, Level) else LEVELS[level - 1]
        self.settings = self._level.settings(seed)
        check_settings(self.settings)
        self._source, self._renderer = source_of(self.settings), make_renderer()
        self._families = family_questions.families_of(self.settings)
        self._answers = family_questions.answers(self.settings)
        self._first, self._step = 0, 1
        types = {family.answer for family in self._families}
        self._choices = {name: family_questions.choices(self.settings, name) for name in types}
        self._made: tuple[int, list[Task]] = (-1, [])
        self._sampled: tuple[range, dict[str, np.ndarray]] = (range(0), {})
        self._refused = 0

    def shard(self, rank: int, ranks: int) -> Street:
        """The tasks rank, rank + ranks, rank + 2 ranks, ... of these: every task belongs to one rank."""
        if not 0 <= rank < ranks:
            raise ValueError(f"rank is {rank}: give a number from 0 to {ranks - 1}")
        own = Street(self.level, self.seed, self.keep)
        own._first, own._step = self._first + rank * self._step, self._step * ranks
        return own

    def __getitem__(self, i: int) -> Task:
        block, place = divmod(whole(i), BLOCK)
        if self._made[0] != block:
            self._made = block, self._block(block)
        return self._made[1][place]

    def _block(self, block: int) -> list[Task]:
        """The tasks of a block. Of blocks in order, ever more are sampled at once: that is faster."""
        blocks, rows = self._sampled
        if block not in blocks:
            more = min(2 * len(blocks), AHEAD) if block == blocks.stop else 1
            blocks = range(block, block + max(more, 1))
            rows = self._columns(range(block * BLOCK, blocks.stop * BLOCK))
            self._sampled = blocks, rows
        begin = (block - blocks.start) * BLOCK
        return self._draw({name: values[begin : begin + BLOCK] for name, values in rows.items()})

    def __iter__(self) -> Iterator[Task]:
        return self.from_(0)

    def from_(self, position: int) -> Iterator[Task]:
        """The tasks from a position on that are kept, without an end."""
        return filter(self.keeps, map(self.__getitem__, count(position)))

    def keeps(self, task: Task) -> bool:
        """Whether iterating gives a task. Raises ValueError after so many refusals that none may be left."""
        kept = self.keep is None or bool(self.keep(task))
        self._refused = 0 if kept else self._refused + 1
        if self._refused == REFUSALS:
            raise ValueError(f"keep refuses {REFUSALS:,} tasks in a row: give one that keeps more")
        return kept

    def at(self, positions: Sequence[int]) -> list[Task]:
        """The tasks at some positions, drawn together."""
        return self._draw(self._columns(positions))

    @property
    def chances(self) -> dict[str, float]:
        """By family, the share of its tasks that a guess among the possible answers gets right."""
        return {family.name: 1 / len(self._choices[family.answer]) for family in self._families}

    def __getstate__(self) -> dict[str, Any]:
        """Without what was made last, which has megabytes."""
        return {**self.__dict__, "_made": (-1, []), "_sampled": (range(0), {})}

    def __repr__(self) -> str:
        return f"<Street: level {self.level}, seed {self.seed}: {self._level.adds}>"

    def _draw(self, rows: dict[str, np.ndarray]) -> list[Task]:
        """The tasks of some rows of columns."""
        scenes = stored_pictures(rows) if self.settings.sequence else SceneBatch.of_columns(rows)
        rgb = self._renderer.render(scenes, SIZE, SIZE, geometry=False).rgb
        pictures = rgb.reshape(-1, self.settings.shots, *rgb.shape[1:])
        return [
            self._task(shown.copy(), {name: values[i] for name, values in rows.items()})
            for i, shown in enumerate(pictures)
        ]

    def _columns(self, positions: Sequence[int]) -> dict[str, np.ndarray]:
        """The columns of some tasks, drawn in pairs; `task` is the number of each."""
        if min(positions, default=0) < 0:
            raise IndexError(f"there is no task {min(positions)}: they are numbered from 0, and have no end")
        numbers = self._first + self._step * np.array(positions, dtype=np.int64)
        halves = self._shuffle(numbers)
        wanted = halves
        if self._level.margin:  # both streets of a pair decide which chance it takes
            wanted = np.unique(halves // 2 * 2 + np.array([[0], [1]]))
        made: dict[str, np.ndarray] = {}
        waiting = np.arange(len(wanted))
        for chance in range(CHANCES):
            pair, half = np.divmod(wanted[waiting], 2)
            examples = 2 * (CHANCES * pair + chance) + half
            found = self._source.columns(self._source.draw("train", examples), examples)
            for name, values in found.items():
                made.setdefault(name, values)[waiting] = values
            close = found["margin"] < self._level.margin  # NaN where no place matters
            waiting = waiting[np.isin(pair, pair[close])]
            if not len(waiting):
                break
        if self._level.margin:
            rows = np.searchsorted(wanted, halves)
            made = {name: values[rows] for name, values in made.items()}
        return made | {"task": numbers}

    def _shuffle(self, numbers: np.ndarray) -> np.ndarray:
        """Halves of pairs, 2j or 2j + 1, of tasks: each block of tasks has its own order.

        The answers of a pair differ, so one would tell the other if both stood in a known order.
        """
        blocks, places = np.divmod(numbers, BLOCK)
        drawn, row = np.unique(blocks, return_inverse=True)
        stream = Stream(self.settings.seed_of("train"), "train", "task order")
        order = stream.uniform(drawn, BLOCK).argsort(axis=1, kind="stable")
        return np.asarray(blocks * BLOCK + order[row, places])

    def _task(self, pictures: np.ndarray, row: dict[str, Any]) -> Task:
        family = self._families[row["family"]]
        texts = self._choices[family.answer]
        form = decode(row["program"])
        nouns, kinds = family_questions.kinds_named(form), row["scene/entity"].tolist()
        shown = [slot for slot, kind in enumerate(kinds) if kind >= 0]
        meant = [slot for slot in shown if ENTITIES[kinds[slot]] in nouns] or shown
        metres = [float(row[name]) for name in ("tolerance", "number")]
        gold = Gold(family.answer, self._answers[row["value"]], texts, *(metres if metres[0] > 0 else ()))
        margin = float(row["margin"])
        boxes = row["boxes"].reshape(-1, *row["boxes"].shape[-2:])  # of several pictures: where most is seen
        heights = (boxes[..., 3] - boxes[..., 1]).max(axis=0)
        visible = row["visible"].reshape(len(boxes), -1).max(axis=0)
        metadata = {
            "gym": "street", "level": self._level if isinstance(self.level, Level) else self.level,
            "seed": self.seed, "index": int(row["task"]), "family": family.name, "type": family.answer,
            "program": str(form), "margin": None if np.isnan(margin) else round(margin, 4),
            "vehicles": len(shown), "weather": WEATHERS[row["scene/weather"]],
            "visible": round(float(visible[meant].min()), 4),
            "pixels": round(float(heights[meant].min()), 1),
        }  # fmt: skip
        return Task(pictures, row["question"].decode(), instruction(family.answer, texts), gold, metadata)
