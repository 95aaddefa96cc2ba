"""
How sure are the weights?
=========================

The posterior of two weights beside its Gaussian approximation around the optimum. Few rows make
it skew.
"""

import numpy as np

from lyceum import plot

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 2))
y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=20) > 0).astype(int)
plot.laplace_contours(X, y, steps=60)
