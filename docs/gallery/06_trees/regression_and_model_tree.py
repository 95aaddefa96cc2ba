"""
Steps and slopes
================

A regression tree says a constant in each leaf, a model tree a line. The line needs far fewer
leaves.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.trees import DecisionTreeRegressor, ModelTreeRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 120))[:, None]
y = np.where(x[:, 0] < 5, 2 * x[:, 0], 20 - 2 * x[:, 0]) + rng.normal(0, 0.7, 120)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.scatter(x, y, s=8, color="gray")
for learner in (DecisionTreeRegressor(max_depth=3), ModelTreeRegressor()):
    ax.plot(x, learner.fit(x, y).predict(x), label=type(learner).__name__)
ax.legend()
ax.set(xlabel="x", ylabel="y")
