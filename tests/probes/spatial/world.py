"""A made release in the format of the paper's: its embeddings know relations, its perplexities are drawn."""

import gzip
import json

import numpy as np

from simtown.probes.spatial import released
from simtown.probes.spatial.lexicon import CONTEXTS, JUDGED, KINDS, OPPOSITES, RELATIONS
from simtown.probes.spatial.spaces import NumberTable, cosine, matrix, p_vectors, write_table

_PLACES = [places[0] for places in released.FILES.places.values()]
MATRIX, EMBEDDINGS, TEMPLATES, SIMILARITY, ASSOCIATION, CELLS = _PLACES
#: Relations of the matrix: in the release, "next" stands beside "next to".
EVERY = tuple(sorted({*RELATIONS, "next"}))
#: What the tables call some judged words.
LONG = {"near": "near to", "away": "away from"}
DRAWN = ("above", "below", "over", "under", "left", "right", "next_to", "away_from", "near_to", "far_from")


def embeddings():
    """{word: vector}: words of a kind lie together, and opposites differ along one axis."""
    generator = np.random.default_rng(0)
    words = list(dict.fromkeys(w for group in (*OPPOSITES, *KINDS, JUDGED) for w in group if w != "next to"))
    vectors = {word: generator.normal(0, 0.1, 24) for word in [*words, "next"]}
    for axis, kind in enumerate(KINDS):
        for word in kind:
            vectors[word][axis] += 2
    for first, second in OPPOSITES:
        vectors[first][20] += 1
        vectors[second][20] -= 1
    return vectors


def write_release(folder):
    """The tables of the release, in a new folder."""
    folder.mkdir(parents=True)
    generator = np.random.default_rng(1)
    drawn = np.exp(generator.normal(4, 1, (len(EVERY), len(EVERY)))).round(6)
    perplexities = NumberTable(EVERY, EVERY, drawn)
    write_table(folder / MATRIX, perplexities)
    cells = p_vectors(perplexities.block(RELATIONS, CONTEXTS)).round(8)
    write_table(folder / CELLS, NumberTable(RELATIONS, CONTEXTS, cells))
    lines = ["\t".join((word, *map(repr, vector.tolist()))) + "\n" for word, vector in embeddings().items()]
    (folder / EMBEDDINGS).write_bytes(gzip.compress("".join(lines).encode()))
    templates = {name: generator.uniform(0, 9, (7, 7)).round(2).tolist() for name in DRAWN}
    (folder / TEMPLATES).write_text(json.dumps(templates))
    alike = {**embeddings(), "next to": embeddings()["next"]}
    levels = cosine(np.array([alike[word] for word in JUDGED]))  # people judge as the embeddings do, ...
    names = tuple(LONG.get(word, word) for word in JUDGED)
    write_table(folder / SIMILARITY, NumberTable(names, names, (levels + levels.T).round(9)))
    association = generator.integers(0, 256, levels.shape).astype(float)  # ... or at random
    write_table(folder / ASSOCIATION, NumberTable(JUDGED, JUDGED, association))
    return folder


def write_clone(folder, tables):
    """A clone of the repository with the release's arrays: it has nothing of what people said."""
    model = folder / "models/visual_genome_phrases"
    model.mkdir(parents=True)
    read = released.read(tables)
    np.save(model / "perplexity_vectors.npy", read.perplexities.values)
    np.save(model / "words_contexts.npy", (read.perplexities.rows, read.perplexities.columns))
    words = [word for word in read.embeddings if word != "next to"]
    np.save(model / "embeddings.npy", matrix(read.embeddings, words).astype(np.float32))
    np.save(model / "spatial_lexicon.npy", words)
    for name in ("embeddings.py", "bucketing.py", "evaluate_embeddings.ipynb"):
        (folder / name).touch()
    return folder
