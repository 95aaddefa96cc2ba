"""Entropies in bits."""

from __future__ import annotations

import numpy as np


def p_log2_p(p: np.ndarray) -> np.ndarray:
    """p log₂ p of every probability, 0 where p = 0: minus their sum is an entropy in bits.

    >>> p_log2_p(np.array([0.5, 0.25, 0.25, 0.0])).tolist()
    [-0.5, -0.5, -0.5, 0.0]
    """
    return p * np.log2(np.where(p > 0, p, 1.0))


def entropy(counts: np.ndarray) -> np.ndarray:
    """-Σ p log₂ p of counts or weights along the last axis; 0 where there are none.

    >>> entropy(np.array([[2.0, 1.0, 1.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [1.5, 0.0, 0.0]
    """
    total = counts.sum(axis=-1, keepdims=True)
    # 0, not -0
    return 0.0 - p_log2_p(counts / np.where(total > 0, total, 1.0)).sum(axis=-1)
