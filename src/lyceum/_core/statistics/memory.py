"""An error before the work begins, if a statistic would take most of the machine's memory."""

from __future__ import annotations

from lyceum._core.data import machine_memory
from lyceum.errors import DataError

_SHARE = 0.5  # of the machine's memory that matrices of products may take


def check_square_matrices(n_columns: int, n_matrices: int = 1) -> None:
    """Raise if matrices of the products of all columns would take more than half of the machine's
    memory.

    Parameters
    ----------
    n_columns : int
    n_matrices : int, default=1
        How many there are, e.g. one per class.
    """
    # bytes of doubles
    needed = 8 * n_columns**2 * n_matrices
    # of the machine, not what is free at the moment
    machine = machine_memory()
    if needed > _SHARE * machine:
        if n_matrices == 1:
            many = "a matrix"
        else:
            many = f"{n_matrices} matrices"
        raise DataError(
            f"{n_columns:,} columns need {many} of {n_columns:,} × {n_columns:,} products,"
            f" {needed / 1e9:,.0f} GB, more than half of this machine's {machine / 1e9:,.0f} GB:"
            " choose or reduce columns first (lyceum.decomposition), or use a learner without such"
            " a matrix, e.g. NaiveBayes, Lasso or a tree"
        )
