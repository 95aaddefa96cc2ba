"""
The nearest points of two hulls
===============================

The widest street lies half-way between the nearest points of the convex hulls. This is the dual
problem as a picture.
"""

import numpy as np

from lyceum import plot
from lyceum.kernels import nearest_hull_points

rng = np.random.default_rng(0)
plot.hull_points(
    nearest_hull_points(rng.normal(0, 1, (15, 2)), rng.normal(4, 1, (15, 2)))
)
