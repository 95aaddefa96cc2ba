"""
Asking about the doubtful rows
==============================

Accuracy against the number of labels, for two ways to choose the rows. The bands are the spread
of four runs.
"""

import numpy as np

from lyceum import plot
from lyceum.linear import LogisticRegression
from lyceum.semi_supervised import active_learning

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(2, 0.6, (60, 2))])
y = np.repeat(["a", "b"], 60)
runs = {
    strategy: [
        active_learning(
            LogisticRegression(),
            X,
            y,
            strategy=strategy,
            n_start=4,
            n_queries=20,
            test=(X, y),
            random_state=seed,
        )
        for seed in range(4)
    ]
    for strategy in ("uncertainty", "random")
}
plot.label_curves(runs)
