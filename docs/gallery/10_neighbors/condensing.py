"""
Only the border matters
=======================

Condensing keeps the rows that 1-NN needs to get the others right. They lie along the border.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.neighbors import condense

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
kept = condense(X, y)
figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
ax.scatter(*X.T, c=y == "a", s=8, alpha=0.3, cmap="coolwarm")
ax.scatter(*X[kept].T, c=(y == "a")[kept], s=30, edgecolor="black", cmap="coolwarm")
ax.set_title(f"{len(X[kept])} of {len(X)} rows are kept")
ax.set(xlabel="x₁", ylabel="x₂")
