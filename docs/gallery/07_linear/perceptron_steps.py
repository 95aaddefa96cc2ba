"""
A perceptron learns
===================

The line after every pass of a perceptron. It stops where all points are right.
"""

import numpy as np

from lyceum import plot
from lyceum.linear import Perceptron

rng = np.random.default_rng(1)
X = np.vstack([rng.normal(0, 0.6, (20, 2)), rng.normal(2.5, 0.6, (20, 2))])
y = np.repeat([-1, 1], 20)
plot.steps(Perceptron(record=True).fit(X, y), X, y)
