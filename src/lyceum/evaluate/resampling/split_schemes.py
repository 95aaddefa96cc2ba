"""Splitters by name, scikit-learn's own among them, for scanned rows too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lyceum._core.statistics import given_splits
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.resampling.splits import (
    Bootstrap,
    FiveByTwo,
    Holdout,
    RandomSubsampling,
    Split,
    StratifiedFolds,
)

_OURS: dict[str, Any] = {
    "bootstrap": Bootstrap,
    "five_by_two": FiveByTwo,
    "holdout": Holdout,
    "stratified": StratifiedFolds,
    "subsampling": RandomSubsampling,
}


def splitter(scheme: str, **settings: Any) -> Any:
    """A splitter by name.

    Parameters
    ----------
    scheme : str
        "holdout", "subsampling", "k_fold", "stratified", "grouped" (no group is in both training
        and test rows), "leave_one_out", "bootstrap" or "five_by_two".
    **settings
        The parameters of the scheme, e.g. `n_splits`, `test_size`, `n_repeats` and `random_state`.

    Returns
    -------
    splitter
        With scikit-learn's interface; it divides scanned rows too.

    See Also
    --------
    cross_validate : Takes a splitter as `cv`.

    Examples
    --------
    >>> splitter("stratified", n_splits=5, random_state=0).get_n_splits()
    5
    """
    from lyceum.evaluate.resampling.row_splitters import (
        SPLITTERS,  # sklearn.model_selection takes long to import
    )

    return named_choice("scheme", scheme, {**_OURS, **SPLITTERS})(**settings)


def row_splits(cv: Any, n: int, seed: int) -> Iterator[Split]:
    """Training and test rows of n rows without a target.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
        A number of folds, at most n of which are drawn by the seed; or as in scikit-learn.
    n : int
        The number of rows.
    seed : int
        Shuffles the rows when `cv` is a number.

    Returns
    -------
    iterator of (train, test)
        Row numbers.

    See Also
    --------
    splitter : Splitters by name.

    Examples
    --------
    >>> [len(test) for _, test in row_splits(3, 10, seed=0)]
    [4, 3, 3]
    """
    if isinstance(cv, int | np.integer):
        cv = splitter("k_fold", n_splits=min(int(cv), n), random_state=seed % 2**31)
    return iter(given_splits(cv, n))
