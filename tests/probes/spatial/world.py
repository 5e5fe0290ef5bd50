"""A made release in the format of the paper's: its embeddings know opposites, kinds and likeness, its
perplexities are drawn.
"""

import gzip
import json
import pickle

import numpy as np

from simtown.probes.spatial import released
from simtown.probes.spatial.relations import CONTEXTS, JUDGED, KINDS, OPPOSITES, RELATIONS
from simtown.probes.spatial.tables import NumberTable, write_table
from simtown.probes.spatial.vectors import cosine, p_vectors

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
    perplexities = NumberTable(
        EVERY, EVERY, np.exp(generator.normal(4, 1, (len(EVERY), len(EVERY)))).round(6)
    )
    write_table(folder / released.MATRIX, perplexities)
    cells = p_vectors(perplexities.block(RELATIONS, CONTEXTS)).round(8)
    write_table(folder / released.CELLS, NumberTable(RELATIONS, CONTEXTS, cells))
    lines = ["\t".join((word, *map(repr, vector.tolist()))) + "\n" for word, vector in embeddings().items()]
    (folder / released.EMBEDDINGS).write_bytes(gzip.compress("".join(lines).encode()))
    (folder / released.TEMPLATES).write_text(
        json.dumps({name: generator.uniform(0, 9, (7, 7)).round(2).tolist() for name in DRAWN})
    )
    alike = {**embeddings(), "next to": embeddings()["next"]}
    levels = cosine(np.array([alike[word] for word in JUDGED]))  # people judge as the embeddings do, ...
    names = tuple(LONG.get(word, word) for word in JUDGED)
    write_table(folder / released.SIMILARITY, NumberTable(names, names, (levels + levels.T).round(9)))
    write_table(
        folder / released.ASSOCIATION,
        NumberTable(JUDGED, JUDGED, generator.integers(0, 256, levels.shape).astype(float)),
    )  # ... or at random
    return folder


def save_dictionary(path, content):
    """A .npy file as NumPy saves a dictionary, with the pickle protocol of the release."""
    saved = np.empty((), dtype=object)
    saved[()] = content
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(saved))
        pickle.dump(saved, file, protocol=2)
    return path


def write_clone(folder, tables):
    """A clone of the repository with the release's arrays, made of its tables: it has nothing of what people
    said.
    """
    model = folder / "models/visual_genome_phrases"
    model.mkdir(parents=True)
    read = released.read(tables)
    save_dictionary(
        folder / "logan_sadler.npy", {name.replace(" ", "_"): grid for name, grid in read.templates.items()}
    )
    np.save(model / "perplexity_vectors.npy", read.perplexities.values)
    np.save(model / "words_contexts.npy", (read.perplexities.rows, read.perplexities.columns))
    words = [word for word in read.embeddings.vectors if word != "next to"]
    np.save(model / "embeddings.npy", read.embeddings.matrix(words).astype(np.float32))
    np.save(model / "spatial_lexicon.npy", words)
    for name in ("embeddings.py", "bucketing.py", "evaluate_embeddings.ipynb"):
        (folder / name).touch()
    return folder
