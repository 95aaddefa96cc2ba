"""
The layers of a network
=======================

Nodes as circles, weights as lines, thick where they are large. Two inputs, three hidden nodes.
"""

import numpy as np

from lyceum import plot
from lyceum.neural import MLPClassifier

X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 20)
y = X[:, 0] != X[:, 1]
plot.network(MLPClassifier((3,), max_iter=150, tol=None, random_state=0).fit(X, y))
