"""Every row that Table 2 could have: from a model's name to its decisions about a task's test items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from simtown.probes.physical import baselines, features, finetune, tuning, yesno
from simtown.probes.physical.datasets import Release
from simtown.probes.physical.heads import HEADS
from simtown.probes.physical.metrics import scores
from simtown.probes.physical.pairs import Decisions, Inputs, Pairs
from simtown.probes.physical.protocols import PROTOCOLS, Protocol
from simtown.probes.physical.sentences import sentence
from simtown.probes.physical.tasks import Kind, Rows, Task
from simtown.probes.scorers.base import Scorer

BASELINES = ("majority", "random", "human")
#: How a language model can be used, and what that means.
USES = {
    "words": "vectors of the two words",
    "tokens": "vectors of the two words in a sentence",
    "sentence": "the vector of a sentence",
    "finetune": "the whole model trained on the sentences",
    "yes-no": "the log-odds of yes over no after a question",
}


@dataclass(frozen=True)
class Choices:
    """What a row is made with. `use` None: what suits the model. `head`: of fixed vectors."""

    model: str
    use: str | None = None
    head: str = "mlp"
    protocol: str = "corrected"
    tune: bool = False
    seed: int = 0

    def check(self) -> None:
        """Raises ValueError for a choice that there is not."""
        for option, given, known in (("--as", self.use or "words", tuple(USES)), ("--head", self.head, tuple(HEADS)),
                                     ("--protocol", self.protocol, tuple(PROTOCOLS))):  # fmt: skip
            if given not in known:
                raise ValueError(f"{option} {given} is none of {', '.join(known)}")
        if self.seed < 0:
            raise ValueError(f"--seed must be at least 0, not {self.seed}")
        if self.model in BASELINES:
            if self.use or self.tune:
                raise ValueError(f"{self.model} is a baseline: it takes neither --as nor --tune")
        elif not all(self.model.partition(":")):
            raise ValueError(f"unknown model '{self.model}': give {', '.join(BASELINES)}, or a language model such as glove:PATH, hf:DIR, "
                             "sentence:DIR or lstm:DIR")  # fmt: skip
        elif self.use == "finetune" and not self.model.startswith(("hf:", "sentence:")):
            raise ValueError(f"{self.model} cannot be fine-tuned: give hf:ID-OR-DIR or sentence:ID-OR-DIR, or another --as")
        elif self.tune and self.use in ("finetune", "yes-no"):
            raise ValueError(f"--tune is for heads on fixed vectors, not for --as {self.use}")

    def opens(self) -> bool:
        """Does it need a scorer?"""
        return self.model not in BASELINES and self.use != "finetune"


@dataclass(frozen=True)
class Judged:
    """Decisions about items.

    Attributes:
        kinds, lefts, rights, groups: as in :class:`Task`.
        rows: the items.
        said: (n,) bool.
        score: (n,) float64, what was cut to decide.
        notes: how it came about, for the summary.
    """

    kinds: tuple[Kind, Kind]
    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    groups: tuple[str, ...]
    rows: Rows
    said: np.ndarray
    score: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)


#: Told how many steps there are and, at each, that it is done.
Steps = Callable[[int], Callable[[], None]]


def judge(release: Release, task: Task, choices: Choices, scorer: Scorer | None, steps: Steps) -> Judged:
    """The decisions of one model about one task.

    Args:
        scorer: where ``choices.opens()``.

    Raises:
        UnableError: the model cannot be used so. ValueError: it knows no word, or cannot be fine-tuned.
    """
    if choices.model == "human":
        return _human(release, task)
    notes: dict[str, Any] = {}
    if choices.model == "majority":
        said = baselines.majority(task)
        return _judged(task, said, said.astype(np.float64), notes)
    if choices.model == "random":
        said = baselines.random(task, choices.seed)
        return _judged(task, said, said.astype(np.float64), notes)
    protocol = PROTOCOLS[choices.protocol]
    pairs = Pairs.of(task)
    if choices.use == "finetune":
        settings = finetune.FineTuning(protocol.loss, epochs=1 if task.name == "AP" else 5)
        notes["head"] = asdict(settings)
        texts = [sentence(release, task.name, task.lefts[i], task.rights[j], protocol.english).text
                 for i, j in zip(pairs.left, pairs.right, strict=True)]  # fmt: skip
        place = choices.model.partition(":")[2]
        tick = steps(settings.steps(len(task.train)))
        score = finetune.fit(place, texts, pairs.train, task.train.label, settings, choices.seed, tick)
        return _judged(task, score[pairs.test] > 0.5, score[pairs.test], notes)
    if scorer is None:
        raise ValueError(f"{choices.model} was not opened")
    use = choices.use or usual(scorer)
    notes["as"] = use
    if use == "yes-no":
        odds = yesno.log_odds(release, task, pairs, scorer)
        cut = yesno.threshold(odds[pairs.train], task.train.label)
        notes |= {"threshold": cut, "micro_f1_at_0": scores(task.test, odds[pairs.test] > 0).micro}
        return _judged(task, odds[pairs.test] > cut, odds[pairs.test], notes)
    inputs = _inputs(use, release, task, pairs, scorer, protocol, notes)
    head = HEADS[choices.head]
    candidates = head.candidates() if choices.tune else ()
    tick = steps(head.steps * (1 + 2 * tuning.K * len(candidates)))
    if choices.tune:
        tried = {kind: tuning.tune(candidates, inputs, task.train, pairs.train, kind, choices.seed, tick) for kind in ("rows", "objects")}
        head = tried[protocol.folds][0].head
        notes["tuning"] = {kind: [{"head": asdict(t.head), "micro_f1": t.mean} for t in each] for kind, each in tried.items()}  # type: ignore[call-overload]
    notes["head"] = asdict(head)  # type: ignore[call-overload]
    score = head.fit(inputs, Decisions.of(task.train, pairs.train, inputs.pairs), choices.seed, tick)
    return _judged(task, score[pairs.test] > 0.5, score[pairs.test], notes)


def usual(scorer: Scorer) -> str:
    """How a model is used where nothing is said: sentence encoders by their sentences, static vectors by words, others by tokens."""
    if "embed" not in scorer.abilities:
        return "words"
    return "sentence" if scorer.name.startswith(("sentence:", "clip:")) else "tokens"


def _inputs(use: str, release: Release, task: Task, pairs: Pairs, scorer: Scorer, protocol: Protocol, notes: dict[str, Any]) -> Inputs:
    if use == "words":
        inputs, unknown = features.words(release, task, pairs, scorer, protocol.unknown)
        notes["unknown"] = {kind: {"of": u.of, "words": list(u.words)} for kind, u in unknown.items()}
        return inputs
    if use == "tokens":
        return features.tokens(release, task, pairs, scorer, protocol.english)
    pooling = "mean" if usual(scorer) == "sentence" else protocol.pooling
    return features.sentences(release, task, pairs, scorer, protocol.english, pooling)


def _judged(task: Task, said: np.ndarray, score: np.ndarray, notes: dict[str, Any]) -> Judged:
    return Judged(task.kinds, task.lefts, task.rights, task.groups, task.test, said, score, notes)


def _human(release: Release, task: Task) -> Judged:
    """The expert's answers; those to AP do not say which object was meant, so its groups are the affordances."""
    answers = release.answers[task.title]
    names = [tuple(dict.fromkeys(getattr(a, side) for a in answers)) for side in ("left", "right")]
    left, right = (np.array([n.index(getattr(a, side)) for a in answers]) for n, side in zip(names, ("left", "right"), strict=True))
    rows = Rows(left, right, np.array([a.label for a in answers]), left)
    said = np.array([a.said for a in answers])
    return Judged(task.kinds, names[0], names[1], names[0], rows, said, said.astype(np.float64))
