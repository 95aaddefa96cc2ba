"""
Two columns before and after scaling
====================================

Before, the grams decide every distance; after, both columns count. The shape of the cloud does
not change.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.prepare import MinMaxScaler, StandardScaler

rng = np.random.default_rng(0)
cells = np.column_stack([rng.normal(17, 2, 150), rng.normal(4200, 800, 150)])
figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, scaler in zip(axes, (None, MinMaxScaler(), StandardScaler())):
    shown = cells if scaler is None else scaler.fit_transform(cells)
    ax.scatter(*shown.T, s=8)
    ax.set_title("as they are" if scaler is None else type(scaler).__name__)
    ax.set(xlabel="size", ylabel="weight")
