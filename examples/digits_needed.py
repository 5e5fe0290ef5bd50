"""
How many digits does a classifier need?
=======================================

``simtown.needs`` trains a scikit-learn model at the sizes that say most, and gives the need for a target with
a 95 % interval. Needs scikit-learn (extra ``audit``) and matplotlib.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from simtown import needs

X, y = load_digits(return_X_y=True)
found = needs.needed_samples(KNeighborsClassifier(1), X, y, target=0.93, random_state=0)
print(found.need_, found.interval_)
for sentence in found.sentences():
    print(sentence)

# %%
# The figure
# ----------
# Dots are seeds, the bar is the interval of the need.
figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
found.plot(axes)
plt.show()
