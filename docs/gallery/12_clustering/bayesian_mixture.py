"""
A mixture that counts its components
====================================

A Bayesian mixture starts with ten components and empties those it does not need. Three are
left.
"""

import numpy as np

from lyceum import plot
from lyceum.mixtures import BayesianGaussianMixture

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(center, 0.8, (40, 2)) for center in ((0, 0), (4, 0), (2, 5))])
plot.mixture(BayesianGaussianMixture(10, random_state=0).fit(X), X)
