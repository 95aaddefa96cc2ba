"""
How many clusters?
==================

The sum of squares falls with every cluster; the elbow is where it stops falling fast. The
silhouette has its maximum there too.
"""

import numpy as np

from lyceum import plot
from lyceum.cluster import choose_k

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(center, 0.8, (40, 2)) for center in ((0, 0), (4, 0), (2, 5))])
plot.elbow(choose_k(X, range(1, 8), random_state=0))
