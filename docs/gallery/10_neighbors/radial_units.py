"""
Bumps that add up
=================

An RBF network is a weighted sum of bumps. Their centers are spread over the inputs, the weights
come from least squares.
"""

import numpy as np

from lyceum import plot
from lyceum.neighbors import RBFNetworkRegressor

x = np.linspace(0, 6, 80)[:, None]
plot.radial_units(
    RBFNetworkRegressor(n_centers=5, centers="uniform").fit(x, np.sin(x[:, 0]))
)
