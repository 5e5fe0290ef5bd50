"""
A relation of your own
======================

"Tailgating" is no relation of simtown. Ten lines make it one, and the town answers questions about it: with
its margin in metres, and with "too close to say" where the truth would hang on centimetres.
"""

import matplotlib.pyplot as plt
import numpy as np

import simtown
from simtown.language.meaning.solids import Solid, SolidRelation, distance
from simtown.town.relating import add_relation

# %%
# Define it
# ---------
# A relation is a function of two solids, in metres: positive where it holds. This one says that a vehicle
# has the other one right ahead in its way, by how much less than 3 m the gap is.


def tailgating(follower: Solid, leader: Solid) -> float:
    ahead = np.array([np.cos(follower.front), np.sin(follower.front)])
    to_leader = leader.middle - follower.middle
    aside = abs(ahead[0] * to_leader[1] - ahead[1] * to_leader[0])
    if to_leader @ ahead < 0 or np.cos(follower.front - leader.front) < 0.9:
        return -np.inf  # the leader is behind, or comes towards the follower
    return float(min(3.0 - distance(follower, leader), 1.0 - aside))


add_relation(SolidRelation("tailgating", tailgating, margin=0.4))

# %%
# Ask about it
# ------------
# Every form of question knows it now.
town = simtown.Town.random(seed=8, vehicles=0, weather=("dusk", 0.5))
taxi = town.place("taxi", x=-4.0, lane="near")
bus = town.place("school bus", x=3.0, lane="near")
police = town.place("police car", x=-7.0, lane="far")
for question in (
    "Is the taxi tailgating the school bus?",
    "Is the school bus tailgating the taxi?",
    "Which vehicles are tailgating the school bus?",
    "Is the police car tailgating anything?",
):
    print(f"{question}  {town.ask(question)}")

# %%
# Watch it change
# ---------------
# The taxi comes closer: the answer turns from no to yes, and nothing is guessed in between.
places = np.linspace(-9.0, -2.0, 57)
answers = []
for x in places:
    town.move(taxi, x=float(x))
    answers.append(town.ask("Is the taxi tailgating the school bus?"))
margins = np.array([answer.margin for answer in answers])

figure, (street, plot) = plt.subplots(2, figsize=(8, 7.2), height_ratios=(4.2, 2.4), layout="constrained")
street.imshow(town.render((1024, 576)).rgb)
street.set_title("Is the taxi tailgating the school bus?", fontsize=13, weight="bold")
street.axis("off")
plot.axhspan(-0.4, 0.4, color="#DDDDDD", zorder=0)
plot.text(-8.9, 0, "too close to say", va="center", color="#555555")
for truth, colour, word in ((True, "#009E73", "yes"), (None, "#9A9A9A", ""), (False, "#D55E00", "no")):
    of_truth = np.array([answer.truth is truth for answer in answers])
    plot.plot(places[of_truth], margins[of_truth], "o", color=colour, markersize=5)
    if word:
        plot.text(places[of_truth].mean(), margins[of_truth].mean() + 0.5, word, color=colour, weight="bold")
plot.set(xlabel="x of the taxi, metres", ylabel="margin, metres", ylim=(-4.6, 2.2))
plot.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A relation of a phrase works the same way: ``SolidRelation("level with", ...)`` makes "Is the taxi level
# with the bus?" a question. Data sets ask only about simtown's own relations, so that everybody's files
# mean the same.
