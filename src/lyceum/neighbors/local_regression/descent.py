"""One local fit in detail: its rows, its polynomial, and gradient descent step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.solvers import ranked_squares
from lyceum.neighbors.local_regression.fits import LocalModel


def polynomial_at(
    model: LocalModel, Q: np.ndarray, query: np.ndarray, scale: np.ndarray
) -> dict[str, Any]:
    """The rows about one query, their weights and, for one column, the polynomial through them.

    Q is the query in scaled units, `query` in those of the rows.
    """
    _, rows, kernel, count = model.lists(Q)
    if count is None:
        w = kernel
    else:
        w = kernel * count
    fit: dict[str, Any] = {"rows": rows, "weights": w}
    if model.X.shape[1] == 1:
        X = model.X[rows]
        y = model.y[rows]
        mean = np.average(X, axis=0, weights=w)
        y_mean = np.average(y, weights=w)
        # weighted least squares: rows times √w, about the weighted means
        root = np.sqrt(w / w.max())
        T = terms_of(X - mean, model.degree)
        c = ranked_squares(T * root[:, None], (y - y_mean) * root).coef

        def polynomial(at: Any) -> np.ndarray:
            U = (np.asarray(at, np.float64)[:, None] - query) / scale + Q - mean
            return y_mean + terms_of(U, model.degree) @ c

        fit["polynomial"] = polynomial
    return fit


def descend_at(
    model: LocalModel, Q: np.ndarray, rate: float, max_steps: int, tol: float
) -> list[dict[str, Any]]:
    """Gradient descent on the weighted squared error at one query, (1, d), step by step."""
    _, rows, w, count = model.lists(Q)
    if count is not None:
        w = w * count
    X = model.X[rows]
    y = model.y[rows]
    mean = np.average(X, axis=0, weights=w)
    y_mean = np.average(y, weights=w)
    # terms T of the rows and t of the query, in units in which every term has the sum of squares 1
    T = terms_of(X - mean, model.degree)
    unit = _term_units(T, w)
    T *= unit
    t = terms_of(Q - mean, model.degree)[0] * unit
    c = np.zeros(T.shape[1])
    out = []
    for step in range(max_steps + 1):
        residual = y - y_mean - T @ c
        objective = float(w @ residual**2)
        value = float(y_mean + t @ c)
        out.append(
            {
                "step": step,
                "objective": objective,
                "coefficients": c * unit,
                "value": value,
            }
        )
        change = rate / len(c) * ((w * residual) @ T)
        c = c + change
        if np.abs(change).max() <= tol * max(np.abs(c).max(), 1e-300):
            break
    return out


def _term_units(T: np.ndarray, w: np.ndarray) -> np.ndarray:
    squares = w @ T**2
    return 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))


def terms_of(U: np.ndarray, degree: int) -> np.ndarray:
    """1, the columns, and their products."""
    columns = [np.ones((len(U), 1))]
    if degree > 0:
        columns.append(U)
    if degree > 1:
        i, j = np.triu_indices(U.shape[1])
        columns.append(U[:, i] * U[:, j])
    return np.hstack(columns)
