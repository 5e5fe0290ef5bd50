"""One model, one relation after another, one directory: what `simtown probe visual` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from simtown.files import ForeignDirectoryError, folder
from simtown.probes import statistics
from simtown.probes.release_files import understood
from simtown.probes.results import NAME
from simtown.probes.scorers.base import Scorer, UnableError
from simtown.probes.scorers.spelling import Policy
from simtown.probes.visual import elicit, figures, head, judging, metrics, results, size
from simtown.probes.visual.dataset import Dataset

Use = Literal["prompts", "head", "tuned", "tuned-embeddings"]
USES: tuple[Use, ...] = ("prompts", "head", "tuned", "tuned-embeddings")
#: Told a task and how many steps it has; gives what is called at each.
Watch = Callable[[str, int], Callable[[], None]]


class Data(Protocol):
    """Where datasets come from: the release, or what was mined."""

    folder: Path

    def dataset(self, relation: str) -> Dataset: ...

    def sizes(self) -> Mapping[str, Sequence[str]]: ...

    def templates(self, relation: str) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Choices:
    """What decides the numbers, besides the data.

    Attributes:
        model: how the scorer is opened.
        protocol: see :mod:`simtown.probes.visual.elicit`.
        use: prompts (zero-shot), head, tuned (soft prompts at every layer), tuned-embeddings (at the first), or None: what it can do.
        seed: of the head's solver, and of the order in which prompts are tuned.
    """

    model: str
    use: Use | None = None
    protocol: elicit.Protocol = "corrected"
    seed: int = 0

    def check(self) -> None:
        """Raises ValueError for a choice that is not there."""
        if self.use is not None and self.use not in USES:
            raise ValueError(f"unknown use '{self.use}': choose {', '.join(USES)}")
        if self.protocol not in elicit.PROTOCOLS:
            raise ValueError(f"unknown protocol '{self.protocol}': choose {', '.join(elicit.PROTOCOLS)}")

    @property
    def policy(self) -> Policy:
        """For classes of several sub-words: the first stands for all in the paper."""
        return "left-to-right" if self.protocol == "corrected" else "first"


def run(data: Data, tasks: Sequence[str], choices: Choices, out: Path, opening: Callable[[Policy], Scorer], watch: Watch) -> dict[str, Any]:
    """Ask about every task that the directory lacks, and write everything; the content of summary.json.

    Raises:
        ValueError: a choice that cannot be.
        UnableError: the model cannot do what is asked.
        ForeignDirectoryError: see :meth:`simtown.probes.results.Study.opened`.
    """
    choices.check()
    source = {task: data.sizes() if task == "size" else data.dataset(task) for task in tasks}
    with results.STUDY.opened(out, asdict(choices)) as directory:
        scorer: Scorer | None = None
        for task, content in source.items():
            digest = _fingerprint(content)
            if directory.has(task):
                there = directory.content["tasks"][task].get("data")
                if there != digest:
                    raise ForeignDirectoryError(f"{out} holds results on other {task} data: give another --out")
                continue
            scorer = scorer or opening(choices.policy)
            if isinstance(content, Dataset):
                with understood(data.folder):
                    rows, told = _relation(content, scorer, choices, opening, watch, out)
            else:
                rows, told = _sizes(data, content, scorer, choices)
            directory.add(task, pa.table(rows), {**told, "data": digest})
        with understood(out / NAME, "give another --out"):
            for task in directory.content["tasks"]:
                figures.task(out, task, directory.content)
            results.write_tables(out, directory.content)
        return directory.content


def _fingerprint(content: object) -> str:
    digest = blake2b(digest_size=8)
    if isinstance(content, Dataset):
        for part in (content.classes, content.words, content.subjects, content.templates):
            digest.update(repr(part).encode())
        for array in (content.gold, content.other, content.train, content.counts):
            digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    else:
        digest.update(repr(content).encode())
    return digest.hexdigest()


def _relation(data: Dataset, scorer: Scorer, choices: Choices, opening: Callable[[Policy], Scorer],
              watch: Watch, out: Path) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    notes: dict[str, Any]
    use = choices.use or ("prompts" if "class_logprobs" in scorer.abilities else "head")
    if use == "head":
        step = watch(f"head, {data.relation}, templates", len(data.templates) if "embed" in scorer.abilities else 1)
        one, notes = head.probe(scorer, data, choices.protocol, choices.seed, step)
        asked = [one]
    elif use in ("tuned", "tuned-embeddings"):
        from simtown.probes.visual import tuning

        step = watch(f"{use}, {data.relation}, passes", tuning.EPOCHS)
        save = folder(out, "prompts") / f"{data.relation}.safetensors"
        one, notes = tuning.tune(scorer, data, choices.seed, use == "tuned", save, step)
        asked = [one]
    else:
        asked, notes = _prompts(data, scorer, choices, opening)
    return _rows(data, asked), {"use": use, "notes": notes, "modes": {one.mode: judging.describe(data, one) for one in asked}}


def _prompts(
    data: Dataset, scorer: Scorer, choices: Choices, opening: Callable[[Policy], Scorer]
) -> tuple[list[judging.Judged], dict[str, Any]]:
    """Zero-shot: best template and average template."""
    if "class_logprobs" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no probabilities of words: use --as head")
    items = data.test
    logprobs = elicit.by_template(scorer, data.templates, [data.subjects[i] for i in items], data.words, choices.protocol)
    if not np.isfinite(logprobs).any():
        raise ValueError(f"{scorer.name} knows none of the words of {data.relation}: {', '.join(data.classes[:5])}, …")
    asked = [judging.best_template(data, items, logprobs)]
    kept = np.ones(len(items), dtype=bool)
    if choices.protocol == "release":  # its average mode leaves out subjects whose best class is several sub-words
        kept = elicit.single_token(opening("drop"), data.classes)[data.gold[items]]
    asked.append(judging.judged(data, items[kept], elicit.averaged(logprobs[:, kept], choices.protocol), "average"))
    unsaid = [c for c, known in zip(data.classes, np.isfinite(logprobs).any(axis=(0, 1)), strict=True) if not known]
    return asked, {"templates": len(data.templates), "left_out": int((~kept).sum()), "unknown_classes": unsaid}


def _rows(data: Dataset, asked: Sequence[judging.Judged]) -> dict[str, Any]:
    prior_rho, prior_right, ceiling = judging.bounds(data)
    member = judging.groups(data)
    columns: dict[str, list[Any]] = {name: [] for name in ("mode", "subject", "group", "gold", "said", "right", "rho", "prior_rho",
                                                           "prior_right", "ceiling_rho", "logprob")}  # fmt: skip
    for one in asked:
        said = one.scores.argmax(axis=1)
        for row, i in enumerate(one.items):
            for name, value in zip(columns, (
                one.mode, data.subjects[i], str(member[i]), data.classes[data.gold[i]], data.classes[said[row]], bool(one.right[row]),
                float(one.rho[row]), float(prior_rho[i]), bool(prior_right[i]), float(ceiling[i]), one.scores[row].astype(np.float32),
            ), strict=True):  # fmt: skip
                columns[name].append(value)
    return columns


def _sizes(data: Data, table: Mapping[str, Sequence[str]], scorer: Scorer, choices: Choices) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rank partition where the model has probabilities, adjective projection where it has vectors of words."""
    sizes = size.Sizes(table)
    columns: dict[str, list[Any]] = {name: [] for name in ("method", "noun", "size", "score")}
    told: dict[str, Any] = {"partition": {}, "projection": None, "notes": {}}
    nouns, names = np.array(sizes.nouns), np.array(sizes.names)

    def add(method: str, which: np.ndarray, scores: np.ndarray) -> None:
        columns["method"] += [method] * len(which)
        columns["noun"] += nouns[which].tolist()
        columns["size"] += names[sizes.size[which]].tolist()
        columns["score"] += scores.tolist()

    if "class_logprobs" in scorer.abilities and choices.use in (None, "prompts"):
        for relation in ("larger", "smaller"):
            logprobs = elicit.by_template(scorer, data.templates(f"size_{relation}"), [sizes.nouns[i] for i in sizes.subjects],
                                          [(noun,) for noun in sizes.nouns], choices.protocol)  # fmt: skip
            scores = elicit.averaged(logprobs, choices.protocol)
            for direction in ("corrected", "paper"):
                found = size.rank_partition(sizes, scores, relation, direction)
                bound = {k: v[relation == "smaller"] for k, v in size.limits(table, direction).items()}
                low, high = statistics.mean_interval(found)
                told["partition"][f"{relation}, {direction}"] = {"n": len(found), "mean": float(found.mean()), "sd": float(found.std()),
                                                                 "low": low, "high": high, **bound}  # fmt: skip
                add(f"{relation}, {direction}", sizes.subjects, found)
    if "word_vector" in scorer.abilities:
        words = {word: scorer.word_vector(word) for word in (*sizes.nouns, "small", "large")}
        known = np.array([i for i, noun in enumerate(sizes.nouns) if words[noun] is not None], dtype=np.int64)
        told["notes"]["unknown_nouns"] = [noun for noun in sizes.nouns if words[noun] is None]
        small, large = words["small"], words["large"]
        if small is not None and large is not None and len(known) > 2:
            vectors = np.array([words[sizes.nouns[i]] for i in known])
            scores = size.projection(vectors, small, large)
            told["projection"] = {**asdict(statistics.spearman(scores, sizes.size[known])),
                                  "ceiling": float(metrics.ceiling_rows(sizes.size[known][None].astype(float))[0])}  # fmt: skip
            add("projection", known, scores)
    if not columns["method"]:
        raise UnableError(f"{scorer.name} has neither probabilities of words nor vectors of 'small', 'large' and the nouns")
    return columns, told
