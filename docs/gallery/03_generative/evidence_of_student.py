"""
Student's t instead of a Gaussian
=================================

With few rows the Bayesian posterior predictive has heavy tails. Its contours far from the rows
are less sure than those of the plug-in.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.bayes import BayesianGaussianClassifier, QuadraticDiscriminantAnalysis

rng = np.random.default_rng(2)
X = np.vstack([rng.normal(0, 1, (6, 2)), rng.normal(2.5, 1, (6, 2))])
y = np.repeat(["a", "b"], 6)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, learner in zip(
    axes, (QuadraticDiscriminantAnalysis(), BayesianGaussianClassifier())
):
    plot.posterior_contours(
        learner.fit(X, y), X, y, title=type(learner).__name__, ax=ax
    )
