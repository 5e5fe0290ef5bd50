"""
Does a model understand compositions that it never saw?
=======================================================

A model that knows taxis and knows tractors should know left from right where both meet for the first time.
A hold-out test keeps some pairs of kinds out of training and asks about nothing else afterwards. Needs
scikit-learn (extra ``audit``) and matplotlib.
"""

import re
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPClassifier

import simtown

# %%
# Hold a third of all pairs out
# -----------------------------
# No street of train and test shows a pair that is held out; every street of "test-composition" does.
settings = simtown.Settings(
    entities=6, n=5000, val=0, test=1000, width=64, height=32, frequencies="uniform", weathers=("clear",),
    questions=("relations",), relations=("left of", "right of"), crowd="2", hold_out=("kind-kind:0.33",),
)  # fmt: skip
folder = Path(tempfile.mkdtemp()) / "pairs"
simtown.generate(settings, folder)
data = simtown.open_dataset(folder)

# %%
# Train on the pairs that are left
# --------------------------------
# A question is a program, such as ``holds(the(all(taxi)), related(left of, the(all(tractor))))``.
kinds = data.names["entities"][:6]
PROGRAM = re.compile(r"holds\(the\(all\((.+?)\)\), related\((left|right) of, the\(all\((.+?)\)\)\)\)")


def examples(split):
    """Inputs and answers of the questions that name two kinds, and the rows of these."""
    asked = [PROGRAM.fullmatch(str(example.program)) for example in split]
    rows = [i for i, match in enumerate(asked) if match and match[1] in kinds and match[3] in kinds]
    sides = [
        (asked[i][1], asked[i][3]) if asked[i][2] == "left" else (asked[i][3], asked[i][1]) for i in rows
    ]
    left, right = np.array([[kinds.index(kind) for kind in pair] for pair in sides]).T
    pixels = split.images(rows).reshape(len(rows), 8, 4, 16, 4, 3).mean(axis=(2, 4)) / 255 - 0.4
    x = np.concatenate([pixels.reshape(len(rows), -1), np.eye(6)[left], np.eye(6)[right]], axis=1)
    return x.astype(np.float32), np.array([split[i].answer for i in rows]), rows


warnings.simplefilter("ignore")  # training stops before it has converged, on purpose
x, y, _ = examples(data.train)
model = MLPClassifier((128,), alpha=0.01, max_iter=25, random_state=0).fit(x, y)
accuracy = {}
for split in ("test", "test-composition"):
    x, y, rows = examples(data[split])
    right = model.predict(x) == y
    accuracy[split] = right.mean()
    print(f"{split}: {right.mean():.1%} of {len(y)} are right")

# %%
# What goes wrong
# ---------------
# A street with two kinds that training never showed together, drawn large, and what the model says about it.
example = data["test-composition"][rows[int(np.flatnonzero(~right)[0])]]
figure, (picture, bars) = plt.subplots(1, 2, figsize=(8, 3.6), width_ratios=(2.4, 1), layout="constrained")
picture.imshow(simtown.Town.from_scene(example.scene).render((1024, 576)).rgb)
said = "no" if example.answer else "yes"
picture.set_title(f"{example.question}\nThe model says {said}.", fontsize=10)
picture.axis("off")
bars.bar(("seen\npairs", "new\npairs"), accuracy.values(), color=("#0072B2", "#D55E00"), width=0.6)
for place, value in enumerate(accuracy.values()):
    bars.text(place, value + 0.01, f"{value:.0%}", ha="center", weight="bold")
bars.axhline(0.5, color="#888888", linestyle=(0, (4, 3)), linewidth=1)
bars.set(ylim=(0.4, 1.05), ylabel="accuracy")
bars.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# ``simtown generate --hold-out`` takes more rules: a kind in a colour, a weather or a relation, counts,
# depths, frames; ``simtown fit`` and ``simtown evaluate`` report seen against held out.
