"""Whether there are enough rows for the requested number of clusters."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from lyceum.errors import DataError


def check_enough_rows(n_rows: int, n_clusters: int) -> None:
    """Refuse fewer rows than clusters."""
    if n_rows < n_clusters:
        raise DataError(f"n_samples={n_rows} should be >= n_clusters={n_clusters}")


def warn_if_fewer(n_distinct: int, n_clusters: int) -> None:
    """Warn that equal rows make fewer clusters than requested; called by `fit`."""
    if n_distinct < n_clusters:
        # scikit-learn's category, which its users filter by
        warnings.warn(
            f"Number of distinct clusters ({n_distinct}) found smaller than n_clusters"
            f" ({n_clusters}). Possibly due to duplicate points in X: choose fewer clusters",
            ConvergenceWarning,
            stacklevel=3,
        )
