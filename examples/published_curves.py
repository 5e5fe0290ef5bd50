"""
Needs from a published table
============================

A table of learning curves as papers print it, with sizes as columns: which of two learners needs fewer
examples for 90 %, and how many times fewer? Needs scipy and matplotlib.
"""

import csv
import io

import matplotlib.pyplot as plt

from simtown import needs

TABLE = """model,run,50,100,200,400,800,1200
nearest neighbour,0,0.846,0.910,0.954,0.968,0.982,0.990
nearest neighbour,1,0.830,0.934,0.954,0.974,0.978,0.984
nearest neighbour,2,0.862,0.908,0.936,0.972,0.986,0.988
nearest neighbour,3,0.870,0.928,0.960,0.960,0.982,0.978
ridge,0,0.524,0.776,0.848,0.912,0.916,0.922
ridge,1,0.438,0.782,0.862,0.922,0.932,0.932
ridge,2,0.546,0.810,0.854,0.922,0.928,0.930
ridge,3,0.434,0.778,0.862,0.908,0.926,0.922
"""
rows = list(csv.DictReader(io.StringIO(TABLE)))
columns = {name: [row[name] for row in rows] for name in rows[0]}
found = needs.from_results(columns, 0.9, group="model", seed="run")  # or the path of a CSV, or a data frame
for model, result in found.items():
    print(model, repr(result))
print("times as many:", needs.compare(found["ridge"], found["nearest neighbour"]))

# %%
# The figure
# ----------
figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
found["ridge"].plot(axes)
plt.show()
