"""The study: test suites from a corpus, the matrix of perplexities, P-vectors, and what they know.

Its one task, "relations", has a row a relation and context. Beside the files of every study stand
``scores.npy``, what the model said; ``matrix.tsv`` and ``matrix-sentence.tsv``, the perplexities by token and
by sentence; ``p-vectors.tsv`` and ``embeddings.tsv``, the vectors. The picture is the heat map of Figure 3.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.tables import Table
from simtown.core.untrusted import markdown, open_regular
from simtown.probes import measures, spatial
from simtown.probes.corpus import Corpus, tokenise, vocabulary
from simtown.probes.model_names import in_words
from simtown.probes.report import Results
from simtown.probes.scorers.base import UnableError
from simtown.probes.spatial import SpatialSettings, analyses, heatmaps, perplexity, spatial_tables, wordtests
from simtown.probes.spatial.lexicon import RELATIONS
from simtown.probes.spatial.spaces import NumberTable, Vectors, embedded, p_vectors, read_table, write_table
from simtown.probes.spatial.suites import Suites, collect
from simtown.probes.study import Study, TaskRequest, TaskResult


def ask(request: TaskRequest) -> TaskResult:
    """Score the test suites of a corpus, write the matrices and vectors, and sum up what they know."""
    settings, out = request.settings, request.out
    scorer = request.scorer()
    if "sequence_logprobs" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no probabilities of texts: give a masked or a causal model")
    unknown = [relation for relation in RELATIONS if scorer.spelling(relation) is None]
    if len(unknown) == len(RELATIONS):
        none = f"none of the {len(RELATIONS)} relations"
        raise ValueError(f"{scorer.name} knows {none}: train it on text that holds them")
    suites = _suites(request.items, settings, request.bars)
    progress = request.bars("phrases scored", len(suites.frames) * len(RELATIONS))
    scores = perplexity.score(scorer, suites, RELATIONS, out / spatial.SCORES, progress)
    by_token, by_sentence = (perplexity.perplexities(scores, suites.counts, f) for f in ("token", "sentence"))
    every = (by_token, by_sentence, p_vectors(by_token))
    tokens, sentences, vectors = (NumberTable(RELATIONS, suites.contexts, values) for values in every)
    write_table(out / spatial.MATRIX, tokens)
    write_table(out / spatial.SENTENCE, sentences)
    write_table(out / spatial.VECTORS, vectors)
    known: dict[str, Vectors] = {"P": vectors.vectors()}
    if "word_vector" in scorer.abilities:
        known["LM"] = embedded(scorer, RELATIONS)
        values = np.array(list(known["LM"].values())).reshape(len(known["LM"]), -1)
        columns = tuple(map(str, range(values.shape[1])))
        write_table(out / spatial.EMBEDDINGS, NumberTable(tuple(known["LM"]), columns, values))
    counts: dict[str, Any] = {"phrases": suites.phrases, "kept": suites.kept}
    counts["with_relation"] = sum(suites.seen.values())
    counts["contexts"] = dict(zip(suites.contexts, suites.counts.sum(axis=1).tolist(), strict=True))
    counts |= {"frames": len(suites.frames), "texts": len(suites.frames) * len(RELATIONS)}
    clusters = analyses.partitions(RELATIONS, vectors.values)
    summary = {
        "suites": counts,
        "unknown_relations": unknown,
        **_tests(known),
        "clusters": {name: partition._asdict() for name, partition in clusters.items()},
        "frequency": analyses.frequency(tokens, suites.seen)._asdict(),
        "functional": analyses.kinds(tokens),
    }
    rows = {"relation": np.repeat(RELATIONS, len(suites.contexts))}
    rows["context"] = np.tile(suites.contexts, len(RELATIONS))
    rows |= {"perplexity": by_token.ravel(), "perplexity_by_sentence": by_sentence.ravel()}
    return TaskResult(rows, summary)


def _suites(corpus: Path, settings: SpatialSettings, bars: Callable[[str, int], Any]) -> Suites:
    """The corpus is read twice: for its words, then for its phrases."""
    counted = Corpus(corpus, progress=bars("phrases counted", 0))
    common = vocabulary(map(tokenise, counted), settings.rare)
    phrases: Iterable[str] = Corpus(corpus, progress=bars("phrases sorted", 0))
    if settings.held_out:
        from simtown.probes.lm.train import held_out  # PyTorch

        phrases = filter(held_out, phrases)
    least, most, seed = settings.least, settings.most, settings.seed
    return collect(map(tokenise, phrases), common=common, least=least, most=most, seed=seed)


def _tests(known: Mapping[str, Vectors]) -> dict[str, Any]:
    """What the vectors that have all words of the tests answer, and how P-vectors compare with embeddings."""
    questions, sets = wordtests.analogies(), wordtests.trios()
    words = {word for q in questions for word in q[:4]}.union(*sets)
    able = {name: vectors for name, vectors in known.items() if words <= vectors.keys()}
    answers = {name: wordtests.answer_all(vectors, questions, sets) for name, vectors in able.items()}
    results: dict[str, Any] = {}
    for name, tests in answers.items():
        for test, answer in tests.items():
            interval = measures.interval(answer.replicates())
            results.setdefault(test, {})[name] = {"accuracy": answer.accuracy, "interval": interval}
    if len(answers) == 2:
        for test, result in results.items():
            result["P_less_LM"] = wordtests.compare(answers["P"][test], answers["LM"][test])._asdict()
    return results


def accuracies(summary: Mapping[str, Any]) -> Table:
    """The accuracies of the tests, for summary.csv and summary.md."""
    rows = []
    for test, chance in (("analogy", 1 / 9), ("odd_one_out_cosine", 1 / 3), ("odd_one_out_rank", 1 / 3)):
        for name in ("P", "LM"):
            if name in summary.get(test, {}):
                low, high = summary[test][name]["interval"]
                accuracy = f"{summary[test][name]['accuracy']:.3f}"
                interval = f"{low:.3f} to {high:.3f}"
                rows.append([test.replace("_", " "), name, accuracy, interval, f"{chance:.2f}"])
    return Table(["test", "vectors", "accuracy", "95 %", "chance"], rows)


def pages(results: Results) -> dict[str, str]:
    """summary.csv and summary.md."""
    summary = results.tasks["relations"]
    counts, frequency, kinds = summary["suites"], summary["frequency"], summary["functional"]
    unknown = summary["unknown_relations"]
    rho = "-" if frequency["rho"] is None else f"{frequency['rho']:.3f}"
    says = "The model does not know {} relations, and says of them what it says of unknown words: {}."
    lines = [
        f"# Spatial relations: {markdown(results.model)}",
        f"{len(RELATIONS)} relations in {len(counts['contexts'])} contexts; {counts['with_relation']:,} of "
        f"{counts['phrases']:,} phrases hold a relation; {sum(counts['contexts'].values()):,} phrases "
        f"sampled, {counts['frames']:,} frames, {counts['texts']:,} texts scored.",
        says.format(len(unknown), ", ".join(unknown)) if unknown else "",
        accuracies(summary).markdown(text_columns=2),
        f"Frequency and mean log-perplexity elsewhere: Spearman's ρ = {rho}, n = {frequency['n']}.\n"
        f"Functional relations elsewhere: {kinds['functional']:.2f} bits, geometric: "
        f"{kinds['geometric']:.2f} bits (exact Mann-Whitney p = {kinds['p']:.2g}).",
    ]
    for name, part in summary["clusters"].items():
        groups = "; ".join(", ".join(group) for group in part["groups"] if len(group) > 1)
        clusters = f"{len(part['groups'])} clusters ({name}), silhouette {part['silhouette']:.3f}"
        if part["seeds"]:
            low, high = part["seeds"]
            clusters += f" ({low:.3f} to {high:.3f} over {analyses.SEEDS} seeds)"
        lines.append(f"{clusters}: {groups}; the rest alone.")
    page = "\n\n".join(filter(None, lines))
    return {"summary.csv": accuracies(summary).csv(), "summary.md": f"{page}\n"}


def draw(results: Results, task: str, corpus: Path) -> None:
    """Draw the heat map of the P-vectors as relations.png and .svg, of many also an excerpt."""
    vectors = read_table(results.path / spatial.VECTORS)
    heatmaps.heat_map(vectors, in_words(results.model), results.path / task)


def digest(corpus: Path) -> str:
    """A digest of the corpus."""
    with open_regular(corpus) as file:
        return file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


SPATIAL = Study(
    name="spatial",
    settings=SpatialSettings,
    tasks=("relations",),
    items=lambda source, settings: {"relations": source},
    digest=digest,
    ask=ask,
    pages=pages,
    draw=draw,
    compare=lambda a, b: spatial_tables.compared(a.path, b.path),
    printed={name: partial(spatial_tables.printed_table, name) for name in spatial_tables.TABLES},
    files=spatial.FILES,
    form=spatial.FORM,
    source="corpus",
)
