"""
When one class becomes rare
===========================

A posterior learned with equal priors, corrected for new ones. The rarer the class, the more
evidence it needs.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.probability import bayes_theorem

old = np.linspace(0.01, 0.99, 60)
figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
for prior in (0.5, 0.2, 0.1, 0.01):
    new = [
        bayes_theorem(
            {"ill": prior, "well": 1 - prior}, {"ill": p, "well": 1 - p}
        ).posterior["ill"]
        for p in old
    ]
    ax.plot(old, new, label=f"{prior:.0%} are ill")
ax.set(xlabel="posterior where half were ill", ylabel="posterior now")
ax.legend()
