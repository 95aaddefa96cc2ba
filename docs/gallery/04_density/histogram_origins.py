"""
The same rows, another origin
=============================

Two histograms of the same values with boxes of the same width. The origin alone makes one hump
or two.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.density import HistogramDensity

rng = np.random.default_rng(4)
values = np.concatenate([rng.normal(0, 1, 30), rng.normal(3, 0.7, 20)])[:, None]
figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for ax, origin in zip(axes, (-3.0, -2.2)):
    model = HistogramDensity(bin_width=1.6, origin=origin).fit(values)
    plot.density(model, values, title=f"boxes from {origin}", ax=ax)
