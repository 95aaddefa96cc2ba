"""Cells to compare: a dense matrix of floats, without cells that cannot be compared."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import as_float
from lyceum._core.native import native
from lyceum._core.types import Data
from lyceum.errors import DataError, MissingValuesError


def float_matrix(X: Data, caller: str) -> np.ndarray:
    """Rows as a contiguous matrix of float32 or float64.

    Parameters
    ----------
    X : array of shape (n, d)
    caller : str
        The beginning of the refusal, e.g. "distances need".
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(
            f"{caller} a matrix of rows and columns, but there are {X.ndim} dimensions"
        )
    try:
        return np.ascontiguousarray(as_float(X))
    except (TypeError, ValueError):
        others = (c for c in X.flat if not isinstance(c, int | float | np.number))
        other = next(others, X.flat[0])
        raise DataError(
            f"{caller} numbers, but there are other cells, such as {other!r}: code them"
            " first, e.g. by lyceum.prepare.OneHotEncoder()"
        ) from None


def check_finite(
    cells: np.ndarray, caller: str, takes_missing: bool, instead: str
) -> None:
    """Refuse infinities, and missing cells where they are not taken.

    Parameters
    ----------
    cells : array of shape (n, d), contiguous
    caller : str
        What compares the rows, for the message.
    takes_missing : bool
    instead : str
        What takes missing cells.
    """
    if not cells.size:
        return
    index = native.first_nonfinite(cells, bool(takes_missing))
    if index < 0:
        return
    if np.isinf(cells.flat[index]):
        raise MissingValuesError(
            f"{caller} cannot take infinities: replace them by numbers, or leave their rows out"
        )
    raise MissingValuesError(
        f"{caller} cannot take missing cells (NaN): fill them first, e.g. by"
        f" lyceum.prepare.SimpleImputer(), or take {instead}, which compares the known cells"
    )
