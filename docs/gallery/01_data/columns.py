"""
What is in every column
=======================

``inspect`` counts each column in one pass. The numbers of the penguins have one, two or three
humps: several kinds of birds.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.data import inspect
from lyceum.datasets import path

seen = inspect(path("penguins"), target="species")
numbers = [column for column in seen.columns if column.low is not None][:4]
figure, axes = plt.subplots(1, 4, figsize=(11, 2.6), layout="constrained")
for ax, column in zip(axes, numbers):
    edges = np.linspace(column.low, column.high, len(column.histogram) + 1)
    ax.stairs(column.histogram, edges, fill=True)
    ax.set_title(column.name)
axes[0].set_ylabel("rows")
