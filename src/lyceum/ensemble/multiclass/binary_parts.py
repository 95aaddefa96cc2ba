"""Binary members that learn from rows as they come."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import background_rows, takes_rows
from lyceum._core.data import is_frame
from lyceum._core.members import MemberData
from lyceum._core.routing import Route
from lyceum._core.types import Data, Weights
from lyceum.ensemble.multiclass.binary_members import (
    BinaryMembers,
    ConstantMember,
    has_method,
    member_weights,
)
from lyceum.ensemble.multiclass.label_columns import SIDES
from lyceum.errors import DataError


def begins_to_learn(model: Any, classes: Any) -> bool:
    """Whether a call of `partial_fit` is the first one, which has to name the classes."""
    begins = not hasattr(model, "estimators_")
    if begins and classes is None:
        raise DataError("classes must be passed on the first call to partial_fit.")
    return begins


class BinaryParts(BinaryMembers):
    """Binary members with `partial_fit`, where the estimator has it.

    The classes are named before the first rows: the member of a class that came later would not
    have seen the rows before.
    """

    def _routes(self) -> list[Route]:
        methods = (("fit", "fit"), ("partial_fit", "partial_fit"))
        return [Route("estimator", self._base(), methods)]

    @available_if(has_method("partial_fit", of_members=False))
    def partial_fit(
        self,
        X: Data,
        y: Any = None,
        classes: Any = None,
        sample_weight: Weights = None,
    ):
        """Let every member learn from more rows.

        Parameters
        ----------
        X : array, sparse array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), default=None
            All classes that will come; in the first call.
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        begins = begins_to_learn(self, classes)
        if not begins and not hasattr(self, "code_"):
            raise DataError("the model was fitted to labels: fit it again, to classes")
        known = np.unique(classes) if begins else self.classes_
        given = np.unique(np.asarray(y))
        if len(np.setdiff1d(given, known)):
            raise DataError(
                f"Mini-batch contains {given} while classes must be subset of {known}:"
                " name all classes in the first call. Mini-batch contains"
                f" {given} while it must be subset of {known}"
            )
        rows = self._inputs(self).for_partial_fit(X, y, sample_weight, known)
        block = rows.in_one_block(type(self).__name__, self._alternative)
        codes = np.searchsorted(known, np.asarray(y))
        K = len(known)
        if begins:
            self.framed_ = is_frame(X) and not takes_rows(self._base())
            self.pairwise_indices_ = None
            self.code_ = self._make_code(K)
            self.class_weight_ = np.zeros(K)
            self.background_ = background_rows(block)
            self.estimators_ = [self._copy() for _ in self.code_.T]
        weights = None if sample_weight is None else block.weights
        self.estimators_ = [
            self._with_more(member, X, column[codes], weights)
            for member, column in zip(self.estimators_, self.code_.T)
        ]
        more = np.bincount(codes, block.weights, minlength=K)
        self.class_weight_ = self.class_weight_ + more
        return self

    def _with_more(
        self, member: Any, X: Data, side: np.ndarray, w: np.ndarray | None
    ) -> Any:
        """A copy of a member that has learned from more rows of its sides."""
        taken = np.flatnonzero(side if w is None else side * w)
        if not len(taken):
            return member
        if isinstance(member, ConstantMember):
            raise DataError(
                "fit had no rows of a class that comes now, and no member for it: fit again"
            )
        data = MemberData(None, X, metadata=self._metadata())
        further = data.metadata_of("partial_fit", taken)
        further.pop("sample_weight", None)
        weights = member_weights(member, w)
        if weights is not None:
            further["sample_weight"] = weights[taken]
        member = deepcopy(member)
        yes = (side[taken] > 0).astype(np.int64)
        some = _safe_indexing(X, taken)
        member.partial_fit(some, yes, classes=SIDES, **further)
        return member
