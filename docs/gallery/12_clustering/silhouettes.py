"""
How well does every point sit?
==============================

A bar per point, sorted within its cluster. Bars near 0 lie between two clusters, negative ones
in the wrong one.
"""

import numpy as np

from lyceum import plot
from lyceum.cluster import KMeans, silhouette

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(center, 0.8, (40, 2)) for center in ((0, 0), (4, 0), (2, 5))])
plot.silhouette(silhouette(X, KMeans(3, random_state=0).fit(X).labels_))
