"""A small world in the format of the real release, and a scorer that has learned it."""

import csv

import numpy as np

from simtown.probes.physical import TASKS
from simtown.probes.physical.sentences import past

PROPERTIES = {
    "a_tool": ("is a tool", "tool", "tool", "functional"),
    "edible": ("is edible", "edible", "edible", "functional"),
    "an_animal": ("is an animal", "animal", "animal", "encyclopedic"),
    "has_peel": ("has a peel", "peel", "peel", "encyclopedic"),
    "pairs": ("comes in pairs", "pair", "pairs", "commonsense"),
    "squishy": ("squishy", "squishy", "squishy", "perceptual"),
}
VERBS = ("carry", "eat", "feed", "hit", "peel", "play", "ride", "wash")
#: What is so, of every object: its properties and its affordances.
TRUTH = {
    "accordion": (("a_tool",), ("play", "carry", "hit")),
    "baseball_bat": (("a_tool",), ("hit", "carry", "wash")),
    "boots": (("pairs",), ("carry", "wash", "hit")),
    "carrot": (("edible", "has_peel"), ("eat", "peel", "wash")),
    "dog": (("an_animal",), ("feed", "wash", "carry")),
    "eagle": (("an_animal",), ("feed", "hit", "carry")),
    "kettle": (("a_tool",), ("carry", "wash", "hit")),
    "lemon": (("edible", "has_peel", "squishy"), ("eat", "peel", "carry")),
    "scissors": (("a_tool", "pairs"), ("carry", "play", "wash")),
    "unicycle": (("a_tool",), ("ride", "carry", "wash")),
    "violin": (("a_tool",), ("play", "carry", "hit")),
    "whale": (("an_animal", "squishy"), ("feed", "ride", "wash")),
}
OBJECTS = tuple(TRUTH)
TEST = ("dog", "lemon", "violin")


def _write(path, rows, delimiter=","):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


#: What the expert was asked: left, right, label, and the answer, if there was one.
ASKED = {
    "OP": ["dog an_animal 1 1", "dog edible 0 1", "lemon edible 1 0", "violin a_tool 1"],
    "OA": ["dog feed 1 1", "lemon ride 0 0", "violin play 1 1", "dog play 0"],
    "AP": ["eat edible 1 1", "feed edible 0 1", "play a_tool 1 1", "ride pairs 0"],
}


def write_release(folder):
    """The files, in `folder`: twelve objects, each also in two photographs."""
    pc = folder / "pc"
    words = [o.rpartition("_")[2] for o in OBJECTS]
    objects = [(o, o.replace("_", " "), o, w, w, w) for o, w in zip(OBJECTS, words, strict=True)]
    head = ("uid", "original", "mturk", "word-embedding", "pc", "ctx")
    _write(pc / "objects.tsv", [head, *objects], "\t")
    head = ("uid", "sentence", "word-embedding", "ctx", "categorization")
    _write(pc / "properties.tsv", [head, *((uid, *p) for uid, p in PROPERTIES.items())], "\t")
    abstract = [[o, *(int(p in TRUTH[o][0]) for p in PROPERTIES)] for o in OBJECTS]
    abstract[0][-1], abstract[1][-1] = -2, -1
    _write(pc / "abstract.csv", [("objectUID", *PROPERTIES), *abstract])
    turned = list(reversed(PROPERTIES))  # the release, too, orders the columns of the two sets differently
    shown = [(str(100 + i % 5), str(1000 + i), o) for i, o in enumerate(OBJECTS * 2)]
    situated = [(*s, *(int(p in TRUTH[s[2]][0]) for p in turned)) for s in shown]
    _write(pc / "situated-properties.csv", [("cocoImgID", "cocoAnnID", "objectUID", *turned), *situated])
    head = ("affordancesNo", "affordancesYes", "cocoAnnID", "cocoImgID", "objectHuman", "objectUID")
    never = {o: [v for v in VERBS if v not in TRUTH[o][1]][:3] for o in OBJECTS}
    sampled = [(",".join(never[o]), ",".join(TRUTH[o][1]), ann, img, o, o) for img, ann, o in shown]
    _write(pc / "situated-affordances-sampled.csv", [head, *sampled])
    for which in ("abstract", "situated"):
        for part, is_test in (("test", True), ("train", False)):
            uids = [o for o in OBJECTS if (o in TEST) is is_test]
            (pc / f"{which}-{part}-object-uids.txt").write_text("\n".join(uids) + "\n")
    for title in TASKS:
        asked = [(*line.split(), "")[:4] for line in ASKED[title[-2:]]]
        said = [(f"{left}/{right}", answer) for left, right, _, answer in asked]
        head = ("left/right", "label (0 = false, 1 = true)")
        _write(folder / "human" / f"{title}-round1-annotations-first50.csv", [head, *said])
        gold = "".join(f"{label}\n" for _, _, label, _ in asked)
        (folder / "human" / f"{title}-round1-gold.txt").write_text(gold)
    properties = [(p[1], 10.0**-i) for i, p in enumerate(PROPERTIES.values(), 3)]
    _write(folder / "nl" / "prop-freqs-nl.csv", [("word", "freq"), *properties])
    verbs = [(v, 2.0**-i) for i, v in enumerate(VERBS, 10)]
    _write(folder / "nl" / "aff-freqs-nl.csv", [("word", "freq"), *verbs])
    return folder


class Truthful:
    """A scorer that has learned the small world: vectors of texts say what is so, those of words who."""

    name, abilities = "lstm:truthful", frozenset({"embed", "word_vector", "class_logprobs"})

    def __init__(self, unknown=()):
        self.unknown, self.spans = unknown, []

    def word_vector(self, word):
        names = [o.rpartition("_")[2] for o in OBJECTS] + [p[1] for p in PROPERTIES.values()] + list(VERBS)
        return None if word in self.unknown else np.eye(len(names), dtype=np.float32)[names.index(word)]

    def embed(self, texts, spans=None, layer=-1, pooling="mean"):
        if spans is not None:
            self.spans += [text[slice(*span)] for text, span in zip(texts, spans, strict=True)]
        return np.array([[2.0 * self.holds(text) - 1, 1.0] for text in texts], dtype=np.float32)

    def class_logprobs(self, contexts, targets):
        # leans towards yes: 0 is no place to cut
        yes = np.array([0.9 if self.holds(c) else 0.4 for c in contexts])
        return np.log(np.stack([yes, np.full_like(yes, 0.3)], axis=1))

    @staticmethod
    def holds(text):
        """Is it so, of any object that the sentence could mean?"""
        words = {w.strip(".?,").lower() for w in text.replace("[BLANK]", "").split()}
        about = [p for p, (_, _, word, _) in PROPERTIES.items() if {word, word + "s"} & words]
        named = [o for o in OBJECTS if o.rpartition("_")[2] in words]
        if named:
            done = [v for v in VERBS if {v, past(v)} & (words - {"peel", "peels"} if about else words)]
            return any(about[0] in TRUTH[o][0] if about else done[0] in TRUTH[o][1] for o in named)
        done = [v for v in VERBS if v in text.split("something")[0].split()]
        return any(about[-1] in TRUTH[o][0] for o in OBJECTS if done[0] in TRUTH[o][1])
