"""
Clusters that are not round
===========================

k-means cuts both moons in halves, density-based clustering follows them. It finds the number of
clusters, too.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.cluster import DBSCAN, KMeans

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, learner in zip(axes, (KMeans(2, random_state=0), DBSCAN(eps=0.3))):
    ax.scatter(*X.T, c=learner.fit(X).labels_, s=10, cmap="coolwarm")
    ax.set_title(type(learner).__name__)
    ax.set(xlabel="x₁", ylabel="x₂")
