"""
Twins: two pictures, one question, two answers
==============================================

Does a model look at the picture, or does it guess from the words? Twins have the same question, and
pictures that differ in one thing, on which the answer hangs. A model that never looks has every pair wrong.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import simtown
from simtown.datasets.proving.twin_groups import group_accuracies
from simtown.language.asking.twins import EDITS

# %%
# Make pairs
# ----------
# Examples 2j and 2j + 1 are twins. Their street, camera and noise are the same; one thing is turned,
# painted, moved, exchanged, removed or added, or the weather changes.
settings = simtown.Settings(
    entities=40, n=400, val=0, test=0, width=416, height=234, questions=("all",), twins=True, paint="uniform"
)
folder = Path(tempfile.mkdtemp()) / "twins"
simtown.generate(settings, folder)
train = simtown.open_dataset(folder).train
edits = np.array(EDITS)[train.column("edit")]
print(", ".join(f"{edit} {np.sum(edits[::2] == edit)}" for edit in EDITS))

# %%
# Look at them
# ------------
# A ring marks the pixels that differ.


def show_pair(axes, first):
    pictures = train.images([first, first + 1])
    differs = np.abs(pictures[0].astype(int) - pictures[1]).max(axis=2) > 24
    rows, columns = np.nonzero(differs)
    for place, side in enumerate(axes):
        side.imshow(pictures[place])
        side.axis("off")
        side.set_title(
            train[first + place].reply, fontsize=12, weight="bold", color=("#0072B2", "#D55E00")[place]
        )
        if differs.mean() < 0.2:
            (x0, x1), (y0, y1) = np.percentile(columns, (1, 99)), np.percentile(rows, (1, 99))
            middle, size = ((x0 + x1) / 2, (y0 + y1) / 2), (1.3 * (x1 - x0) + 14, 1.3 * (y1 - y0) + 14)
            side.add_patch(
                plt.matplotlib.patches.Ellipse(middle, *size, fill=False, color="white", linewidth=2)
            )
    question = train[first].question
    axes[0].text(1.02, 1.22, question, transform=axes[0].transAxes, ha="center", fontsize=11)


shown = [2 * int(np.flatnonzero(edits[::2] == edit)[0]) for edit in ("painted", "turned", "weather")]
figure, grid = plt.subplots(3, 2, figsize=(8, 8.4))
figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.01, wspace=0.03, hspace=0.34)
for axes, first in zip(grid, shown, strict=True):
    show_pair(axes, first)
plt.show()

# %%
# Score a model by the pair
# -------------------------
# Three models without eyes: one flips a coin between the two answers of its pair, one always says what is
# most frequent in its family, one always says the same to the same words.
values, family = train.column("value"), train.column("family")
pair = values.reshape(-1, 2).repeat(2, axis=0)
coin = pair[np.arange(len(values)), np.random.default_rng(0).integers(0, 2, len(values))]
usual = np.array([np.bincount(values[family == own]).argmax() for own in family])
guesses = {"coin": coin, "most frequent": usual, "same words, same answer": pair[:, 0], "the truth": values}
measures = ("single", "pair", "group")
for name, guess in guesses.items():
    accuracy = group_accuracies(train.column("group"), guess == values)
    print(f"{name:24}", "  ".join(f"{measure} {accuracy[measure].mean():4.0%}" for measure in measures))
