"""
Principal components of a ring
==============================

PCA cannot untie two rings, kernel PCA can. Along its first component the inner and the outer
ring lie apart.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.decomposition import PCA
from lyceum.kernels import KernelPCA

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 160)
radius = np.repeat([0.4, 1.2], 80) + rng.normal(0, 0.05, 160)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, learner in zip(axes, (PCA(2), KernelPCA(2, kernel="rbf", gamma=2.0))):
    ax.scatter(*learner.fit_transform(X).T, c=radius > 0.8, s=10, cmap="coolwarm")
    ax.set_title(type(learner).__name__)
    ax.set(xlabel="component 1", ylabel="component 2")
