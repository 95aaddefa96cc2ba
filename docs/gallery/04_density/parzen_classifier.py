"""
A classifier from two densities
===============================

Kernel densities of two classes with their priors: the probabilistic neural network. The border
follows the rows without any formula.
"""

import numpy as np

from lyceum import plot
from lyceum.density import ParzenClassifier

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
plot.posterior_contours(ParzenClassifier().fit(X, y), X, y, steps=60)
