"""
Shapes of kernels
=================

Every kernel integrates to 1. Cauchy's has the heaviest tails, the Parzen window has none.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.density import KernelDensity

x = np.linspace(-4, 4, 400)[:, None]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name in (
    "gaussian",
    "product_epanechnikov",
    "triangular",
    "tricube",
    "laplace",
    "cauchy",
    "parzen",
):
    bump = KernelDensity(kernel=name, bandwidth=1.0, rtol=0.0).fit([[0.0]])
    ax.plot(x, np.exp(bump.score_samples(x)), label=name)
ax.legend()
ax.set(xlabel="u", ylabel="density")
