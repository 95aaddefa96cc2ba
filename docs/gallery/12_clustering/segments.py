"""
A picture in four colors
========================

Pixels clustered by color. Every pixel is painted with the mean of its cluster.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.workflows import segment_image

rows, columns = np.mgrid[0:80, 0:120]
sky = np.stack([0.4 + rows / 300, 0.6 + rows / 400, 0.9 - rows / 500], axis=-1)
image = np.where((rows > 50)[..., None], [0.2, 0.5, 0.2], sky)
image = np.where(
    (((rows - 20) ** 2 + (columns - 90) ** 2) < 120)[..., None], [1.0, 0.9, 0.3], image
)
image = np.clip(image + np.random.default_rng(0).normal(0, 0.04, image.shape), 0, 1)
found = segment_image(image, n_segments=4)
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
axes[0].imshow(image)
axes[1].imshow(found.palette[found.labels])
for ax in axes:
    ax.axis("off")
