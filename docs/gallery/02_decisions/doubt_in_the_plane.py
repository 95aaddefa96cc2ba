"""
Where a classifier should not decide
====================================

Points in the gray band have posteriors between 0.2 and 0.8. With a price of 0.2 for doubt they
go to a person.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.bayes import QuadraticDiscriminantAnalysis
from lyceum.decision import minimum_risk

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
model = QuadraticDiscriminantAnalysis().fit(X, y)
grid = np.stack(np.meshgrid(np.linspace(-3, 5, 120), np.linspace(-3, 5, 120)), axis=-1)
decided = minimum_risk(model.predict_proba(grid.reshape(-1, 2)), doubt=0.2).index
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
ax.contourf(
    grid[..., 0],
    grid[..., 1],
    decided.reshape(120, 120),
    levels=[-1.5, -0.5, 0.5, 1.5],
    colors=["gray", "tab:blue", "tab:red"],
    alpha=0.3,
)
ax.scatter(*X.T, c=y == "b", s=8, cmap="coolwarm")
ax.set(xlabel="x₁", ylabel="x₂")
