"""
A belief that learns
====================

A broad prior on a mean becomes narrow with every measurement. After many of them the prior no
longer matters.
"""

from lyceum import plot

plot.posterior_updating([72.0, 80, 70, 78, 75, 77], mean=60, variance=100, noise=50)
