"""
A tube instead of a line
========================

Support vector regression ignores errors inside a tube. Points outside are its support vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.kernels import SVR

rng = np.random.default_rng(0)
x = np.linspace(0, 6, 60)[:, None]
y = np.sin(x[:, 0]) + rng.normal(0, 0.15, 60)
model = SVR(C=10.0, epsilon=0.2, gamma=1.0).fit(x, y)
line = model.predict(x)
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.scatter(x, y, s=10, color="gray")
ax.plot(x, line)
ax.fill_between(x[:, 0], line - 0.2, line + 0.2, alpha=0.2)
ax.set(xlabel="x", ylabel="y")
