"""
Two labels are enough
=====================

Labels spread along near neighbors. Two labeled points color both moons.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.semi_supervised import LabelPropagation

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
known = np.full(len(X), -1)
known[0] = 0
known[-1] = 1
spread = LabelPropagation(kernel="knn", n_neighbors=7).fit(X, known).predict(X)
figure, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
ax.scatter(*X.T, c=spread, s=10, cmap="coolwarm")
ax.scatter(*X[known >= 0].T, s=120, marker="*", color="black")
ax.set(xlabel="x₁", ylabel="x₂")
