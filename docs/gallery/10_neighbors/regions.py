"""
One, five, twenty-five neighbors
================================

The regions of k-NN for three k. One neighbor follows every point, many smooth the border.
"""

import numpy as np

from lyceum import plot
from lyceum.neighbors import KNeighborsClassifier

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
plot.neighbor_regions(KNeighborsClassifier(), X, y)
