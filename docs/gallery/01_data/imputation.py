"""
Filling in a missing cell
=========================

The mean ignores the other column, the neighbors and the regression use it. Filled cells lie on
the trend only with the latter two.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.prepare import IterativeImputer, KNNImputer, SimpleImputer

rng = np.random.default_rng(1)
x = rng.uniform(0, 10, 80)
table = np.column_stack([x, 2 * x + rng.normal(size=80)])
table[:20, 1] = np.nan
figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for ax, filler in zip(axes, (SimpleImputer(), KNNImputer(), IterativeImputer())):
    filled = filler.fit_transform(table)
    ax.scatter(*filled[20:].T, s=8)
    ax.scatter(*filled[:20].T, s=18, marker="x")
    ax.set_title(type(filler).__name__)
    ax.set_xlabel("x")
axes[0].set_ylabel("y")
