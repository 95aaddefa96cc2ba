"""
A covariance per class gives a curve
====================================

The narrow class is surrounded by the wide one: far away on either side, the wide one wins. Only
a quadratic rule can say that.
"""

import numpy as np

from lyceum import plot
from lyceum.bayes import QuadraticDiscriminantAnalysis

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
plot.posterior_contours(QuadraticDiscriminantAnalysis().fit(X, y), X, y)
