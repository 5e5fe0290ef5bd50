"""The settings of a data set: every choice that decides its bytes, as the manifest has them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from simtown.assets.entities import CATALOGUE, ENTITIES, OWN, SIZES, VERSION
from simtown.assets.own import require_kinds
from simtown.core import options
from simtown.core.options import SettingsError as SettingsError
from simtown.core.options import deciding, no_option, option
from simtown.core.untrusted import read_toml_text
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.addresses import SPLITS as SPLITS
from simtown.language.meaning.relations import DEFAULT_RELATIONS, RADIAL, RELATION_NAMES, RELATIONS
from simtown.language.words.questions import FAMILIES, STYLES
from simtown.render.frames import check_size
from simtown.scenes.paint import CHOICES, paint_frequencies
from simtown.scenes.weather import DEFAULT_WEATHERS, WEATHERS

if TYPE_CHECKING:
    import numpy as np

    from simtown.language.asking.paper import Recipe

#: Version of the layout of shards and of the manifest (docs/data-format.md).
SCHEMA = 2
#: Splits whose kinds are drawn uniformly, with the test seed.
_TESTS = ("test", COMPOSITION)
#: The key of :attr:`Settings.kinds` among the settings in a manifest, if the world seed is not 0.
KINDS = "kinds"
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
#: The digest of a table behind the name of its CSV file, as a manifest has it.
_TABLE = re.compile(r" \(table [0-9a-f]{6}\)$")


class Tables(NamedTuple):
    """Resolved frequencies, float64: of the subjects and objects of train and val, in the order of
    :attr:`Settings.kinds`, and of the paints of every split, empty if every kind keeps its own.
    """

    subject: np.ndarray
    object: np.ndarray
    paint: np.ndarray


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
    "Ask every question of two pictures that differ in one vehicle, or the weather, so that its answer is "
    "another. Where one of yes or no flips too, both pictures are asked that as well; with "
    "--questions-per-picture all of them flip. With --cannot-tell one of the two answers is that."
)
_CANNOT_TELL = "Share of questions whose answer is that one cannot tell, since it is too close to say."
_PER_PICTURE = (
    "Questions about each picture: the first of any family, the others yes or no. --n, --val and --test "
    "count questions."
)
_HOLD_OUT = (
    "Compositions that only the split test-composition holds, separated by commas: kind-kind:0.1 (a tenth of "
    "all pairs), kind-colour:0.1, kind-weather:0.1, kind-relation:0.1, taxi+bus, taxi+snow, taxi+red, "
    "taxi+left of, count>2, depth>2, frame:driver."
)
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
    frequencies that a manifest holds, by the names of :class:`Tables`: no CSV file is read for a name with
    the digest of its table.
    Nothing is read from a file when settings are made: :meth:`with_question_files` reads families.

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
    distractor: bool = option(False, "Put a third vehicle into every scene.", decides="curve")
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
    kept: dict[str, list[float]] | None = field(
        default=None, compare=False, repr=False, metadata={"decides": "examples"}
    )
    #: Whether somebody made the scenes, see :class:`HandMade`.
    hand_made: ClassVar[bool] = False

    def check(self) -> None:
        """Raises SettingsError if a value is out of range, or if somebody made the scenes."""
        if self.hand_made:
            raise SettingsError("these are the settings of scenes made by hand: no others can be sampled")
        self.check_apart_from_frequencies()
        if self.own_kinds:
            import_module(
                "simtown.language.meaning.nouns"
            )  # raises KindsError for a name that is a noun already
        try:
            self.tables()  # fast, as the import of the sampler is not
            if self.asks:
                from simtown.datasets import family_questions

                family_questions.check(self)
                return
            from simtown.language.asking.paper import plan_of

            plan_of(self.recipe("train"))  # do enough kinds occur?
        except SettingsError:
            raise
        except (ValueError, OSError) as error:
            raise SettingsError(str(error)) from error

    def check_apart_from_frequencies(self) -> None:
        """:meth:`check` without the frequencies, whose CSV file may be gone later."""
        options.check(replace(self, n=2, val=0, test=0, shard=None) if self.hand_made else self)
        if self.catalogue != VERSION:
            raise SettingsError(f"must be {VERSION}, not {self.catalogue}", "catalogue")
        require_kinds(self.own_kinds, OWN, "the data set")
        self._check_questions()
        for name in ("n", "val", "test", "shard"):
            if (getattr(self, name) or 0) % self.block:
                option = "twins" if self.questions_per_picture == 1 else "questions_per_picture"
                several = f"must be a multiple of {self.block} with `{option}`"
                raise SettingsError(f"{several}, not {getattr(self, name)}", name)
        if self.cannot_tell and self.questions_per_picture > 1:
            # further questions are never unclear, so their words would hint
            one = "is for one question a picture: leave out `questions_per_picture`"
            raise SettingsError(one, "cannot_tell")
        if self.asks and self.distractor:
            raise SettingsError("is for the paper's questions alone: use `crowd`", "distractor")
        if self.entities < self.vehicles and not self.asks:
            raise SettingsError("must be at least 3 with `distractor=True`", "entities")
        check_size(self.width, self.height)
        files = sum(-(-count // self.shard_size) for count in self.counts().values())
        if files > MOST_SHARDS:
            most = f"more than a manifest can list ({MOST_SHARDS:,})"
            raise SettingsError(f"{self.shard_size} makes {files:,} files, {most}", "shard")

    @property
    def asks(self) -> bool:
        """Whether questions of families are asked, not only the paper's."""
        return any(getattr(self, name) != LEFT_OUT[name] for name in deciding(Settings, "families"))

    def __post_init__(self) -> None:
        """Fill in what was left out."""
        for name, most in _USUAL.items():
            if getattr(self, name) is None:
                whole = max(self.block, 1)
                object.__setattr__(self, name, min(most, self.n) // whole * whole)

    def with_question_files(self) -> Settings:
        """These settings with the families of the TOML files among `questions`, which may change later.

        Nothing else reads such a file. Raises SettingsError for one that cannot be used.

        >>> import pathlib, simtown
        >>> template = 'program = "exist(1)"\\nslots = ["set"]\\ntexts = ["Is {a 1} there?"]'
        >>> text = f'[there]\\nanswer = "truth"\\n[[there.templates]]\\n{template}\\n'
        >>> size = pathlib.Path("mine.toml").write_text(text)
        >>> simtown.Settings(questions=("exist", "mine.toml")).with_question_files().questions
        ('exist', 'there')
        """
        questions: list[str] = []
        text = self.own_families
        for name in self.questions:
            if not name.endswith(".toml"):
                questions.append(name)
                continue
            from simtown.language.asking.families import read_families
            from simtown.language.asking.template import FamilyError

            try:
                text = "\n".join(filter(None, (text, read_toml_text(Path(name)))))
                families = read_families(text, name)
                if taken := {"paper", "all", *FAMILIES} & families.keys():
                    raise FamilyError(f"{min(taken)} is a family of simtown: give yours another name")
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise SettingsError(f"{name} cannot be used: {why}", "questions") from error
            questions += families
        return replace(self, questions=tuple(dict.fromkeys(questions)), own_families=text)

    def families(self) -> tuple[str, ...]:
        """The names of the families that are asked: of `all` those that this world can ask."""
        left_out = self.left_out()
        every = tuple(name for name in FAMILIES if name not in left_out)
        groups = (every if name == "all" else (name,) for name in self.questions)
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def left_out(self) -> dict[str, str]:
        """The families of `all` that this world cannot ask, and why."""
        if "all" not in self.questions:
            return {}
        from simtown.datasets.family_questions import problems

        return problems(self)

    @property
    def block(self) -> int:
        """Questions of two pictures, whose first questions are a pair; with twins, of a group."""
        if self.hand_made:
            return 1
        return max(4 * self.twins, 2 * self.questions_per_picture)

    @property
    def crowds(self) -> tuple[int, int]:
        """Least and most vehicles in a scene."""
        if not self.asks:
            return self.vehicles, self.vehicles
        low, _, high = (self.crowd or CROWD).partition("-")
        return int(low), int(high or low)

    def _check_questions(self) -> None:
        """Raises SettingsError for an unknown family, and for a family or relation named twice."""
        known = ("paper", "all", *FAMILIES)
        if self.own_families:
            from simtown.language.asking.families import read_families

            known = (*known, *read_families(self.own_families, "own_families"))
        unknown = [name for name in self.questions if name not in known]
        if unknown:
            similar = get_close_matches(unknown[0], known) or known
            choice = f"choose among {', '.join(similar)}, or give a TOML file"
            if unknown[0].endswith(".toml"):
                choice = "Settings.with_question_files() reads a file that you name"
            raise SettingsError(f"{unknown[0]} is unknown: {choice}", "questions")
        for name in ("questions", "relations"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise SettingsError("names one twice", name)

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
    def canonical(self) -> Settings:
        """The same data set, all families named, without a `test_seed` or a `crowd` that is the usual one."""
        test_seed = None if self.test_seed == self.seed else self.test_seed
        usual = self.crowd == CROWD and self.questions != ("paper",)
        crowd = "" if usual else self.crowd
        return replace(self, test_seed=test_seed, questions=self.families(), crowd=crowd)

    @property
    def seeds(self) -> str:
        """All seeds in words, such as "seed 3, test seed 0, world seed 3", without those at their default."""
        own = self.canonical
        return ", ".join(
            f"{name.replace('_', ' ')} {getattr(own, name)}"
            for name in deciding(Settings, "draw")
            if getattr(own, name) != LEFT_OUT.get(name)
        )

    @property
    def example_bytes(self) -> float:
        """About how many bytes an example takes in a shard."""
        pixels = self.width * self.height
        parts = ((True, _EXAMPLE_BYTES), (self.masks, _MASK_BYTES), (self.depth, _DEPTH_BYTES))
        return sum(by_side * sqrt(pixels) + by_pixel * pixels for kept, (by_side, by_pixel) in parts if kept)

    def at_once(self, most: int) -> int:
        """Pictures that are in memory at once: `most`, but no more than have 8 million pixels."""
        return max(1, min(most, _PIXELS // (self.width * self.height)))

    @property
    def shard_size(self) -> int:
        """Examples a file: :attr:`shard`, or a number that gives files of 64 to 256 MB, but at least four."""
        if self.shard is not None:
            return self.shard
        by_bytes = _round_down(_SHARD_BYTES / self.example_bytes)
        size = min(by_bytes, max(_LEAST_SHARD, _round_down(max(self.counts().values()) / _LEAST_SHARDS)))
        return max(size - size % self.block, self.block)

    @property
    def table_from_file(self) -> bool:
        """Whether the frequencies of entities come from a CSV file, which may be gone later."""
        return self.frequencies not in ("vg", "uniform") and not self.frequencies.startswith("zipf:")

    @property
    def paint_from_file(self) -> bool:
        """Whether the frequencies of paints come from a CSV file."""
        return self.paint not in CHOICES

    def tables(self, uniform: bool = False) -> Tables:
        """All frequencies, as chosen, or `uniform` ones of entities.

        Raises ValueError or OSError if there is no such table.
        """
        import numpy as np

        from simtown.assets.frequencies import frequencies

        def kept(name: str) -> np.ndarray:
            return np.array((self.kept or {}).get(name, ()), dtype=np.float64)

        if not uniform and _TABLE.search(self.frequencies):
            subject, obj = kept("subject"), kept("object")
            if not len(subject) == len(obj) == self.entities:
                counts = f"{self.frequencies} has frequencies of {len(subject)} entities"
                raise ValueError(f"{counts}, not of `entities={self.entities}`")
        else:
            subject, obj = frequencies("uniform" if uniform else self.frequencies, self.entities)
        paint = kept("paint") if _TABLE.search(self.paint) else paint_frequencies(self.paint)
        return Tables(subject, obj, paint)

    def chances(self, split: str) -> Tables:
        """Chances of every kind by catalogue number, and of paints: as chosen, or uniform to test."""
        subject, obj, paint = self.tables(uniform=split in _TESTS)
        return Tables(self._by_number(subject), self._by_number(obj), paint)

    def seed_of(self, split: str) -> int:
        """The seed of a split."""
        return self.test_seed if split in _TESTS and self.test_seed is not None else self.seed

    def recipe(self, split: str) -> Recipe:
        """The recipe of a split of the paper's questions."""
        from simtown.language.asking.paper import Recipe

        subject, obj, paint = self.chances(split)
        return Recipe(
            seed=self.seed_of(split),
            split=split,
            subject=subject,
            object=obj,
            distractor=self.distractor,
            relations=self.relations,
            phrasing=self.phrasing,
            weathers=self.weathers,
            jitter=self.jitter,
            paint=paint,
        )

    def _by_number(self, table: np.ndarray) -> np.ndarray:
        """(m,) float64 by catalogue number, 0 for absent kinds, of a table in the order of :attr:`kinds`."""
        import numpy as np

        chances = np.zeros(max(self.kinds) + 1)
        chances[list(self.kinds)] = table
        return chances

    def counts(self) -> dict[str, int]:
        """Examples in each split."""
        counts = {"train": self.n, "val": self.val, "test": self.test}
        return counts | ({COMPOSITION: self.test} if self.hold_out else {})

    def list_values(self) -> dict[str, Any]:
        """The choices of :attr:`canonical` by name; also `hand_made`, if the scenes are."""
        values = asdict(self.canonical)
        del values["kept"]
        return values | ({"hand_made": True} if self.hand_made else {})

    def resolved(self) -> dict[str, Any]:
        """The settings for JSON, with the frequencies themselves: a changed CSV file is a changed setting.

        The kinds are written out too, unless they are the first of the catalogue. Of a CSV file only the name
        and a digest are kept, since its folders are private.
        """
        subject, obj, paint = (table.tolist() for table in self.tables())
        resolved = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.list_values().items()
            if name not in LEFT_OUT or value != LEFT_OUT[name]
        }
        resolved["shard"] = self.shard_size
        resolved |= {"subject_frequencies": subject, "object_frequencies": obj, "paint_frequencies": paint}
        if self.table_from_file:
            resolved["frequencies"] = _named_table(self.frequencies, subject, obj)
        if self.paint_from_file:
            resolved["paint"] = _named_table(self.paint, paint)
        if self.world_seed or self.own_kinds:
            resolved[KINDS] = list(self.kinds)
        return resolved

    @classmethod
    def from_resolved(cls, resolved: dict[str, Any]) -> Settings:
        """Inverse of :meth:`resolved`: the frequencies are kept, and no file is read for them.

        Raises ValueError for what no settings are.
        """
        tables = {f"{name}_frequencies": name for name in Tables._fields}
        kept = {name: resolved.get(key, []) for key, name in tables.items()}
        own = {name: value for name, value in resolved.items() if name not in (KINDS, "hand_made", *tables)}
        if unknown := own.keys() - {field.name for field in fields(cls)}:
            raise ValueError(f"settings.{min(unknown)} is unknown")
        made = HandMade if resolved.get("hand_made") else Settings
        settings = msgspec.convert({"own_kinds": [], **own}, made)
        named: dict[str, Any] = {}  # as no file is that tables() reads
        if settings.table_from_file:
            named["frequencies"] = _named_table(settings.frequencies, kept["subject"], kept["object"])
        if settings.paint_from_file:
            named["paint"] = _named_table(settings.paint, kept["paint"])
        return replace(settings, **named, kept=kept if named else None)

    @property
    def vehicles(self) -> int:
        """Vehicle slots in a scene."""
        if self.asks:
            return self.crowds[1]
        return 3 if self.distractor else 2

    @property
    def hints_at_depth(self) -> bool:
        """Whether words about near and far hint at the answer: three long vehicles may fit one way only."""
        axes = {relation.axis for relation in RELATIONS if relation.name in self.relations}
        return self.distractor and RADIAL in axes


@dataclass(frozen=True)
class HandMade(Settings):
    """The settings of a data set of scenes that somebody made (:mod:`simtown.datasets.making.hand_made`).

    Its manifest says so; nobody sets it.
    """

    hand_made: ClassVar[bool] = True


_DEFAULTS = {field.name: field.default for field in fields(Settings)}
#: Settings that a manifest leaves out if they have their default, since older data sets do not have them:
#: those behind `catalogue`.
LEFT_OUT: dict[str, Any] = dict([*_DEFAULTS.items()][[*_DEFAULTS].index("catalogue") + 1 :])
LEFT_OUT |= {"own_kinds": (), "hand_made": False}


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


def file_name(choice: str) -> str:
    """The name of a CSV file of frequencies, without folders and without the digest of its table."""
    return _TABLE.sub("", choice).replace("\\", "/").rstrip("/").rpartition("/")[2]


def _named_table(choice: str, *tables: list[float]) -> str:
    """The name of a table of frequencies with a digest: "counts.csv (table 3f2a61)"."""
    text = "".join(",".join(map(str, table)) for table in tables)
    return f"{file_name(choice)} (table {hashlib.sha256(text.encode()).hexdigest()[:6]})"


def in_words(resolved: dict[str, Any]) -> dict[str, str]:
    """Resolved settings as people compare them: each as a text, tables as digests."""
    s = dict(resolved)
    s.pop(KINDS, None)  # they follow from the seed
    subject, obj, paint = (s.pop(f"{role}_frequencies") for role in Tables._fields)
    s["frequencies"] = _named_table(s["frequencies"], subject, obj)
    s["paint"] = _named_table(s["paint"], paint) if paint else s["paint"]
    s["size"] = f"{s.pop('width')}x{s.pop('height')}"
    return as_texts(s)


def as_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings of a data set by name, each as a text; of those that are long, digests."""
    s = {**LEFT_OUT, **settings}
    s["own_kinds"] = [record[:-58] for record in s["own_kinds"]]  # with 6 digits of their digests
    s["own_families"] = hashlib.sha256(s["own_families"].encode()).hexdigest()[:6]
    texts = {name: ",".join(map(str, value)) for name, value in s.items() if isinstance(value, list | tuple)}
    return {name: texts.get(name, str(value)) for name, value in s.items()}
