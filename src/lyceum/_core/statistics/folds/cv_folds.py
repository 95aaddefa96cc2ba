"""The parameter `cv` of every learner: folds by a number, a splitter, or a list or generator of
splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.data import Block, Rows, Schema
from lyceum._core.statistics.folds.hashed_folds import FoldStatistics, fold_numbers
from lyceum._core.text import show_count
from lyceum._core.types import Target
from lyceum.errors import LyceumError, SettingError, undefined

Of = Callable[[Block], Any]
Reduce = Callable[[Rows, Of], Any]


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """The statistic of all rows, and those of the training and test rows of every split.

    Attributes
    ----------
    total : statistic
        Of all rows.
    pairs : list of (statistic, statistic)
        The statistics of the training and of the test rows of every split.

    See Also
    --------
    folds_of : Folds, whose `statistics` makes it.
    FoldStatistics : One statistic per fold.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import Moments
    >>> from lyceum._core.statistics import folds_of
    >>> rows = scan(np.array([[1.0], [2.0], [3.0], [6.0]]))
    >>> folds = folds_of([([0, 1], [2, 3]), ([2, 3], [0, 1])], rows, seed=0)
    >>> found = folds.statistics(rows, Moments.of)
    >>> found.total.mean.tolist()
    [3.0]
    >>> [(train.mean.tolist(), test.mean.tolist()) for train, test in found.pairs]
    [([1.5], [4.5]), ([4.5], [1.5])]
    """

    total: Any
    pairs: list[tuple[Any, Any]]


class _NumberedFolds:
    """Folds that follow from the numbers of the rows, so that no list of rows is kept."""

    __slots__ = ()
    n_splits: int

    def numbers(self, block: Block) -> np.ndarray:
        """The fold of every row of the block."""
        raise undefined(self, "numbers")

    def statistics(
        self, rows: Rows, of: Of, reduce: Reduce = Rows.reduce
    ) -> SplitStatistics:
        """The statistics of all folds in one pass."""
        by_fold = reduce(rows, partial(_of_folds, statistic=of, folds=self))
        pairs = [
            (by_fold.without(number), fold) for number, fold in enumerate(by_fold.folds)
        ]
        return SplitStatistics(by_fold.total, pairs)

    def test_rows(self, block: Block) -> Iterator[np.ndarray]:
        """Which rows of the block are tested on, in every fold."""
        fold = self.numbers(block)
        return (fold == f for f in range(self.n_splits))

    def parts(self, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Training and test rows of every fold."""
        for f in range(self.n_splits):
            step = _InFold(self, f, True)
            yield rows.then(replace(step, inside=False)), rows.then(step)


@dataclass(frozen=True, slots=True)
class HashedFolds(_NumberedFolds):
    """Folds by a hash of the row numbers: the same from any source."""

    n_splits: int
    seed: int

    def numbers(self, block: Block) -> np.ndarray:
        return fold_numbers(block, self.n_splits, self.seed)


@dataclass(frozen=True, slots=True)
class ConsecutiveFolds(_NumberedFolds):
    """Folds of consecutive rows, as scikit-learn's `KFold` makes them: sizes differ by one row."""

    n_splits: int
    n_rows: int

    def numbers(self, block: Block) -> np.ndarray:
        size, n_larger = divmod(self.n_rows, self.n_splits)
        sizes = np.full(self.n_splits, size)
        sizes[:n_larger] += 1
        rows = np.arange(block.start, block.start + len(block))
        return np.searchsorted(np.cumsum(sizes), rows, side="right")


def _of_folds(block: Block, statistic: Of, folds: _NumberedFolds) -> FoldStatistics:
    numbers = folds.numbers(block)
    return FoldStatistics.of_numbers(block, statistic, folds.n_splits, numbers)


@dataclass(frozen=True, slots=True)
class GivenSplits:
    """Training and test rows of every split, as a splitter or a list of splits gave them."""

    train: np.ndarray  # (k, n) of bool
    test: np.ndarray

    @classmethod
    def of(
        cls,
        cv: Any,
        rows: Rows,
        classifier: bool,
    ) -> GivenSplits:
        y = rows.y
        n = len(rows if y is None else y)
        pairs = given_splits(cv, n, y, classifier=classifier)
        is_train = np.zeros((len(pairs), n), dtype=bool)
        is_test = np.zeros((len(pairs), n), dtype=bool)
        for k, (train, test) in enumerate(pairs):
            is_train[k, train] = True
            is_test[k, test] = True
        return cls(is_train, is_test)

    @property
    def n_splits(self) -> int:
        return len(self.train)

    def statistics(
        self, rows: Rows, of: Of, reduce: Reduce = Rows.reduce
    ) -> SplitStatistics:
        """The statistics of the training and the test rows of every split, in one pass."""
        of_sides = partial(_SidesOfSplits.of, statistic=of, splits=self)
        every, *parts = reduce(rows, of_sides).parts
        k = self.n_splits
        return SplitStatistics(every, list(zip(parts[:k], parts[k:])))

    def test_rows(self, block: Block) -> Iterator[np.ndarray]:
        """Which rows of the block are tested on, in every split."""
        return iter(self.test[:, block.start : block.start + len(block)])

    def parts(self, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Training and test rows of every split."""
        for train, test in zip(self.train, self.test):
            yield rows.then(_Chosen(train)), rows.then(_Chosen(test))


def given_splits(
    cv: Any,
    n: int,
    y: Target = None,
    groups: ArrayLike | None = None,
    *,
    X: Any = None,
    classifier: bool = False,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The numbers of the training and of the test rows of every split that a splitter or a list
    gives.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        As scikit-learn's `check_cv` takes it; train and test are row numbers or masks.
    n : int
        The number of rows.
    y, groups : array of shape (n,), optional
        The targets, and the groups that a splitter keeps together.
    X : array or frame of n rows, optional
        What a splitter is shown; by default a column of zeros.
    classifier : bool, default=False
        Whether a number, or None, means stratified folds.

    Returns
    -------
    list of (train, test)
        Two arrays of row numbers per split.

    See Also
    --------
    folds_of : Folds for statistics, by a hash of the row numbers where `cv` is a number.

    Raises
    ------
    SettingError
        Where `cv` gives something else, no split at all, or cannot split these rows.

    Examples
    --------
    >>> given_splits([([0, 1], [2]), ([True, False, False], [1, 2])], 3)
    [(array([0, 1]), array([2])), (array([0]), array([1, 2]))]
    """
    # statistics alone do not need scikit-learn
    from sklearn.model_selection import check_cv

    # splitters only count the rows of the table, which may be in a file
    if X is None:
        table = np.zeros((n, 1))
    else:
        table = X
    try:
        pairs = list(check_cv(cv, y, classifier=classifier).split(table, y, groups))
        splits = [
            (_row_numbers(train, n), _row_numbers(test, n)) for train, test in pairs
        ]
    except LyceumError:
        raise
    except (TypeError, ValueError) as error:
        raise SettingError(
            "cv must be a number of folds, a splitter or a list of (training rows, test rows), and"
            f" fit {show_count(n, 'row')}: {error}"
        ) from error
    if not splits:
        raise SettingError(
            "cv has no splits: a generator is empty after its first use, give a list"
        )
    return splits


def row_splits(
    cv: Any,
    n: int,
    seed: int,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of n rows without a target; a number of folds is drawn by the seed.

    >>> [len(test) for _, test in row_splits(3, 10, seed=0)]
    [4, 3, 3]
    """
    # statistics alone do not need scikit-learn
    from sklearn.model_selection import KFold

    if isinstance(cv, int | np.integer):
        cv = KFold(min(int(cv), n), shuffle=True, random_state=seed % 2**31)
    return given_splits(cv, n)


def _row_numbers(rows: Any, n: int) -> np.ndarray:
    numbers = np.asarray(rows)
    if numbers.ndim == 1 and numbers.dtype.kind == "b" and len(numbers) == n:
        return np.flatnonzero(numbers)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise SettingError(
            "cv must give the numbers of rows, or one true/false per row"
        )
    numbers = numbers.astype(np.intp, copy=False)
    if numbers.size and not -n <= numbers.min() <= numbers.max() < n:
        if numbers.max() >= n:
            row = numbers.max()
        else:
            row = numbers.min()
        raise SettingError(
            f"cv names row {row}, which does not exist: there are {show_count(n, 'row')}"
        )
    return numbers


Folds = HashedFolds | ConsecutiveFolds | GivenSplits


def folds_of(
    cv: Any,
    rows: Rows,
    seed: int,
    classifier: bool = False,
) -> Folds:
    """The folds that a parameter `cv` asks for.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        A number: folds by a hash of the row numbers and the seed. Splitters and lists need the
        number of rows, and None is scikit-learn's default of five folds.
    rows : Rows
        The rows to be divided.
    seed : int
        Of the hash.
    classifier : bool, default=False
        Whether None means stratified folds.

    Returns
    -------
    HashedFolds or GivenSplits
    """
    if isinstance(cv, Integral):
        return HashedFolds(int(cv), seed)
    return given_folds(cv, rows, classifier)


def given_folds(cv: Any, rows: Rows, classifier: bool = False) -> Folds:
    """The folds as scikit-learn takes `cv`: a number is of consecutive rows, the same in every
    fit."""
    if isinstance(cv, Integral) and not classifier and 2 <= int(cv) <= len(rows):
        return ConsecutiveFolds(int(cv), len(rows))
    return GivenSplits.of(cv, rows, classifier)


@dataclass(frozen=True, slots=True)
class _SidesOfSplits:
    """One pass: the statistic of all rows, of the training rows of every split, and of its test
    rows."""

    parts: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        block: Block,
        statistic: Of,
        splits: GivenSplits,
    ) -> _SidesOfSplits:
        in_block = slice(block.start, block.start + len(block))
        sides = [*splits.train[:, in_block], *splits.test[:, in_block]]
        parts = [statistic(block.take(rows)) for rows in sides]
        return cls((statistic(block), *parts))

    def merge(self, other: _SidesOfSplits) -> _SidesOfSplits:
        pairs = zip(self.parts, other.parts)
        return _SidesOfSplits(tuple(first.merge(second) for first, second in pairs))

    @property
    def is_finite(self) -> bool:
        return getattr(self.parts[0], "is_finite", True)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A step that keeps some rows of a source, by their numbers."""

    rows: np.ndarray  # (n,) of bool
    drops_rows = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        return block.take(self.rows[block.start : block.start + len(block)])


@dataclass(frozen=True, slots=True)
class _InFold:
    """A step that keeps the rows of one fold, or all others."""

    folds: _NumberedFolds
    fold: int
    inside: bool
    drops_rows = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        is_inside = self.folds.numbers(block) == self.fold
        return block.take(is_inside == self.inside)
