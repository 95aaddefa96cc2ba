"""
How many components?
====================

The variance of each principal component and its running sum. Two components keep nine tenths of
the penguins' measurements.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.decomposition import PCA

rows = load("cpu")
plot.scree(PCA(standardize=True).fit(rows))
