"""
A width that adapts
===================

The density by nearest neighbors is narrow where rows are dense and wide where they are rare. It
has kinks and heavy tails.
"""

import numpy as np

from lyceum import plot
from lyceum.density import NeighborDensity

rng = np.random.default_rng(4)
values = np.concatenate([rng.normal(0, 1, 60), rng.normal(5, 0.3, 40)])[:, None]
plot.density(NeighborDensity(n_neighbors=9).fit(values), values)
