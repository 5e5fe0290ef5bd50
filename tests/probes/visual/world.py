"""A small release in the format of the real one, and scorers that know it."""

import gzip
import json

import numpy as np

from simtown.probes.scorers.base import BLANK
from simtown.probes.visual import vicomte_numbers as paper
from simtown.probes.visual.classes import RELATIONS, SIZES

_NOUNS = (
    "snow, coal, grass, fire engine, penguin, shirt, banana, car, sky, brick, milk, crow, "
    "leaf, cloud, rose, tie, lemon, fence, wall, sock"
)
SUBJECTS = tuple(_NOUNS.split(", "))
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

    def results(name, place):
        return folder / (place if clone else "reference-results") / f"{name}.csv"

    for relation, templates in TEMPLATES.items():
        _write(prompts / f"{relation}.jsonl", [{"template": t} for t in templates])
    for name, relation in RELATIONS.items():
        table = counts_of(name)
        _write(
            data / f"distributions/{name}-dist.json{'l' if clone else '.gz'}",
            [dict(zip(SUBJECTS, table.tolist(), strict=True))],
            packed=not clone,
        )
        _write(
            data / f"words/{name}-words.txt",
            [w if w == c else f"{w}: {c}" for c, ws in relation.words.items() for w in ws],
        )
        rows = [
            {"sub": s, "obj": relation.classes[row.argmax()], "alt": relation.classes[row.argmin()]}
            for s, row in zip(SUBJECTS, table, strict=True)
        ]
        for group in ("single", "multi", "any"):
            for part in ("train", "test"):
                _write(data / f"db/{name}/{group}/{part}.jsonl", [])
        _write(data / f"db/{name}/train.jsonl", [r for i, r in enumerate(rows) if i % 10 < 8])
        _write(data / f"db/{name}/test.jsonl", [r for i, r in enumerate(rows) if i % 10 >= 8])
    colors = counts_of("color")
    coda = np.delete(colors, RELATIONS["color"].classes.index("silver"), axis=1)
    _write(
        data / "distributions/wiki-color-dist.jsonl",
        [dict(zip(SUBJECTS, colors[::-1].tolist(), strict=True))],
    )
    _write(
        data / "distributions/coda-dist.jsonl",
        [dict(zip(SUBJECTS, (coda / coda.sum(axis=1, keepdims=True).clip(1)).tolist(), strict=True))],
    )
    for group, members in (("single", SUBJECTS[::3]), ("multi", SUBJECTS[1::3]), ("any", SUBJECTS[2::3])):
        for k, part in enumerate(("train", "dev", "test")):
            _write(
                data / f"db/coda/{group}/{part}.jsonl",
                [{"sub": s, "obj": "red", "alt": "blue"} for s in members[k::3]],
            )
    nouns = ["wheel", "road", "sock", "tree", "cloud"]
    _write(data / "words/cooccur-words.txt", nouns)
    pairs = [{"sub": s, "obj": nouns[i % 3], "alt": nouns[3 + i % 2]} for i, s in enumerate(SUBJECTS)]
    _write(data / "db/cooccur/train.jsonl", pairs[:16])
    _write(data / "db/cooccur/test.jsonl", pairs[16:])
    for size, names in SIZES.items():
        _write(data / f"size_db/{size}-words.txt", names)
    for way in ("larger", "smaller"):
        for part in ("train", "dev", "test"):
            _write(data / f"db/size_{way}/{part}.jsonl", [{"sub": "dog", "obj": "bee", "alt": "sky"}])
    rho = [
        f"{model},{relation},{s},{tuned},{0.1 * (i % 7) + 0.05 * tuned}"
        for model in ("bert-base", "oscar-base", "distil_bert-base", "bert-large", "oscar-large")
        for relation in ("color", "shape", "material", "cooccur")
        for tuned in (False, True)
        for i, s in enumerate(SUBJECTS)
        if i % 10 >= 8
    ]
    _write(results("pt_corrs", "soft-prompts"), rho * 2)
    for name, printed in (
        ("file-cls", paper.TABLE5),
        ("file-cls-groups", paper.TABLE6),
    ):  # heads, just as the paper prints them
        cells = [
            [_summary(rho, accuracy) for rho, accuracy in zip(row[::2], row[1::2], strict=True)]
            for row in printed.values()
        ]
        _write(
            results(name, "probing"), ["heads", *(",".join([str(i), *row]) for i, row in enumerate(cells))]
        )
    color = [float(row[0].split(" ")[0]) / 100 for row in paper.TABLE9.values()]
    _write(
        results("heatmap_data", ""),
        [",coda,color,wiki-color", *(f"{i},0.{40 + i},{rho:.3f},0.3" for i, rho in enumerate(color))],
    )
    sizes = [
        (model, size, 0.1 * i + 0.01 * k)
        for model in ("bert", "oscar")
        for i, (size, names) in enumerate(SIZES.items())
        for k in range(len(names))
    ]
    _write(
        results("size_sims", "probing"),
        [",model,group,cos_sim", *(f"{i},{m},{size},{x:.3f}" for i, (m, size, x) in enumerate(sizes))],
    )
    return folder


class Knowing:
    """A masked model that knows the truth of one relation: what it says of a class is its share (plus a
    little).
    """

    name = "knowing"
    abilities = frozenset({"class_logprobs", "word_vector"})

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
        place = {noun: i for i, nouns in enumerate(SIZES.values()) for noun in nouns} | {
            "small": 0,
            "large": 4,
        }
        return np.array([1.0, place[word]], dtype=np.float32) if word in place else None
