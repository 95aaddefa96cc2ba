"""
The density of eruptions
========================

Waiting time and length of eruptions of Old Faithful, by kernels. There are two kinds of
eruptions, without anyone having said so.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.density import KernelDensity

rows = load("old_faithful")
plot.density(KernelDensity(bandwidth="likelihood").fit(rows), rows)
