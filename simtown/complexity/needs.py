"""Needs of any learner: how many examples a target takes, with an interval that covers.

    >>> from simtown import needs
    >>> scores = [[0.62, 0.61, 0.63], [0.75, 0.76, 0.74], [0.84, 0.85, 0.84], [0.90, 0.91, 0.90]]
    >>> found = needs.from_curve([100, 200, 400, 800], scores, target=0.8)
    >>> print(found)
    281 (237 to 323)
    >>> found.bound_, found.next_size_, found.gain_.size
    (None, 280, 1600)

docs/needs.md explains the results, docs/reproduce/intervals.md says how often the intervals hold the truth.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.complexity.beyond import NEAR, look_beyond
from simtown.complexity.bootstrap import BootstrapCurve, curve_of_scores, interval
from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.estimate import needs_of
from simtown.complexity.growth import WorldNeeds, contrast
from simtown.complexity.quantities import factor_text
from simtown.core.tables import read_rows

_REPLICATES = 1000
#: An interval whose ends differ by less than this factor is narrow enough, as sizes are near enough to each
#: other; and sizes that a search tries.
_NARROW, _MOST_SIZES = 1.3, 12
#: The first size of a search has so many examples of each class, or in all if there are no classes.
_FIRST = 8


class Gain(NamedTuple):
    """The score that `size` examples would bring, with its 95 % interval; `before`, the largest size's."""

    size: int
    before: float
    after: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class NeededSamples:
    """How many examples a target takes; made by the functions of this module.

    Attributes:
        target: the score to reach.
        train_sizes_: (S,) sizes that count: those with all seeds.
        scores_: (S, K) their scores.
        need_: examples; where it is only a bound, the largest or the smallest size; None if the curve jumps.
        interval_: 95 % interval; None for an end that is not known.
        bound_: "above" or "below" if the need lies above or below `need_`; else None.
        next_size_: the size that would say most; None if more seeds would say more.
        first_reached_: the smallest size whose mean reaches the target; None if there is none.
        gain_: what twice the largest size would bring; None with fewer than 4 sizes.
        rows_: the rows of the table it was read from, with all their columns.
        curve: the curve behind it.
    """

    target: float
    curve: BootstrapCurve
    need_: float | None
    interval_: tuple[float | None, float | None]
    bound_: str | None
    next_size_: int | None
    first_reached_: int | None
    gain_: Gain | None
    is_beyond_: bool
    rows_: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def train_sizes_(self) -> np.ndarray:
        return self.curve.sizes

    @property
    def scores_(self) -> np.ndarray:
        return self.curve.runs

    def sentences(self) -> list[str]:
        """The result in words: the need, its cautions, what to train next, and what more data would bring."""
        largest, curve = int(self.curve.sizes[-1]), self.curve
        words = [f"{self} examples reach {self.target:.4g} (95 % interval over {len(curve.seeds)} seeds)."]
        if self.is_beyond_:
            words.append(f"That lies beyond the largest size, {largest:,}: three fitted shapes say it.")
        if self.need_ is None:
            words.append(
                "The curve jumps there, or nothing was trained beyond: nothing says where it crosses."
            )
        if curve.stuck.any():
            words.append(
                f"{curve.stuck.sum()} of {curve.stuck.size} runs never learned; the need is the others'."
            )
        if curve.falls:
            first = f", first at {self.first_reached_:,}" if self.first_reached_ else ""
            words.append(f"The curve falls: the target holds from this size on{first}.")
        words.append(
            f"Train {self.next_size_:,} next." if self.next_size_ else "More seeds would narrow it most."
        )
        if gain := self.gain_:
            verb = "would" if gain.low > gain.before else "may"
            text = f"{gain.size:,} examples {verb} bring {gain.after:.3f} ({gain.low:.3f} to {gain.high:.3f})"
            words.append(f"{text}, after {gain.before:.3f} with {largest:,}.")
        return words

    def __str__(self) -> str:
        """`412 (350 to 500)`, `> 800 (at least 640)`, `between 400 and 800`."""
        low, high = (f"{end:,.0f}" if end is not None else None for end in self.interval_)
        if self.need_ is None:
            if low and high:
                return f"between {low} and {high}"
            return f"at least {low}" if low else f"at most {high}" if high else "an unknown number of"
        sign = {"above": "> ", "below": "≤ ", None: ""}[self.bound_]
        ends = f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
        says_more = any(end not in (None, self.need_) for end in self.interval_)
        return f"{sign}{self.need_:,.0f}" + f" ({ends})" * says_more

    def __repr__(self) -> str:
        return " ".join(self.sentences())

    def _repr_html_(self) -> str:
        first, *others = map(html.escape, self.sentences())
        return f"<p><strong>{first}</strong> {' '.join(others)}</p>"

    def plot(self, axes: Any = None) -> Any:
        """Draw the curve, the target and the need's interval; returns matplotlib's axes."""
        from simtown.complexity.need_plot import draw_need

        return draw_need(self, axes)


def from_curve(
    train_sizes: Sequence[int], test_scores: Any, target: float, *, random_state: int = 0
) -> NeededSamples:
    """The need of a learning curve, as scikit-learn's `learning_curve` returns it.

    Args:
        train_sizes: (S,) whole numbers, at least two.
        test_scores: (S, K) a column for each seed or split, at least two; NaN where there is none. Sizes
            without all seeds do not count.
        target: the score to reach, between 0 and 1.
        random_state: of the bootstrap.

    Raises:
        ValueError: the curve says nothing, or a number is out of range; the message says what to change.
    """
    return _from_scores(train_sizes, test_scores, target, random_state)


def _from_scores(
    train_sizes: Sequence[int], test_scores: Any, target: float, random_state: int, rows: Sequence[Any] = ()
) -> NeededSamples:
    sizes, scores = np.asarray(train_sizes, dtype=float), np.asarray(test_scores, dtype=float)
    if not 0 < target < 1:
        raise ValueError(f"target must be a score between 0 and 1, not {target}")
    if scores.ndim != 2 or len(scores) != len(sizes):
        raise ValueError(
            f"test_scores must have a row for each of {len(sizes)} sizes, and a column for each seed"
        )
    if len(set(sizes)) < len(sizes) or (sizes < 1).any() or (sizes != np.round(sizes)).any():
        raise ValueError("train_sizes must be whole numbers of at least 1, each once")
    known = scores[np.isfinite(scores)]
    if not len(known):
        raise ValueError("test_scores holds no number: every entry is NaN or infinite")
    if len(wrong := known[(known < 0) | (known > 1)]):
        raise ValueError(f"scores must lie between 0 and 1, not at {wrong[0]:g}: divide percentages by 100")
    curve = curve_of_scores(
        sizes.astype(int).tolist(), scores, [target], replicates=_REPLICATES, seed=random_state
    )
    return _result(curve, target, random_state, rows)


def _result(curve: BootstrapCurve, target: float, seed: int, rows: Sequence[Any]) -> NeededSamples:
    """The need of a curve, carried beyond its largest size where three shapes allow it."""
    first, need = needs_of(curve, [target])
    samples, ends = curve.samples["isotonic"][0], (need.low, need.high)
    # a curve that falls has no shape to go on with
    luck = np.random.default_rng([seed, len(curve.sizes)]).standard_normal(len(samples))
    luck[0] = 0
    beyond = None if curve.falls else look_beyond(curve.sizes, curve.means, luck)
    gain, is_beyond = None, False
    if beyond is not None:
        scores = beyond.scores[:, np.searchsorted(beyond.sizes, NEAR * curve.sizes[-1] * (1 - 1e-9))]
        before, after = float(curve.means[0, -1]), float(scores[0])
        gain = Gain(int(NEAR * curve.sizes[-1]), before, after, *interval(scores[1:]))
        reached = beyond.scores >= target
        places = np.where(reached.any(axis=1), beyond.sizes[reached.argmax(axis=1)], ABOVE)
        samples = np.where(samples == ABOVE, places, samples)
        is_beyond = bool(need.samples == ABOVE and samples[0] < ABOVE)
        if need.high == ABOVE and not need.jumps:
            ends = interval(samples[1:])
            ends = min(ends[0], need.low) if need.low < ABOVE else ends[0], ends[1]
    smallest, largest = float(need.smallest), float(need.largest)
    bounds = {BELOW: (smallest, "below"), ABOVE: (largest, "above")}
    point, bound = (None, None) if need.jumps else bounds.get(samples[0], (float(samples[0]), None))
    low, high = ends
    return NeededSamples(
        target=target,
        curve=curve,
        need_=point,
        interval_=(
            {BELOW: None, ABOVE: largest}.get(low, low),
            {BELOW: smallest, ABOVE: None}.get(high, high),
        ),
        bound_=bound,
        next_size_=need.next_size,
        first_reached_={BELOW: need.smallest, ABOVE: None}.get(first.samples, int(min(first.samples, 1e15))),
        gain_=gain,
        is_beyond_=is_beyond,
        rows_=rows,
    )


def needed_samples(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    target: float,
    scoring: Any = "accuracy",
    cv: Any = 5,
    train_sizes: str | Sequence[int] = "auto",
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> NeededSamples:
    """The need of a scikit-learn estimator, trained on growing parts of X and y.

    With "auto", sizes double from a few examples of each class until the target holds, and then one more;
    then the size follows that says most, until the interval's ends are within a factor of 1.3, or that size
    is within 1.3 of a trained one.

    Args:
        target: the score to reach, between 0 and 1.
        scoring: as in scikit-learn's `learning_curve`; so are `cv`, and `n_jobs`.
        train_sizes: or the sizes.
        random_state: of the order of the examples, the splits and the bootstrap.

    Raises:
        ValueError: as :func:`from_curve`, or the smallest split has fewer than two sizes' examples.
    """
    from sklearn import config_context
    from sklearn.base import is_classifier
    from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_score
    from sklearn.utils import check_random_state

    if isinstance(cv, int) and is_classifier(estimator):
        cv = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    order = check_random_state(random_state or 0)
    folds = check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y)
    splits = [(order.permutation(rows), test) for rows, test in folds]
    largest = min(len(rows) for rows, _ in splits)
    scores: dict[int, np.ndarray] = {}

    def train(size: int) -> None:
        if not 1 <= size <= largest:
            raise ValueError(f"train_sizes must lie between 1 and {largest}, not at {size}")
        parts = [(rows[:size], test) for rows, test in splits]
        how = {"scoring": scoring, "cv": parts, "n_jobs": n_jobs, "error_score": np.nan}
        # parameters are checked once, with the first size
        with config_context(skip_parameter_validation=bool(scores)):
            scores[size] = cross_val_score(estimator, X, y, **how)

    def result() -> NeededSamples:
        sizes = sorted(scores)
        return from_curve(sizes, [scores[n] for n in sizes], target, random_state=random_state or 0)

    if not isinstance(train_sizes, str):
        for size in train_sizes:
            train(int(size))
        return result()
    classes = len(np.unique(y)) if is_classifier(estimator) else 1
    size, above = min(_FIRST * classes, largest // 4), 0
    while above < 2 and size not in scores:
        train(size)
        above += np.nanmean(scores[size]) >= target
        size = min(2 * size, largest)
    while _is_wide(found := result()) and len(scores) < _MOST_SIZES:
        following = found.next_size_ or 0
        is_near = any(following < _NARROW * n and n < _NARROW * following for n in scores)
        if is_near or not 2 <= following <= largest:
            break
        train(following)
    return found


def _is_wide(found: NeededSamples) -> bool:
    low, high = found.interval_
    return not low or not high or high > _NARROW * low


def from_results(
    table: Any,
    target: float,
    *,
    size: str | None = None,
    score: str = "score",
    total: str | None = None,
    group: str | None = None,
    seed: str | None = None,
) -> Any:
    """The needs of a table of results: of a CSV file, a data frame, or a mapping from columns to values.

    Long, with a row for each trained model; or wide, with a row for each seed and a column for each size,
    named by the number.

    Args:
        target: the score to reach, between 0 and 1.
        size: the column of sizes of a long table.
        score: its column of scores; with `total`, of right answers.
        total: its column of test items.
        group: the column that tells learners apart.
        seed: the column of seeds; without, the rows of a size are its seeds, in their order.

    Returns:
        The result, or with `group` a result for each of its values, in their order.

    Raises:
        ValueError: a column is missing, a cell is no number, or two rows stand for one seed.
    """
    records = _records(table)
    columns = list(records[0])
    named = {name for name in (size, group, seed, total, score if size else None) if name}
    if missing := named - set(columns):
        raise ValueError(f"the table has no column '{min(missing)}': it has {', '.join(map(str, columns))}")
    wide = [name for name in columns if str(name).strip().isdigit() and name not in named]
    if size is None and len(wide) < 2:
        raise ValueError("the table has no columns named by sizes: name its column of sizes (size=)")
    groups: dict[Any, list[Mapping[Any, Any]]] = {}
    for record in records:
        groups.setdefault(record[group] if group else None, []).append(record)
    results = {}
    for value, own in groups.items():
        cells: dict[int, dict[Any, float]] = {}
        for record in own:
            entries = [(record[size], record[score])] if size else [(name, record[name]) for name in wide]
            for n, text in entries:
                at = cells.setdefault(int(_number(n, size or "size")), {})
                key = record[seed] if seed else len(at)
                if key in at:
                    raise ValueError(
                        f"two rows stand for size {n}, seed {key}: name the column that differs (group=)"
                    )
                at[key] = _number(text, score) / (_number(record[total], total) if total else 1)
        seeds = sorted({key for at in cells.values() for key in at}, key=str)
        scores = [[at.get(key, np.nan) for key in seeds] for _, at in sorted(cells.items())]
        results[value] = _from_scores(sorted(cells), scores, target, 0, own)
    return results if group else results[None]


def _records(table: Any) -> list[Mapping[Any, Any]]:
    """The rows of a table."""
    records: list[Mapping[Any, Any]]
    if isinstance(table, str | Path):
        records = [row.cells for row in read_rows(Path(table), ())]
    else:
        columns = list(table.columns if hasattr(table, "columns") else table)
        rows = zip(*(table[name] for name in columns), strict=True)
        records = [dict(zip(columns, row, strict=True)) for row in rows]
    if not records:
        raise ValueError("the table has no rows: give one with a row for each trained model")
    return records


def _number(value: Any, column: str) -> float:
    """A cell's number; an empty one is NaN."""
    if value is None or not str(value).strip():
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"column '{column}' holds {value!r}, which is not a number") from None


@dataclass(frozen=True)
class NeedRatio:
    """How many times as many examples one learner needs as another.

    Attributes:
        ratio_: None if neither bound of it is known; a bound if `bound_` says so.
        interval_: 95 % interval, None for an unknown end.
        bound_: "above", "below" or None.
        is_decided_: whether the interval excludes 1.
    """

    ratio_: float | None
    interval_: tuple[float | None, float | None]
    bound_: str | None
    is_decided_: bool
    text: str

    def __str__(self) -> str:
        return self.text


def compare(a: NeededSamples, b: NeededSamples) -> NeedRatio:
    """The ratio of two needs, a's over b's, paired: seeds of the same number rise and fall together."""
    (least, most, low, high), _ = contrast((1, -1), (a.curve, b.curve), "isotonic", 0, factor=True)
    bound = None if least == most else "above" if most == np.inf and least > 0 else "below"
    ratio = least if bound != "below" else most
    ends = (low if low > 0 else None, high if high < np.inf else None)
    decided = low > 1 or high < 1
    text = factor_text(least, most, low, high)
    return NeedRatio(ratio if np.isfinite(ratio) else None, ends, bound, bool(decided), text)


@dataclass(frozen=True)
class NeedGrowth:
    """The exponent with which needs grow along an axis of difficulty: ``need ~ axis ** exponent_``.

    Attributes:
        exponent_: None if fewer than two needs are known.
        interval_: 95 % interval, None for an unknown end.
    """

    exponent_: float | None
    interval_: tuple[float | None, float | None]

    def __str__(self) -> str:
        if self.exponent_ is None:
            return "unknown"
        low, high = ("?" if end is None else f"{end:.2f}" for end in self.interval_)
        return f"{self.exponent_:.2f} ({low} to {high})"


def grow(results: Sequence[NeededSamples], *, over: Sequence[float]) -> NeedGrowth:
    """How needs grow over an axis of difficulty, such as the number of classes: a value for each result.

    Raises:
        ValueError: there are not as many positive values as results, or fewer than two.
    """
    axis = np.asarray(over, dtype=float)
    if len(axis) != len(results) or len(set(axis)) < 2 or not (axis > 0).all():
        raise ValueError("over must hold a positive number for each result, and at least two of them")
    slopes = WorldNeeds.of(axis, [found.curve for found in results], "isotonic", 0).slopes()
    numbers = slopes[0], *interval(slopes[1:])
    exponent, low, high = (float(number) if np.isfinite(number) else None for number in numbers)
    return NeedGrowth(exponent, (low, high))
