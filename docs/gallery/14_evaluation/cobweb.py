"""
Confusions of several classes
=============================

Every axis is a kind of mistake. A classifier near the middle is better, the dashed ring is
chance.
"""

from lyceum import plot

plot.cobweb(
    {
        "tree": [[8, 1, 1], [0, 10, 0], [2, 3, 5]],
        "Bayes": [[9, 1, 0], [2, 8, 0], [1, 1, 8]],
    },
    ["a", "b", "c"],
)
