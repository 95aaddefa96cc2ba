"""
What one line cannot do
=======================

The posterior of a network on exclusive or. Two bands need two hidden nodes at least.
"""

import numpy as np

from lyceum import plot
from lyceum.neural import MLPClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (200, 2))
y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
plot.posterior_contours(
    MLPClassifier((8,), max_iter=200, learning_rate_init=0.02, random_state=0).fit(
        X, y
    ),
    X,
    y,
    steps=80,
)
