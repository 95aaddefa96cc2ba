"""
Every point has its cell
========================

The cells in which each stored point is the nearest one. The border of 1-NN consists of edges
between cells of different classes.
"""

import numpy as np

from lyceum import plot

rng = np.random.default_rng(0)
points = rng.normal(size=(25, 2))
plot.voronoi(points, points[:, 0] > 0)
