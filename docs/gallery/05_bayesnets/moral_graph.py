"""
Marrying the parents
====================

Inference works on the moral graph: parents of a common child are joined, arrows are dropped.
The new edges are dashed.
"""

from lyceum import plot
from lyceum.bayesnets import read_bif
from lyceum.datasets import path

plot.moral_graph(read_bif(path("asia")))
