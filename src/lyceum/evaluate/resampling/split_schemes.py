"""Splitters by name, scikit-learn's own among them, for scanned rows too.

Imported on the first call of `splitter`, as sklearn.model_selection takes long to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut

from lyceum._core.data import Rows
from lyceum._core.types import Data, Target
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.resampling.splits import (
    Bootstrap,
    FiveByTwo,
    Holdout,
    RandomSubsampling,
    Split,
    StratifiedFolds,
    size_and_target,
)


class _RowSplitter:
    """A splitter of scikit-learn that also divides scanned rows."""

    def split(
        self,
        X: Data,
        y: Target = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[Split]:
        # scikit-learn only counts the rows and looks at y: neither needs the cells
        if isinstance(X, Rows):
            n, y = size_and_target(X, y)
            X = np.zeros(n)
        return super().split(X, y, groups)  # type: ignore[misc]


class _KFold(_RowSplitter, KFold):
    def __init__(
        self,
        n_splits: int = 10,
        *,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_splits, shuffle=True, random_state=random_state)


class _LeaveOneOut(_RowSplitter, LeaveOneOut):
    def __init__(self, random_state: int | np.random.RandomState | None = None):
        self.random_state = random_state


class _GroupKFold(_RowSplitter, GroupKFold):
    def __init__(
        self,
        n_splits: int = 5,
        *,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            n_splits, shuffle=random_state is not None, random_state=random_state
        )


_SPLITTERS: dict[str, Any] = {
    "bootstrap": Bootstrap,
    "five_by_two": FiveByTwo,
    "holdout": Holdout,
    "stratified": StratifiedFolds,
    "subsampling": RandomSubsampling,
    "grouped": _GroupKFold,
    "k_fold": _KFold,
    "leave_one_out": _LeaveOneOut,
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
    return named_choice("scheme", scheme, _SPLITTERS)(**settings)
