"""
What no row looked like
=======================

Contours of an isolation forest's score. Points beyond the line are alarms.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.anomaly import IsolationForest

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(center, 0.8, (40, 2)) for center in ((0, 0), (4, 0), (2, 5))])
model = IsolationForest(random_state=0).fit(X)
grid = np.stack(np.meshgrid(np.linspace(-4, 10, 60), np.linspace(-4, 10, 60)), axis=-1)
score = model.score_samples(grid.reshape(-1, 2)).reshape(60, 60)
figure, ax = plt.subplots(figsize=(4.8, 4), layout="constrained")
ax.contourf(grid[..., 0], grid[..., 1], score, levels=12, cmap="Blues_r")
ax.scatter(*X.T, s=6, color="black")
ax.set(xlabel="x₁", ylabel="x₂")
