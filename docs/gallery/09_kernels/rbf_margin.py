"""
A street that bends
===================

With the RBF kernel the street is straight in a space of many dimensions and bent in this one.
Most support vectors lie along it.
"""

import numpy as np

from lyceum import plot
from lyceum.kernels import SVC

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
plot.margin(SVC(kernel="rbf", gamma=2.0).fit(X, y), X, y)
