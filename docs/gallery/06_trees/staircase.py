"""
A tree cuts along the axes
==========================

A diagonal border becomes a staircase. More rows make finer steps.
"""

import numpy as np

from lyceum import plot
from lyceum.trees import DecisionTreeClassifier

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, (200, 2))
y = np.where(X[:, 0] > X[:, 1], "below", "above")
plot.posterior_contours(DecisionTreeClassifier(max_depth=5).fit(X, y), X, y, steps=80)
