"""What AdaBoost for classes and for numbers share: members in rounds, each with weights of its
own."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from lyceum.ensemble.members.data import Ensemble, MemberData, MemberImportances


class AdaBoost(MemberImportances, Ensemble):
    """Members fitted one after the other, each on the rows that those before it answered badly."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit the members one after the other.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            The weights of the first round.
        """
        before = dict(vars(self))
        self._fit(*self._member_data(X, y, sample_weight), before)
        return self

    @abstractmethod
    def _fit(
        self, data: MemberData, target: np.ndarray, w: np.ndarray | None, before: dict[str, Any]
    ) -> None:
        """Fit the members; `before` has the attributes of an earlier fit, for a warm start."""

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        T = len(self.estimators_)
        return super()._shapes() | {"alphas_": (T,), "errors_": (T,)}
