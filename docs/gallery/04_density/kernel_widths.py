"""
Too narrow, too wide, and the reference rule
============================================

A kernel density with three widths. The reference rule is made for one Gaussian and smooths two
humps too much.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.density import KernelDensity

rng = np.random.default_rng(4)
values = np.concatenate([rng.normal(0, 1, 60), rng.normal(5, 0.7, 40)])[:, None]
figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, width in zip(axes, (0.1, "reference", 3.0)):
    plot.density(
        KernelDensity(bandwidth=width).fit(values),
        values,
        title=f"width {width}",
        ax=ax,
    )
