"""
How often is a majority wrong?
==============================

The error of a majority of independent voters against their number. Voters that are better than
chance become nearly perfect, worse ones hopeless.
"""

import matplotlib.pyplot as plt

from lyceum.evaluate import majority_vote_error

figure, ax = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
numbers = range(1, 42, 2)
for error in (0.3, 0.4, 0.45, 0.5, 0.55):
    ax.plot(
        numbers,
        [majority_vote_error(n, error) for n in numbers],
        label=f"each wrong {error:.0%}",
    )
ax.set(xlabel="voters", ylabel="the majority is wrong")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
