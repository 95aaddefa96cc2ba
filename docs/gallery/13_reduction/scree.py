"""
How many components?
====================

The share of the variance that each principal component has, and its running sum. The dotted
line at nine tenths says how many are enough.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.decomposition import PCA

rows = load("cpu")
plot.scree(PCA(standardize=True).fit(rows))
