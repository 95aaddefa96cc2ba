"""
The cheap ones first
====================

A cascade answers what the cheap stage is sure of and passes the rest on. The bars show who
decided how many rows.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.ensemble import CascadeClassifier

plot.stages(CascadeClassifier(random_state=0).fit(load("penguins")))
