"""
Ridge shrinks but drops nothing
===============================

The same rows with a squared penalty. All weights approach 0 together and none reaches it.
"""

import numpy as np

from lyceum import plot
from lyceum.linear import ridge_path

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 5))
y = X @ [3.0, 0, -2, 0, 1] + rng.normal(size=80)
plot.regularization_path(ridge_path(X, y))
