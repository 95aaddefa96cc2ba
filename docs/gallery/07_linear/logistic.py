"""
Probabilities from a line
=========================

Logistic regression turns the distance from a line into a probability. Contours are parallel
lines.
"""

import numpy as np

from lyceum import plot
from lyceum.linear import LogisticRegression

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
plot.posterior_contours(LogisticRegression().fit(X, y), X, y)
