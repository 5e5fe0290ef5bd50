"""The study on any language model: test suites from a corpus, the matrix, P-vectors, and what they know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import DamagedError, RefusedError, open_plain, read_json
from simtown.core.quoting import markdown, title_of
from simtown.core.tables import markdown_table
from simtown.probes import statistics
from simtown.probes.bars import Bars
from simtown.probes.scorers.base import UnableError
from simtown.probes.spatial import clusters, effects, figures, matrix, suites, wordtests
from simtown.probes.spatial.relations import RELATIONS
from simtown.probes.spatial.settings import (
    EMBEDDINGS,
    FIGURE,
    MATRIX,
    SCORES,
    SENTENCE,
    SUMMARY,
    VECTORS,
    SpatialSettings,
)
from simtown.probes.spatial.tables import NumberTable, read_table, write_table
from simtown.probes.spatial.vectors import MEASURES, Space, embedded, p_vectors
from simtown.probes.study import TaskRequest
from simtown.text.corpus import Corpus, tokenise, vocabulary


@dataclass(frozen=True)
class SpatialCorpus:
    """The data of a run.

    Attributes:
        path: of the text.
        digest: SHA-256 of the file.
    """

    path: Path
    digest: str


def open_corpus(path: Path) -> SpatialCorpus:
    """The corpus at a path."""
    with open_plain(path) as file:
        return SpatialCorpus(path, file_digest(file, "sha256").hexdigest())  # type: ignore[arg-type]


def run(request: TaskRequest) -> dict[str, Any]:
    """Score the test suites of a corpus, write the matrices and vectors, and sum up what they know.

    Raises:
        ValueError: the corpus has too few relations, or the model knows none of them.
        UnableError: the model has no probabilities of texts.
        DamagedError: a file of the directory, or of the corpus, is damaged.
    """
    settings, directory = request.settings, request.out
    scorer = request.scorer()
    if "sequence_logprobs" not in scorer.abilities:
        raise UnableError(
            f"{scorer.name} has no probabilities of texts: give a masked or a causal language model"
        )
    unknown = [relation for relation in RELATIONS if scorer.spelling(relation) is None]
    if len(unknown) == len(RELATIONS):
        raise ValueError(
            f"{scorer.name} knows none of the {len(RELATIONS)} relations: train it on text that holds them"
        )
    bins = _suites(request.data.path, settings, request.bars)
    progress = request.bars("phrases scored", len(bins.frames) * len(RELATIONS))
    scores = matrix.score(scorer, bins, RELATIONS, directory / SCORES, progress)
    tokens, sentences = (
        NumberTable(RELATIONS, bins.contexts, matrix.perplexities(scores, bins.counts, form))
        for form in ("token", "sentence")
    )
    write_table(directory / MATRIX, tokens)
    write_table(directory / SENTENCE, sentences)
    p = NumberTable(RELATIONS, bins.contexts, p_vectors(tokens.values))
    write_table(directory / VECTORS, p)
    spaces = [Space("P", dict(zip(RELATIONS, p.values, strict=True)))]
    if "word_vector" in scorer.abilities:
        lm = embedded(scorer, RELATIONS)
        write_table(directory / EMBEDDINGS, _as_table(lm))
        spaces.append(Space("LM", lm.vectors))
    figures.heat_map(p, f"P-vectors: {title_of(settings.model)}", directory / FIGURE)
    return {
        "suites": _suites_summary(bins),
        "unknown_relations": unknown,
        **_known(tokens, bins.seen, spaces),
    }


def _suites(corpus: Path, settings: SpatialSettings, bars: Bars) -> suites.Suites:
    """The corpus is read twice: for its words, then for its phrases."""
    counted = _reported(Corpus(corpus), bars("phrases counted", 0))
    common = vocabulary((tokenise(phrase) for phrase in counted), settings.rare)
    phrases = _reported(Corpus(corpus), bars("phrases sorted", 0))
    if settings.held_out:
        from simtown.probes.lm.train import held_out

        phrases = filter(held_out, phrases)
    return suites.collect(
        map(tokenise, phrases), common=common, least=settings.least, most=settings.most, seed=settings.seed
    )


def _reported(phrases: Iterable[str], progress: Callable[[int], object]) -> Iterator[str]:
    for number, phrase in enumerate(phrases, start=1):
        yield phrase
        if number % 1000 == 0:
            progress(1000)


def _suites_summary(bins: suites.Suites) -> dict[str, Any]:
    sizes = bins.counts.sum(axis=1).tolist()
    return {
        "phrases": bins.phrases,
        "kept": bins.kept,
        "with_relation": sum(bins.seen.values()),
        "contexts": dict(zip(bins.contexts, sizes, strict=True)),
        "frames": len(bins.frames),
        "texts": len(bins.frames) * len(RELATIONS),
    }


def _known(tokens: NumberTable, seen: dict[str, int], spaces: Sequence[Space]) -> dict[str, Any]:
    """What the vectors know, and what perplexity depends on."""
    questions, sets = wordtests.analogies(), wordtests.trios()
    words = {w for q in questions for w in q.group} | {w for s in sets for w in (s.one, s.other, s.odd)}
    results: dict[str, Any] = {}
    answers: dict[str, list[wordtests.AnalogyAnswers]] = {}
    for space in spaces:
        if not space.has(words):
            continue
        answers_of_test = {"analogy": wordtests.answer_analogies(space, questions)}
        answers_of_test |= {
            f"odd_one_out_{name}": wordtests.answer_trios(space, sets, measure)
            for name, measure in MEASURES.items()
        }
        for test, answer in answers_of_test.items():
            answers.setdefault(test, []).append(answer)
            results.setdefault(test, {})[space.name] = {
                "accuracy": answer.accuracy,
                "interval": statistics.interval(wordtests.accuracies(answer)),
            }
    for test, pair in answers.items():
        if len(pair) == 2:
            results[test]["P_less_LM"] = asdict(wordtests.compare(pair[0], pair[1]))
    p = spaces[0].matrix(RELATIONS)
    partitions = {"paper": clusters.as_paper(RELATIONS, p), "silhouette": clusters.chosen(RELATIONS, p)}
    return {
        **results,
        "clusters": {name: asdict(c) for name, c in partitions.items()},
        "frequency": asdict(effects.frequency(tokens, seen)),
        "functional": asdict(effects.kinds(tokens)),
    }


def _as_table(space: Space) -> NumberTable:
    values = np.array(list(space.vectors.values()))
    return NumberTable(
        tuple(space.vectors), tuple(map(str, range(values.shape[1] if values.ndim == 2 else 0))), values
    )


def page(model: str, summary: dict[str, Any]) -> str:
    counts, frequency, kinds = summary["suites"], summary["frequency"], summary["functional"]
    rows: list[Sequence[str]] = [("test", "vectors", "accuracy", "95 %", "chance")]
    for test, chance in (("analogy", 1 / 9), ("odd_one_out_cosine", 1 / 3), ("odd_one_out_rank", 1 / 3)):
        for name in ("P", "LM"):
            if name in summary.get(test, {}):
                low, high = summary[test][name]["interval"]
                accuracy = f"{summary[test][name]['accuracy']:.3f}"
                interval = f"{low:.3f} to {high:.3f}"
                rows.append((test.replace("_", " "), name, accuracy, interval, f"{chance:.2f}"))
    lines = [
        f"# Spatial relations: {markdown(model)}",
        "",
        f"{len(RELATIONS)} relations in {len(counts['contexts'])} contexts; {counts['with_relation']:,} of "
        f"{counts['phrases']:,} phrases hold a relation; {sum(counts['contexts'].values()):,} phrases "
        f"sampled, {counts['frames']:,} frames, {counts['texts']:,} texts scored.",
        "",
        *_unknown(summary["unknown_relations"]),
        markdown_table(rows, words=2),
        "",
        f"Frequency and mean log-perplexity elsewhere: Spearman's ρ = {_shown(frequency['rho'])}, n = "
        f"{frequency['n']}.",
        f"Functional relations elsewhere: {kinds['functional']:.2f} bits, geometric: "
        f"{kinds['geometric']:.2f} bits (exact Mann-Whitney p = {kinds['p']:.2g}).",
    ]
    for name, part in summary["clusters"].items():
        lines += [
            "",
            f"{len(part['groups'])} clusters ({name}), silhouette {part['silhouette']:.3f}: "
            + "; ".join(", ".join(group) for group in part["groups"] if len(group) > 1)
            + "; the rest alone.",
        ]
    return "\n".join(lines) + "\n"


def _unknown(relations: Sequence[str]) -> list[str]:
    """A paragraph on the relations that the model lacks; nothing where it knows all."""
    if not relations:
        return []
    return [
        f"The model does not know {', '.join(relations)}: it reads them as its unknown word, so their rows "
        "say nothing of them. Train it on text that holds these words.",
        "",
    ]


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def load(directory: Path) -> tuple[NumberTable, list[Space]]:
    """The perplexities by token and the vectors of a finished run, P and, where the model has any, LM.

    Raises:
        FileNotFoundError: no finished run is there.
        DamagedError: a table is damaged.
    """
    if not (directory / f"{SUMMARY}.json").is_file():
        raise FileNotFoundError(f"{directory} holds no finished simtown probe spatial")
    spaces = []
    for name, file in (("P", VECTORS), ("LM", EMBEDDINGS)):
        if (directory / file).is_file():
            table = read_table(directory / file)
            spaces.append(
                Space(f"{name}, {directory.name}", dict(zip(table.rows, table.values, strict=True)))
            )
    return read_table(directory / MATRIX), spaces


def unknown_relations(directory: Path) -> list[str]:
    """The relations that the model of a finished run does not know.

    Raises:
        FileNotFoundError: no finished run is there.
        DamagedError: its summary is damaged.
    """
    path = directory / f"{SUMMARY}.json"
    try:
        unknown: list[str] = read_json(path)["unknown_relations"]
        if not set(unknown) <= set(RELATIONS):
            raise ValueError("it names words that are no relations")
    except (FileNotFoundError, RefusedError):
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path} is damaged ({error}): run simtown probe spatial again") from error
    return unknown
