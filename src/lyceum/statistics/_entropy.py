"""Terms of an entropy."""

from __future__ import annotations

import numpy as np

__all__ = ["p_log2_p"]


def p_log2_p(p: np.ndarray) -> np.ndarray:
    """p log₂ p of every probability, 0 where p = 0: minus their sum is an entropy in bits.

    >>> p_log2_p(np.array([0.5, 0.25, 0.25, 0.0])).tolist()
    [-0.5, -0.5, -0.5, 0.0]
    """
    return p * np.log2(np.where(p > 0, p, 1.0))
