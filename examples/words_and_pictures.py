"""
Words and pictures: the same fact read and seen
===============================================

Two vehicles exchange their places. Two sentences and two pictures then say the same, and the opposite: a
minimal pair for a language model, for one that sees, and for one that does both.
"""

import matplotlib.pyplot as plt

import simtown

# %%
# A fact, and the town in which it is the other way round
# -------------------------------------------------------
town = simtown.Town.random(seed=3, weather="clear")
kinds = {vehicle.name for vehicle in town.vehicles}
fact = next(f for f in town.facts() if f.relation == "left of" and {f.subject, f.object} <= kinds)
one, other = fact.subject, fact.object
pictures = [town.render((448, 252))]
contexts = [town.ask(f"Is the {one} left of the {other}?").statement()]
town.exchange(one, other)
pictures.append(town.render((448, 252)))
contexts.append(town.ask(f"Is the {other} left of the {one}?").statement())
print(fact, *contexts, sep="\n")

# %%
# Both sides beside each other
# ----------------------------
figure, axes = plt.subplots(1, 2, figsize=(9, 3))
for side, picture, context in zip(axes, pictures, contexts, strict=True):
    side.imshow(picture.rgb)
    side.set_title(context, fontsize=11)
    side.axis("off")
plt.show()
