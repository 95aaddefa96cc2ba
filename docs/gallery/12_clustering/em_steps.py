"""
EM, step by step
================

Responsibilities and ellipses in turns. The likelihood rises with every step.
"""

import numpy as np

from lyceum import plot
from lyceum.mixtures import GaussianMixture

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(center, 0.8, (40, 2)) for center in ((0, 0), (4, 0), (2, 5))])
plot.em_steps(
    GaussianMixture(3, random_state=0, init_params="random_from_data", record=True).fit(
        X
    ),
    X,
    n_steps=4,
)
