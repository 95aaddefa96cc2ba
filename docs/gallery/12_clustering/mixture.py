"""
Two kinds of eruptions
======================

A mixture of two Gaussians on Old Faithful. Points between the ellipses belong to both, in
shares.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.mixtures import GaussianMixture

rows = load("old_faithful")
plot.mixture(GaussianMixture(2, random_state=0).fit(rows), rows)
