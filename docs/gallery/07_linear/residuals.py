"""
What the residuals say
======================

Residuals should be a band without a pattern. Those of the processors fan out: large machines
are predicted less exactly.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.linear import LinearRegression

rows = load("cpu")
plot.residuals(LinearRegression().fit(rows), rows)
