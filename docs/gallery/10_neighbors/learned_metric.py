"""
A metric learned from labels
============================

A learned linear map stretches what tells the classes apart and shrinks the rest. Neighbors in
the new plane agree more often.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.neighbors import LearnedMetric

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2)) * [1, 6]
X[60:, 0] += 2
y = np.repeat(["a", "b"], 60)
moved = LearnedMetric(random_state=0).fit(X, y).transform(X)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, cells, title in zip(axes, (X, moved), ("as measured", "after the learned map")):
    ax.scatter(*np.asarray(cells).T[:2], c=y == "a", s=10, cmap="coolwarm")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(title)
    ax.set(xlabel="axis 1", ylabel="axis 2")
