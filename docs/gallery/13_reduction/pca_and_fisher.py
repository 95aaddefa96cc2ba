"""
Two questions, two directions
=============================

PCA finds where rows spread most, Fisher where classes part best. Here these are perpendicular.
"""

import numpy as np

from lyceum import plot

rng = np.random.default_rng(3)
X = rng.normal(size=(120, 2)) * [3, 0.5]
X[60:, 1] += 2
plot.pca_beside_fisher(X, np.repeat(["a", "b"], 60))
