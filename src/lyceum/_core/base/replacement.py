"""Explanations of any learner: its columns, one after the other, from the cell of another row to
the row's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block
from lyceum._core.probability import runner_up

_MOST_BACKGROUND = 32  # rows that an explanation starts from
_FEWEST_BACKGROUND = 4
_BACKGROUND_CELLS = 1_000  # of wide tables, for which an explanation has many steps
_WITHIN = np.sqrt(2.0) - 1.0  # where the row of a part is taken
_FEW_PARTS = 3  # of which all orders are tried
_ROWS_AT_ONCE = 100_000  # that an answer is asked for


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


def background_rows(block: Block) -> np.ndarray:
    """Rows that stand for all rows, where explanations by replacement start; texts are missing.

    The rows are sorted along one direction and taken at equal steps of weight, so that they do not
    depend on the order of the rows, nor on whether a row is repeated or has twice the weight.

    Parameters
    ----------
    block : Block
        Rows in memory.

    Returns
    -------
    array of shape (m, d)
        Cells, coded as in the block: 32 rows, and fewer, but at least 4, of more than 31 columns.
    """
    block = block.without_zero_weights()
    w = block.weights
    X = block.X
    if not sparse.issparse(X):
        X = np.asarray(block.dense, dtype=np.float64)
    d = X.shape[1]
    if not len(w):
        return np.full((1, d), np.nan)
    order = np.argsort(_along_a_line(X), kind="stable")
    m = max(_FEWEST_BACKGROUND, min(_MOST_BACKGROUND, _BACKGROUND_CELLS // max(d, 1)))
    # a row of each of m parts of equal weight, at a share that no sum of weights hits: the row
    # would go by rounding there
    ends = np.cumsum(w[order])
    steps = (np.arange(m) + _WITHIN) / m * ends[-1]
    rows = X[order[np.searchsorted(ends, steps)]]
    rows = np.array(rows.todense() if sparse.issparse(rows) else rows, np.float64)
    rows[:, [column.is_free_text for column in block.schema]] = np.nan
    return rows


def _along_a_line(X: Any) -> np.ndarray:
    """Where the rows lie along one random direction, columns on a common scale, (n,)."""
    if sparse.issparse(X):
        scale = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    else:
        X = np.nan_to_num(X, posinf=0.0, neginf=0.0)
        scale = np.abs(X).max(axis=0, initial=0.0)
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    return X @ (direction / np.where(scale > 0.0, scale, 1.0))


def parts_by_replacement(
    X: np.ndarray,
    background: np.ndarray,
    answer: Callable[[np.ndarray], np.ndarray],
    groups: Sequence[Any] | np.ndarray | None = None,
    against_runner_up: bool = False,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """What every column adds to an answer, as the cells of another row are replaced by the row's
    own.

    A contribution is the mean of the changes over all rows of the background, the base the mean of
    their answers: with the base contributions sum to the answer for the row. Of many rows, each has
    its own random order of columns, and the reverse of it: Shapley's values, sampled (Štrumbelj and
    Kononenko 2014). Of up to three columns all orders are taken, and the values are exact. One
    typical row is replaced from the first column to the last and from the last to the first.

    An infinite answer, as a density may have, counts only where it stays to the end, and then for
    the column that brings it; others count as the answer before them.

    Parameters
    ----------
    X : array of shape (n, d)
    background : array of shape (m, d) or (d,)
        Rows to start from (see `background_rows`), or one typical row (`typical_row`).
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
    >>> parts_by_replacement(np.array([[2.0, 3.0]]), np.diag([1.0, 3.0]), product).tolist()
    [[6.0, 0.0, 3.75, 2.25]]
    """
    n = len(X)
    parts: Any = range(X.shape[1]) if groups is None else groups
    out = np.zeros((n, 2 + len(parts)))
    if not n:
        return out
    rows = np.atleast_2d(background)
    m = len(rows)
    last = answer(X)
    scores = _Scores.of(last, against_runner_up, classes)
    out[:, 0] = scores.predicted
    score = scores(last, np.arange(n))
    first = answer(rows)
    orders = _orders(m, len(parts))
    size = max(1, _ROWS_AT_ONCE // m)
    for start in range(0, n, size):
        # every row from all rows of the background
        chunk = np.arange(start, min(start + size, n))
        pairs = np.repeat(chunk, m)
        base = scores(np.concatenate([first] * len(chunk)), pairs)
        for order in orders:
            between = _replace_in_turn(X[chunk], rows, parts, order, answer)
            answers = [base, *(scores(of, pairs) for of in between), score[pairs]]
            means = _mean_changes(np.column_stack(answers), order)
            out[chunk, 1:] += means / len(orders)
    return out


def _mean_changes(answers: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The mean first answer, and the mean change by every part, (n, 1 + parts), from the answers of
    all steps, in which the parts come in these orders, (m, parts)."""
    m, n_parts = order.shape
    steps = _without_passing_infinities(answers).reshape(-1, m, n_parts + 1)
    changes = np.empty((len(steps), m, n_parts))
    changes[:, np.arange(m)[:, None], order] = _changes(steps)
    return np.column_stack([steps[:, :, 0].mean(axis=1), changes.mean(axis=1)])


@dataclass(frozen=True, slots=True)
class _Scores:
    """What is explained of answers: numbers, or the scores of one class of every row."""

    predicted: np.ndarray  # numbers, or indices of classes
    second: np.ndarray | None = None  # the class whose score is subtracted

    @classmethod
    def of(
        cls, answers: np.ndarray, against_runner_up: bool, classes: np.ndarray | None
    ) -> _Scores:
        if answers.ndim == 1:
            return cls(answers)
        largest, second = runner_up(answers)
        predicted = largest if classes is None else classes
        return cls(predicted, second if against_runner_up else None)

    def __call__(self, answers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The explained number of every answer, each for one of the rows."""
        if answers.ndim == 1:
            return answers
        index = np.arange(len(answers))
        scores = answers[index, self.predicted[rows]]
        if self.second is not None:
            scores = scores - answers[index, self.second[rows]]
        return scores


def _orders(m: int, n_parts: int) -> list[np.ndarray]:
    """Orders of the parts for every row of a background, (m, n_parts) each."""
    forward = np.tile(np.arange(n_parts), (m, 1))
    if m > 1 and n_parts <= _FEW_PARTS:
        return [np.tile(order, (m, 1)) for order in permutations(range(n_parts))]
    if m > 1:
        forward = np.random.default_rng(0).permuted(forward, axis=1)
    return [forward, forward[:, ::-1]]


def _changes(steps: np.ndarray) -> np.ndarray:
    """From every answer to the next; none after an infinite one."""
    with np.errstate(invalid="ignore"):  # of equal infinities
        changes = np.diff(steps, axis=-1)
    changes[np.isinf(steps[..., :-1])] = 0.0
    return changes


def _replace_in_turn(
    X: np.ndarray,
    background: np.ndarray,
    parts: Sequence[Any],
    order: np.ndarray,
    answer: Callable[[np.ndarray], np.ndarray],
) -> Iterator[np.ndarray]:
    """The answers as part after part of every row of the background becomes the row's own; rows of
    X one after the other, each from all rows of the background."""
    Z = np.repeat(background[None, :, :], len(X), axis=0)
    for step in order.T[:-1]:
        for b, j in enumerate(step):
            columns = parts[j]
            Z[:, b, columns] = X[:, columns]
        yield answer(Z.reshape(-1, Z.shape[-1]).copy())


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
    background: np.ndarray,
    answer: Callable[[Block], np.ndarray],
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """`parts_by_replacement` of the rows of a block, by an answer for blocks.

    Parameters
    ----------
    block : Block
    background : array of shape (m, d) or (d,)
    answer : function of a block
    classes : array of int of shape (n,), optional
        The place of the class to explain for every row, instead of the first largest.
    """

    def of_cells(X: np.ndarray) -> np.ndarray:
        return answer(block.with_X(X, block.schema))

    cells = np.asarray(block.dense, dtype=np.float64)
    return parts_by_replacement(cells, background, of_cells, classes=classes)
