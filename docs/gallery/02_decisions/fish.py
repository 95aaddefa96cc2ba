"""
Two densities, two priors, one border
=====================================

Prior times density of two classes. The border is where the curves cross, and it moves away from
the more frequent class.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.probability import Gaussian

x = np.linspace(20, 120, 300)[:, None]
salmon = Gaussian([50.0], [[80.0]])
bass = Gaussian([75.0], [[125.0]])
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for prior, dash in ((0.3, "-"), (0.7, "--")):
    ax.plot(
        x,
        prior * np.exp(salmon.log_density(x)),
        dash,
        color="C0",
        label=f"salmon, prior {prior}",
    )
    ax.plot(x, (1 - prior) * np.exp(bass.log_density(x)), dash, color="C1")
ax.set(xlabel="length", ylabel="prior · density")
ax.legend()
