"""
Training and validation loss
============================

Training and validation loss by epoch. Training ends when the second has not fallen for a while,
and the weights of its minimum are kept.
"""

import numpy as np

from lyceum import plot
from lyceum.neural import MLPClassifier

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 100)
upper = np.column_stack([np.cos(angle), np.sin(angle)])
X = np.vstack([upper, [1.0, 0.4] - upper]) + rng.normal(0, 0.12, (200, 2))
y = np.repeat(["a", "b"], 100)
plot.training_curves(
    MLPClassifier(
        (20,),
        early_stopping=True,
        max_iter=200,
        learning_rate_init=0.01,
        random_state=0,
    ).fit(X, y)
)
