"""
How many test rows?
===================

The width of a 95 % interval against the number of test rows: Hoeffding's bound for any
classifier, and the normal one at an error of 10 %. Ten times the rows give a third of the
width.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.evaluate import error_sd, hoeffding_bound

rows = np.geomspace(50, 50000, 30)
figure, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
ax.loglog(
    rows,
    [hoeffding_bound(n=int(n), alpha=0.05).within for n in rows],
    label="Hoeffding",
)
ax.loglog(
    rows, [1.96 * error_sd(0.1, int(n)) for n in rows], label="normal, error 10 %"
)
ax.set(xlabel="test rows", ylabel="plus or minus")
ax.legend()
