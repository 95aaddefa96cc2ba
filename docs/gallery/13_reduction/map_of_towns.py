"""
A map from distances
====================

Classical multidimensional scaling finds places from distances alone. The map may be turned and
mirrored.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.decomposition import ClassicalMDS
from lyceum.distances import pairwise

towns = np.array([[0.0, 0], [4, 1], [6, 5], [1, 6], [3, 3]])
places = ClassicalMDS(2, metric="precomputed").fit(pairwise(towns)).embedding_
figure, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.scatter(*places.T)
for name, place in zip("ABCDE", places):
    ax.annotate(name, place, xytext=(4, 4), textcoords="offset points")
ax.set_aspect("equal")
ax.set(xlabel="component 1", ylabel="component 2")
