"""
Where cells are missing
=======================

The share of missing cells per column, as ``inspect`` has counted it. Two penguins were not
measured at all, eleven have no sex.
"""

import matplotlib.pyplot as plt

from lyceum.data import inspect
from lyceum.datasets import path

seen = inspect(path("penguins"), target="species")
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(
    [column.name for column in seen.columns],
    [column.n_missing for column in seen.columns],
)
ax.set_xlabel("missing cells of 344 rows")
