"""
A perceptron learns
===================

The line after every pass of a perceptron: every mistake turns and moves it. It stops where
all points are right.
"""

import numpy as np

from lyceum import plot
from lyceum.linear import Perceptron

rng = np.random.default_rng(20)
noise = rng.normal(0, 0.35, (20, 2)).reshape(2, 10, 2)
centers = np.array([[[1, 2]], [[2, 1]]])
X = (noise + centers).swapaxes(0, 1).reshape(20, 2)
y = np.tile([-1, 1], 10)
model = Perceptron(shuffle=False, tol=None, record=True)
plot.steps(model.fit(X, y), X, y)
