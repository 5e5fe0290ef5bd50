"""How far the choice of elicitation moves each study's result.

    python benchmarks/elicitations.py physical-commonsense VL-commonsense region_descriptions.txt \
        --models ngram:region_descriptions.txt,hf:lm/gpt [--most 400] [--out FILE.csv]

The papers' items as pairs of sentences: an object with a property (or what is done with it) that it has, and
with one that it has not; a thing with its usual colour, shape or material, and with another; what is larger
or smaller; a phrase with its relation, and with the opposite. At most so many pairs a study, drawn once.
The subject-blind prior chooses what was right more often among the pairs to learn from, without the subject.
Models given as NAME*3 are NAME0, NAME1 and NAME2: their mean and range.
"""

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
from machine import options

from simtown.probes.corpus import Corpus
from simtown.probes.elicit import fill
from simtown.probes.items import ItemSet
from simtown.probes.pair_study import elicit_pairs, preferred
from simtown.probes.pair_tables import TextPair, pairs_of_items
from simtown.probes.physical.physical_release import read
from simtown.probes.physical.sentences import sentence
from simtown.probes.scorers import open_scorer
from simtown.probes.spatial.lexicon import OPPOSITES
from simtown.probes.study_settings import ELICITATIONS
from simtown.probes.visual.mined import open_data


def prior_of(learned, asked):
    """The share of pairs (right, wrong) of which the right one was right more often among those learned."""
    right, wrong = (Counter(pair[side] for pair in learned) for side in (0, 1))
    share = {name: right[name] / (right[name] + wrong[name]) for name in right | wrong}
    scores = np.array([[share.get(name, 0.5) for name in pair] for pair in asked])
    return float(preferred(scores).mean())


def physical_pairs(folder, title):
    task, luck = read(folder).task(title), np.random.default_rng(0)
    named = {}
    for part, rows in (("train", task.train), ("test", task.test)):
        by_left = {}
        for left, right, label in zip(rows.left, rows.right, rows.label, strict=True):
            by_left.setdefault(left, ([], []))[int(not label)].append(right)
        named[part] = [
            (left, luck.choice(yes), luck.choice(no))
            for left, (yes, no) in by_left.items()
            if yes and no
            for _ in range(5)
        ]
    pairs = [
        TextPair("", sentence(task, left, yes).text, "", sentence(task, left, no).text)
        for left, yes, no in named["test"]
    ]
    return pairs, prior_of(*([pair[1:] for pair in named[part]] for part in ("train", "test")))


def visual_pairs(data, relation):
    if relation.startswith("size"):
        learned, asked = (
            [(p.best, p.other) for p in data.pairs(relation, part)] for part in ("train", "test")
        )
        pairs = [
            TextPair("", fill(template, p.subject, p.best), "", fill(template, p.subject, p.other))
            for template in data.templates(relation)
            for p in data.pairs(relation, "test")
        ]
        return pairs, prior_of(learned, asked)
    items: ItemSet = data.dataset(relation)
    kept = items.other >= 0
    named = np.stack([items.gold, items.other], axis=1)
    prior = prior_of(named[items.train & kept].tolist(), named[~items.train & kept].tolist())
    return list(pairs_of_items(items).pairs), prior


def spatial_pairs(corpus):
    other = {a: b for pair in OPPOSITES for a, b in (pair, pair[::-1])}
    pattern = re.compile(rf"\b({'|'.join(other)})\b")
    said = [(text, match) for text in Corpus(corpus) if len(match := pattern.findall(text)) == 1]
    pairs = [TextPair("", text, "", pattern.sub(other[word], text, count=1)) for text, (word,) in said]
    names = [(word, other[word]) for _, (word,) in said]
    return pairs, prior_of(names[::2], names[1::2])


def main():
    args = options(__doc__, "physical", "visual", "corpus", models=["ngram:corpus.txt"], most=400, out="")
    data = open_data(args.visual)
    studies = {
        f"physical, {title}": physical_pairs(args.physical, title) for title in ("abstract-OP", "situated-OA")
    }
    for relation in ("color", "shape", "material", "cooccurrence", "size_larger", "size_smaller"):
        studies[f"visual, {relation}"] = visual_pairs(data, relation)
    studies["spatial, opposites"] = spatial_pairs(args.corpus)
    rows = []
    for model in args.models:
        names = [model.replace("*3", str(seed)) for seed in range(3)] if model.endswith("*3") else [model]
        scorers = [open_scorer(name) for name in names]
        for study, (every, prior) in studies.items():
            place = np.random.default_rng(0).permutation(len(every))[: args.most]
            pairs, means = [every[number] for number in place], {}
            row = {"model": model, "study": study, "pairs": len(pairs), "prior": f"{100 * prior:.1f}"}
            for way in ELICITATIONS:
                scores = [elicit_pairs(scorer, pairs, way, "none") for scorer in scorers]
                if all(np.isfinite(each).any() for each in scores):
                    shares = [100 * float(preferred(each).mean()) for each in scores]
                    means[way] = np.mean(shares)
                    spread = f" ({min(shares):.1f} to {max(shares):.1f})" if len(shares) > 1 else ""
                    row[way] = f"{means[way]:.1f}{spread}"
                else:
                    row[way] = ""
            row["moved by"] = f"{max(means.values()) - min(means.values()):.1f}"
            rows.append(row)
            print(" | ".join(map(str, row.values())), flush=True)
    if args.out:
        with open(Path(args.out), "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
