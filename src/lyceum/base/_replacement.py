"""Explanations of any learner: its columns, one after the other, from a typical cell to the row's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lyceum.data import Block

__all__ = ["parts_by_replacement", "typical_row"]


def typical_row(block: Block) -> np.ndarray:
    """The mean of every column of numbers and the commonest category of the others, by weight.

    Parameters
    ----------
    block : Block
        Rows in memory. A column without a known cell is NaN.

    Returns
    -------
    array of shape (d,)
        Cells, coded as in the block.
    """
    X, w = np.asarray(block.dense, dtype=np.float64), block.weights
    out = np.full(X.shape[1], np.nan)
    for j, column in enumerate(block.schema):
        cells = X[:, j]
        known = np.isfinite(cells) & (w > 0) & ((cells >= 0) | column.numeric)
        if not known.any():
            continue
        if column.is_categorical:
            values, codes = np.unique(cells[known], return_inverse=True)
            out[j] = values[np.bincount(codes, w[known]).argmax()]
        else:
            out[j] = np.average(cells[known], weights=w[known])
    return out


def parts_by_replacement(
    X: np.ndarray, typical: np.ndarray, answer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """What every column adds to an answer, as its typical cell is replaced by the row's own.

    The columns are replaced from the first to the last and from the last to the first; a contribution is the
    mean of both changes (two orders of those over which Shapley's value is the mean). With the answer for
    the typical row they sum to the answer for the row.

    Parameters
    ----------
    X : array of shape (n, d)
    typical : array of shape (d,)
    answer : function of an array of shape (n, d)
        Gives numbers, (n,), or scores of classes, (n, K), of which that of the first largest is explained.

    Returns
    -------
    array of shape (n, 2 + d)
        The prediction (a number, or the place of a class), the base, and the contributions.

    Examples
    --------
    >>> product = lambda X: X[:, 0] * X[:, 1]
    >>> parts_by_replacement(np.array([[2.0, 3.0]]), np.zeros(2), product).tolist()
    [[6.0, 0.0, 3.0, 3.0]]
    """
    n, d = X.shape
    out = np.zeros((n, 2 + d))
    if not n:
        return out
    last = answer(X)
    predicted = last.argmax(axis=1) if last.ndim == 2 else last

    def of_class(answers: np.ndarray) -> np.ndarray:
        return answers[np.arange(n), predicted] if answers.ndim == 2 else answers

    score, base = of_class(last), of_class(np.repeat(answer(typical[None, :]), n, axis=0))
    out[:, 0], out[:, 1] = predicted, base
    for order in (range(d), range(d)[::-1]):
        Z, before = np.repeat(typical[None, :], n, axis=0), base
        for j in order:
            Z[:, j] = X[:, j]
            after = score if j == order[-1] else of_class(answer(Z))
            out[:, 2 + j] += (after - before) / 2
            before = after
    return out
