"""Explanations of any learner: its columns, one after the other, from a typical cell to the row's
own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block
from lyceum._core.probability import runner_up


def typical_row(block: Block) -> np.ndarray:
    """The mean of every column of numbers and the commonest category of the others, by weight; no
    text.

    Parameters
    ----------
    block : Block
        Rows in memory. A column without a known cell is NaN.

    Returns
    -------
    array of shape (d,)
        Cells, coded as in the block.
    """
    w = block.weights
    if sparse.issparse(block.X):  # numbers and indicators, zero in most rows
        return np.asarray(w @ block.X / w.sum(), dtype=np.float64)
    X = np.asarray(block.dense, dtype=np.float64)
    total = w.sum()
    out = np.full(X.shape[1], np.nan)
    columns = range(X.shape[1])
    means = w @ X / total if total > 0 else out
    if np.isfinite(means).all():
        # no cell is missing: the numbers are done in one product
        out = means
        columns = block.schema.categorical.tolist()
    for j in columns:
        column = block.schema[j]
        if column.is_free_text:  # a missing text has no words
            out[j] = np.nan
            continue
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
    X: np.ndarray,
    typical: np.ndarray,
    answer: Callable[[np.ndarray], np.ndarray],
    groups: Sequence[Any] | None = None,
    against_runner_up: bool = False,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """What every column adds to an answer, as its typical cell is replaced by the row's own.

    The columns are replaced from the first to the last and from the last to the first; a
    contribution is the mean of both changes (two orders of those over which Shapley's value is the
    mean). With the answer for the typical row they sum to the answer for the row. An infinite
    answer, as a density may have, counts only where it stays to the end, and then for the column
    that brings it; others count as the answer before them.

    Parameters
    ----------
    X : array of shape (n, d)
    typical : array of shape (d,)
    answer : function of an array of shape (n, d)
        Gives numbers, (n,), or scores of classes, (n, K), of which that of the first largest is
        explained.
    groups : sequence of arrays of int, optional
        The places of columns that are replaced together; each column alone by default.
    against_runner_up : bool, default=False
        Of scores of classes, explain the largest less that of the next class.
    classes : array of int of shape (n,), optional
        The place of the class to explain for every row, instead of the first largest.

    Returns
    -------
    array of shape (n, 2 + d), or (n, 2 + groups)
        The prediction (a number, or the place of a class), the base, and the contributions.

    Examples
    --------
    >>> product = lambda X: X[:, 0] * X[:, 1]
    >>> parts_by_replacement(np.array([[2.0, 3.0]]), np.zeros(2), product).tolist()
    [[6.0, 0.0, 3.0, 3.0]]
    """
    n = len(X)
    parts: Sequence[Any] = range(X.shape[1]) if groups is None else groups
    out = np.zeros((n, 2 + len(parts)))
    if not n:
        return out
    last = answer(X)
    predicted = last
    if last.ndim == 2:
        predicted, second = runner_up(last)
    if classes is not None:
        predicted = classes

    def of_class(answers: np.ndarray) -> np.ndarray:
        if answers.ndim == 1:
            return answers
        rows = np.arange(n)
        scores = answers[rows, predicted]
        if against_runner_up:
            scores = scores - answers[rows, second]
        return scores

    score = of_class(last)
    base = of_class(np.repeat(answer(typical[None, :]), n, axis=0))
    out[:, 0] = predicted
    # The columns are replaced from the first to the last, and from the last to the first; each gets
    # the mean of what it changed in both orders, so that the sum is the score less the base.
    forward = np.arange(len(parts))
    for order in (forward, forward[::-1]):
        between = _replace_in_turn(X, typical, parts, order[:-1], answer)
        answers = [base, *map(of_class, between), score]
        steps = _without_passing_infinities(np.column_stack(answers))
        out[:, 1] += steps[:, 0] / 2
        out[:, 2 + order] += _changes(steps) / 2
    return out


def _changes(steps: np.ndarray) -> np.ndarray:
    """From every answer to the next; none after an infinite one."""
    with np.errstate(invalid="ignore"):  # of equal infinities
        changes = np.diff(steps, axis=1)
    changes[np.isinf(steps[:, :-1])] = 0.0
    return changes


def _replace_in_turn(
    X: np.ndarray,
    typical: np.ndarray,
    parts: Sequence[Any],
    order: np.ndarray,
    answer: Callable[[np.ndarray], np.ndarray],
) -> Iterator[np.ndarray]:
    """The answers as part after part of the typical row becomes the row's own."""
    Z = np.repeat(typical[None, :], len(X), axis=0)
    for j in order:
        columns = parts[j]
        Z[:, columns] = X[:, columns]
        yield answer(Z)


def _without_passing_infinities(steps: np.ndarray) -> np.ndarray:
    """The answers of all steps, (n, m); infinite ones that do not stay become those of the step
    before."""
    finite = np.isfinite(steps)
    if finite.all():
        return steps
    # from the last step backward, as long as the answer is the last one
    is_last = steps == steps[:, -1:]
    stays = np.logical_and.accumulate(is_last[:, ::-1], axis=1)[:, ::-1]
    counts = finite | stays | np.isnan(steps)
    # the last step up to each that counts, -1 if there is none: then the first finite answer
    index = np.where(counts, np.arange(steps.shape[1]), -1)
    before = np.maximum.accumulate(index, axis=1)
    filled = np.take_along_axis(steps, np.maximum(before, 0), axis=1)
    first = np.take_along_axis(steps, finite.argmax(axis=1)[:, None], axis=1)
    first = np.where(finite.any(axis=1, keepdims=True), first, 0.0)
    return np.where(before >= 0, filled, first)


def replace_columns(
    block: Block,
    typical: np.ndarray,
    answer: Callable[[Block], np.ndarray],
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """`parts_by_replacement` of the rows of a block, by an answer for blocks.

    Parameters
    ----------
    block : Block
    typical : array of shape (d,)
    answer : function of a block
    classes : array of int of shape (n,), optional
        The place of the class to explain for every row, instead of the first largest.
    """

    def of_cells(X: np.ndarray) -> np.ndarray:
        return answer(block.with_X(X, block.schema))

    cells = np.asarray(block.dense, dtype=np.float64)
    return parts_by_replacement(cells, typical, of_cells, classes=classes)
