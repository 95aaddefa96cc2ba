"""
Probabilities far from the rows
===============================

With the uncertainty of the weights (right) nobody is sure far away. The plug-in (left) is.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.linear import LogisticRegression

rng = np.random.default_rng(2)
X = np.vstack([rng.normal(0, 1, (8, 2)), rng.normal(2.5, 1, (8, 2))])
y = np.repeat([0, 1], 8)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, posterior in zip(axes, ("plugin", "probit")):
    plot.posterior_contours(
        LogisticRegression(posterior=posterior).fit(X, y),
        X,
        y,
        title=posterior,
        ax=ax,
        steps=60,
    )
