"""Studies of minimal pairs: does a model prefer the text that fits? Asked in up to four ways."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.core.untrusted import figure_text
from simtown.probes import figures
from simtown.probes.item_study import compare_items, mean_of, mean_text, score_pages, share_text
from simtown.probes.items import read_items
from simtown.probes.measures import mean_interval
from simtown.probes.model_names import in_words
from simtown.probes.pair_tables import PairSet, TextPair, layout_of, pairs_of_items, read_pairs
from simtown.probes.report import Results
from simtown.probes.reproduce import percent
from simtown.probes.scorers.base import Scorer, UnableError
from simtown.probes.scorers.batching import shared
from simtown.probes.scorers.spelling import BLANK
from simtown.probes.study import Study, TaskRequest, TaskResult
from simtown.probes.study_settings import ELICITATIONS, AskSettings

#: Scores that differ by less are equal, times the larger one: sums of float32 in another order.
_EQUAL = 1e-6
_CHOICE = "Which of these is right?\nA: {}\nB: {}\nAnswer: " + BLANK
_YES_NO = "{}\nIs that right? Answer yes or no.\nAnswer: " + BLANK
_EXPLAINED = (
    "accuracy: share of pairs whose right text has the higher score, per cent; equal scores count 1/2; in "
    "brackets 95 % bootstrap intervals over templates; all right: share of the table's rows of which every "
    "pair is right; margin: mean difference of the two scores; prior: accuracy of the sentence scores when "
    "no context is read."
)


def join(context: str, text: str) -> tuple[str, int]:
    """A text behind its context, and the character at which it begins."""
    space = "" if not context or context[-1].isspace() or text[0].isspace() else " "
    return f"{context}{space}{text}", len(context) + len(space)


def sentence_scores(
    scorer: Scorer,
    texts: Sequence[tuple[str, int]],
    normalise: str,
    spans: Sequence[tuple[int, int]] = (),
) -> np.ndarray:
    """(n,) log-probabilities of texts from a character on; a token's or a byte's mean if so normalised.

    `spans` are the words (from, to) of each text that count; all without them.
    """
    scores = scorer.sequence_logprobs([text for text, _ in texts], [begin for _, begin in texts])
    totals = []
    for number, ((text, begin), tokens) in enumerate(zip(texts, scores, strict=True)):
        logprobs, scored = tokens.logprobs, text[begin:]
        if spans:
            first, last = spans[number]
            logprobs = logprobs[(tokens.words >= first) & (tokens.words < last)]
            scored = " ".join(text.split()[first:last])
        sizes = {"tokens": len(logprobs), "bytes": len(scored.encode())}
        totals.append(logprobs.sum() / max(1, sizes.get(normalise, 1)))
    return np.array(totals)


def fill_scores(scorer: Scorer, texts: Sequence[tuple[str, int]], normalise: str) -> np.ndarray:
    """(n,) as :func:`sentence_scores`, of the words in which each two texts, one after the other, differ.

    NaN for a model that reads only forward where texts differ in their contexts alone: it would not see what
    stands behind them.
    """
    spans, unseen = [], []
    for (good, begin), (bad, other) in zip(texts[::2], texts[1::2], strict=True):
        words = good.split(), bad.split()
        first = shared(*words)
        behind = shared(*(side[::-1] for side in words))
        behind = max(0, min(behind, *(len(side) - first - 1 for side in words)))
        spans += [(first, len(side) - behind) for side in words]
        unseen += [scorer.forward and good[begin:] == bad[other:]] * 2
    scores = sentence_scores(scorer, [(text, 0) for text, _ in texts], normalise, spans)
    return np.where(unseen, np.nan, scores)


def choice_scores(scorer: Scorer, pairs: Sequence[TextPair]) -> np.ndarray:
    """(n, 2) mean log-probability of the letter of each text, offered first and offered second."""
    prompts = []
    for pair in pairs:
        shared = pair.good_context == pair.bad_context
        options = [pair.good, pair.bad]
        if not shared:
            options = [join(pair.good_context, pair.good)[0], join(pair.bad_context, pair.bad)[0]]
        before = f"{pair.good_context}\n" if shared and pair.good_context else ""
        prompts += [before + _CHOICE.format(*order) for order in (options, options[::-1])]
    letters = scorer.class_logprobs(prompts, ["A", "B"]).reshape(-1, 2, 2)
    return (letters[:, 0] + letters[:, 1, ::-1]) / 2


def yes_no_scores(scorer: Scorer, texts: Sequence[tuple[str, int]]) -> np.ndarray:
    """(n,) log-odds of "yes" when the model is asked whether a text is right."""
    answers = scorer.class_logprobs(
        [_YES_NO.format(text) for text, _ in texts], [("yes", "Yes"), ("no", "No")]
    )
    return answers[:, 0] - answers[:, 1]


def elicit_pairs(scorer: Scorer, pairs: Sequence[TextPair], elicitation: str, normalise: str) -> np.ndarray:
    """(n, 2) scores of the good and the bad text of each pair."""
    if elicitation == "choice":
        return choice_scores(scorer, pairs)
    texts = [join(*side) for pair in pairs for side in (pair[:2], pair[2:])]
    if elicitation == "yesno":
        return yes_no_scores(scorer, texts).reshape(-1, 2)
    of = sentence_scores if elicitation == "sentence" else fill_scores
    return of(scorer, texts, normalise).reshape(-1, 2)


def preferred(scores: np.ndarray) -> np.ndarray:
    """(n,) 1 where the first of (n, 2) scores is higher, 1/2 where they are equal, 0 else and without."""
    good, bad = scores.T
    equal = np.isclose(good, bad, rtol=_EQUAL, atol=0)
    return np.where(equal, 0.5, good > bad)


def ask_pairs(request: TaskRequest) -> TaskResult:
    """Ask a model about pairs in every way that the settings name and that it can be asked in.

    Raises:
        UnableError: the model can be asked in none of them.
    """
    data, settings = request.items, request.settings
    scorer = request.scorer()
    whole, gaps = (f"{kind}_logprobs" in scorer.abilities for kind in ("sequence", "class"))
    ways = settings.elicit or ("sentence" if whole else "choice",)
    rows: dict[str, list[Any]] = {}
    prior = None
    if whole and any(pair.good_context for pair in data.pairs):
        alone = [TextPair("", pair.good, "", pair.bad) for pair in data.pairs]
        prior = preferred(elicit_pairs(scorer, alone, "sentence", settings.normalise))
    modes = {}
    for way in ways:
        if not (whole if way in ("sentence", "fill") else gaps):
            continue
        scores = elicit_pairs(scorer, data.pairs, way, settings.normalise)
        if not np.isfinite(scores).any():
            continue
        right = preferred(scores)
        modes[way] = {"groups": dict(_describe(data, scores, right, prior))}
        part = {
            "mode": [way] * len(right),
            "subject": [f"{row}: {pair.good}" for row, pair in zip(data.rows, data.pairs, strict=True)],
            "group": next(iter(data.groups.values()), data.templates),
            "template": data.templates,
            **{f"of_{column}": names for column, names in data.groups.items()},
            **{field: [getattr(pair, field) for pair in data.pairs] for field in TextPair._fields},
            "score_good": scores[:, 0],
            "score_bad": scores[:, 1],
            "right": right,
            "rho": np.full(len(right), np.nan),
        }
        for name, values in part.items():
            rows.setdefault(name, []).extend(values)
    if not modes:
        raise UnableError(f"{scorer.name} has no answer by {' or '.join(ways)}: give another --elicit")
    return TaskResult(rows, {"modes": modes})


def _describe(
    data: PairSet, scores: np.ndarray, right: np.ndarray, prior: np.ndarray | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Numbers of all pairs, of each group, and of each two groups together."""
    names = {"all": np.ones(len(right), dtype=bool)}
    for size in (1, 2):
        for columns in combinations(data.groups.values(), size):
            for values in product(*(dict.fromkeys(column.tolist()) for column in columns)):
                of_all = [column == value for column, value in zip(columns, values, strict=True)]
                names[", ".join(values)] = np.logical_and.reduce(of_all)
    for name, kept in names.items():
        if kept.any():
            low, high = mean_interval(right[kept], clusters=data.templates[kept])
            _, row = np.unique(data.rows[kept], return_inverse=True)
            worst = np.ones(row.max() + 1)
            np.minimum.at(worst, row, right[kept])
            yield (
                name,
                {
                    "n": int(kept.sum()),
                    "templates": len(np.unique(data.templates[kept])),
                    "accuracy": mean_of(right[kept]) | {"low": low, "high": high},
                    "all_right": float((worst == 1).mean()),
                    "margin": mean_of(scores[kept, 0] - scores[kept, 1]),
                    "prior_accuracy": None if prior is None else float(prior[kept].mean()),
                    "unanswered": int((~np.isfinite(scores[kept])).any(axis=1).sum()),
                    "choice": {"mean": None},
                },
            )


def pair_pages(results: Results) -> dict[str, str]:
    """summary.csv and summary.md of a study of pairs."""
    lines, notes = [], [_EXPLAINED]
    modes = results.tasks["pairs"]["modes"]
    for way in sorted(modes, key=ELICITATIONS.index):
        groups = modes[way]["groups"]
        for name in sorted(groups, key=lambda name: (name != "all", name)):
            numbers = groups[name]
            margin = numbers["margin"]["mean"]
            lines.append(
                {
                    "elicitation": way,
                    "group": name,
                    "n": str(numbers["n"]),
                    "templates": str(numbers["templates"]),
                    "accuracy": mean_text(numbers["accuracy"]),
                    "all right": share_text(numbers["all_right"]),
                    "margin": "" if margin is None else f"{margin:.3f}",
                    "prior": share_text(numbers["prior_accuracy"]),
                }
            )
        if count := groups["all"]["unanswered"]:
            notes.append(
                f"{way}: no answer to {count:,} of {groups['all']['n']:,} pairs, which count as wrong"
            )
    ways = results.content["settings"].get("elicit") or ()
    if unable := [way for way in ways if way not in modes]:
        notes.append(f"The model has no answer by {' or '.join(unable)}.")
    means = [asked["groups"]["all"]["accuracy"]["mean"] for asked in modes.values()]
    if len(means) > 1:
        moved = f"{percent(max(means) - min(means))} points"
        notes.append(f"The choice of elicitation moves the accuracy of all pairs by {moved}.")
    return score_pages(results, lines, notes)


def draw_pairs(results: Results, task: str, data: PairSet) -> None:
    """Draw the accuracy of each elicitation."""
    title = f"{figure_text(task)}, {in_words(results.model)}"
    figures.accuracies(results.path / f"{task}.png", results.tasks[task]["modes"], title)


def _pairs_of_table(source: Path, settings: AskSettings) -> dict[str, PairSet]:
    if not layout_of(source):
        if settings.use:
            raise SettingsError("asks without pairs: leave out this or `elicit`", "use")
        classes = settings.classes.split(",") if settings.classes else ()
        return {"pairs": pairs_of_items(read_items(source, settings.template, classes))}
    given = {"template": settings.template, "classes": settings.classes, "use": settings.use}
    if wrong := [name for name, value in given.items() if value]:
        raise SettingsError(f"means nothing for pairs, which {source} holds: leave it out", wrong[0])
    return {"pairs": read_pairs(source)}


#: ``simtown probe ask PAIRS``: a table of pairs, see :mod:`simtown.probes.pair_tables`.
PAIRS = Study(
    "ask",
    AskSettings,
    ("pairs",),
    items=_pairs_of_table,
    digest=PairSet.digest,
    ask=ask_pairs,
    pages=pair_pages,
    draw=draw_pairs,
    compare=compare_items,
    form="simtown probe ask, pairs",
    source="items",
    positional=True,
)
