"""Every row that Table 2 could have: from a model's name to its decisions about a task's test items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from simtown.probes.physical import baselines, features, finetune, tuning, yesno
from simtown.probes.physical.datasets import PhysicalRelease
from simtown.probes.physical.heads import HEADS
from simtown.probes.physical.metrics import scores
from simtown.probes.physical.pairs import Decisions, Inputs, Pairs
from simtown.probes.physical.protocols import PROTOCOLS, Protocol
from simtown.probes.physical.sentences import sentence
from simtown.probes.physical.settings import PhysicalSettings
from simtown.probes.physical.tasks import DecisionRows, Kind, PhysicalTask
from simtown.probes.scorers.base import Scorer
from simtown.probes.study import ScorerOptions


@dataclass(frozen=True)
class DecidedItems:
    """Decisions about items.

    Attributes:
        kinds: what left and right are, as in :class:`PhysicalTask`.
        lefts: names.
        rights: names.
        groups: names.
        rows: the items.
        said: (n,) bool.
        score: (n,) float64, what was cut to decide.
        notes: how it came about, for the summary.
    """

    kinds: tuple[Kind, Kind]
    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    groups: tuple[str, ...]
    rows: DecisionRows
    said: np.ndarray
    score: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)


#: Takes the number of steps; gives what is called with the number of newly finished ones.
Steps = Callable[[int], Callable[[int], object]]


def judge(
    release: PhysicalRelease,
    task: PhysicalTask,
    settings: PhysicalSettings,
    scorer: Scorer | None,
    steps: Steps,
    options: ScorerOptions | None = None,
) -> DecidedItems:
    """The decisions of one model about one task.

    Args:
        release: the data.
        task: what is asked.
        settings: of the study.
        scorer: the model, where ``settings.needs_model()``.
        steps: opens a progress bar.
        options: on which device the model is fine-tuned, and of what numbers: float32 alone.

    Raises:
        UnableError: the model cannot be used so.
        ValueError: it knows no word, or cannot be fine-tuned.
    """
    if settings.model == "human":
        return _human(release, task)
    notes: dict[str, Any] = {}
    if settings.model == "majority":
        decided = baselines.majority(task)
        return _judged(task, decided, decided.astype(np.float64), notes)
    if settings.model == "random":
        decided = baselines.random(task, settings.seed)
        return _judged(task, decided, decided.astype(np.float64), notes)
    protocol = PROTOCOLS[settings.protocol]
    pairs = Pairs.of(task)
    if settings.use == "finetune":
        options = options or ScorerOptions()
        if options.dtype != "float32":
            raise ValueError(f"fine-tuning computes in float32: leave out `dtype={options.dtype}`")
        fine_tuning = finetune.FineTuning(protocol.loss, epochs=1 if task.name == "AP" else 5)
        notes["head"] = asdict(fine_tuning)
        texts = [
            sentence(release, task.name, task.lefts[i], task.rights[j], protocol.english).text
            for i, j in zip(pairs.left, pairs.right, strict=True)
        ]
        place = settings.model.partition(":")[2]
        progress = steps(fine_tuning.steps(len(task.train)))
        score = finetune.fit(
            place, texts, pairs.train, task.train.label, fine_tuning, settings.seed, progress, options.device
        )
        return _judged(task, score[pairs.test] > 0.5, score[pairs.test], notes)
    if scorer is None:
        raise ValueError(f"{settings.model} was not opened")
    use = settings.use or usual(scorer)
    notes["as"] = use
    if use == "yes-no":
        odds = yesno.log_odds(release, task, pairs, scorer)
        cut = yesno.threshold(odds[pairs.train], task.train.label)
        notes |= {"threshold": cut, "micro_f1_at_0": scores(task.test, odds[pairs.test] > 0).micro}
        return _judged(task, odds[pairs.test] > cut, odds[pairs.test], notes)
    inputs = _inputs(use, release, task, pairs, scorer, protocol, notes)
    head = HEADS[settings.head]
    candidates = head.candidates() if settings.tune else ()
    progress = steps(head.steps * (1 + 2 * tuning.K * len(candidates)))
    if settings.tune:
        tried = {
            kind: tuning.tune(candidates, inputs, task.train, pairs.train, kind, settings.seed, progress)
            for kind in ("rows", "objects")
        }
        head = tried[protocol.folds][0].head
        notes["tuning"] = {
            kind: [{"head": asdict(t.head), "micro_f1": t.mean} for t in each]  # type: ignore[call-overload]
            for kind, each in tried.items()
        }
    notes["head"] = asdict(head)  # type: ignore[call-overload]
    score = head.fit(inputs, Decisions.of(task.train, pairs.train, inputs.pairs), settings.seed, progress)
    return _judged(task, score[pairs.test] > 0.5, score[pairs.test], notes)


def usual(scorer: Scorer) -> str:
    """How a model is used where nothing is said: sentence encoders by their sentences, static vectors by
    words, others by tokens.
    """
    if "embed" not in scorer.abilities:
        return "words"
    return "sentence" if scorer.name.startswith(("sentence:", "clip:")) else "tokens"


def _inputs(
    use: str,
    release: PhysicalRelease,
    task: PhysicalTask,
    pairs: Pairs,
    scorer: Scorer,
    protocol: Protocol,
    notes: dict[str, Any],
) -> Inputs:
    if use == "words":
        inputs, unknown = features.words(release, task, pairs, scorer, protocol.unknown)
        notes["unknown"] = {kind: {"of": u.of, "words": list(u.words)} for kind, u in unknown.items()}
        return inputs
    if use == "tokens":
        return features.tokens(release, task, pairs, scorer, protocol.english)
    pooling = "mean" if usual(scorer) == "sentence" else protocol.pooling
    return features.sentences(release, task, pairs, scorer, protocol.english, pooling)


def _judged(
    task: PhysicalTask, decided: np.ndarray, score: np.ndarray, notes: dict[str, Any]
) -> DecidedItems:
    return DecidedItems(task.kinds, task.lefts, task.rights, task.groups, task.test, decided, score, notes)


def _human(release: PhysicalRelease, task: PhysicalTask) -> DecidedItems:
    """The expert's answers. Those to AP do not name the object, so its groups are the affordances."""
    answers = release.answers[task.title]
    names = [tuple(dict.fromkeys(getattr(a, side) for a in answers)) for side in ("left", "right")]
    left, right = (
        np.array([n.index(getattr(a, side)) for a in answers])
        for n, side in zip(names, ("left", "right"), strict=True)
    )
    rows = DecisionRows(left, right, np.array([a.label for a in answers]), left)
    decided = np.array([a.said for a in answers])
    return DecidedItems(task.kinds, names[0], names[1], names[0], rows, decided, decided.astype(np.float64))
