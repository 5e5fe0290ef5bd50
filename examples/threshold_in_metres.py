"""
From how many metres on does a model see it?
============================================

Accuracy says how often a model is right; a threshold says what it sees. Every question of simtown has a
margin in metres, so a curve of accuracy against the margin can be fitted, as psychologists do for people:
at the threshold the model is halfway between guessing and its best. Needs scikit-learn (extra ``audit``)
and matplotlib.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPClassifier

import simtown
from simtown.complexity.psychometric import Answers, bins, fit_curve

# %%
# Pictures and questions as numbers
# ---------------------------------
# Four kinds of vehicles, in small pictures: "Is a taxi left of a fire truck?"
settings = simtown.Settings(
    entities=4, n=3000, val=0, test=2000, width=64, height=32, frequencies="uniform", weathers=("clear",)
)
folder = Path(tempfile.mkdtemp()) / "four-kinds"
simtown.generate(settings, folder)
data = simtown.open_dataset(folder)
print(data.test[0].question, data.test[0].reply)


def inputs(split):
    """Pictures of 16 x 8 pixels, and which vehicle is said to be left of which."""
    pixels = split.images(range(len(split))).reshape(len(split), 8, 4, 16, 4, 3).mean(axis=(2, 4)) / 255 - 0.4
    named = np.stack([split.column("subject"), split.column("object")])
    left, right = np.where(
        split.column("relation") == 1, named[::-1], named
    )  # "right of": the other way round
    return np.concatenate([pixels.reshape(len(split), -1), np.eye(4)[left], np.eye(4)[right]], axis=1).astype(
        np.float32
    )


# %%
# A threshold for each training size
# ----------------------------------
margin = np.abs(data.test.column("margin")).astype(float)
yes = np.where(data.test.column("answer"), 1, -1).astype(np.int8)
x, y = inputs(data.train), data.train.column("answer")
warnings.simplefilter("ignore")  # training stops before it has converged, on purpose
figure, plot = plt.subplots(figsize=(8, 4.5), layout="constrained")
for size, colour in ((300, "#E69F00"), (1000, "#009E73"), (3000, "#0072B2")):
    model = MLPClassifier((128,), alpha=0.01, max_iter=50000 // max(size, 1000), random_state=0)
    right = model.fit(x[:size], y[:size]).predict(inputs(data.test)) == data.test.column("answer")
    curve = fit_curve(Answers(margin, right, np.full(len(right), 0.5), yes, np.arange(len(right))))
    name = f"{size:,} examples: {right.mean():.0%} right"
    print(f"{name}, sees it from {curve.threshold:.2f} m on (95 %: {curve.low:.2f} to {curve.high:.2f} m)")
    line = np.geomspace(0.5, 9, 100)
    plot.plot(
        line,
        curve.accuracy(line),
        color=colour,
        linewidth=2.5,
        label=f"{name}, from {curve.threshold:.1f} m on",
    )
    plot.plot(curve.threshold, curve.accuracy(curve.threshold), "o", color=colour, markersize=11)
    plot.plot(
        *np.transpose([(margin[b].mean(), right[b].mean()) for b in bins(margin)]),
        ".",
        color=colour,
        alpha=0.6,
    )

plot.axhline(0.5, color="#888888", linestyle=(0, (4, 3)), linewidth=1)
plot.text(8.9, 0.505, "guessing", ha="right", color="#777777")
plot.set(
    xscale="log",
    xticks=[0.5, 1, 2, 4, 8],
    xticklabels=["0.5", "1", "2", "4", "8"],
    xlim=(0.5, 9),
    ylim=(0.48, 1.01),
)
plot.set(xlabel="margin: metres between left and right", ylabel="accuracy")
plot.minorticks_off()
plot.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.06))
plot.spines[["top", "right"]].set_visible(False)
plot.set_title("More examples bring the threshold down", weight="bold", loc="left")
plt.show()

# %%
# Of any vision-language model, ``simtown evaluate`` and ``simtown thresholds`` find the same.
