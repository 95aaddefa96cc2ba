"""
A line and its residuals
========================

Least squares makes the sum of the squared vertical distances smallest. The slope is the
covariance over the variance.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.linear import simple_regression

x = np.array([1.0, 2, 3, 4])
y = np.array([2.0, 3, 5, 6])
line = simple_regression(x, y)
figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
fitted = line.intercept + line.slope * x
ax.plot(x, fitted)
ax.vlines(x, y, fitted, linestyles="dotted")
ax.scatter(x, y)
ax.set_title(f"y = {line.intercept:.1f} + {line.slope:.1f} x")
ax.set(xlabel="hours", ylabel="points")
