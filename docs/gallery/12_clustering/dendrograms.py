"""
Single and complete linkage
===========================

The same points joined by the nearest and by the farthest pair. Single linkage makes chains,
complete linkage compact groups.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum import plot
from lyceum.cluster import AgglomerativeClustering

rng = np.random.default_rng(3)
X = rng.normal(size=(16, 2))
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, linkage in zip(axes, ("single", "complete")):
    plot.dendrogram(
        AgglomerativeClustering(3, linkage=linkage).fit(X), title=linkage, ax=ax
    )
