"""
An optimum on a line
====================

The largest xy on the line x + y = 6. At the optimum a contour touches the line, so both
gradients are parallel.
"""

from lyceum import plot
from lyceum.solvers import constrained_optima

optima = constrained_optima(lambda x, y: x * y, {"x + y = 6": lambda x, y: x + y - 6})
plot.constrained_optima(optima)
