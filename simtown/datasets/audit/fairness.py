"""Questions of families: do their words, their templates or their places give answers away, and is every
answer the one that its program has?
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simtown.datasets import family_questions
from simtown.datasets.audit.features import Counts, firsts, tenths
from simtown.datasets.audit.findings import Finding, information
from simtown.datasets.proving.twin_groups import pair_rows
from simtown.datasets.reading.reader import SCENE_COLUMNS
from simtown.datasets.sequence_questions import stored_values
from simtown.datasets.settings import Settings
from simtown.language.asking.sequences import CHANGE_SHARES
from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.meaning.evaluate import CLOSE, KNOWN
from simtown.language.meaning.limits import LANE_EDGE
from simtown.language.meaning.programs import OVER_TIME, numbers_of
from simtown.scenes.placement import LEAST_VISIBLE

#: The columns that the words of a question are seen in, and all that an audit reads.
WORDS = ("family", "template", "text", "program", "tokens", "value")
COLUMNS = (*WORDS, "visible", *SCENE_COLUMNS)
#: Parts of the examples that a model of words is tested on in turn; a family with fewer examples than LEAST
#: is not tested. Draws from the null distribution of an information.
FOLDS, LEAST, DRAWS = 5, 100, 100
#: How often a word or a pair of words occurs at least, so that a model learns from it.
OFTEN = 5
#: What a picture shows at a glance, and words of programs: a question with one of each group asks for it.
_GLANCES: dict[str, tuple[tuple[str, ...], ...]] = {
    "number of vehicles": (("count",), ("vehicle",)),
    "weather": (("weather",),),
    "vehicles in each lane": (
        ("related", "most", "nth", "compared", "lane", "direction", "distance", "box", "hidden", "sight"),
    ),
}
_SHORTCUT = (
    "A small model that reads nothing but the words beats the best constant answer: find the words that make "
    "an answer rare in a scene, and generate the data set again."
)
_BALANCE = (
    "Ask for every answer of a family as often, in each of its templates, and generate the data set again."
)


def answer_numbers(settings: Settings) -> np.ndarray:
    """(families, values) int64: the number that the evaluator gives an answer of the closed vocabulary in a
    family; -1 for "cannot tell", -2 for what is not an answer of the family.
    """
    texts, types = family_questions.answers(settings), family_questions.families_of(settings)
    numbers = np.full((len(types), len(texts)), -2)
    for row, family in zip(numbers, types, strict=True):
        for text in family_questions.choices(settings, family.answer):
            row[texts.index(text)] = -1 if text == CANNOT_TELL else ANSWERS[family.answer].index(text)
    return numbers


@dataclass
class FamilyCounts(Counts):
    """Counts of questions of families; of a group of twins, only the kinds of the first scene are counted.

    Attributes:
        answers: (families, templates, values) int64 examples.
        foreign: examples whose answer is none of the family's.
        wrong: whose program has another answer in the scene.
        idle: whose program has a part that changes nothing.
    """

    answers: np.ndarray
    foreign: int
    wrong: int
    idle: int

    @classmethod
    def of(cls, columns: Mapping[str, np.ndarray], settings: Settings) -> FamilyCounts:
        """Counts of n > 0 examples."""
        numbers = answer_numbers(settings)
        templates = max(len(family.templates) for family in family_questions.families_of(settings))
        family, value = columns["family"].astype(np.int64), columns["value"].astype(np.int64)
        places = (family * templates + columns["template"]) * numbers.shape[1] + value
        answers = np.bincount(places, minlength=numbers.shape[0] * templates * numbers.shape[1])
        values = stored_values(columns, settings)
        meant = numbers[family, value]
        right = np.where(
            values.state == KNOWN, values.answer == meant, (values.state == CLOSE) & (meant == -1)
        )
        entity = columns["scene/entity"]
        shown = entity[firsts(columns["group"])] if settings.paired else entity
        # in a sequence vehicles may leave the picture
        visible = np.where(entity >= 0, 1.0 if settings.sequence else columns["visible"], 1.0).min(axis=1)
        return cls(
            len(family),
            answers=answers.reshape(numbers.shape[0], templates, numbers.shape[1]),
            kinds=Counter(map(tuple, np.sort(shown, axis=1).tolist())),
            foreign=int((meant == -2).sum()),
            wrong=int((~right).sum()),
            idle=int(values.idle.sum()),
            unseen=int((visible < LEAST_VISIBLE - 1e-6).sum()),
        )


def findings(
    counts: FamilyCounts, sample: Mapping[str, np.ndarray], settings: Settings, name: str
) -> Iterator[Finding]:
    """All findings of the split `name`; `sample` has columns of its `sample_rows`."""
    yield from _balance(counts, settings, name)
    if settings.twins:  # one beside the other
        order = pair_rows(len(sample["family"]), settings.questions_per_picture).reshape(-1)
        sample = {column: values[order] for column, values in sample.items()}
    few = []
    for place, family in enumerate(family_questions.families_of(settings)):
        own = _columns_of(sample, place)
        if len(own["row"]) < LEAST:
            few.append(family.name)
        else:
            yield _information(family.name, own, name, settings.paired)
            yield _glance(family.name, own, sample, name, settings.paired)
    yield from _too_few("information", name, few)
    n, remedy = counts.examples, "run simtown verify to see which, and generate the data set again."
    for check, count, what in (
        ("answers of another type", counts.foreign, "have an answer that is none of their family's"),
        ("wrong answers", counts.wrong, "have another answer in their scene"),
        ("idle parts", counts.idle, "have a program of which a part changes nothing"),
        ("occlusion", counts.unseen, f"show a vehicle under {LEAST_VISIBLE:.0%} visible"),
    ):
        figure = f"{count:,} of {n:,} {what}"
        yield Finding.of_count(check, name, count, figure, f"Some {what}: {remedy}", examples=count)


def fair_shares(answer: str, count: int, settings: Settings) -> np.ndarray:
    """(count,) float64: the shares of answers that are fair.

    They are equal, but two neighbouring counts are the answers to twins, and the least and the greatest have
    one neighbour only; and a change that leaves a picture without the vehicle is rarer.
    """
    shares = np.full(count, 1 / count)
    if answer == "change":
        return np.array([CHANGE_SHARES[name] for name in OVER_TIME[answer]])
    if settings.twins and answer == "count" and count > 2:
        shares[:] = 1 / (count - 1)
        shares[[0, -1]] /= 2
    return shares


def _balance(counts: FamilyCounts, settings: Settings, name: str) -> Iterator[Finding]:
    """The answers of every family, and of each of its templates, against fair shares.

    Of twins pairs are counted, since two are never independent: a pair never has an answer twice.
    """
    from scipy.stats import binom

    numbers, types = answer_numbers(settings), family_questions.families_of(settings)
    texts = family_questions.answers(settings)
    for what, tables in (("family", counts.answers.sum(axis=1, keepdims=True)), ("template", counts.answers)):
        worst, listed, tests = (1.0, "", 0, 0, 1.0), [], 0
        for place, family in enumerate(types):
            possible = np.flatnonzero(
                np.isin(numbers[place], family_questions.fair_answers(settings, name, family))
            )
            for template, row in enumerate(tables[place][:, possible]):
                n, k = int(row.sum()), len(possible)
                if n == 0 or k < 2:
                    continue
                tests += k
                share = fair_shares(family.answer, k, settings)
                each = 2 if settings.paired and not settings.cannot_tell else 1
                lower, higher = (
                    law(row - i, n // each, each * share) for i, law in ((0, binom.cdf), (1, binom.sf))
                )
                p = 2 * np.minimum(lower, higher)
                at = int(p.argmin())
                label = family.name if what == "family" else f"{family.name}, template {template + 1}"
                listed.append({"name": label, "n": n, "answers": row.tolist()})
                worst = min(
                    worst, (float(p[at]), f"{label}: {texts[possible[at]]}", int(row[at]), n, share[at])
                )
        p_worst, label, count, n, chance = worst
        figure = f"furthest from fair: {label} {count / max(n, 1):.1%} of {n:,}, chance {chance:.1%}"
        p = min(1.0, p_worst * max(tests, 1))
        advice = f"{_BALANCE} First look at {label}."
        yield Finding(f"answers by {what}", name, figure, advice, p, details={"groups": listed})


def _columns_of(sample: Mapping[str, np.ndarray], place: int) -> dict[str, np.ndarray]:
    rows = np.flatnonzero(sample["family"] == place)
    return {name: sample[name][rows].astype(np.int64) for name in WORDS} | {"row": rows}


def _too_few(check: str, name: str, families: list[str]) -> Iterator[Finding]:
    if families:
        what = f"{len(families)} families" if len(families) > 1 else f"the family {families[0]}"
        figure = f"not tested: {what} with fewer than {LEAST} examples"
        yield Finding(check, name, figure, status="note", details={"families": families})


def _information(family: str, own: Mapping[str, np.ndarray], name: str, twins: bool) -> Finding:
    """Information of a family's answer with each of its words and with the example's place, beyond chance.

    By chance the answers of `twins` are those of another pair, in either order.
    """
    check, value = f"information by {family}", np.unique(own["value"], return_inverse=True)[1]
    features = {"template": own["template"], "text": own["template"] * 256 + own["text"]}
    features |= {"place in its pair": own["row"] % 2, "place in the split": tenths(own["row"])}
    for column in range(own["program"].shape[1]):
        features[f"word {column}"] = own["template"] * 65_536 + own["program"][:, column]
    table = {what: np.unique(numbers, return_inverse=True)[1] for what, numbers in features.items()}
    table = {what: numbers for what, numbers in table.items() if numbers.max()}
    beyond, _, p = information(table.values(), _shuffled(value, twins))
    worst = int(p.argmin())
    telling = list(table)[worst]
    figure = f"of {len(table)} features the most telling: {telling}, {beyond[worst]:+.4f} bits beyond chance"
    advice = (
        f"The answers of {family} depend on the {telling}: find out why, and generate the data set again."
    )
    bits = dict(zip(table, beyond.tolist(), strict=True))
    return Finding(
        check, name, figure, advice, min(1.0, float(p[worst]) * len(table)), details={"bits": bits}
    )


def _glance(
    family: str, own: Mapping[str, np.ndarray], sample: Mapping[str, np.ndarray], name: str, twins: bool
) -> Finding:
    """Information of a family's answer with what a picture shows at a glance, beyond chance.

    Where a question asks for just that, the answer depends on it: those questions are left out.
    """
    vehicle, y = sample["scene/entity"][own["row"]] >= 0, sample["scene/pose"][own["row"], :, 1]
    lanes = [np.sum(vehicle & part, axis=1) for part in (y <= -LANE_EDGE, (y > -LANE_EDGE) & (y < 0), y >= 0)]
    shown = {
        "number of vehicles": vehicle.sum(axis=1),
        "weather": sample["scene/weather"][own["row"]].astype(np.int64),
        "vehicles in each lane": np.ravel_multi_index(lanes, (vehicle.shape[1] + 1,) * len(lanes)),
    }
    bits, worst, inherent = {}, 1.0, []
    for what, groups in _GLANCES.items():
        asking = np.all([np.isin(own["program"], numbers_of(words)).any(axis=1) for words in groups], axis=0)
        keep = ~asking.reshape(-1, 1 + twins).any(axis=1).repeat(1 + twins)
        feature, value = (np.unique(v[keep], return_inverse=True)[1] for v in (shown[what], own["value"]))
        if len(value) < LEAST or not feature.max():
            inherent += [what] if asking.any() else []
            continue
        beyond, _, p = information([feature], _shuffled(value, twins))
        bits[what], worst = float(beyond[0]), min(worst, float(p[0]))
    measured = [f"{what} {each:+.4f}" for what, each in bits.items()]
    figure = f"bits beyond chance: {', '.join(measured) or 'none tested'}"
    if inherent:
        figure += f"; inherent: {', '.join(inherent)}"
    advice = (
        f"Answers of {family} can be guessed from what a picture shows at a glance: find out why, and "
        "generate the data set again."
    )
    details = {"bits": bits, "inherent": inherent}
    return Finding(
        f"glance by {family}", name, figure, advice, min(1.0, worst * max(len(bits), 1)), details=details
    )


def _shuffled(value: np.ndarray, twins: bool) -> Iterator[np.ndarray]:
    """Answers, and DRAWS random orders of them, in which pairs of twins stay together."""
    rng = np.random.default_rng(0)
    yield value
    for _ in range(DRAWS):
        value = rng.permutation(value.reshape(-1, 1 + twins))
        value = rng.permuted(value, axis=1) if twins else value
        yield value.reshape(-1)


def blind(words: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray] | None = None) -> int:
    """The number of answers of one family that a small model of its words guesses right.

    Args:
        words: the columns WORDS of its examples.
        other: those that are guessed, by what all of `words` teach; by default `words` themselves, FOLDS
            parts of them in turn, by what the others teach.
    """
    from scipy.sparse import csr_matrix
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    both = [words] if other is None else [words, other]
    together = {name: np.concatenate([part[name] for part in both]) for name in WORDS}
    keys = _keys(together)
    seen, columns, times = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.repeat(np.arange(len(keys)), keys.shape[1])
    seen_in = csr_matrix((np.ones(keys.size, np.float32), (rows, columns.ravel())), (len(keys), len(seen)))
    seen_in = seen_in[:, (times >= OFTEN) & (times < len(keys))]
    value, n = together["value"], len(words["value"])
    fold = np.arange(n) // 2 * FOLDS * 2 // max(n, 1)
    parts = [(fold != i, fold == i) for i in range(FOLDS)]
    if other is not None:
        parts = [(np.arange(len(value)) < n, np.arange(len(value)) >= n)]
    right = 0
    for known, asked_ in parts:
        place_known, place_asked = np.flatnonzero(known), np.flatnonzero(asked_)
        if len(place_asked):
            model = LogisticRegression(C=0.1, max_iter=50)
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # it is near enough
                model.fit(seen_in[place_known], value[place_known])
            right += int((model.predict(seen_in[place_asked]) == value[place_asked]).sum())
    return right


def _keys(words: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n, k) int64: tokens, neighbouring tokens, and words and pairs of words of the program, as numbers."""
    token, program = words["tokens"].astype(np.int64), words["program"].astype(np.int64) + 1
    place, template = np.arange(program.shape[1]), words["template"].astype(np.int64)[:, None]
    word = (template * 64 + place) * 4096 + program
    varied = np.flatnonzero((program != program[:1]).any(axis=0))[:12]
    pairs = [(word[:, i] << 30) ^ word[:, j] for i in varied for j in varied if i < j]
    text = template * 256 + words["text"].astype(np.int64)[:, None]
    parts = [token, (token[:, :-1] << 16 | token[:, 1:]) + (1 << 40), word + (1 << 41), text + (1 << 42)]
    return np.concatenate([*parts, *(column[:, None] | 1 << 62 for column in pairs)], axis=1)


def blind_findings(samples: Mapping[str, Mapping[str, np.ndarray]], settings: Settings) -> Iterator[Finding]:
    """Accuracy of the words alone for each family: in training, and in the test split after training."""
    from threadpoolctl import threadpool_limits

    few: dict[str, list[str]] = {name: [] for name in samples if name != "val"}
    for place, family in enumerate(family_questions.families_of(settings)):
        check = f"question only by {family.name}"
        own = {name: _columns_of(samples[name], place) for name in few}
        for name, words in own.items():
            n = len(words["value"])
            if min(n, len(own.get("train", words)["value"])) < LEAST:
                few[name].append(family.name)
                continue
            with threadpool_limits(1):
                right = blind(words) if name == "train" else blind(own["train"], words)
            constant = {"constant": float(np.bincount(words["value"]).max() / n)}
            yield Finding.of_accuracy(check, name, right, n, constant, _SHORTCUT)
    for name, listed in few.items():
        yield from _too_few("question only", name, listed)
