"""
How many examples does a scikit-learn model need?
=================================================

simtown asks how the examples that a model needs grow as its world grows. Its estimates take any
experiment's learning curves as a table: here a network of scikit-learn, in worlds of two, three and five
kinds of vehicles. Needs scikit-learn (extra ``audit``) and matplotlib.
"""

import csv
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPClassifier

import simtown
from simtown.complexity.need_report import report

# %%
# Learning curves
# ---------------
# "Is a taxi left of a fire truck?" becomes numbers: a picture of 16 x 8 pixels, and who is said to be left
# of whom. The table has a line for each trained model.
folder = Path(tempfile.mkdtemp())
SIZES = (125, 250, 500, 1000, 2000, 4000)


def inputs(split, kinds):
    pixels = split.images(range(len(split))).reshape(len(split), 8, 4, 16, 4, 3).mean(axis=(2, 4)) / 255 - 0.4
    named = np.stack([split.column("subject"), split.column("object")])
    left, right = np.where(
        split.column("relation") == 1, named[::-1], named
    )  # "right of": the other way round
    return np.concatenate(
        [pixels.reshape(len(split), -1), np.eye(kinds)[left], np.eye(kinds)[right]], axis=1
    ).astype(np.float32)


warnings.simplefilter("ignore")  # training stops before it has converged, on purpose
lines = [("group", "world", "size", "seed", "correct", "total")]
for kinds in (2, 3, 5):
    settings = simtown.Settings(
        entities=kinds,
        n=SIZES[-1],
        val=0,
        test=1000,
        width=64,
        height=32,
        frequencies="uniform",
        weathers=("clear",),
    )
    simtown.generate(settings, folder / f"{kinds}-kinds")
    data = simtown.open_dataset(folder / f"{kinds}-kinds")
    x, y, test = inputs(data.train, kinds), data.train.column("answer"), inputs(data.test, kinds)
    for size in SIZES:
        model = MLPClassifier((128,), alpha=0.01, max_iter=40000 // max(size, 1000), random_state=0)
        correct = np.sum(model.fit(x[:size], y[:size]).predict(test) == data.test.column("answer"))
        lines.append(("MLP", kinds, size, 0, int(correct), len(test)))
with (folder / "curves.csv").open("w", newline="") as file:
    csv.writer(file).writerows(lines)

# %%
# Needs
# -----
# ``simtown complexity curves.csv`` does the same in a shell: a curve that never falls, an interval from a
# bootstrap over the test questions, and how the need grows with the world.
findings = report([folder / "curves.csv"], folder / "needs", targets=(0.9,), replicates=300)
needs = [row for row in findings.rows if row.rule == "isotonic"]
for need in needs:
    samples, low, high = map(need.text, (need.samples, need.low, need.high))
    print(f"{need.entities} kinds: {samples} examples ({low} to {high})")
exponent = next(found for found in findings.exponents if found.rule == "isotonic")
print(f"The need for 90 % grows as kinds^{exponent}.")

# %%
# The figure
# ----------
figure, (curves, growth) = plt.subplots(1, 2, figsize=(8, 4.5), layout="constrained")
for need, colour in zip(needs, ("#E69F00", "#009E73", "#0072B2"), strict=True):
    accuracy = [correct / total for _, kinds, _, _, correct, total in lines[1:] if kinds == need.entities]
    curves.plot(SIZES, accuracy, "o-", color=colour, linewidth=2.5, label=f"{need.entities} kinds")
    growth.plot([need.entities] * 2, [need.low, need.high], color=colour, linewidth=2.5)
    growth.plot(need.entities, need.samples, "o", color=colour, markersize=11)
curves.axhline(0.9, color="#888888", linestyle=(0, (4, 3)), linewidth=1)
curves.set(xscale="log", xlabel="training examples", ylabel="accuracy", ylim=(0.45, 1.02))
curves.set_xticks(SIZES, [f"{size:,}" for size in SIZES], rotation=45)
curves.legend(frameon=False, loc="lower right")
growth.set(xscale="log", yscale="log", xlabel="kinds of vehicles", ylabel="examples needed for 90 %")
growth.set_xticks((2, 3, 5), ("2", "3", "5"))
growth.set_yticks((250, 500, 1000, 2000), ("250", "500", "1,000", "2,000"))
for axes in (curves, growth):
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
figure.suptitle("A larger world needs more examples", weight="bold")
plt.show()
