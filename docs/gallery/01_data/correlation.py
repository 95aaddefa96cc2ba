"""
Which columns go together
=========================

Pearson's correlation of every pair of columns. Its square is the similarity that ``describe`` has
too.
"""

import matplotlib.pyplot as plt

from lyceum import scan
from lyceum.datasets import path
from lyceum.statistics import describe

sample = describe(scan(path("cpu"), target="class"))
figure, ax = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
picture = ax.imshow(sample.correlation, vmin=-1, vmax=1, cmap="RdBu_r")
ax.set_xticks(range(len(sample.names)), sample.names, rotation=90)
ax.set_yticks(range(len(sample.names)), sample.names)
figure.colorbar(picture, label="correlation")
