"""What a learning curve shows of more rows."""

from __future__ import annotations

import numpy as np
from scipy import stats

from lyceum.evaluate import LearningCurve

_LITTLE = 0.05  # of the loss: a gain that hardly matters


def learning_trend(curve: LearningCurve) -> str:
    """The trend of the last half of the curve: "helps" (more rows do), "flat", or "open" (too
    uncertain).

    The gain is the loss on unseen rows at the size nearest to half of all rows, less that at all
    rows, in the same splits. It helps if its 95 % interval is above 0, and is flat if it is surely
    below a twentieth of the loss.

    >>> losses = np.array([[0.40, 0.42, 0.41], [0.30, 0.31, 0.29], [0.20, 0.22, 0.21]])
    >>> learning_trend(LearningCurve(np.array([10, 50, 100]), losses, losses, 0.5, "error rate"))
    'helps'
    """
    sizes = curve.train_sizes
    losses = curve.test_losses
    if len(sizes) < 2 or losses.shape[1] < 2:
        return "open"
    half = int(np.abs(sizes[:-1] - sizes[-1] / 2).argmin())
    gain = losses[half] - losses[-1]
    error = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    reach = float(stats.t.isf(0.025, len(gain) - 1)) * error
    if gain.mean() - reach > 0.0:
        return "helps"
    if gain.mean() + reach < _LITTLE * abs(losses[-1].mean()):
        return "flat"
    return "open"
