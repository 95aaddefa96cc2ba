"""
Votes by distance
=================

Predictions of three and twenty neighbors, plain and weighted. Weights make the curve pass
through the points.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.neighbors import KNeighborsRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 40))[:, None]
y = np.sin(x[:, 0]) + rng.normal(0, 0.2, 40)
grid = np.linspace(0, 6, 400)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, k in zip(axes, (3, 20)):
    ax.scatter(x, y, s=10, color="gray")
    for weights in ("uniform", "inverse_square"):
        ax.plot(
            grid,
            KNeighborsRegressor(k, weights=weights).fit(x, y).predict(grid),
            label=weights,
        )
    ax.set_title(f"k = {k}")
    ax.set_xlabel("x")
ax.legend()
axes[0].set_ylabel("y")
