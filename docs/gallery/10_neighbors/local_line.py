"""
A line where it is asked for
============================

Locally weighted regression fits a line to the rows around the query. Their weights fall with
the distance.
"""

import numpy as np

from lyceum import plot
from lyceum.neighbors import LocallyWeightedRegression

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 80))[:, None]
y = np.sin(x[:, 0]) + rng.normal(0, 0.2, 80)
plot.local_fit(LocallyWeightedRegression(n_neighbors=25).fit(x, y), 2.0)
