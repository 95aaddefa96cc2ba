"""
A tree of cliques
=================

Messages between cliques answer all queries in two passes. The largest clique decides what exact
inference costs.
"""

from lyceum import plot
from lyceum.bayesnets import read_bif
from lyceum.datasets import path

plot.junction_tree(read_bif(path("asia")))
