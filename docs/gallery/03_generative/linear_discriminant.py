"""
A shared covariance gives a line
================================

The posterior of linear discriminant analysis. Both classes have the same ellipse, so their
border is straight.
"""

import numpy as np

from lyceum import plot
from lyceum.bayes import LinearDiscriminantAnalysis

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
plot.posterior_contours(LinearDiscriminantAnalysis().fit(X, y), X, y)
