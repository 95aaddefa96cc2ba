"""What curves of losses over splits share: means, and how sure they are."""

from __future__ import annotations

import numpy as np

from lyceum.evaluate.printable import Printable


class LossCurve(Printable):
    """Losses on training and test rows: one row per point of the curve, one column per split."""

    __slots__ = ()

    train_losses: np.ndarray
    test_losses: np.ndarray

    @property
    def train_mean(self) -> np.ndarray:
        """Mean loss on training rows, over splits."""
        return self.train_losses.mean(axis=1)

    @property
    def test_mean(self) -> np.ndarray:
        """Mean loss on test rows, over splits."""
        return self.test_losses.mean(axis=1)

    @property
    def test_error(self) -> np.ndarray:
        """Standard error of the mean test loss of every point."""
        return standard_error(self.test_losses)


def standard_error(losses: np.ndarray) -> np.ndarray:
    """The standard error of every row's mean; 0 with one split."""
    S = losses.shape[1]
    if S > 1:
        return losses.std(axis=1, ddof=1) / np.sqrt(S)
    return np.zeros(len(losses))
