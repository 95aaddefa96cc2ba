"""
Hinge and logistic side by side
===============================

The logistic loss is a smooth hinge. It never reaches 0, so every row keeps a little say.
"""

from lyceum import plot

plot.hinge_and_logistic()
