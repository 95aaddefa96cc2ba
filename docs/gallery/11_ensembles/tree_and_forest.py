"""
One tree and a hundred
======================

The posterior of a single tree beside that of a forest. Averaging smooths the staircase.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.ensemble import RandomForestClassifier
from lyceum.trees import DecisionTreeClassifier

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, learner in zip(
    axes, (DecisionTreeClassifier(), RandomForestClassifier(100, random_state=0))
):
    plot.posterior_contours(
        learner.fit(X, y), X, y, steps=60, title=type(learner).__name__, ax=ax
    )
