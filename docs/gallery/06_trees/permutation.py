"""
Which columns a tree needs
==========================

The fall of accuracy when a column is shuffled, with its spread. Unlike gains it does not favor
columns with many values.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.trees import CART, permutation_importance

rows = load("penguins")
found = permutation_importance(CART(random_state=0).fit(rows), rows, random_state=0)
plot.importances(
    found.drops.mean(axis=1), names=list(found.names), spread=found.drops.std(axis=1)
)
