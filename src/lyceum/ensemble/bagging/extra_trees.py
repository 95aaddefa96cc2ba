"""Extremely randomized trees, of classes and of numbers."""

from __future__ import annotations

from types import FunctionType
from typing import Any, ClassVar

from lyceum.ensemble.bagging.random_forest import (
    RandomForestClassifier,
    RandomForestRegressor,
)


def _with_defaults(init: Any, **defaults: object) -> Any:
    """The same `__init__`, some of whose keyword parameters have other defaults."""
    copy = FunctionType(
        init.__code__, init.__globals__, init.__name__, init.__defaults__
    )
    copy.__kwdefaults__ = init.__kwdefaults__ | defaults
    copy.__annotations__ = init.__annotations__
    return copy


class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomized trees: one threshold drawn for each of a few columns, the best of these
    taken.

    As `RandomForestClassifier`, but a column is cut at a number drawn between its smallest and its
    largest value at the node, or its categories in two groups drawn, and trees are grown on all
    rows unless `bootstrap=True` (Geurts, Ernst and Wehenkel 2006).

    See Also
    --------
    RandomForestClassifier : The best threshold instead of a drawn one.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, Machine Learning 63.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y).score(X, y)
    1.0

    """

    _splitter: ClassVar[str] = "random"

    __init__ = _with_defaults(RandomForestClassifier.__init__, bootstrap=False)


class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomized regression trees: one threshold drawn for each column looked at, the
    best taken.

    See Also
    --------
    RandomForestRegressor : The best threshold instead of a drawn one.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, Machine Learning 63.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import ExtraTreesRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = ExtraTreesRegressor(n_estimators=20, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> model.score(x, np.sin(x[:, 0]))
    1.0

    """

    _splitter: ClassVar[str] = "random"
    __init__ = _with_defaults(RandomForestRegressor.__init__, bootstrap=False)
