"""Spatial relations by perplexity (Ghanimifard and Dobnik 2019): ``simtown probe spatial``.

Its directory is not that of the other studies, since its results are matrices: ``run.json`` has the settings,
``scores.npy`` what the model said, ``matrix.tsv`` and ``matrix-sentence.tsv`` the perplexities by token and
by sentence, ``p-vectors.tsv`` and ``embeddings.tsv`` the vectors, ``figure3`` the heat map, ``summary`` the
rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core.options import option
from simtown.probes.study import Source, Study, StudySettings, TaskRequest, TaskResult

if TYPE_CHECKING:
    from simtown.core.runs import RunRecord
    from simtown.probes.printed import PrintedTable
    from simtown.probes.spatial.spaces import NumberTable, Space
    from simtown.probes.spatial.suites import Suites

RUN, SCORES, SUMMARY, FIGURE = "run.json", "scores.npy", "summary.json", "figure3"
MATRIX, SENTENCE, VECTORS, EMBEDDINGS = (
    *("matrix.tsv", "matrix-sentence.tsv"),
    *("p-vectors.tsv", "embeddings.tsv"),
)
#: Names of the files.
OWNED = frozenset(
    {
        *(RUN, SCORES, SUMMARY, MATRIX, SENTENCE, VECTORS, EMBEDDINGS),
        *("summary.md", f"{FIGURE}.png", f"{FIGURE}.svg"),
    }
)


@dataclass(frozen=True)
class SpatialSettings(StudySettings):
    """Every choice that decides the numbers, besides the corpus."""

    model: str = option(help="lstm:DIR, hf:ID-OR-DIR (causal or masked), ngram:CORPUS.")
    rare: int = option(20, "Phrases with a word that the corpus has less often are dropped.", low=1)
    least: int = option(10, "Contexts with fewer phrases are left out.", low=1)
    most: int = option(200, "Phrases of a context at most, drawn at random.", low=1)
    held_out: bool = option(False, "Only phrases that simtown lm train holds out.")
    seed: int = option(0, "Seed of the sample of phrases.", low=0)


def ask(request: TaskRequest) -> dict[str, Any]:
    """Score the test suites of a corpus, write the matrices and vectors, and sum up what they know.

    Raises:
        ValueError: the corpus has too few relations, or the model knows none of them.
        UnableError: the model has no probabilities of texts.
        DamagedError: a file of the directory, or of the corpus, is damaged.
    """
    from simtown.core.untrusted import printable
    from simtown.probes.scorers.base import UnableError
    from simtown.probes.spatial import heatmaps, perplexity
    from simtown.probes.spatial.lexicon import RELATIONS
    from simtown.probes.spatial.spaces import NumberTable, embedded, p_vectors, write_table

    settings, out = request.settings, request.out
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
    suites = _suites(request.data, settings, request.bars)
    progress = request.bars("phrases scored", len(suites.frames) * len(RELATIONS))
    scores = perplexity.score(scorer, suites, RELATIONS, out / SCORES, progress)
    tokens, sentences = (
        NumberTable(RELATIONS, suites.contexts, perplexity.perplexities(scores, suites.counts, form))
        for form in ("token", "sentence")
    )
    write_table(out / MATRIX, tokens)
    write_table(out / SENTENCE, sentences)
    vectors = NumberTable(RELATIONS, suites.contexts, p_vectors(tokens.values))
    write_table(out / VECTORS, vectors)
    spaces = [vectors.space("P")]
    if "word_vector" in scorer.abilities:
        embeddings = embedded(scorer, RELATIONS)
        write_table(out / EMBEDDINGS, embeddings.table())
        spaces.append(embeddings.table().space("LM"))
    heatmaps.heat_map(vectors, f"P-vectors: {printable(settings.model)}", out / FIGURE)
    sizes = suites.counts.sum(axis=1).tolist()
    return {
        "suites": {
            "phrases": suites.phrases,
            "kept": suites.kept,
            "with_relation": sum(suites.seen.values()),
            "contexts": dict(zip(suites.contexts, sizes, strict=True)),
            "frames": len(suites.frames),
            "texts": len(suites.frames) * len(RELATIONS),
        },
        "unknown_relations": unknown,
        **_known(tokens, suites.seen, spaces),
    }


def _suites(corpus: Path, settings: SpatialSettings, bars: Callable[[str, int], Any]) -> Suites:
    """The corpus is read twice: for its words, then for its phrases."""
    from simtown.probes.corpus import Corpus, tokenise, vocabulary
    from simtown.probes.spatial.suites import collect

    counted = _reported(Corpus(corpus), bars("phrases counted", 0))
    common = vocabulary((tokenise(phrase) for phrase in counted), settings.rare)
    phrases = _reported(Corpus(corpus), bars("phrases sorted", 0))
    if settings.held_out:
        from simtown.probes.lm.train import held_out

        phrases = filter(held_out, phrases)
    return collect(
        map(tokenise, phrases),
        common=common,
        least=settings.least,
        most=settings.most,
        seed=settings.seed,
    )


def _reported(phrases: Iterable[str], progress: Callable[[int], object]) -> Iterator[str]:
    for number, phrase in enumerate(phrases, start=1):
        yield phrase
        if number % 1000 == 0:
            progress(1000)


def _known(tokens: NumberTable, seen: dict[str, int], spaces: Sequence[Space]) -> dict[str, Any]:
    """What the vectors know, and what perplexity depends on."""
    from simtown.probes import statistics
    from simtown.probes.spatial import analyses, wordtests
    from simtown.probes.spatial.lexicon import RELATIONS

    questions, sets = wordtests.analogies(), wordtests.trios()
    words = {w for q in questions for w in q.group} | {w for s in sets for w in (*s.group, s.odd)}
    results: dict[str, Any] = {}
    answers: dict[str, list[wordtests.Answers]] = {}
    for space in spaces:
        if not space.has(words):
            continue
        for test, answer in wordtests.answer_all(space, questions, sets).items():
            answers.setdefault(test, []).append(answer)
            results.setdefault(test, {})[space.name] = {
                "accuracy": answer.accuracy,
                "interval": statistics.interval(wordtests.accuracies(answer)),
            }
    for test, pair in answers.items():
        if len(pair) == 2:
            results[test]["P_less_LM"] = asdict(wordtests.compare(*pair))
    partitions = analyses.partitions(RELATIONS, spaces[0].matrix(RELATIONS))
    return {
        **results,
        "clusters": {name: asdict(partition) for name, partition in partitions.items()},
        "frequency": asdict(analyses.frequency(tokens, seen)),
        "functional": asdict(analyses.kinds(tokens)),
    }


def page(model: str, summary: Mapping[str, Any]) -> str:
    """The summary in Markdown."""
    from simtown.core.tables import Table
    from simtown.core.untrusted import markdown
    from simtown.probes.spatial.lexicon import RELATIONS

    counts, frequency, kinds = summary["suites"], summary["frequency"], summary["functional"]
    rows = []
    for test, chance in (("analogy", 1 / 9), ("odd_one_out_cosine", 1 / 3), ("odd_one_out_rank", 1 / 3)):
        for name in ("P", "LM"):
            if name in summary.get(test, {}):
                low, high = summary[test][name]["interval"]
                accuracy = f"{summary[test][name]['accuracy']:.3f}"
                interval = f"{low:.3f} to {high:.3f}"
                rows.append([test.replace("_", " "), name, accuracy, interval, f"{chance:.2f}"])
    lines = [
        f"# Spatial relations: {markdown(model)}",
        "",
        f"{len(RELATIONS)} relations in {len(counts['contexts'])} contexts; {counts['with_relation']:,} of "
        f"{counts['phrases']:,} phrases hold a relation; {sum(counts['contexts'].values()):,} phrases "
        f"sampled, {counts['frames']:,} frames, {counts['texts']:,} texts scored.",
        "",
    ]
    if unknown := summary["unknown_relations"]:
        lines += [
            f"The model does not know {len(unknown)} relations, and says of them what it says of unknown "
            f"words: {', '.join(unknown)}.",
            "",
        ]
    rho = "-" if frequency["rho"] is None else f"{frequency['rho']:.3f}"
    lines += [
        Table(["test", "vectors", "accuracy", "95 %", "chance"], rows).markdown(text_columns=2),
        "",
        f"Frequency and mean log-perplexity elsewhere: Spearman's ρ = {rho}, n = {frequency['n']}.",
        f"Functional relations elsewhere: {kinds['functional']:.2f} bits, geometric: "
        f"{kinds['geometric']:.2f} bits (exact Mann-Whitney p = {kinds['p']:.2g}).",
    ]
    for name, part in summary["clusters"].items():
        groups = "; ".join(", ".join(group) for group in part["groups"] if len(group) > 1)
        lines += [
            "",
            f"{len(part['groups'])} clusters ({name}), silhouette {part['silhouette']:.3f}: {groups}; the "
            "rest alone.",
        ]
    return "\n".join(lines) + "\n"


def load(directory: Path) -> tuple[NumberTable, list[Space]]:
    """The perplexities by token and the vectors of a finished run, P and, where the model has any, LM.

    Raises:
        FileNotFoundError: no finished run is there.
        DamagedError: a table is damaged.
    """
    from simtown.probes.spatial.spaces import read_table

    if not (directory / SUMMARY).is_file():
        raise FileNotFoundError(f"{directory} holds no finished simtown probe spatial")
    spaces = [
        read_table(directory / file).space(f"{name}, {directory.name}")
        for name, file in (("P", VECTORS), ("LM", EMBEDDINGS))
        if (directory / file).is_file()
    ]
    return read_table(directory / MATRIX), spaces


def unknown_relations(directory: Path) -> list[str]:
    """The relations that the model of a finished run does not know."""
    from simtown.core.files import DamagedError
    from simtown.core.untrusted import read_json

    try:
        unknown: list[str] = list(read_json(directory / SUMMARY)["unknown_relations"])
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"{directory / SUMMARY} is damaged ({error}): run simtown probe spatial again"
        ) from error
    return unknown


class SpatialStudy(Study):
    """Every spatial relation in every other's place."""

    name = "spatial"
    title = "Spatial relations: perplexity vectors of a language model."
    about = (
        "Put every spatial relation in every other's place and see how perplexed a model is (Ghanimifard "
        "and Dobnik, 2019).\n\nPhrases of the corpus are binned by the relation they hold. 67 relations "
        "in up to 57 such contexts make the matrix of perplexities; its rows are the relations' "
        "P-vectors, which are tested by analogies, odd ones out and clusters. --model, --corpus and --out "
        "are needed."
    )
    source = Source(
        "corpus", "Text, one phrase a line, or Visual Genome's region_descriptions.json; packed or not."
    )
    settings = SpatialSettings
    task_names = ("relations",)
    published = ("spatial-figure3", "spatial-analogy", "spatial-odd-one-out", "spatial-similarity")
    ending = "Everything is in {out}; the heat map is {out}/figure3.png and .svg"

    @cached_property
    def record(self) -> RunRecord:
        """The file that says what a directory of its results is."""
        from simtown.core.runs import RunRecord

        return RunRecord(RUN, "simtown spatial relations", self.command, OWNED)

    def open(self, source: Path, settings: Any) -> Path:
        return source

    def settings_record(self, data: Path, settings: Any) -> dict[str, Any]:
        from hashlib import file_digest

        with open(data, "rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return super().settings_record(data, settings) | {"corpus": digest}

    def is_done(self, out: Path, content: Mapping[str, Any], task: str) -> bool:
        """Never: what the model said is kept as it comes, and the rest takes seconds."""
        return False

    def ask(self, request: TaskRequest) -> TaskResult:
        return TaskResult({}, ask(request))

    def write_task(self, out: Path, content: dict[str, Any], task: str, result: TaskResult) -> None:
        """Write summary.json and summary.md."""
        from simtown.core.files import as_json, save_json, save_text

        summary = as_json(result.summary)
        save_json(out / SUMMARY, summary)
        save_text(out / "summary.md", page(content["settings"]["model"], summary))

    def write_summary(self, out: Path, content: Mapping[str, Any]) -> None:
        """Nothing is left to write."""

    def compare(self, a: Path, b: Path) -> list[PrintedTable]:
        from simtown.probes.spatial.spatial_tables import compared

        return compared(a, b)

    def reproduce(self, table: str, data: Path, runs: Sequence[Path]) -> tuple[list[PrintedTable], list[str]]:
        from simtown.probes.spatial.spatial_tables import printed_table

        return printed_table(table, data, runs)


SPATIAL = SpatialStudy()
