"""
Weights move to the hard rows
=============================

The weight of every row after each round of AdaBoost. Rows that are often wrong grow heavy.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.ensemble import AdaBoostClassifier

X = np.arange(1.0, 7)[:, None]
y = np.array([1, 1, -1, -1, 1, -1])
model = AdaBoostClassifier(n_estimators=3, record=True).fit(X, y)
figure, ax = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
for number, step in enumerate(model.record_):
    ax.bar(
        X[:, 0] + 0.25 * (number - 1),
        step["weights"],
        0.24,
        label=f"round {number + 1}",
    )
ax.set(xlabel="x", ylabel="weight before the round")
ax.legend()
