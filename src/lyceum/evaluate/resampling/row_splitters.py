"""Splitters of scikit-learn that also divide scanned rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut

from lyceum._core.data import Rows
from lyceum._core.types import Data, Target
from lyceum.evaluate.resampling.splits import Split, size_and_target


class _RowSplitter:
    """A splitter of scikit-learn that also divides scanned rows."""

    def split(
        self, X: Data, y: Target = None, groups: ArrayLike | None = None
    ) -> Iterator[Split]:
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


SPLITTERS: dict[str, Any] = {
    "grouped": _GroupKFold,
    "k_fold": _KFold,
    "leave_one_out": _LeaveOneOut,
}
