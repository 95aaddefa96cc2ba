"""
A pruned tree of penguins
=========================

CART with the price of a leaf chosen by cross-validation. Three questions tell nearly all
species.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.trees import CART

plot.tree(CART(random_state=0, max_depth=3).fit(load("penguins")))
