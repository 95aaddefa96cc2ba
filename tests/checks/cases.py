"""Every cataloged learner as it is put to the laws: how it is made, and what is particular to
it."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from tests.checks.families import (
    cluster,
    ensemble,
    kernels,
    neighbors,
    networks,
    paradigms,
    reduce,
)
from tests.checks.laws import Case
from tests.checks.tables import data_for

from lyceum import catalog

# Starts from three fixed rows: which rows a random start picks depends on the order and number of
# rows.
_STARTS = data_for(BaseEstimator()).X[:3].copy()

# All rows in every step: what is in a smaller batch depends on the order and number of rows.
_NETWORK = {
    "hidden_layer_sizes": 6,
    "activation": "tanh",
    "batch_size": "all",
    "max_iter": 5,
    "tol": None,  # always this number
    "random_state": 0,
}

SETTINGS: dict[str, dict[str, Any]] = {
    "KMeans": {"n_clusters": 3, "init": _STARTS, "n_init": 1, "random_state": 0},
    "PCA": {"n_components": 2},
    "LogisticRegression": {"C": 0.1, "tol": 1e-10, "random_state": 0},
    "MLPClassifier": _NETWORK,
    "MLPRegressor": _NETWORK,
    # from files and Dask, trees are grown on bins
    "DecisionTreeClassifier": {"max_bins": 255, "max_depth": 4},
    "DecisionTreeRegressor": {"max_bins": 255, "max_depth": 4},
    "ID3": {"max_bins": 255, "max_depth": 4},
    "C45": {"max_bins": 255},
    "CARTRegressor": {"ccp_alpha": 0.01},
    "CART": {
        "ccp_alpha": 0.01
    },  # which rows cross-validation leaves out depends on the numbers of the rows
    # all rows and columns for every tree: which are drawn depends on the numbers of the rows
    "RandomForestClassifier": {
        "n_estimators": 2,
        "bootstrap": False,
        "max_features": None,
    },
    "RandomForestRegressor": {"n_estimators": 2, "bootstrap": False},
    "ExtraTreesClassifier": {"n_estimators": 2, "random_state": 0},
    "ExtraTreesRegressor": {"n_estimators": 2, "random_state": 0},
    "BaggingClassifier": {"n_estimators": 2, "random_state": 0},
    "BaggingRegressor": {"n_estimators": 2, "random_state": 0},
    "AdaBoostClassifier": {"n_estimators": 4, "random_state": 0},
    "AdaBoostRegressor": {"n_estimators": 3, "random_state": 0},
    "HistGradientBoostingClassifier": {
        "max_iter": 4,
        "min_samples_leaf": 1,
        "random_state": 0,
    },
    "HistGradientBoostingRegressor": {
        "max_iter": 4,
        "min_samples_leaf": 1,
        "random_state": 0,
    },
    "Lasso": {"alpha": 0.1, "tol": 1e-15},
    "ElasticNet": {"alpha": 0.1, "tol": 1e-15},
    "Perceptron": {"max_iter": 20, "center": True, "tol": None},
    "MarginClassifier": {"C": 0.01, "smoothing": 1.0},
    "LassoCV": {"alphas": 10, "tol": 1e-13, "random_state": 0},
    "ElasticNetCV": {"alphas": 10, "tol": 1e-13, "random_state": 0},
    "RidgeCV": {"random_state": 0},
    # by the kinds of columns, whatever the source: arrays alone are scikit-learn's business
    "OneHotEncoder": {"categorical_features": "from_dtype", "handle_unknown": "ignore"},
    "KBinsDiscretizer": {"encode": "categories", "strategy": "auto"},
    "SimpleImputer": {"categorical_features": False},
    "KNNImputer": {"metric": "gower"},
    # which rows cross-validation leaves out depends on the numbers of the rows
    "RegularizedDiscriminant": {"alpha": 0.3, "gamma": 0.1},
    # where sums stop within the tolerance depends on which rows are scored together
    "KernelDensity": {"rtol": 0.0},
    "ParzenClassifier": {"rtol": 0.0},
    # partial_fit would fix the width by the rows of the first call
    "HistogramDensity": {"bin_width": 1.5, "origin": 0.25},
}

_GIVES_BACK = Case(moves=True, far=1e-7)
_KEEPS_ROWS = Case(skip=("rows_", "weights_"))  # in an order of its own
_BY_FOLDS = Case(
    skip=("dual_gap_",),
    without=dict.fromkeys(
        (
            "weights_are_repeats",
            "zero_weight_rows_are_ignored",
            "the_order_of_rows_does_not_matter",
        ),
        "folds go by the numbers of rows",
    ),
)
_DRAWS = "rows are drawn by their numbers"
_BY_DRAWS = dict.fromkeys(
    ("weights_are_repeats", "the_order_of_rows_does_not_matter"), _DRAWS
)
_BY_EPOCHS = Case(
    without=dict.fromkeys(
        ("partial_fit_is_fit_on_all_rows", "new_categories_may_come_later"),
        "partial_fit is one epoch",
    )
)
CASES: dict[str, Case] = {
    **dict.fromkeys(
        (
            "DecisionTreeClassifier",
            "DecisionTreeRegressor",
            "ID3",
            "C45",
            "CART",
            "CARTRegressor",
            "ModelTreeRegressor",
            "RandomForestClassifier",
            "RandomForestRegressor",
            "ExtraTreesClassifier",
            "ExtraTreesRegressor",
            "HistGradientBoostingClassifier",
            "HistGradientBoostingRegressor",
        ),
        Case(many=17_000),  # the columns of fewer rows are searched by one thread
    ),
    "BaggingClassifier": Case(
        without=_BY_DRAWS | {"a_class_may_be_missing_from_the_first_block": _DRAWS}
    ),
    "BaggingRegressor": Case(without=_BY_DRAWS),
    "MLPClassifier": _BY_EPOCHS,
    "MLPRegressor": _BY_EPOCHS,
    "ElasticNet": Case(skip=("dual_gap_",)),  # zero up to rounding
    "Lasso": Case(skip=("dual_gap_",)),
    "ElasticNetCV": _BY_FOLDS,
    "LassoCV": _BY_FOLDS,
    "RidgeCV": _BY_FOLDS,
    "LogisticRegression": Case(
        without=dict.fromkeys(
            ("partial_fit_is_fit_on_all_rows", "new_categories_may_come_later"),
            "partial_fit goes on by recursion, one row at a time",
        )
    ),
    "Perceptron": Case(
        without={
            "partial_fit_is_fit_on_all_rows": "partial_fit is one pass",
            "new_categories_may_come_later": (
                "partial_fit is one pass over the columns that have weights"
            ),
            "weights_are_repeats": "a row that comes again is looked at again",
            "the_order_of_rows_does_not_matter": "rows are learned from one after the other",
            "a_class_may_be_missing_from_the_first_block": (
                "rows are learned from one after the other"
            ),
        },
    ),
    "MarginClassifier": Case(
        without={
            "partial_fit_is_fit_on_all_rows": (
                "rows seen before count as a parabola, exact for squares"
            ),
            "new_categories_may_come_later": "there are no weights for columns that were not seen",
        }
    ),
    "KMeans": Case(
        mixed={"init": "k-means++"},
        moved={"init": _STARTS + 1e6},
        without=dict.fromkeys(
            ("partial_fit_is_fit_on_all_rows", "new_categories_may_come_later"),
            "partial_fit is one step of mini-batch k-means",
        ),
    ),
    "MultinomialNB": Case(
        without={"cells_may_be_a_million_away": "counts have an origin"}
    ),
    "BernoulliNB": Case(moved={"binarize": 1e6}),
    "LinearRegression": Case(
        # weights are precisions there: what is counted in rows is not what it would be for repeats
        counts_rows=(
            "sigma_",
            "adjusted_r2_",
            "f_",
            "f_p_",
            "log_likelihood_",
            "covariance_",
            "standard_errors_",
            "intercept_standard_error_",
            "intercept_t_",
            "intercept_p_",
            "t_",
            "p_",
        ),
    ),
    "KernelDensity": _KEEPS_ROWS,
    "NeighborDensity": _KEEPS_ROWS,
    "ParzenClassifier": _KEEPS_ROWS,
    "HistogramDensity": Case(
        moved={"origin": 1e6 + 0.25},
        without={
            "new_categories_may_come_later": "a grid cannot grow by columns: fit refuses, by name"
        },
    ),
    "OneHotEncoder": _GIVES_BACK,
    "SimpleImputer": _GIVES_BACK,
    "DatetimeEncoder": _GIVES_BACK,
    "TextVectorizer": _GIVES_BACK,
    "MissingCategory": _GIVES_BACK,
    "DropMissing": _GIVES_BACK,
    "IterativeImputer": _GIVES_BACK,
}


# Younger families have files of their own, with the same four tables.
FAMILIES = (cluster, ensemble, kernels, neighbors, networks, paradigms, reduce)
for family in FAMILIES:
    SETTINGS |= family.SETTINGS
    CASES |= family.CASES


def learner_named(name: str) -> Any:
    return catalog.find(name).load()(**SETTINGS.get(name, {}))


def case_of(name: str) -> Case:
    return CASES.get(name, Case())


# -- scikit-learn's checks -------------------------------------------------------------

# Its data have few rows: a learner is made as a user would make it, but for what would be slow.
SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {
    "OneHotEncoder": SETTINGS["OneHotEncoder"],
    "KBinsDiscretizer": SETTINGS["KBinsDiscretizer"],
    "AdaBoostClassifier": {"n_estimators": 8},
    "AdaBoostRegressor": {"n_estimators": 5},
    "BaggingClassifier": {"n_estimators": 3},
    "BaggingRegressor": {"n_estimators": 3},
    "CART": {"cv": 3},
    "CARTRegressor": {"cv": 3},
    "ElasticNetCV": {"alphas": 10, "cv": 3},
    "ExtraTreesClassifier": {"n_estimators": 5},
    "ExtraTreesRegressor": {"n_estimators": 5},
    "HistGradientBoostingClassifier": {"max_iter": 5},
    "HistGradientBoostingRegressor": {"max_iter": 10},
    "RandomForestClassifier": {"n_estimators": 5},
    "RandomForestRegressor": {"n_estimators": 5},
    "KMeans": {"n_clusters": 3},
    "LassoCV": {"alphas": 10, "cv": 3},
    "MLPClassifier": {
        "hidden_layer_sizes": 20,
        "max_iter": 40,
        "learning_rate_init": 0.01,
    },
    "MLPRegressor": {
        "hidden_layer_sizes": 20,
        "max_iter": 60,
        "learning_rate_init": 0.01,
    },
    "MarginClassifier": {"smoothing": 1.0, "tol": 1e-4},
    # of classes that overlap the last weights are as good as the last rows
    "Perceptron": {"max_iter": 20, "tol": None},
    "RegularizedDiscriminant": {"cv": 2},
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "AdaBoostClassifier": dict.fromkeys(
        (
            "check_estimator_sparse_tag",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
        ),
        "labels are drawn there, and the warning of weak members is an error in tests",
    ),
    "Perceptron": {
        f"check_sample_weight_equivalence_on_{cells}_data": (
            "a row that comes again is looked at again"
        )
        for cells in ("dense", "sparse")
    },
    **{
        name: {
            f"check_sample_weight_equivalence_on_{cells}_data": "rows are drawn by their numbers"
            for cells in ("dense", "sparse")
        }
        for name in (
            "BaggingClassifier",
            "BaggingRegressor",
            "IsolationForest",
            "RandomForestClassifier",
            "RandomForestRegressor",
        )
    },
}


for family in FAMILIES:
    SCIKIT_SETTINGS |= family.SCIKIT_SETTINGS
    EXPECTED_FAILURES |= family.EXPECTED_FAILURES


def learner_for_scikit_learn(name: str) -> Any:
    return catalog.find(name).load()(**SCIKIT_SETTINGS.get(name, {}))


def expected_failures(name: str) -> dict[str, str]:
    """Checks that cannot pass, each with its reason."""
    return EXPECTED_FAILURES.get(name, {})
