"""
A digit from a few components
=============================

A handwritten zero, rebuilt from four, sixteen and all components. Sixteen numbers instead of 64
are nearly enough.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from lyceum.decomposition import PCA

digits = load_digits().data[:400]
figure, axes = plt.subplots(1, 3, figsize=(7, 2.6), layout="constrained")
for ax, k in zip(axes, (4, 16, 64)):
    model = PCA(k).fit(digits)
    ax.imshow(
        model.inverse_transform(model.transform(digits[:1])).reshape(8, 8),
        cmap="gray_r",
    )
    ax.set_title(f"{k} components")
    ax.set(xticks=[], yticks=[])
