"""Scores on components: which component, and rows from scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import is_dask
from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError


class Components:
    """A learner with `n_components_` components."""

    n_components_: int

    def _given_scores(self, X: Any) -> Any:
        """Scores to turn back into rows, one column per component."""
        check_is_fitted(self)
        if is_dask(X):
            Z = X
        else:
            Z = check_array(X, dtype=[np.float64, np.float32])
        # Dask arrays know their columns before they are computed
        if Z.shape[1] != self.n_components_:
            raise DataError(
                f"the scores have {show_count(Z.shape[1], 'column')}, but there are "
                f"{self.n_components_} components"
            )
        return Z

    def _check_component(self, component: int) -> None:
        check_is_fitted(self)
        if not 0 <= component < self.n_components_:
            raise SettingError(
                f"component is {component}, but there are {self.n_components_}, counted from 0"
            )
