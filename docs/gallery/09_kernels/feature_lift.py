"""
Lifting a ring
==============

A ring around a disk has no separating line. In the space of x₁², √2 x₁x₂ and x₂², whose inner
product is the kernel (x · z)², a plane separates them.
"""

import numpy as np

from lyceum import plot

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 120)
radius = np.repeat([0.4, 1.2], 60) + rng.normal(0, 0.08, 120)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
plot.feature_lift(X, np.repeat([0, 1], 60))
