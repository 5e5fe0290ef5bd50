"""A small release in the format of the real one, and scorers that know it."""

import gzip
import json
from itertools import product

import numpy as np

from simtown.probes.reproduce import printed_numbers
from simtown.probes.scorers.spelling import BLANK
from simtown.probes.visual.classes import RELATIONS, SIZES

_NOUNS = "snow, coal, grass, fire engine, penguin, shirt, banana, car, sky, brick, milk, crow"
SUBJECTS = tuple(f"{_NOUNS}, leaf, cloud, rose, tie, lemon, fence, wall, sock".split(", "))
TEMPLATES = {
    "color": ("[X] has color [Y] .", "[Y] [X] ."),
    "shape": ("[X] has shape [Y] .",),
    "material": ("[X] is made of [Y] .",),
    "cooccur": ("[X] is next to [Y] .",),
    "size_larger": ("[X] is larger than [Y] .", "[Y] is smaller than [X] ."),
    "size_smaller": ("[X] is smaller than [Y] .",),
}


def counts_of(relation):
    """(20, c) counts: a best class by subject, some with others."""
    c = len(RELATIONS[relation].classes)
    rng = np.random.default_rng(len(relation))
    table = np.zeros((len(SUBJECTS), c), dtype=int)
    for i in range(len(SUBJECTS)):
        for k, n in enumerate((40, 12, 7)[: 1 + i % 3]):
            table[i, (i * (k + 1) + k) % c] += n + int(rng.integers(3))
    return table


def _write(path, lines, packed=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if packed else text)


def _summary(rho, accuracy):
    """A cell of the released summaries, from texts such as "26.1 ± 31.0" and "11.7"."""
    mean, deviation = (float(number) / 100 for number in rho.split(" ± "))
    return f'"({mean:.3f}, {deviation:.3f}, {accuracy or 0.0})"'


def write_release(folder, clone=False):
    """The files, side by side, or each in its place in a clone."""
    data = folder / "mine-data" if clone else folder
    prompts = folder / "soft-prompts/prompts/vl" if clone else folder / "prompts"
    colors = counts_of("color")
    coda = np.delete(colors, RELATIONS["color"].classes.index("silver"), axis=1)
    tables = {name: counts_of(name) for name in RELATIONS}
    others = {"wiki-color": colors[::-1], "coda": coda / coda.sum(axis=1, keepdims=True).clip(1)}

    def results(name, place, head, lines):
        _write(folder / (place if clone else "reference-results") / f"{name}.csv", [head, *lines])

    def pairs(place, rows):
        lines = [dict(zip(("sub", "obj", "alt"), row, strict=True)) for row in rows]
        _write(data / f"db/{place}.jsonl", lines)

    for relation, templates in TEMPLATES.items():
        _write(prompts / f"{relation}.jsonl", [{"template": t} for t in templates])
    for name, table in (tables | others).items():
        packed = name in tables and not clone
        path = data / f"distributions/{name}-dist.json{'.gz' if packed else 'l'}"
        _write(path, [dict(zip(SUBJECTS, table.tolist(), strict=True))], packed)
    for name, relation in RELATIONS.items():
        words = [w if w == c else f"{w}: {c}" for c, several in relation.words.items() for w in several]
        _write(data / f"words/{name}-words.txt", words)
        extremes = (pick(tables[name], axis=1) for pick in (np.argmax, np.argmin))
        best, worst = ([relation.classes[i] for i in numbers] for numbers in extremes)
        rows = list(zip(SUBJECTS, best, worst, strict=True))
        pairs(f"{name}/train", [row for i, row in enumerate(rows) if i % 10 < 8])
        pairs(f"{name}/test", [row for i, row in enumerate(rows) if i % 10 >= 8])
    for g, group in enumerate(("single", "multi", "any")):
        for k, part in enumerate(("train", "dev", "test")):
            pairs(f"coda/{group}/{part}", [(s, "red", "blue") for s in SUBJECTS[g::3][k::3]])
    nouns = ["wheel", "road", "sock", "tree", "cloud"]
    _write(data / "words/cooccur-words.txt", nouns)
    rows = [(s, nouns[i % 3], nouns[3 + i % 2]) for i, s in enumerate(SUBJECTS)]
    pairs("cooccur/train", rows[:16])
    pairs("cooccur/test", rows[16:])
    for size, names in SIZES.items():
        _write(data / f"size_db/{size}-words.txt", names)
    for way, part in product(("larger", "smaller"), ("train", "dev", "test")):
        pairs(f"size_{way}/{part}", [("dog", "bee", "sky")])
    models = ("bert-base", "oscar-base", "distil_bert-base", "bert-large", "oscar-large")
    asked = product(models, ("color", "shape", "material", "cooccur"), (False, True), enumerate(SUBJECTS))
    rho = [f"{m},{r},{s},{t},{0.1 * (i % 7) + 0.05 * t}" for m, r, t, (i, s) in asked if i % 10 >= 8]
    results("pt_corrs", "soft-prompts", rho[0], rho * 2)
    # heads, just as the paper prints them
    for name, number in (("file-cls", 5), ("file-cls-groups", 6)):
        printed = printed_numbers()[f"vicomte-table{number}"].values()
        cells = [map(_summary, row[::2], row[1::2]) for row in printed]
        results(name, "probing", "heads", [",".join([str(i), *row]) for i, row in enumerate(cells)])
    color = [float(row[0].split(" ")[0]) / 100 for row in printed_numbers()["vicomte-table9"].values()]
    lines = [f"{i},0.{40 + i},{value:.3f},0.3" for i, value in enumerate(color)]
    results("heatmap_data", "", ",coda,color,wiki-color", lines)
    sizes = []
    for m, (i, (size, names)) in product(("bert", "oscar"), enumerate(SIZES.items())):
        sizes += [f"{m}-{size}-{k},{m},{size},{0.1 * i + 0.01 * k:.3f}" for k in range(len(names))]
    results("size_sims", "probing", ",model,group,cos_sim", sizes)
    return folder


class Knowing:
    """A masked model that knows the truth of one relation: it says of a class its share, and a bit more."""

    name, abilities = "knowing", frozenset({"class_logprobs", "word_vector"})

    def __init__(self, truth, classes):
        self.truth, self.classes = truth, classes

    def class_logprobs(self, contexts, targets):
        rows = []
        for context in contexts:
            subject = max((s for s in self.truth if s in context), key=len, default=None)
            row = np.full(len(targets), 1.0) if subject is None else self.truth[subject] + 0.01
            rows.append(np.log(row / row.sum() * 0.5) + (0.1 if context.endswith(f"{BLANK} .") else 0.0))
        return np.array(rows)

    def word_vector(self, word):
        place = {noun: i for i, nouns in enumerate(SIZES.values()) for noun in nouns}
        place |= {"small": 0, "large": 4}
        return np.array([1.0, place[word]], dtype=np.float32) if word in place else None
