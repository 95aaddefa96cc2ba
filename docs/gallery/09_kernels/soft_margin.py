"""
A price for mistakes
====================

A small C lets many points into the street, a large one hardly any. Marked points are support
vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.kernels import SVC

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, C in zip(axes, (0.05, 10.0)):
    plot.margin(SVC(kernel="linear", C=C).fit(X, y), X, y, title=f"C = {C}", ax=ax)
