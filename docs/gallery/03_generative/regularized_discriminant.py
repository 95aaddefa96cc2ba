"""
Between linear and quadratic
============================

Error by cross-validation over the two settings of the regularized discriminant. One corner is
linear, another quadratic, a third the nearest mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.bayes import RegularizedDiscriminant
from lyceum.evaluate import cross_validate

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
steps = np.linspace(0, 1, 5)
errors = [
    [
        cross_validate(RegularizedDiscriminant(alpha=a, gamma=g), X, y, cv=5).mean
        for g in steps
    ]
    for a in steps
]
figure, ax = plt.subplots(figsize=(5.6, 4), layout="constrained")
picture = ax.imshow(errors, origin="lower", extent=(-0.1, 1.1, -0.1, 1.1))
ax.set(xlabel="gamma: a sphere", ylabel="alpha: one covariance")
figure.colorbar(picture, label="error")
