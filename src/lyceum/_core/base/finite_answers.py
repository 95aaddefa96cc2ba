"""Answers to finite cells are finite, or a sentence says that there is none.

The check stands in one place, around the methods that answer: whatever overflows within a learner
is found here, if it was not refused before. It reads the answer once; the cells are looked at only
where some number of the answer is infinite or missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import is_dask
from lyceum._core.report import Explanation
from lyceum._core.types import Data, Estimator
from lyceum.errors import DataError

# methods that answer, and what they may hold beside finite numbers
_LOG_OF_ZERO = (-np.inf,)
_LOG_OF_ANY = (-np.inf, np.inf)  # a density is infinite where rows lie on each other
ALLOWED: dict[str, tuple[float, ...]] = {
    "predict": (),
    "predict_proba": (),
    "predict_log_proba": _LOG_OF_ZERO,
    "decision_function": (),
    "transform": (),
    "score_samples": _LOG_OF_ANY,
    "explain": (),
}


def check_answer(learner: Estimator, method: str, answer: Any, X: Data) -> None:
    """Raise DataError if finite cells got an answer that is no number.

    Parameters
    ----------
    learner : learner
        Its `_scores_are_logs` says that `decision_function` gives logarithms, which may be
        infinite.
    method : str
        One of `ALLOWED`.
    answer : array, sparse matrix, frame, table or Explanation
        Anything else is not looked at.
    X : array, frame, Rows
        What was asked.
    """
    values = _numbers(answer)
    # a sum is infinite or NaN if one of its numbers is; it takes no memory
    if values is None or np.isfinite(_sum(values)):
        return
    is_bad = ~np.isfinite(values)
    for value in _allowed(learner, method, answer):
        is_bad &= values != value
    if not is_bad.any() or not _has_finite_cells(learner, X):
        return
    index = tuple(np.argwhere(is_bad)[0])
    raise DataError(
        f"{method} of {type(learner).__name__} overflows, e.g. in row {index[0]}"
        f" ({values[index]} instead of a number): the"
        " cells there, or those of fit, its target or its weights are too large, too small or too"
        " far apart; rescale them, e.g. lyceum.prepare.StandardScaler()"
    )


def _allowed(learner: Estimator, method: str, answer: Any) -> tuple[float, ...]:
    """The infinite numbers that are an answer."""
    scores_are_logs = getattr(learner, "_scores_are_logs", False)
    if method == "decision_function" and scores_are_logs:
        return _LOG_OF_ANY
    # the contributions to an infinite logarithm are infinite
    if isinstance(answer, Explanation) and "log" in answer.unit:
        return _LOG_OF_ANY
    return ALLOWED[method]


@contextmanager
def arithmetic_in_words(learner: Estimator, method: str) -> Iterator[None]:
    """Say in words what linear algebra or arithmetic raises on cells that are too large or too
    small."""
    try:
        yield
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        raise DataError(
            f"{method} of {type(learner).__name__} cannot compute with these numbers ({error}):"
            " cells, target or weights are too large, too small or too far apart; rescale them,"
            " e.g. lyceum.prepare.StandardScaler()"
        ) from error


def _sum(values: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float(np.add.reduce(values, axis=None))


def _numbers(answer: Any) -> np.ndarray | None:
    """The floating-point numbers of an answer, one row each; None if there are none."""
    if isinstance(answer, Explanation):
        answer = answer.contributions
    elif sparse.issparse(answer):
        answer = answer.data
    elif not is_dask(answer):
        answer = _columns_of_numbers(answer)
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and answer.size:
        return answer
    return None


def _columns_of_numbers(answer: Any) -> Any:
    """The columns of floating-point numbers of a frame of pandas or Polars, or of a table of Arrow;
    anything else as it is."""
    if hasattr(answer, "select_dtypes"):
        return answer.select_dtypes("floating").to_numpy(np.float64, na_value=np.nan)
    if hasattr(answer, "iter_columns"):
        columns = [c.to_numpy() for c in answer.iter_columns() if c.dtype.is_float()]
    elif hasattr(answer, "itercolumns"):
        columns = [column.to_numpy() for column in answer.itercolumns()]
        columns = [column for column in columns if column.dtype.kind == "f"]
    else:
        return answer
    return np.column_stack(columns) if columns else None


def _has_finite_cells(learner: Any, X: Data) -> bool:
    """Whether every cell is a finite number or a category; False where that cannot be said."""
    read_once = X is None or is_dask(X) or hasattr(X, "read_next_batch")
    if read_once or not hasattr(learner, "rows_to_predict"):
        return False
    blocks = learner.rows_to_predict(X, checked=False).blocks()
    return all(np.isfinite(_cells(block.X)).all() for block in blocks)


def _cells(X: Any) -> np.ndarray:
    cells: np.ndarray = X.data if sparse.issparse(X) else X
    return cells
