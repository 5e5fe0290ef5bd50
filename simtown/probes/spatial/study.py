"""The study on any language model: test suites from a corpus, the matrix, P-vectors, what they know; all into one directory.

``run.json`` has the settings, ``scores.npy`` what the model said, ``matrix.tsv`` and ``matrix-sentence.tsv`` the perplexities by token
and by sentence, ``p-vectors.tsv`` and ``embeddings.tsv`` the vectors, ``figure3`` the heat map, ``summary`` the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import simtown
from simtown.files import DamagedError, ForeignDirectoryError, claimed, clear_leftovers, load_json, open_plain, save_json, save_text
from simtown.probes import statistics
from simtown.probes.results import finite
from simtown.probes.scorers.base import Scorer, UnableError
from simtown.probes.scorers.cache import fingerprint
from simtown.probes.spatial import clusters, effects, figures, matrix, suites, wordtests
from simtown.probes.spatial.relations import RELATIONS
from simtown.probes.spatial.sharing import sharing
from simtown.probes.spatial.tables import Table, read_table, write_table
from simtown.probes.spatial.vectors import MEASURES, Space, embedded, p_vectors
from simtown.quoting import markdown, title_of, without_folders
from simtown.visualgenome.corpus import Corpus, tokenise, vocabulary

RUN, SCORES, SUMMARY, FORMAT = "run.json", "scores.npy", "summary", "simtown spatial relations"
MATRIX, SENTENCE, VECTORS, EMBEDDINGS, FIGURE = "matrix.tsv", "matrix-sentence.tsv", "p-vectors.tsv", "embeddings.tsv", "figure3"
_OWN = (RUN, SCORES, MATRIX, SENTENCE, VECTORS, EMBEDDINGS, *(f"{SUMMARY}.{end}" for end in ("json", "md")),
        *(f"{FIGURE}.{end}" for end in ("png", "svg")))  # fmt: skip


class Meter(Protocol):
    """Told how many more are done."""

    def advanced(self, more: int) -> None: ...


#: Opens a bar, from its title and how many there are (0: unknown).
Watch = Callable[[str, int], AbstractContextManager[Meter | None]]


@dataclass(frozen=True)
class Settings:
    """Every choice that decides the numbers, besides the model and the corpus.

    Attributes:
        rare: phrases with a word that the corpus has less often are dropped.
        least: contexts with fewer phrases are left out.
        most: phrases of a context at most.
        held_out: only phrases that simtown lm train holds out.
        seed: of the sample of phrases.
    """

    rare: int = 20
    least: int = 10
    most: int = 200
    held_out: bool = False
    seed: int = 0

    def check(self) -> None:
        """Raises ValueError, in one line, for a choice that cannot be."""
        for name, low in (("rare", 1), ("least", 1), ("most", 1), ("seed", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"--{name} must be at least {low}, not {getattr(self, name)}")


def run(model: str, corpus: Path, directory: Path, settings: Settings, opened: Callable[[], Scorer], watch: Watch) -> dict[str, Any]:
    """Run the study, or finish what was begun in the directory; returns the summary.

    Raises:
        ValueError: a choice that cannot be, or a corpus with too few relations. UnableError: a model without probabilities of texts.
        ForeignDirectoryError: the directory holds something else. DamagedError: a file of it, or of the corpus, is.
    """
    settings.check()
    with open_plain(corpus) as file:
        digest = file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    scorer = opened()
    if "sequence_logprobs" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no probabilities of texts: give a masked or a causal language model")
    place = Path(model.partition(":")[2])
    weights = fingerprint(place) if place.exists() else ""
    wanted = {"model": without_folders(model), "weights": weights, "corpus": digest, **asdict(settings)}
    with claimed(directory, "simtown probe spatial"):
        begun = _begin(directory, wanted)
        clear_leftovers(directory, _OWN.__contains__)
        bins = _suites(corpus, settings, watch)
        save_json(directory / RUN, begun)
        with watch("phrases scored", len(bins.frames) * len(RELATIONS)) as meter:
            scores = matrix.score(sharing(scorer), bins, RELATIONS, directory / SCORES, meter.advanced if meter else lambda more: None)
        tokens, sentences = (
            Table(RELATIONS, bins.contexts, matrix.perplexities(scores, bins.counts, form)) for form in ("token", "sentence")
        )
        write_table(directory / MATRIX, tokens)
        write_table(directory / SENTENCE, sentences)
        p = Table(RELATIONS, bins.contexts, p_vectors(tokens.values))
        write_table(directory / VECTORS, p)
        spaces = [Space("P", dict(zip(RELATIONS, p.values, strict=True)))]
        if "word_vector" in scorer.abilities:
            lm = embedded(scorer, RELATIONS)
            write_table(directory / EMBEDDINGS, _as_table(lm))
            spaces.append(Space("LM", lm.vectors))
        figures.heat_map(p, f"P-vectors: {title_of(model)}", directory / FIGURE)
        summary = finite({"suites": _told(bins), **_known(tokens, bins.seen, spaces)})
        save_json(directory / f"{SUMMARY}.json", summary)
        save_text(directory / f"{SUMMARY}.md", _markdown(title_of(model), summary))
    return summary


def _begin(directory: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """run.json to go on with: a fresh one, not yet written, for an empty directory, or the one there, if of the same settings."""
    path = directory / RUN
    if not path.exists():
        other = sorted(p.name for p in directory.iterdir() if not p.name.startswith("."))
        if other:
            raise ForeignDirectoryError(f"{directory} holds {other[0]}, which simtown probe spatial did not make: give another --out")
        return {"format": FORMAT, "version": simtown.__version__, "settings": wanted}
    content = load_json(path, FORMAT, "simtown probe spatial")
    try:
        there = content["settings"]
        there = {**there, "model": without_folders(str(there["model"]))}  # an older simtown recorded the whole path
        changed = [f"{key}: {there.get(key)} there, {value} now" for key, value in wanted.items() if there.get(key) != value]
    except (KeyError, AttributeError) as error:
        raise DamagedError(f"{path} is damaged ({error}): give another --out") from error
    if changed:
        raise ForeignDirectoryError(f"{directory} holds results with other settings ({'; '.join(changed)}): give another --out")
    return content


def _suites(corpus: Path, settings: Settings, watch: Watch) -> suites.Suites:
    """The corpus is read twice: for its words, then for its phrases."""
    with watch("phrases counted", 0) as meter:
        common = vocabulary((tokenise(phrase) for phrase in _metered(Corpus(corpus), meter)), settings.rare)
    with watch("phrases sorted", 0) as meter:
        phrases = _metered(Corpus(corpus), meter)
        if settings.held_out:
            from simtown.probes.lm.train import held_out

            phrases = filter(held_out, phrases)
        return suites.collect(map(tokenise, phrases), common=common, least=settings.least, most=settings.most, seed=settings.seed)


def _metered(phrases: Any, meter: Meter | None) -> Any:
    for number, phrase in enumerate(phrases, start=1):
        yield phrase
        if meter and number % 1000 == 0:
            meter.advanced(1000)


def _told(bins: suites.Suites) -> dict[str, Any]:
    sizes = bins.counts.sum(axis=1).tolist()
    return {
        "phrases": bins.phrases,
        "kept": bins.kept,
        "with_relation": sum(bins.seen.values()),
        "contexts": dict(zip(bins.contexts, sizes, strict=True)),
        "frames": len(bins.frames),
        "texts": len(bins.frames) * len(RELATIONS),
    }


def _known(tokens: Table, seen: dict[str, int], spaces: Sequence[Space]) -> dict[str, Any]:
    """What the vectors know, and what perplexity depends on."""
    questions, sets = wordtests.analogies(), wordtests.trios()
    words = {w for q in questions for w in q.group} | {w for s in sets for w in (s.one, s.other, s.odd)}
    found: dict[str, Any] = {}
    answers: dict[str, list[wordtests.Answers]] = {}
    for space in spaces:
        if not space.has(words):
            continue
        given = {"analogy": wordtests.answer_analogies(space, questions)}
        given |= {f"odd_one_out_{name}": wordtests.answer_trios(space, sets, measure) for name, measure in MEASURES.items()}
        for test, answer in given.items():
            answers.setdefault(test, []).append(answer)
            found.setdefault(test, {})[space.name] = {"accuracy": answer.accuracy,
                                                      "interval": statistics.interval(wordtests.accuracies(answer))}  # fmt: skip
    for test, both in answers.items():
        if len(both) == 2:
            found[test]["P_less_LM"] = asdict(wordtests.compare(both[0], both[1]))
    p = spaces[0].matrix(RELATIONS)
    partitions = {"paper": clusters.as_paper(RELATIONS, p), "silhouette": clusters.chosen(RELATIONS, p)}
    return {
        **found,
        "clusters": {name: asdict(c) for name, c in partitions.items()},
        "frequency": asdict(effects.frequency(tokens, seen)),
        "functional": asdict(effects.kinds(tokens)),
    }


def _as_table(space: Space) -> Table:
    values = np.array(list(space.vectors.values()))
    return Table(tuple(space.vectors), tuple(map(str, range(values.shape[1] if values.ndim == 2 else 0))), values)


def _markdown(model: str, summary: dict[str, Any]) -> str:
    told, frequency, kinds = summary["suites"], summary["frequency"], summary["functional"]
    lines = [
        f"# Spatial relations: {markdown(model)}",
        "",
        f"{len(RELATIONS)} relations in {len(told['contexts'])} contexts; {told['with_relation']:,} of {told['phrases']:,} phrases hold a "
        f"relation; {sum(told['contexts'].values()):,} phrases sampled, {told['frames']:,} frames, {told['texts']:,} texts scored.",
        "",
        "| test | vectors | accuracy | 95 % | chance |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for test, chance in (("analogy", 1 / 9), ("odd_one_out_cosine", 1 / 3), ("odd_one_out_rank", 1 / 3)):
        for name in ("P", "LM"):
            if name in summary.get(test, {}):
                one = summary[test][name]
                low, high = one["interval"]
                lines.append(f"| {test.replace('_', ' ')} | {name} | {one['accuracy']:.3f} | {low:.3f} to {high:.3f} | {chance:.2f} |")
    lines += [
        "",
        f"Frequency and mean log-perplexity elsewhere: Spearman's ρ = {_shown(frequency['rho'])}, n = {frequency['n']}.",
        f"Functional relations elsewhere: {kinds['functional']:.2f} bits, geometric: {kinds['geometric']:.2f} bits (exact Mann-Whitney "
        f"p = {kinds['p']:.2g}).",
    ]
    for name, part in summary["clusters"].items():
        lines += ["", f"{len(part['groups'])} clusters ({name}), silhouette {part['silhouette']:.3f}: "
                  + "; ".join(", ".join(group) for group in part["groups"] if len(group) > 1) + "; the rest alone."]  # fmt: skip
    return "\n".join(lines) + "\n"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def load(directory: Path) -> tuple[Table, list[Space]]:
    """The perplexities by token and the vectors of a finished run, P and, where the model has any, LM.

    Raises FileNotFoundError: no finished run is there. DamagedError: a table is damaged.
    """
    if not (directory / f"{SUMMARY}.json").is_file():
        raise FileNotFoundError(f"{directory} holds no finished simtown probe spatial")
    spaces = []
    for name, file in (("P", VECTORS), ("LM", EMBEDDINGS)):
        if (directory / file).is_file():
            table = read_table(directory / file)
            spaces.append(Space(f"{name}, {directory.name}", dict(zip(table.rows, table.values, strict=True))))
    return read_table(directory / MATRIX), spaces
