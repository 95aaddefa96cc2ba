"""
Columns that stay and columns that go
=====================================

Weights of the lasso as its penalty falls. Columns enter one after the other, the strongest
first.
"""

import numpy as np

from lyceum import plot
from lyceum.linear import lasso_path

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 5))
y = X @ [3.0, 0, -2, 0, 1] + rng.normal(size=80)
plot.regularization_path(lasso_path(X, y))
