"""The settings of a data set: every choice that decides its bytes, as the manifest has them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

from simtown.assets.entities import CATALOGUE, ENTITIES, OWN, SIZES, VERSION
from simtown.assets.own import require_kinds
from simtown.core import options
from simtown.core.options import SettingsError as SettingsError
from simtown.core.options import deciding, no_option, option
from simtown.datasets.addresses import COMPOSITION, TESTS
from simtown.datasets.addresses import SPLITS as SPLITS
from simtown.language.meaning.relations import DEFAULT_RELATIONS, RELATION_NAMES
from simtown.language.words.questions import FAMILIES, STYLES
from simtown.render.frames import check_size
from simtown.scenes.paint import CHOICES
from simtown.scenes.weather import DEFAULT_WEATHERS, WEATHERS

if TYPE_CHECKING:
    import numpy as np


#: What the pictures of a sequence may differ in.
MODES = ("time", "views", "change")
#: Pictures of a sequence at least, at most, and if nothing is said.
LEAST_PICTURES, MOST_PICTURES = 2, 8
USUAL_PICTURES = {"time": 4, "views": 4, "change": 2}
#: Version of the layout of shards and of the manifest (docs/data-format.md).
SCHEMA = 3
#: Most shards of a data set: the manifest has 300 bytes for each. Most examples of a shard: their scenes are
#: in memory while it is made.
MOST_SHARDS, LARGEST_SHARD = 500_000, 1_000_000
#: Bytes of a shard whose size is chosen here; it gets this many, or up to 2.5 times fewer.
_SHARD_BYTES = 160e6
#: Bytes of an example for each pixel of a side (outlines), and for each pixel of the area, measured from
#: 32 x 32 to 1024 x 1024.
_EXAMPLE_BYTES, _MASK_BYTES, _DEPTH_BYTES = (145.0, 0.16), (18.0, 0.015), (110.0, 0.6)
#: Pixels of all pictures that are drawn or read at once, which limits the memory of a worker.
_PIXELS = 8_000_000
#: The least number of shards, so that workers share a small set and a stopped job continues; but no shard has
#: fewer examples than this.
_LEAST_SHARDS, _LEAST_SHARD = 4, 500


# What --help says of the options whose descriptions are long.
_ENTITIES = (
    "Number of kinds of vehicles: those of --kinds, then the first of the catalogue; see --world-seed."
)
#: Examples of the other splits by default, but at most as many as for training, and whole groups.
_USUAL = {"val": 1_000, "test": 2_000}
_VAL = f"Validation examples, drawn like the training ones; by default {_USUAL['val']}, but at most --n."
_TEST = f"Test examples, whose entities are drawn uniformly; by default {_USUAL['test']}, but at most --n."
_FREQUENCIES = "How common entities are: vg (Visual Genome), uniform, zipf:EXPONENT, or a CSV file."
_RELATIONS = (
    "Relations asked about: names separated by commas, or all (also in front of, behind), which is the "
    "default of other questions than the paper's."
)
_PHRASING = "Of the paper's questions. paper: all in its one phrasing; varied: in several."
_WEATHERS = "Weathers that occur: all, or names separated by commas."
_PAINT = "Vehicles' paint: own (as their kind is), uniform, natural (as cars in the street), or a CSV file."
_SHARD = "Examples in each file; by default as many as fill 64 to 256 MB."
_TEST_SEED = "Seed of the test split, which data sets of other seeds may share; by default the --seed."
_WORLD_SEED = (
    "Seed of the world: which kinds of vehicles exist, and which of them are common. Use several to show "
    "that a result does not depend on the kinds. 0 is the catalogue's order. With one seed, a larger world "
    "contains all kinds of a smaller one."
)


_QUESTIONS = (
    "Families of questions, separated by commas: paper (yes or no, about two vehicles), all, any of "
    f"{', '.join(FAMILIES)}, or a TOML file of your own."
)
_CROWD = "Vehicles in every scene, from 2 to 8: a number such as 4, or a range such as 3-6."
_TWINS = (
    "Ask every question about two pictures that differ in one thing and in the answer. A second yes/no "
    "question that also flips is added where one exists; with --questions-per-picture all of them flip. "
    "With --cannot-tell that is the right answer to one of the two."
)
_CANNOT_TELL = "Share of questions whose right answer is 'cannot tell'."
_PER_PICTURE = (
    "Questions about each picture: the first of any family, the others yes or no. --n, --val and --test "
    "count questions."
)
_HOLD_OUT = (
    "Compositions that only the split test-composition holds, separated by commas: kind-kind:0.1 (a tenth of "
    "all pairs), kind-colour:0.1, kind-weather:0.1, kind-relation:0.1, taxi+bus, taxi+snow, taxi+red, "
    "taxi+left of, count>2, depth>2, frame:driver."
)
_CAMERAS = "Where the camera stands: fixed, or varied, on either side of the street, low or high."
_SEQUENCE = (
    "Show several pictures of one street: time (at several moments), views (from several cameras) or change "
    "(before and after something happens). --questions are then families of sequences, by default all."
)
_PICTURES = (
    f"Pictures of a sequence, from {LEAST_PICTURES} to {MOST_PICTURES}; by default {USUAL_PICTURES['time']}, "
    f"of change {USUAL_PICTURES['change']}."
)
_SECONDS = "Of --sequence time: seconds from the first picture to the last; by default drawn for each."


def _sequence_problem(mode: str) -> str:
    return "" if mode in ("", *MODES) else f"{mode} is unknown: choose among {', '.join(MODES)}"


def _pictures_problem(number: int) -> str:
    is_possible = number == 0 or LEAST_PICTURES <= number <= MOST_PICTURES
    return "" if is_possible else f"must be from {LEAST_PICTURES} to {MOST_PICTURES}, not {number}"


#: How many vehicles are in a street of a sequence.
SEQUENCE_CROWD = "2-4"
#: Settings that do not go with sequences.
_SINGLE = ("twins", "cannot_tell", "hold_out", "own_families")
#: How many vehicles stand in a scene if questions of other families than the paper's are asked.
CROWD = "3-6"


def _crowd_problem(crowd: str) -> str:
    if not crowd:
        return ""
    numbers = re.fullmatch(r"([2-8])(?:-([2-8]))?", crowd)
    right = numbers and int(numbers[1]) <= int(numbers[2] or numbers[1])
    return "" if right else f"is {crowd}: write a number from 2 to 8, or a range such as 3-6"


@dataclass(frozen=True)
class Settings:
    """Every choice that decides the bytes of a data set; `catalogue` is the version of the world.

    Each field says what it decides: "examples", what they are like; "families", the same, and that questions
    of families are asked; "curve", the same, and which learning curve a run belongs to; "draw", which of such
    examples there are; "size", how many; "storage", what is stored of them.

    `own_kinds` are names and digests of the kinds of one's own, as this process has them. `kept` are the
    frequencies that a manifest holds, by the names of :class:`simtown.datasets.frequency_tables.Tables`: no
    CSV file is read for a name with the digest of its table.
    Nothing is read from a file when settings are made:
    :func:`simtown.read_question_files` reads families.

    >>> import simtown
    >>> simtown.Settings(entities=20, n=1000, weathers=("clear", "snow")).check()
    >>> simtown.Settings(entities=200).check()
    Traceback (most recent call last):
    simtown.core.options.SettingsError: entities must be from 2 to 102, not 200
    """

    entities: int = option(60, _ENTITIES, low=2, high=len(ENTITIES), decides="curve")
    n: int = option(60_000, "Number of training examples, even.", low=2, even=True, decides="size")
    val: int = option(None, _VAL, low=0, even=True, decides="size")
    test: int = option(None, _TEST, low=0, even=True, decides="size")
    width: int = no_option(128, decides="examples")
    height: int = no_option(128, decides="examples")
    seed: int = option(
        0, "Seed of all random choices: another makes another data set of the same world.", decides="draw"
    )
    distractor: bool = option(
        False, "Put a third vehicle into every scene, about which nothing is asked.", decides="curve"
    )
    frequencies: str = option("vg", _FREQUENCIES, decides="examples")
    relations: tuple[str, ...] = option(
        DEFAULT_RELATIONS, _RELATIONS, choices=RELATION_NAMES, low=1, decides="examples"
    )
    phrasing: str = option("paper", _PHRASING, choices=tuple(STYLES), decides="examples")
    weathers: tuple[str, ...] = option(
        DEFAULT_WEATHERS, _WEATHERS, choices=WEATHERS, low=1, flag="weather", decides="examples"
    )
    paint: str = option("own", _PAINT, decides="examples")
    jitter: float = option(
        0.0, "Most metres by which the camera is moved sideways at random.", low=0, high=1, decides="examples"
    )
    masks: bool = option(False, "Store instance masks.", decides="storage")
    depth: bool = option(False, "Store depth in metres.", decides="storage")
    shard: int | None = option(None, _SHARD, low=2, high=LARGEST_SHARD, even=True, decides="storage")
    catalogue: int = no_option(VERSION, decides="examples")
    test_seed: int | None = option(None, _TEST_SEED, decides="draw")
    world_seed: int = option(0, _WORLD_SEED, decides="draw")
    questions: tuple[str, ...] = option(("paper",), _QUESTIONS, low=1, decides="families")
    crowd: str = option("", _CROWD, flag="vehicles", test=_crowd_problem, decides="families")
    own_families: str = no_option("", decides="examples")
    questions_per_picture: int = option(1, _PER_PICTURE, low=1, high=10, decides="families")
    cannot_tell: float = option(0.0, _CANNOT_TELL, low=0, high=0.5, decides="families")
    twins: bool = option(False, _TWINS, decides="families")
    own_kinds: tuple[str, ...] = no_option(tuple(kind.record for kind in OWN), decides="examples")
    hold_out: tuple[str, ...] = option((), _HOLD_OUT, low=0, decides="families")
    cameras: str = option("fixed", _CAMERAS, choices=("fixed", "varied"), decides="examples")
    sequence: str = option("", _SEQUENCE, test=_sequence_problem, decides="families")
    pictures: int = option(0, _PICTURES, test=_pictures_problem, decides="families")
    seconds: float = option(0.0, _SECONDS, low=0, high=60, decides="families")
    kept: dict[str, list[float]] | None = field(
        default=None, compare=False, repr=False, metadata={"decides": "examples"}
    )
    #: Whether somebody made the scenes, see :class:`HandMade`.
    hand_made: ClassVar[bool] = False

    def check(self) -> None:
        """Raises SettingsError if a value is out of range.

        :func:`simtown.datasets.source.check_settings` also finds out whether such examples exist.
        """
        options.check(replace(self, n=2, val=0, test=0, shard=None) if self.hand_made else self)
        if self.catalogue != VERSION:
            raise SettingsError(f"must be {VERSION}, not {self.catalogue}", "catalogue")
        require_kinds(self.own_kinds, OWN, "the data set")
        if len(set(self.relations)) < len(self.relations):
            raise SettingsError("names one twice", "relations")
        self._check_sequence()
        for name in ("n", "val", "test", "shard"):
            if (getattr(self, name) or 0) % self.block:
                option = "twins" if self.questions_per_picture == 1 else "questions_per_picture"
                several = f"must be a multiple of {self.block} with `{option}`"
                raise SettingsError(f"{several}, not {getattr(self, name)}", name)
        if self.cannot_tell and self.questions_per_picture > 1:
            # further questions are never unclear, so their words would hint
            one = "is for one question a picture: leave out `questions_per_picture`"
            raise SettingsError(one, "cannot_tell")
        if self.has_families and self.distractor:
            raise SettingsError("is for the paper's questions alone: use `crowd`", "distractor")
        if self.entities < self.vehicles and not self.has_families:
            raise SettingsError("must be at least 3 with `distractor=True`", "entities")
        check_size(self.width, self.height)
        files = sum(-(-count // self.shard_size) for count in self.counts().values())
        if files > MOST_SHARDS:
            most = f"more than a manifest can list ({MOST_SHARDS:,})"
            raise SettingsError(f"{self.shard_size} makes {files:,} files, {most}", "shard")

    def _check_sequence(self) -> None:
        """Raises SettingsError for choices about sequences that do not go together."""
        if not self.sequence:
            for name in ("pictures", "seconds"):
                if getattr(self, name):
                    raise SettingsError("is for sequences: give `sequence`, too", name)
            return
        for name in _SINGLE:
            if getattr(self, name):
                raise SettingsError("is for single pictures: leave out one of it and `sequence`", name)
        for name, usual in (("questions_per_picture", 1), ("cameras", "fixed")):
            if getattr(self, name) != usual:
                raise SettingsError("is for single pictures: leave out `sequence`", name)
        if self.seconds and self.sequence != "time":
            raise SettingsError("is for `sequence` time: leave it out", "seconds")

    @property
    def shots(self) -> int:
        """Pictures that an example shows."""
        return (self.pictures or USUAL_PICTURES[self.sequence]) if self.sequence else 1

    @property
    def has_families(self) -> bool:
        """Whether the questions are of families, not the paper's."""
        return any(getattr(self, name) != getattr(Settings, name) for name in deciding(Settings, "families"))

    def __post_init__(self) -> None:
        """Fill in what was left out."""
        for name, most in _USUAL.items():
            if getattr(self, name) is None:
                whole = max(self.block, 1)
                object.__setattr__(self, name, min(most, self.n) // whole * whole)

    @property
    def paired(self) -> bool:
        """Whether every question is asked twice, of two pictures or sequences, with another answer."""
        return self.twins or bool(self.sequence)

    @property
    def block(self) -> int:
        """Questions of two pictures, whose first questions are a pair; with twins, of a group."""
        if self.hand_made:
            return 1
        return max(4 * self.twins, 2 * self.questions_per_picture)

    @property
    def crowds(self) -> tuple[int, int]:
        """Least and most vehicles in a scene."""
        if not self.has_families:
            return self.vehicles, self.vehicles
        usual = SEQUENCE_CROWD if self.sequence else CROWD
        low, _, high = (self.crowd or usual).partition("-")
        return int(low), int(high or low)

    @property
    def kinds(self) -> tuple[int, ...]:
        """Catalogue numbers of the kinds that exist, the most frequent first.

        Kinds of one's own come first, so `entities` can be as many as they are. World seed 0 goes on with the
        first kinds of the catalogue, any other seed with those of a permutation of it, so a world of 5
        entities is part of the world of 15 of the same seed.
        """
        own = range(len(CATALOGUE), len(CATALOGUE) + len(self.own_kinds))
        order = _permutation(self.world_seed) if self.world_seed else range(len(CATALOGUE))
        return (*own, *order)[: self.entities]

    @property
    def ranks(self) -> np.ndarray:
        """(m,) int64: the place in :attr:`kinds` of each catalogue number and of the empty slot, or -1."""
        import numpy as np

        ranks = np.full(len(ENTITIES) + 1, -1)
        ranks[list(self.kinds)] = np.arange(self.entities)
        return ranks

    @property
    def seeds(self) -> str:
        """All seeds in words, such as "seed 3, test seed 0, world seed 3", without those at their default."""
        texts = [f"seed {self.seed}"]
        if self.test_seed not in (None, self.seed):
            texts.append(f"test seed {self.test_seed}")
        if self.world_seed:
            texts.append(f"world seed {self.world_seed}")
        return ", ".join(texts)

    @property
    def example_bytes(self) -> float:
        """About how many bytes an example takes in a shard."""
        pixels = self.width * self.height
        parts = ((True, _EXAMPLE_BYTES), (self.masks, _MASK_BYTES), (self.depth, _DEPTH_BYTES))
        picture = sum(
            by_side * sqrt(pixels) + by_pixel * pixels for kept, (by_side, by_pixel) in parts if kept
        )
        return self.shots * picture

    def at_once(self, most: int) -> int:
        """Pictures that are in memory at once: `most`, but no more than have 8 million pixels."""
        return max(1, min(most, _PIXELS // (self.width * self.height)))

    @property
    def shard_size(self) -> int:
        """Examples a file: :attr:`shard`, or a number that gives files of 64 to 256 MB, but at least four."""
        if self.shard is not None:
            return self.shard
        by_bytes = _round_down(_SHARD_BYTES / self.example_bytes)
        size = min(by_bytes, max(_LEAST_SHARD, _round_down(max(self.counts().values()) // _LEAST_SHARDS)))
        return max(size - size % self.block, self.block)

    @property
    def table_from_file(self) -> bool:
        """Whether the frequencies of entities come from a CSV file, which may be gone later."""
        return self.frequencies not in ("vg", "uniform") and not self.frequencies.startswith("zipf:")

    @property
    def paint_from_file(self) -> bool:
        """Whether the frequencies of paints come from a CSV file."""
        return self.paint not in CHOICES

    def seed_of(self, split: str) -> int:
        """The seed of a split."""
        return self.test_seed if split in TESTS and self.test_seed is not None else self.seed

    def counts(self) -> dict[str, int]:
        """Examples in each split."""
        counts = {"train": self.n, "val": self.val, "test": self.test}
        return counts | ({COMPOSITION: self.test} if self.hold_out else {})

    @property
    def vehicles(self) -> int:
        """Vehicle slots in a scene."""
        if self.has_families:
            return self.crowds[1]
        return 3 if self.distractor else 2


@dataclass(frozen=True)
class HandMade(Settings):
    """The settings of a data set of scenes that somebody made (:mod:`simtown.datasets.making.hand_made`).

    Its manifest says so; nobody sets it.
    """

    hand_made: ClassVar[bool] = True


@lru_cache(maxsize=64)
def _permutation(world_seed: int) -> tuple[int, ...]:
    """All kinds of the world, by catalogue number, in an order that the seed draws."""
    import numpy as np

    from simtown.core.streams import Stream

    numbers = np.arange(SIZES[VERSION])
    keys = Stream(world_seed, "world", "kinds").bits(numbers, 1)[:, 0]
    return tuple(keys.argsort(kind="stable").tolist())


def _round_down(limit: float) -> int:
    """The largest of 2, 10, 20, 50, 100, 200, 500, ... 100,000 that is at most `limit`, and at least 2."""
    steps = [2, *(digit * 10**zeros for zeros in range(1, 5) for digit in (1, 2, 5)), 100_000]
    return max(step for step in steps if step <= max(limit, 2))
