"""
A degree too low, right, too high
=================================

The loss on training rows falls with every degree, that on other rows rises again. The best
degree is where the second is least.
"""

import numpy as np
from sklearn.pipeline import make_pipeline

from lyceum import plot
from lyceum.evaluate import validation_curve
from lyceum.linear import BasisExpansion, LinearRegression

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (40, 1))
y = np.sin(3 * X[:, 0]) + rng.normal(0, 0.2, 40)
learner = make_pipeline(BasisExpansion(), LinearRegression())
degrees = list(range(1, 10))
plot.validation_curve(
    validation_curve(
        learner, X, y, param_name="basisexpansion__degree", param_range=degrees
    ),
    log=False,
)
