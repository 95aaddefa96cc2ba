"""
The widest street
=================

The line with the largest margin touches the nearest points of both classes. These support
vectors alone decide.
"""

import numpy as np

from lyceum import plot
from lyceum.kernels import SVC

X = np.array([[1.0, 2], [-1, 2], [-1, -2], [2, 3], [-2, -3], [0, 3]])
y = np.array(["minus", "minus", "plus", "minus", "plus", "minus"])
plot.margin(SVC(kernel="linear", C=np.inf).fit(X, y), X, y)
