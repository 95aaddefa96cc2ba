"""
k-means, step by step
=====================

Points go to the nearest center, centers move to their points. After a few rounds nothing moves.
"""

import numpy as np

from lyceum import plot
from lyceum.cluster import KMeans

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(center, 0.8, (40, 2)) for center in ((0, 0), (4, 0), (2, 5))])
plot.kmeans_steps(KMeans(3, init=X[:3], n_init=1, record=True).fit(X), X)
