"""
C and sigma together
====================

Accuracy by cross-validation over both settings of an RBF machine. Most of the plane is good;
too narrow and too wide kernels with a small C are not.
"""

import numpy as np

from lyceum import plot
from lyceum.evaluate import cross_validate
from lyceum.kernels import SVC

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
Cs = [0.1, 1.0, 10.0, 100.0]
sigmas = [0.1, 0.3, 1.0, 3.0]
scores = [
    [
        1 - cross_validate(SVC(C=C, gamma=1 / (2 * s**2)), X, y, cv=3).mean
        for s in sigmas
    ]
    for C in Cs
]
plot.setting_grid(np.array(scores), Cs, sigmas)
