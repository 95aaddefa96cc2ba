"""What clusters that know nothing of the classes have in common with them."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln


def expected_information(table: np.ndarray) -> float:
    """The mean mutual information, in bits, of all tables of whole counts with these margins.

    A cell of a table with the margins a and b is hypergeometric,

        P(m) = a! b! (N - a)! (N - b)! / (N! m! (a - m)! (b - m)! (N - a - b + m)!),

    and adds m/N log2(N m / (a b)). Equal pairs of margins are computed once.

    >>> float(round(expected_information(np.ones((2, 2))), 12))  # 1 bit in 2 of 6 orders
    0.333333333333
    """
    N = table.sum()
    rows, n_rows = np.unique(table.sum(axis=1), return_counts=True)
    columns, n_columns = np.unique(table.sum(axis=0), return_counts=True)
    log_factorials = gammaln(np.arange(N + 1) + 1.0)

    def log_factorial(counts: np.ndarray | float) -> np.ndarray:
        return log_factorials[np.asarray(counts, dtype=np.int64)]

    total = 0.0
    for a, repeats in zip(rows.tolist(), n_rows.tolist()):
        for b, also in zip(columns.tolist(), n_columns.tolist()):
            m = np.arange(max(1.0, a + b - N), min(a, b) + 1.0)
            margins = log_factorial(np.array([a, b, N - a, N - b])).sum()
            cells = log_factorial(m) + log_factorial(a - m) + log_factorial(b - m)
            rest = log_factorial(N - a - b + m)
            log_chance = margins - log_factorial(N) - cells - rest
            terms = m / N * np.log2(N * m / (a * b))
            total += repeats * also * float(np.exp(log_chance) @ terms)
    return total
