"""
Who is believed where
=====================

A mixture of two linear experts with a gate that learns where to believe whom. Two lines make a
roof.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.ensemble import MixtureOfExperts
from lyceum.linear import LinearRegression

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-3, 3, 150))[:, None]
y = np.abs(x[:, 0]) + rng.normal(0, 0.15, 150)
model = MixtureOfExperts(LinearRegression(), n_experts=2, random_state=0).fit(x, y)
figure, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
ax.scatter(x, y, s=8, color="gray")
ax.plot(x, model.predict(x))
ax.set(xlabel="x", ylabel="y")
