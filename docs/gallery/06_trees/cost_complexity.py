"""
The price of a leaf
===================

The error of the nested trees on rows left out. The chosen one is the smallest within one
standard error of the best.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.trees import CART

plot.cost_complexity(CART(random_state=0).fit(load("penguins")))
