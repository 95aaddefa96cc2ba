"""
A tree that asks about the weather
==================================

ID3 on the fourteen days of the textbook. The outlook gains most and stands at the root.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.trees import ID3

plot.tree(ID3().fit(load("weather")))
