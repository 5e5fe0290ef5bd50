"""Questions of families as a source of examples: their recipes, columns and answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.frequency_tables import chances_of
from simtown.datasets.proving.twin_groups import pair_problems, twin_problems
from simtown.datasets.question_source import FAMILY_ARRAYS, TWIN_ARRAYS, Columns, Problems, Tried
from simtown.language.asking.families import families, problem, read_families, sequence_families
from simtown.language.asking.hold_out import NO_LIMIT, HeldOut, HoldOut, RuleError, read_rule
from simtown.language.asking.question import AskingRecipe, Questions, QuestionTable, askable
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.search import ask_families
from simtown.language.asking.several import ask_several, may_follow
from simtown.language.asking.templates import Family, SequenceFamily, slots_of
from simtown.language.asking.twins import EDITS, Twins, ask_twins, may_lead
from simtown.language.meaning import programs
from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.meaning.evaluate import CLOSE, KNOWN, Values, evaluate
from simtown.language.meaning.limits import SEEN_DIFFERENCE, SMALL_PICTURE, TOLERANCE, TOLERATED_SHARE
from simtown.language.meaning.nouns import kinds_meant
from simtown.language.meaning.programs import Form, ProgramError, decode
from simtown.language.meaning.relations import DEFAULT_RELATIONS, RELATION_NAMES
from simtown.language.words import wording
from simtown.language.words.grammar import parse
from simtown.language.words.questions import FAMILIES
from simtown.language.words.tokens import encode, vocabulary
from simtown.render.raster import Raster
from simtown.scenes.scene import Scene, SceneBatch
from simtown.scenes.silhouette import boxes

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings

#: The value of a number that means nothing, and columns that hold it, since they mean the paper's questions.
NONE = 255
_OF_THE_PAPER = ("relation", "subject_slot", "object_slot", "phrasing")
#: Streets of which one suffices for each of the first pictures, where that of more streets suffices for all.
TRIAL_STREETS = 60
#: Pictures whose questions are asked at once.
ASKED_AT_ONCE = 2048
#: Words that are drawn at most for an example until some ask for a rare composition.
MOST_TRIES = 4096


def count_changes(before: SceneBatch, after: SceneBatch, size: tuple[int, int]) -> np.ndarray:
    """(n,) int64: how many pixels of n pictures and n others of a size differ enough to be seen."""
    pictures = [
        Raster().render(scenes, *size, geometry=False).rgb.astype(np.int16) for scenes in (before, after)
    ]
    differences = np.abs(pictures[0] - pictures[1]).max(axis=3)
    return np.asarray((differences >= SEEN_DIFFERENCE).sum(axis=(1, 2)))


@lru_cache(maxsize=8)
def hold_out(settings: Settings, alone: bool) -> HoldOut:
    """The rules of the split of held-out compositions (`alone`), or of any other split.

    Raises RuleError for a rule that cannot be used, or that leaves a family no questions.
    """
    town, own = world(settings, "test"), families_of(settings)
    seed = settings.seed_of("test")
    rules = tuple(read_rule(text, town, seed) for text in settings.hold_out)
    size = (settings.width, settings.height)
    trial = AskingRecipe(seed, "hold-out", town, own, settings.weathers, size)

    def places(rule: HeldOut) -> tuple[int, ...]:
        """The families that can be asked, in every weather."""
        skies = town.weathers if rule.tables["weather"].any() else town.weathers[:1]
        worlds = [replace(town, weathers=(sky, *town.weathers)) for sky in skies]
        trials = [replace(trial, world=w, hold_out=HoldOut((rule,), alone)) for w in worlds]
        return tuple(p for p in range(len(own)) if all(askable(t, p) for t in trials))

    asking = [rule.text for rule in rules if not rule.pictured]
    if asking and settings.questions_per_picture > 1:
        raise RuleError(f"{asking[0]} is about one question a picture: leave out `questions_per_picture`")
    if alone:
        hold = HoldOut(rules, alone, tuple(map(places, rules)), MOST_TRIES)
        absent = [rule.text for rule, left in zip(rules, hold.families, strict=True) if not left]
        if absent:
            raise RuleError(f"{absent[0]}: no question of these `questions` and `crowd` holds it")
        return hold
    together = reduce(add, rules)
    left = set(range(len(own)))
    for rule in (*rules, together):
        lost = left - set(places(rule))
        if lost and not rule.frames and rule.depth == NO_LIMIT:
            name = own[min(lost)].name
            raise RuleError(f"{rule.text} leaves no question of the family {name}: hold out less")
        left -= lost
    if not left:
        raise RuleError(f"{together.text} holds out every question: hold out less")
    return HoldOut((together,), alone, (tuple(sorted(left)),))


def fair_answers(settings: Settings, split: str, family: Family) -> tuple[int, ...]:
    """The answers that a split has equally often to a family, as the evaluator numbers them."""
    possible = world(settings, "test").answers[family.answer]
    if settings.hold_out:
        hold = hold_out(settings, split == COMPOSITION)
        for held in hold.held:
            possible = held.answers(family.answer, possible, hold.alone, settings.twins)
    return possible


def keeps_rules(questions: Questions, settings: Settings, split: str) -> np.ndarray:
    """(n,) bool: which questions of a split hold no held-out composition; of COMPOSITION, hold one."""
    hold, counting = (
        hold_out(settings, split == COMPOSITION),
        [f.answer == "count" for f in families_of(settings)],
    )
    counts = np.where(np.array(counting)[questions.family], questions.answer, -1)
    if settings.twins and hold.alone:  # one of two neighbouring counts is held out
        counts = counts.reshape(-1, 2).max(axis=1).repeat(2)
    result, forms = np.full(len(counts), not hold.alone), [*map(decode, questions.program)]
    for held in hold.held:
        asks = np.array([held.asks(form, count) for form, count in zip(forms, counts, strict=True)])
        if hold.alone:
            result |= held.shown(questions.scene) if held.pictured else asks
        else:
            result &= ~(asks | [held.names(form) for form in forms] | held.shown(questions.scene))
    return result


def families_of(settings: Settings) -> tuple[Family, ...]:
    """The families that a data set asks, in order."""
    known = _known(settings)
    return tuple(known[name] for name in names_of_families(settings))


def names_of_families(settings: Settings) -> tuple[str, ...]:
    """The names of the families that are asked: of `all` those that this world can ask."""
    every_one = settings.sequence and settings.questions == ("paper",)
    if "all" not in settings.questions and not every_one:
        return settings.questions
    unasked = problems(settings)
    every = tuple(
        name for name in (_known(settings) if settings.sequence else FAMILIES) if name not in unasked
    )
    if every_one:
        return every
    groups = (every if name == "all" else (name,) for name in settings.questions)
    return tuple(dict.fromkeys(name for group in groups for name in group))


def _known(settings: Settings) -> dict[str, Family]:
    """All families that these settings may name."""
    if settings.sequence:
        return {name: f for name, f in sequence_families().items() if f.sequence == settings.sequence}
    return families() | read_families(settings.own_families, "own_families")


@lru_cache(maxsize=8)
def problems(settings: Settings) -> dict[str, str]:
    """The families that the world of these settings cannot ask, and why."""
    train, test = (world(settings, split) for split in ("train", "test"))
    known = _known(settings).values()
    found = {family.name: problem(train, family) or problem(test, family) for family in known}
    if settings.width * settings.height < SMALL_PICTURE**2:
        few = f"needs larger pictures, in which colours are seen: `size` of {SMALL_PICTURE} or more"
        found |= {f.name: few for f in known if any("colour" in t.form.words for t in f.templates)}
    if settings.twins and settings.questions_per_picture > 1:
        one = "has twins of which nothing else can be asked: leave out `questions_per_picture`"
        found |= {family.name: one for family in known if not may_lead(family)}
    found |= {
        f.name: f"needs `pictures` of at least {f.pictures}"
        for f in known
        if isinstance(f, SequenceFamily) and f.pictures > settings.shots
    }
    unasked = {name: why for name, why in found.items() if why and name != "paper"}
    if settings.sequence:
        return unasked
    named = tuple(f for f in known if "all" in settings.questions or f.name in settings.questions)
    size, each = (settings.width, settings.height), settings.questions_per_picture
    for town in (train, test):
        trial = AskingRecipe(
            0,
            "trial",
            town,
            named,
            settings.weathers,
            size,
            cannot_tell=settings.cannot_tell,
            questions_per_picture=each,
        )
        for place, family in enumerate(named):
            if family.name not in unasked and not askable(trial, place):
                unasked[family.name] = "fits no street here: allow more `entities` or `crowd`"
    return unasked


def world(settings: Settings, split: str) -> AskedWorld:
    """The world that questions of a split are about; small pictures show no colour surely."""
    subject, obj, paint = chances_of(settings, split)
    chosen = settings.relations != DEFAULT_RELATIONS or settings.questions == ("paper",)
    relations = settings.relations if chosen else RELATION_NAMES
    town = AskedWorld.of((subject + obj) / 2, paint, settings.weathers, *settings.crowds, relations)
    town = replace(town, pictures=settings.shots)
    return replace(town, colours=()) if settings.width * settings.height < SMALL_PICTURE**2 else town


def answers(settings: Settings) -> tuple[str, ...]:
    """The closed vocabulary of a data set's answers; :attr:`value` counts its places."""
    types = dict.fromkeys(family.answer for family in families_of(settings))
    every = [text for answer in types for text in choices(settings, answer) if text != CANNOT_TELL]
    return tuple(dict.fromkeys([*every, CANNOT_TELL] if settings.cannot_tell else every))


@lru_cache(maxsize=64)
def choices(settings: Settings, answer_type: str) -> tuple[str, ...]:
    """All answers that questions of a type, a key of ANSWERS, may have in a data set."""
    texts = [ANSWERS[answer_type][number] for number in possible(settings, answer_type)]
    return (*texts, CANNOT_TELL) if settings.cannot_tell else tuple(texts)


def answers_of(settings: Settings) -> dict[str, tuple[str, tuple[str, ...]]]:
    """By family: the type of its answer, a key of ANSWERS, and the answers that it may have."""
    return {own.name: (own.answer, choices(settings, own.answer)) for own in families_of(settings)}


def possible(settings: Settings, answer_type: str) -> tuple[int, ...]:
    """The numbers of :func:`choices`. Of scenes that somebody made, the answer may be any."""
    if not settings.hand_made:
        return world(settings, "test").answers[answer_type]
    return settings.kinds if answer_type == "kind" else tuple(range(len(ANSWERS[answer_type])))


def question_columns(
    questions: QuestionTable, index: np.ndarray, settings: Settings, seen: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The columns of n questions, by name, without those of their scenes; `seen` has boxes and shares."""
    n, known = len(index), questions.values
    types, texts = families_of(settings), {text: place for place, text in enumerate(answers(settings))}
    replies = [
        CANNOT_TELL if answer < 0 else ANSWERS[types[family].answer][answer]
        for family, answer in zip(questions.family.tolist(), questions.answer.tolist(), strict=True)
    ]
    metres = np.array([types[family].answer == "metres" for family in questions.family.tolist()])
    number = np.where(questions.answer < 0, np.nan, known.number).astype(np.float32)
    tolerance = np.where(metres, np.maximum(TOLERANCE, TOLERATED_SHARE * number), np.nan).astype(np.float32)
    return {
        "index": index.astype(np.int64),
        "question": np.array([text.encode() for text in questions.words], dtype="S256"),
        "tokens": np.stack([encode(text) for text in questions.words]),
        "answer": np.array([reply == "yes" for reply in replies]),
        **{name: np.full(n, -1, dtype=np.int16) for name in ("subject", "object")},
        **{name: np.full(n, NONE, dtype=np.uint8) for name in _OF_THE_PAPER},
        "margin": np.where(np.isfinite(known.margin), known.margin, np.nan).astype(np.float32),
        **seen,
        "family": questions.family.astype(np.uint8),
        "template": questions.template.astype(np.uint8),
        "text": questions.text.astype(np.uint8),
        "program": questions.program,
        "value": np.array([texts[reply] for reply in replies], dtype=np.int16),
        "number": number,
        "tolerance": tolerance,
    }


def stored_questions(stored: Columns, families: tuple[Family, ...], values: Values) -> dict[str, Any]:
    """The columns of a QuestionTable of stored questions that have some values.

    Raises ProgramError or FamilyError for programs of other templates.
    """
    if (values.state > CLOSE).any():
        raise ProgramError("a question asks about what is not there, or not once")
    words = []
    columns = (stored[name].tolist() for name in ("family", "template", "text"))
    for family, template, text, numbers in zip(*columns, stored["program"], strict=True):
        own = families[family].templates[template]
        words.append(wording.fill(own.texts[text], slots_of(own, decode(numbers))))
    return {
        **{name: stored[name].astype(np.int64) for name in ("family", "template", "text")},
        "program": stored["program"],
        "words": words,
        "answer": np.where(values.state == KNOWN, values.answer, -1),
        "values": values,
        "tried": np.zeros((len(words), 2), dtype=np.int64),
    }


def kinds_named(program: Form) -> set[str]:
    """The kinds that the nouns of a program stand for; of "vehicle" every kind of vehicle."""
    return {kind for noun in program.nouns() for kind in kinds_meant(noun)}


def read_question(scene: Scene, question: str) -> Form:
    """The program of a question about a scene that somebody made. Raises ProgramError or QuestionError."""
    kinds = {part.entity for part in scene.vehicles} | {part.kind for part in scene.props}
    form, _, _ = parse(sorted(kinds), question)
    programs.check(form)
    return form


class FamilyQuestions:
    """Questions of families (:mod:`simtown.language.asking.search`)."""

    answer_column = "value"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.arrays = FAMILY_ARRAYS | (TWIN_ARRAYS if settings.twins else {})
        # those with alike programs are evaluated together, so batches are large
        self.batch = ASKED_AT_ONCE * settings.block // 2
        self._recipes: dict[str, AskingRecipe] = {}

    def check_names(self) -> None:
        settings = self.settings
        known = ("paper", "all", *FAMILIES)
        if settings.sequence:
            if settings.questions == ("paper",):
                return
            known = ("all", *_known(settings))
        if settings.own_families:
            known = (*known, *read_families(settings.own_families, "own_families"))
        unknown = [name for name in settings.questions if name not in known]
        if unknown:
            similar = get_close_matches(unknown[0], known) or known
            choice = f"choose among {', '.join(similar)}, or give a TOML file"
            if unknown[0].endswith(".toml"):
                choice = "read_question_files() reads a file that you name"
            raise SettingsError(f"{unknown[0]} is unknown: {choice}", "questions")
        if len(set(settings.questions)) < len(settings.questions):
            raise SettingsError("names one twice", "questions")

    def check(self) -> None:
        settings = self.settings
        answers(settings)
        several = settings.questions_per_picture > 1
        if settings.phrasing != "paper":
            raise SettingsError("is for the paper's questions alone: leave it out", "phrasing")
        if settings.hold_out:
            hold_out(settings, alone=False)
            hold_out(settings, alone=True)
        if several and not any(map(may_follow, families_of(settings))):
            few = "needs exist, relations or another family about where vehicles stand among `questions`"
            raise SettingsError(few, "questions_per_picture")
        unasked = problems(settings)
        for name in (name for name in settings.questions if name in unasked):
            raise SettingsError(f"{name} {unasked[name]}, or leave it out", "questions")
        if several:  # are so many found about some pictures?
            ask = ask_twins if settings.twins else ask_several
            trial = replace(self.recipe("train"), streets=TRIAL_STREETS)
            ask(trial, np.arange(4 * settings.block))

    def notes(self) -> Iterator[str]:
        if "all" in self.settings.questions:
            for name, why in problems(self.settings).items():
                yield f"{name} is left out, since it {why}"

    def family_names(self) -> tuple[str, ...]:
        return names_of_families(self.settings)

    def vocabulary(self) -> tuple[str, ...]:
        return vocabulary(len(self.settings.own_kinds))

    def recipe(self, split: str) -> AskingRecipe:
        settings = self.settings
        if split not in self._recipes:
            self._recipes[split] = AskingRecipe(
                seed=settings.seed_of(split),
                split=split,
                world=world(settings, split),
                families=families_of(settings),
                weathers=settings.weathers,
                size=(settings.width, settings.height),
                jitter=settings.jitter,
                varied=settings.cameras == "varied",
                cannot_tell=settings.cannot_tell,
                questions_per_picture=settings.questions_per_picture,
                hold_out=hold_out(settings, split == COMPOSITION) if settings.hold_out else None,
                twins=settings.twins,
                count_changes=count_changes,
            )
        return self._recipes[split]

    def draw(self, split: str, index: np.ndarray) -> Questions:
        recipe = self.recipe(split)
        if recipe.twins:
            return ask_twins(recipe, index)
        if recipe.questions_per_picture > 1:
            return ask_several(recipe, index)
        return ask_families(recipe, index)

    def pictures(self, drawn: Questions) -> SceneBatch:
        return drawn.scene[:: self.settings.questions_per_picture]

    def shown(self, drawn: Questions, rows: np.ndarray) -> SceneBatch:
        return drawn.scene[rows]

    def tried(self, drawn: Questions) -> Tried:
        streets, placed = drawn.tried.sum(axis=0).tolist()
        return {"placement": (streets, placed), "question": (placed, len(drawn.words))}

    def columns(self, drawn: Questions, index: np.ndarray) -> dict[str, np.ndarray]:
        width, height = self.settings.width, self.settings.height
        seen = {"boxes": boxes(drawn.scene, width, height), "visible": drawn.visible}
        return {
            **question_columns(drawn, index, self.settings, seen),
            **(drawn.twins._asdict() if drawn.twins else {}),
            **drawn.scene.columns(),
        }

    def names(self) -> dict[str, list[str]]:
        families = [family.name for family in families_of(self.settings)]
        result = {"families": families, "answers": list(answers(self.settings))}
        return result | ({"edits": list(EDITS)} if self.settings.twins else {})

    def problems(self, stored: Columns, split: str, quick: bool) -> Problems:
        families, each = families_of(self.settings), self.settings.questions_per_picture
        templates = [len(family.templates) for family in families]
        texts = [len(template.texts) for family in families for template in family.templates]
        family = stored["family"].astype(np.int64)
        yield "its family is not one of the data set's", family >= len(families)
        template = stored["template"].astype(np.int64)
        yield "its family has no such template", template >= np.array(templates)[family]
        first = np.concatenate([[0], np.cumsum(templates)])[family]
        yield "its template has no such text", stored["text"] >= np.array(texts)[first + template]
        if self.settings.twins:
            yield from twin_problems(stored, each)
        elif quick and self.settings.block > 1 and split != COMPOSITION:  # there rules may leave one answer
            unclear = answers(self.settings).index(CANNOT_TELL) if self.settings.cannot_tell else -1
            yield from pair_problems(stored, each, unclear)

    def faults(self, drawn: Questions, split: str) -> Problems:
        if self.settings.hold_out:
            which = "no" if split == COMPOSITION else "a"
            sentence = f"an example holds {which} composition that is held out"
            yield sentence, ~keeps_rules(drawn, self.settings, split)

    def unknown_numbers(self, stored: Columns) -> np.ndarray:
        return np.zeros(len(stored["family"]), dtype=bool)

    def implied(self, stored: Columns, visible: np.ndarray) -> Questions:
        settings = self.settings
        scene = SceneBatch.of_columns(stored)
        size = (settings.width, settings.height)
        values = evaluate(scene, stored["program"], visible, size, by_name=settings.hand_made)
        columns = stored_questions(stored, families_of(settings), values)
        if settings.hand_made:
            words = enumerate(columns["words"])
            forms = [read_question(scene.scene(row), question) for row, question in words]
            columns["program"] = programs.stored([programs.encode(form) for form in forms])
        twins = Twins(*(stored[name] for name in Twins._fields)) if settings.twins else None
        return Questions(scene=scene, visible=visible, twins=twins, **columns)
