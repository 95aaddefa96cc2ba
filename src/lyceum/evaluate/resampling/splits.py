"""Ways to divide rows into training and test rows, as scikit-learn splitters; the two never
overlap.

scikit-learn's own splitters work wherever these do. These add what it lacks: scanned rows,
stratification that takes classes of any size (a class with one row stays in training), bootstrap
with the rows not drawn as test rows, and 5×2. Their seed is 0 unless one is given: a splitter
that is drawn twice gives the same splits, as paired tests need them; None draws anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from lyceum._core.base import target_of
from lyceum._core.data import Rows
from lyceum._core.text import show_count
from lyceum._core.types import Data, Seed, Target
from lyceum.errors import DataError, SettingError, undefined
from lyceum.evaluate.label_codes import code_labels

Split = tuple[np.ndarray, np.ndarray]


def size_and_target(X: Any, y: Any) -> tuple[int, Any]:
    """The number of rows and their target, that of scanned rows if none is given."""
    if not isinstance(X, Rows):
        if hasattr(X, "shape"):
            n_rows = int(X.shape[0])
        else:
            n_rows = len(X)
        return n_rows, y
    if y is None and X.schema.target is not None:
        y = target_of(X)
    return len(X if y is None else y), y


def strata(
    y: Any,
    stratify: bool | None,
    n_rows: int,
) -> np.ndarray:
    """Class codes when rows are to be stratified, else one stratum. None: when y holds classes."""
    if stratify is None:
        stratify = y is not None and type_of_target(y) in ("binary", "multiclass")
    if not stratify:
        return np.zeros(n_rows, dtype=np.int32)
    if y is None:
        raise SettingError("stratify=True needs y")
    # rows without a label, -1, become stratum 0
    return code_labels(y)[1] + np.int32(1)


def _class_order(codes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Row numbers in order of class, shuffled within each."""
    # a stable sort keeps the random order within a class
    shuffled = rng.permutation(len(codes))
    return shuffled[np.argsort(codes[shuffled], kind="stable")]


def _test_count(test_size: float, n_rows: int) -> int:
    """The number of test rows from a share or a number: at least one, with at least one left to
    train."""
    if n_rows < 2:
        raise DataError(
            f"{show_count(n_rows, 'row')} cannot be divided into training and test rows"
        )
    is_count = isinstance(test_size, int | np.integer)
    if not 0.0 < test_size < (n_rows if is_count else 1.0):
        raise SettingError(
            f"test_size={test_size}: give a share between 0 and 1, or a number of rows below"
            f" {n_rows}"
        )
    if is_count:
        n_test = test_size
    else:
        n_test = round(test_size * n_rows)
    return int(np.clip(n_test, 1, n_rows - 1))


def _draw(
    codes: np.ndarray,
    n_test: int,
    rng: np.random.RandomState,
) -> Split:
    """Training and test rows, each class divided in proportion (largest remainders)."""
    order = _class_order(codes, rng)
    sizes = np.bincount(codes)
    # every class gives the whole part of its share, but keeps one row to train on
    wanted = sizes * (n_test / len(codes))
    whole = np.floor(wanted + 1e-9).astype(np.int64)
    taken = np.minimum(whole, np.maximum(sizes - 1, 0))
    # The rows still missing come one each from the classes of largest remainder, equal ones in
    # random order; a class gives its last row only when all classes are down to their last.
    remainders = wanted - taken
    first = np.lexsort((rng.permutation(len(sizes)), -remainders))
    while (short := n_test - int(taken.sum())) > 0:
        room = [k for k in first if taken[k] < sizes[k] - 1]
        if not room:
            room = [k for k in first if taken[k] < sizes[k]]
        taken[room[:short]] += 1
    # of the shuffled rows of class k, the first taken[k] are test rows
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(len(codes)) - np.repeat(starts, sizes)
    is_test = rank < np.repeat(taken, sizes)
    return np.sort(order[~is_test]), np.sort(order[is_test])


class _Splitter:
    """The interface of scikit-learn's splitters."""

    n_splits: int

    def get_n_splits(
        self,
        X: Data = None,
        y: Target = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """The number of splits."""
        return self.n_splits

    def split(
        self,
        X: Data,
        y: Target = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[Split]:
        """The row numbers of training and test rows of every split, in ascending order.

        Parameters
        ----------
        X : array-like, frame or scanned rows
            Only its number of rows matters.
        y : array-like of shape (n,), optional
            The target; that of scanned rows by default.
        groups : ignored
        """
        n, y = size_and_target(X, y)
        yield from self._splits(n, y)

    def _splits(self, n: int, y: Target) -> Iterator[Split]:
        raise undefined(self, "_splits")

    def __repr__(self) -> str:
        # as scikit-learn prints its splitters: the arguments of the constructor
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class RandomSubsampling(_Splitter):
    """Independent random divisions into training and test rows.

    Parameters
    ----------
    n_splits : int, default=10
        The number of divisions.
    test_size : float or int, default=0.25
        Share or number of test rows.
    stratify : bool, optional
        Keep the class shares; by default whenever y holds classes.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    See Also
    --------
    Holdout : One division.
    StratifiedFolds : Every row is tested once.

    Examples
    --------
    >>> scheme = RandomSubsampling(3, test_size=0.2, random_state=0)
    >>> [len(test) for _, test in scheme.split(range(10))]
    [2, 2, 2]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.25,
        stratify: bool | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.n_splits = n_splits
        self.test_size = test_size
        self.stratify = stratify
        self.random_state = random_state

    def _splits(self, n: int, y: Target) -> Iterator[Split]:
        rng = check_random_state(self.random_state)
        n_test = _test_count(self.test_size, n)
        codes = strata(y, self.stratify, n)
        for _ in range(self.n_splits):
            yield _draw(codes, n_test, rng)


class Holdout(RandomSubsampling):
    """One random division into training and test rows.

    Parameters
    ----------
    test_size : float or int, default=0.25
        Share or number of test rows.
    stratify : bool, optional
        Keep the class shares; by default whenever y holds classes.
    random_state : int, RandomState or None, default=0
        Seed of the draw.

    See Also
    --------
    holdout_size : How many test rows are needed.
    train_validation_test : Three parts.

    Examples
    --------
    >>> y = np.array(["a"] * 8 + ["b"] * 4)
    >>> [(train, test)] = Holdout(test_size=0.25, random_state=0).split(y, y)
    >>> y[test]
    array(['a', 'a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        test_size: float = 0.25,
        stratify: bool | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        super().__init__(
            1, test_size=test_size, stratify=stratify, random_state=random_state
        )


class StratifiedFolds(_Splitter):
    """k folds with the class shares of all rows; sizes differ by at most one, also in every class.

    Rows are dealt to the folds class by class, so a class with fewer rows than folds is in as many
    folds as it has rows. Without classes in y this is plain k-fold.

    Parameters
    ----------
    n_splits : int, default=10
        The number of folds.
    n_repeats : int, default=1
        How often the rows are divided into folds anew.
    stratify : bool, optional
        Keep the class shares; by default whenever y holds classes.
    random_state : int, RandomState or None, default=0
        Seed of the shuffles.

    See Also
    --------
    cross_validate : The errors of an estimator on such folds.

    Examples
    --------
    >>> y = np.array(["a"] * 6 + ["b"] * 3)
    >>> ["".join(y[test]) for _, test in StratifiedFolds(3, random_state=0).split(y, y)]
    ['aab', 'aab', 'aab']
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        n_repeats: int = 1,
        stratify: bool | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.stratify = stratify
        self.random_state = random_state

    def get_n_splits(
        self,
        X: Data = None,
        y: Target = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """The number of splits: folds times repeats."""
        return self.n_splits * self.n_repeats

    def _splits(self, n: int, y: Target) -> Iterator[Split]:
        if not 2 <= self.n_splits <= n:
            raise DataError(
                f"{self.n_splits} folds of {show_count(n, 'row')}: give between 2 and as many folds"
                " as rows"
            )
        rng = check_random_state(self.random_state)
        codes = strata(y, self.stratify, n)
        for _ in range(self.n_repeats):
            # folds are dealt in turn along the rows in order of class, without a new start at a
            # new class: fold sizes differ by at most one, in every class and over all rows
            turns = rng.permutation(self.n_splits)
            order = _class_order(codes, rng)
            fold = np.empty(n, dtype=np.int64)
            fold[order] = turns[np.arange(n) % self.n_splits]
            for k in range(self.n_splits):
                yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


class FiveByTwo(StratifiedFolds):
    """Five random halvings, in which each half is the test set once: the splits of the 5×2 tests.

    Parameters
    ----------
    stratify : bool, optional
        Keep the class shares; by default whenever y holds classes.
    random_state : int, RandomState or None, default=0
        Seed of the shuffles.

    See Also
    --------
    five_by_two : The tests.

    References
    ----------
    Dietterich, Approximate statistical tests for comparing supervised classification learning
    algorithms, Neural Computation 10, 1998.

    Examples
    --------
    >>> FiveByTwo(random_state=0).get_n_splits()
    10
    """

    def __init__(
        self,
        *,
        stratify: bool | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        super().__init__(2, n_repeats=5, stratify=stratify, random_state=random_state)


class Bootstrap(_Splitter):
    """N rows drawn with replacement for training, the rows never drawn (36.8 % of them on average)
    for test.

    A draw that leaves no row out, or that holds one class where y has several, is drawn again.
    Training rows are in ascending order, repeats side by side.

    Parameters
    ----------
    n_splits : int, default=200
        The number of draws.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    See Also
    --------
    bootstrap_632 : The error from such draws.

    Examples
    --------
    >>> [(train, test)] = Bootstrap(1, random_state=0).split(range(6))
    >>> train, test
    (array([0, 3, 3, 3, 4, 5]), array([1, 2]))
    """

    def __init__(
        self,
        n_splits: int = 200,
        *,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.n_splits = n_splits
        self.random_state = random_state

    def _splits(self, n: int, y: Target) -> Iterator[Split]:
        if n < 2:
            raise DataError(
                f"{show_count(n, 'row')} cannot be resampled with some left out"
            )
        codes = strata(y, None, n)
        rng = check_random_state(self.random_state)
        # with two rows one is left out: the sample can have one class only
        several = codes.min() < codes.max()
        for _ in range(self.n_splits):
            yield self._draw(codes, rng, several and n > 2)

    @staticmethod
    def _draw(
        codes: np.ndarray,
        rng: np.random.RandomState,
        several: bool,
    ) -> Split:
        """A sample and the rows it left out; drawn again where none is left out, or where the
        sample has one of several classes."""
        rows = np.arange(len(codes))
        while True:
            train = rng.randint(len(codes), size=len(codes))
            counts = np.bincount(train, minlength=len(codes))
            if not counts.all() and (not several or np.ptp(codes[train]) > 0):
                return np.repeat(rows, counts), np.flatnonzero(counts == 0)


def train_validation_test(
    y: Any,
    *,
    shares: tuple[float, float, float] = (0.6, 0.2, 0.2),
    stratify: bool | None = None,
    random_state: Seed = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers for training, validation and test.

    Parameters
    ----------
    y : array-like of shape (n,), scanned rows or int
        The target, rows that carry it, or the number of rows.
    shares : three floats that sum to 1, default=(0.6, 0.2, 0.2)
        Shares of the three parts.
    stratify : bool, optional
        Keep the class shares; by default whenever y holds classes.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    train, validation, test : ndarray of int
        In ascending order.

    See Also
    --------
    Holdout : Two parts.

    Examples
    --------
    >>> [len(part) for part in train_validation_test(100, random_state=0)]
    [60, 20, 20]
    """
    sums_to_one = abs(sum(shares) - 1.0) <= 1e-9
    if len(shares) != 3 or not min(shares) > 0.0 or not sums_to_one:
        raise SettingError(f"shares={shares}: give three shares above 0 that sum to 1")
    if isinstance(y, int | np.integer):
        n = int(y)
        target = None
    elif isinstance(y, Rows):
        n, target = size_and_target(y, None)
    else:
        n = len(y)
        target = np.asarray(y)
    if n < 3:
        raise DataError(f"{show_count(n, 'row')} cannot be divided into three parts")
    rng = check_random_state(random_state)
    codes = strata(target, stratify, n)
    n_test = int(np.clip(round(n * shares[2]), 1, n - 2))
    rest, test = _draw(codes, n_test, rng)
    n_validation = round(n * shares[1])
    n_validation = int(np.clip(n_validation, 1, len(rest) - 1))
    train, validation = _draw(codes[rest], n_validation, rng)
    return rest[train], rest[validation], test
