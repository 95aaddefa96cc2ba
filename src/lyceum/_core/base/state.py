"""A learner's state while it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self, TypeVar

from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.types import Estimator

Fitted = TypeVar("Fitted")


@contextmanager
def unchanged_on_failure(learner: Estimator) -> Iterator[None]:
    """Restore the attributes of the learner if the block raises.

    Lists and dicts are restored with their items; arrays must be replaced, not changed in place.

    Parameters
    ----------
    learner : object
        Any object that keeps its state in attributes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> learner = SimpleNamespace(trees_=[1, 2])
    >>> try:
    ...     with unchanged_on_failure(learner):
    ...         learner.trees_.append(3)
    ...         learner.classes_ = "new"
    ...         raise ValueError("refused")
    ... except ValueError:
    ...     print(learner)
    namespace(trees_=[1, 2])
    """
    # lists and dicts may be changed in place by `fit`, other values are replaced
    state = vars(learner)
    before = {
        name: copy(value) if isinstance(value, list | dict) else value
        for name, value in state.items()
    }
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise


@contextmanager
def learned_apart(learner: Fitted) -> Iterator[Fitted]:
    """A copy to learn in, whose attributes become the learner's where the block does not raise.

    They change all at once: what asks the learner meanwhile, in another thread, sees what it knew
    before. Lists and dicts that were learned are copied, settings and arrays are not.

    Parameters
    ----------
    learner : object
        Any object that keeps its state in attributes.
    """
    apart = object.__new__(type(learner))
    for name, value in vars(learner).items():
        was_learned = "_" in (name[0], name[-1])
        if was_learned and isinstance(value, list | dict):
            value = copy(value)
        vars(apart)[name] = value
    yield apart
    learner.__dict__ = vars(apart)


class SparseCoefficients:
    """Linear scores whose `coef_` may be kept sparse, as scikit-learn's."""

    coef_: Any

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse array, which takes less memory where most coefficients are 0."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    # without the guard of other methods, in which `coef_` is dense
    sparsify._is_guarded = True  # type: ignore[attr-defined]
    densify._is_guarded = True  # type: ignore[attr-defined]


@contextmanager
def dense_coefficients(learner: Estimator) -> Iterator[None]:
    """Coefficients that `sparsify` has made sparse are an array for the time of a call."""
    given: Any = vars(learner).get("coef_")
    if not isinstance(learner, SparseCoefficients) or not sparse.issparse(given):
        yield
        return
    dense = given.toarray()
    learner.coef_ = dense
    try:
        yield
    finally:
        if learner.coef_ is dense:  # no new fit
            learner.coef_ = given
