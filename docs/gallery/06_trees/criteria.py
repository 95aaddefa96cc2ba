"""
Three measures of disorder
==========================

Entropy, Gini and misclassification of two classes. Misclassification has corners and does not
reward purer parts; that is why trees grow by the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.statistics import entropy

p = np.linspace(0.001, 0.999, 200)
figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
ax.plot(p, [entropy(np.array([q, 1 - q])) for q in p], label="entropy in bits")
ax.plot(p, 2 * p * (1 - p), label="Gini")
ax.plot(p, np.minimum(p, 1 - p), label="misclassification")
ax.set_xlabel("share of the first class")
ax.legend()
