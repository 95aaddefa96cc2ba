"""Where a class of Lyceum differs from scikit-learn's of the same name, and why: one place for the
switch, the migration page and its tests."""

from __future__ import annotations

import inspect
from typing import Any

# Classes that both have under one name with another meaning of their defaults: the switch leaves
# scikit-learn's in place, so that no program changes its answers unawares.
KEPT: dict[str, str] = {
    "KernelDensity": "ours chooses its bandwidth from the rows",
    "SelectKBest": "ours ranks columns of any kind by symmetrical uncertainty",
}

# Classes for which scikit-learn's own code asks by `isinstance`: the switch tells it that ours are
# such classes. Of all but LinearRegression it takes partial dependence from the trees alone.
ASKED_FOR = (
    "DecisionTreeRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "LinearRegression",
    "RandomForestRegressor",
)

# (class, parameter): why our default is another one
DEFAULTS: dict[tuple[str, str], str] = {
    ("ElasticNet", "max_iter"): "an epoch costs less; seldom reached",
    ("ElasticNet", "tol"): "a smaller duality gap at the same cost",
    ("ElasticNetCV", "max_iter"): "an epoch costs less; seldom reached",
    ("ElasticNetCV", "tol"): "a smaller duality gap at the same cost",
    **{
        (f"HistGradientBoosting{kind}", parameter): reason
        for kind in ("Classifier", "Regressor")
        for parameter, reason in (
            ("early_stopping", "no rows are held out unless this is asked for"),
            ("min_samples_leaf", "20, fewer in tables of under 220 rows"),
        )
    },
    ("Lasso", "max_iter"): "an epoch costs less; seldom reached",
    ("Lasso", "tol"): "a smaller duality gap at the same cost",
    ("LassoCV", "max_iter"): "an epoch costs less; seldom reached",
    ("LassoCV", "tol"): "a smaller duality gap at the same cost",
    ("BayesianGaussianMixture", "reg_covar"): "the prior needs no unit",
    ("GaussianMixture", "reg_covar"): "a prior of one row, in any unit of the columns",
    ("KernelDensity", "bandwidth"): "chosen from the rows",
    ("KernelDensity", "rtol"): "a relative error that holds everywhere, and saves time",
    ("LogisticRegression", "solver"): "Newton steps where columns are few, L-BFGS else",
    ("LogisticRegression", "tol"): "free of units, and a smaller gradient",
    (
        "MLPClassifier",
        "batch_size",
    ): "a fixed size, so that streamed rows give the same",
    ("MLPRegressor", "batch_size"): "a fixed size, so that streamed rows give the same",
    ("OutputCodeClassifier", "code_size"): "a code of the best length for its classes",
    ("SVC", "probability"): "the same: no posteriors unless they are asked for",
    ("StackingClassifier", "cv"): "the same: five folds",
    ("StackingRegressor", "cv"): "the same: five folds",
    ("TruncatedSVD", "algorithm"): "exact, and the same in every fit",
}


def parameters_of(kind: Any) -> dict[str, Any]:
    """The parameters of a class with their defaults.

    >>> from lyceum.linear import Ridge
    >>> parameters_of(Ridge)["alpha"]
    1.0
    """
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def missing_parameters(ours: Any, theirs: Any) -> list[str]:
    """scikit-learn's parameters that ours has not.

    >>> from lyceum.linear import Ridge
    >>> from sklearn.linear_model import Ridge as Theirs
    >>> missing_parameters(Ridge, Theirs)
    []
    """
    known = parameters_of(ours)
    return [name for name in parameters_of(theirs) if name not in known]


def other_defaults(ours: Any, theirs: Any) -> dict[str, tuple[Any, Any]]:
    """Parameters with another default: (ours, theirs); ours may have one where theirs has none.

    >>> from lyceum.linear import Lasso
    >>> from sklearn.linear_model import Lasso as Theirs
    >>> other_defaults(Lasso, Theirs)["max_iter"]
    (10000, 1000)
    """
    known = parameters_of(ours)
    return {
        name: (known[name], default)
        for name, default in parameters_of(theirs).items()
        if name in known and not _is_same(known[name], default)
    }


def _is_same(first: Any, second: Any) -> bool:
    if repr(first) == repr(second) or second is inspect.Parameter.empty:
        return True
    numbers = (bool, int, float)
    return (
        isinstance(first, numbers) and isinstance(second, numbers) and first == second
    )


def unused_parameters(ours: type) -> dict[str, str]:
    """scikit-learn's parameters that are checked and change nothing here, and why.

    >>> from lyceum.linear import Ridge
    >>> unused_parameters(Ridge)["tol"]
    'the solution is exact, whatever the solver'
    """
    reasons: dict[str, str] = {}
    for base in reversed(ours.__mro__):
        reasons |= vars(base).get("_without_effect", {})
    return {name: why for name, why in reasons.items() if name in parameters_of(ours)}
