"""
Bias and variance of three trees
================================

A stump cannot follow the curve (bias), a deep tree follows the noise (variance). The error is
their sum, plus the noise.
"""

import numpy as np

from lyceum import plot
from lyceum.evaluate import bias_variance
from lyceum.trees import DecisionTreeRegressor

rng = np.random.default_rng(0)
X = rng.uniform(0, 6, (200, 1))
y = np.sin(X[:, 0]) + rng.normal(0, 0.3, 200)
results = {
    f"depth {depth}": bias_variance(
        DecisionTreeRegressor(max_depth=depth),
        X[:100],
        y[:100],
        X[100:],
        y[100:],
        n_rounds=20,
    )
    for depth in (1, 3, 9)
}
plot.bias_variance(results)
