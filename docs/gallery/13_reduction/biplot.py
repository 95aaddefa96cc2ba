"""
Rows and columns in one plane
=============================

Points are rows, arrows are columns. Columns that point the same way say the same.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.decomposition import PCA

rows = load("cpu")
plot.biplot(PCA(standardize=True).fit(rows), rows)
