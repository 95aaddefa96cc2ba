"""Values for parameters whose types do not tell, and what else must be set for a parameter to
matter.

Both tables go by "Learner.parameter" or, for all learners, by "parameter".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.model_selection import KFold

from lyceum.bayes import NaiveBayes
from lyceum.linear import LinearRegression
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "AGAIN",
    "FEW_LABELS",
    "FINE",
    "FIRST_TABLE",
    "OF_NUMBERS",
    "QUICK",
    "TOGETHER",
    "VALUES",
    "WITHOUT_EFFECT",
]

_LOSS = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]])
_RANDOM_STUMP = DecisionTreeClassifier(max_depth=1, splitter="random")
_STUMP = DecisionTreeClassifier(max_depth=1)
_TREES = [
    ("small", DecisionTreeClassifier(max_depth=1)),
    ("large", DecisionTreeClassifier(max_depth=3)),
]
_REGRESSION_TREES = [
    ("small", DecisionTreeRegressor(max_depth=1)),
    ("line", LinearRegression()),
]
_ROWS = np.random.default_rng(0).normal(size=(3, 4))


def _chain(X: Any) -> np.ndarray:
    return np.eye(X.shape[0], k=1)


_SHARES = np.array([[0.2, 0.3, 0.1, 0.4], [0.1, 0.1, 0.4, 0.4], [0.4, 0.2, 0.3, 0.1]])

VALUES: dict[str, tuple[Any, ...]] = {
    "random_state": (1, 2, 3),
    "connectivity": (_chain,),
    "parts": (["year", "weekday"],),
    "categorical_features": ([0], ["age"]),
    "loss_matrix": (_LOSS,),
    "attribute_costs": ([1.0, 50.0, 1.0, 50.0], {"age": 50.0, "town": 50.0}),
    "DatetimeEncoder.parts": (("year", "days"),),
    "TextVectorizer.columns": (["town"],),
    "TextVectorizer.max_features": (1, 2),
    "TextVectorizer.min_df": (15,),
    "class_weight": ({"ant": 5.0}, "balanced"),
    "default_class": ("bee", "cow", "ant"),
    "estimators": (_TREES,),
    "StackingClassifier.estimators": ([("bayes", NaiveBayes()), *_TREES],),
    "StackingRegressor.estimators": (_REGRESSION_TREES,),
    "VotingRegressor.estimators": (_REGRESSION_TREES,),
    "bags": ([[*range(40)], [*range(20, 60)]],),
    "stages": (_TREES,),
    "final_estimator": (_STUMP,),
    "StackingRegressor.final_estimator": (DecisionTreeRegressor(max_depth=1),),
    "expert": (DecisionTreeRegressor(max_depth=1),),
    "estimator": (_STUMP,),
    "AdaBoostClassifier.estimator": (DecisionTreeClassifier(max_depth=3),),
    "AdaBoostRegressor.estimator": (DecisionTreeRegressor(max_depth=1),),
    "BaggingRegressor.estimator": (DecisionTreeRegressor(max_depth=1),),
    "ModelTreeRegressor.estimator": (LinearRegression(),),
    "GenericBoostingClassifier.estimator": (DecisionTreeRegressor(max_depth=1),),
    "GenericBoostingRegressor.estimator": (DecisionTreeRegressor(max_depth=1),),
    "OutputCodeClassifier.estimator": (NaiveBayes(),),
    "SemiSupervisedEM.estimator": (NaiveBayes(continuous="histogram", n_bins=3),),
    "cv": (3, KFold(4)),
    "alphas": ([0.01, 5.0], 4),
    "thresholds": ([0.99],),
    "costs": ([1.0, 50.0],),
    "budget": (1.0,),
    "routes": ({"small": {"ant": "other"}},),
    "auxiliary": ([1], ["income"]),
    "priors": ([0.1, 0.2, 0.7],),
    "feature_range": ((-1.0, 3.0),),
    "reference": ("bee",),
    "label": ("none",),
    "cuts": ([0.0, 1.0],),
    "tree_root": ("x1", "income"),
    "n_bins": (3,),
    "metric_params": ({"p": 1},),
    "monotonic_cst": ([1, 0, -1, 1],),
    "p": (1, 3),
    "quantile": (0.2, 0.7),
    "HistGradientBoostingClassifier.scoring": ("accuracy", "roc_auc_ovr"),
    "HistGradientBoostingRegressor.scoring": ("neg_mean_absolute_error", None),
    "directions": (np.ones((5, 4)),),
    "centers": (_ROWS, "sampled", "uniform"),
    "degree": (2, 0),
    "init": ("random",),
    "mean_prior": ([1.0, 2.0, 3.0, 4.0],),
    "means_init": (_ROWS,),
    "weights_init": ([0.1, 0.2, 0.7],),
    "probabilities_init": (_SHARES,),
    "precisions_init": (np.stack([np.eye(4) * 5.0] * 3),),
    "prior_mean": (1.0,),
    "prior_covariance": (2.0,),
    "ClassicalMDS.metric": ("manhattan",),
    "LinearRegression.coef_init": (([1.0, 2.0, 3.0, 4.0], 5.0),),
    "LocallyWeightedRegression.coef_init": ([1.0, 2.0, 3.0, 4.0, 5.0],),
    "LogisticRegression.coef_init": (
        (np.arange(12.0).reshape(3, 4) / 10, np.array([0.0, 1.0, -1.0])),
    ),
    "MLPClassifier.weights_init": (
        ([np.ones((4, 6)), np.ones((6, 3))], [np.ones(6), np.ones(3)]),
    ),
    "MLPRegressor.weights_init": (
        ([np.ones((4, 6)), np.ones((6, 1))], [np.ones(6), np.ones(1)]),
    ),
    "SequentialFeatureSelector.scoring": ("absolute",),
    "RidgeCV.scoring": ("neg_mean_absolute_error",),
    "covariance_estimator": (LedoitWolf(),),
    "max_fun": (1,),
    "n_alphas": (5,),
    "SequentialFeatureSelector.estimator": (DecisionTreeRegressor(max_depth=1),),
    "OutputCodeClassifier.loss": ("linear",),
    "LinearSVC.loss": ("hinge",),
    "MarginClassifier.loss": ("squared_hinge",),
    "HistGradientBoostingClassifier.loss": ("exponential",),
    "HistGradientBoostingRegressor.loss": ("absolute_error", "huber"),
    "AdaBoostRegressor.loss": ("square",),
    "fill_value": (7.0,),
    "n_init": (5, 20),
    "n_samples": (1, 2),
    "max_iter": (1, 2, 40),
    "BayesianGaussianMixture.degrees_of_freedom_prior": (5.0,),
    "BernoulliMixture.tol": (0.01,),
    "ClusterClassifier.min_rows": (40.0,),
    "GaussianMixture.tol": (0.001,),
    "HistGradientBoostingRegressor.tol": (0.9,),
    "RestrictedCoulombClassifier.min_radius": (2.0,),
    "StudentMixture.tol": (0.9,),
}

_STEPS = {"solver": "gradient_descent", "learning_rate": 0.1, "max_iter": 3}
_CONFIDENCE = {"pruning": "confidence"}
_STOPPING = {"early_stopping": True, "tol": 1e-4, "max_iter": 40, "n_estimators": 20}
TOGETHER: dict[str, tuple[dict[str, Any], ...]] = {
    "Perceptron.alpha": ({"penalty": "l2", "alpha": 0.01},),
    "Perceptron.l1_ratio": ({"penalty": "elasticnet", "alpha": 0.01},),
    "prior_alpha": ({"priors": "dirichlet_mean"},),
    "BernoulliNB.prior_alpha": ({"class_prior": "dirichlet_mean"},),
    "MultinomialNB.prior_alpha": ({"class_prior": "dirichlet_mean"},),
    "degree": ({"kernel": "polynomial"},),
    "coef0": ({"kernel": "polynomial"}, {"kernel": "sigmoid"}),
    "NaiveBayes.n_bins": ({"continuous": "histogram"},),
    "NaiveBayes.bandwidth": ({"continuous": "kernel"},),
    "m": ({"estimate": "m"},),
    "remove_zero_eig": ({"n_components": 20},),  # more than there are columns
    "DBSCAN.p": ({"metric": "minkowski"},),
    "quantile": ({"loss": "quantile"},),
    "keep_best": (_STOPPING | {"learning_rate": 0.9},),  # the last round is not best
    "HistGradientBoostingClassifier.scoring": (_STOPPING,),
    "HistGradientBoostingRegressor.scoring": (_STOPPING,),
    "m_prior": ({"estimate": "m"},),
    "RegularizedDiscriminant.scoring": ({"alpha": "cv", "gamma": "cv"},),
    "RegularizedDiscriminant.cv": ({"alpha": "cv", "gamma": "cv"},),
    "RegularizedDiscriminant.random_state": ({"alpha": "cv", "gamma": "cv"},),
    **dict.fromkeys(
        ("prior_mean", "kappa_0", "nu_0", "GaussianDensity.scale"),
        ({"estimate": "bayes"},),
    ),
    "prior_covariance": ({"estimate": "bayes", "known_covariance": 1.0},),
    "equivalent_sample_size": ({"estimate": "dirichlet"},),
    "max_parents": ({"structure": "learned", "structure_score": "aic"},),
    **dict.fromkeys(
        (
            "LinearRegression.max_iter",
            "LinearRegression.learning_rate",
            "LinearRegression.standardize",
            "LinearRegression.coef_init",
            "LogisticRegression.learning_rate",
            "LogisticRegression.coef_init",
        ),
        (_STEPS,),
    ),
    "LinearRegression.tol": ({"solver": "gradient_descent"},),
    "LocallyWeightedRegression.coef_init": (
        {"solver": "gradient_descent", "learning_rate": 1e-3, "max_steps": 3},
    ),
    "decay": ({"solver": "lms", "max_iter": 3},),
    "reference": ({"C": 1.0},),
    "n_draws": ({"posterior": "monte_carlo"},),
    "BasisExpansion.n_centers": ({"kind": "gaussian"},),
    "BasisExpansion.centers": ({"kind": "gaussian"},),
    "BasisExpansion.directions": ({"kind": "sigmoid", "joint": True},),
    "BasisExpansion.bandwidth": ({"kind": "gaussian"},),
    "BasisExpansion.random_state": ({"kind": "gaussian", "centers": "sample"},),
    "ClusterFeatures.random_state": ({"clusterer": None},),
    "ClusterLabels.random_state": ({"clusterer": None},),
    "ClusterClassifier.random_state": ({"clusterer": None},),
    "power_t": ({"learning_rate": "invscaling", "solver": "sgd"},),
    "momentum": ({"solver": "sgd"},),
    "nesterovs_momentum": ({"solver": "sgd"},),
    "shuffle": ({"batch_size": 10},),
    "n_iter_no_change": (_STOPPING | {"tol": 0.5}, _STOPPING),
    "validation_fraction": (
        _STOPPING,
        {"pruning": "reduced_error"},
        {"n_neighbors": "validation"},
    ),
    "tol": (
        _STOPPING,
        {"max_iter": 40},
        {"fit_by": "gradient"},
        {"solver": "gradient_descent"},
    ),
    "AdaBoostClassifier.tol": ({"n_iter_no_change": 2, "n_estimators": 20},),
    "MixtureOfExperts.tol": ({"max_iter": 8},),
    "HierarchicalMixtureOfExperts.tol": ({"max_iter": 8},),
    "RBFNetworkClassifier.tol": ({"fit_by": "gradient"},),
    "RBFNetworkRegressor.tol": ({"fit_by": "gradient"},),
    "max_iter": ({"fit_by": "gradient"}, {"init": "random", "n_clusters": 8}),
    "RidgeCV.eps": ({"n_alphas": 5},),
    "covariance_estimator": ({"solver": "eigen"},),
    "max_fun": ({"solver": "lbfgs"},),
    "alphas": ({"alpha": "loo"}, {"alpha": "gcv"}, {"alpha": "leave_one_out"}),
    "bandwidth": ({"weights": "gaussian"},),
    "metric_params": ({"metric": "minkowski"},),
    "max_neighbors": ({"n_neighbors": "leave_one_out"},),
    "learning_rate": ({"solver": "gradient_descent", "max_steps": 3},),
    "max_steps": ({"solver": "gradient_descent"},),
    "random_state": (
        {"splitter": "random"},
        {"max_features": 1},
        {"n_neighbors": "validation"},
        {"max_samples": 20},
        {"max_samples": 20, "score_func": "relief"},
        {"init": "random"},
        {"init_params": "random_from_data", "n_init": 1, "max_iter": 1},
        {"svd_solver": "randomized", "n_components": 1, "iterated_power": 1},
        {"algorithm": "randomized", "n_components": 1, "n_iter": 1},
        {"probability": True},
        {"code": "random", "code_size": 0.4},
        {"exemplar": "mean", "n_clusters": 3},
        {"ccp_alpha": "cv"},
    ),
    "SVC.random_state": ({"probability": True},),
    "max_branches": ({"continuous_split": "multi_way"},),
    "altered_priors": ({"loss_matrix": _LOSS},),
    "leaf_penalty": ({"pruning": "pessimistic"},),
    "confidence": (_CONFIDENCE,),
    "bound": (_CONFIDENCE | {"confidence": 0.02},),
    "ModelTreeRegressor.smoothing": ({"pruning": None},),
    "cluster_selection_method": ({"min_cluster_size": 3, "min_samples": 1},),
    "allow_single_cluster": (
        {"min_cluster_size": 30, "min_samples": 1},
        {"min_cluster_size": 50},
    ),
    "DecisionTreeClassifier.smoothing": ({"pruning": "minimum_loss"},),
    "ccp_measure": ({"ccp_alpha": 0.03}, {"ccp_alpha": 0.01}),
    "voting": ({"estimator": DecisionTreeClassifier(max_depth=1)},),
    "on_failure": ({"multiclass": "m1", "estimator": _RANDOM_STUMP},),
    "HistGradientBoostingRegressor.alpha": ({"loss": "quantile"}, {"loss": "huber"}),
    "flatten_transform": ({"voting": "soft"},),
    "GradientBoostingRegressor.alpha": ({"loss": "quantile"}, {"loss": "huber"}),
    **dict.fromkeys(
        (
            f"GradientBoosting{kind}.{name}"
            for kind in ("Classifier", "Regressor")
            for name in ("tol", "validation_fraction")
        ),
        ({"n_iter_no_change": 2, "n_estimators": 20},),
    ),
    "cv": (
        {"weights": "learned"},
        {"auxiliary": [1]},
        {"criterion": "cv"},
        {"ccp_alpha": "cv"},
    ),
    "inconsistency_depth": ({"n_clusters": None, "inconsistency": 1.0},),
    "n_init": (
        {"init": "random", "n_init": 1},
        {"init_params": "random_from_data", "n_init": 1, "max_iter": 1},
    ),
    "KMedoids.n_init": ({"init": "random", "n_clusters": 20},),
    "n_subsamples": ({"max_samples": 20},),
    "init_params": ({"max_iter": 1},),
    "iterated_power": ({"svd_solver": "randomized", "n_components": 1},),
    "n_iter": ({"algorithm": "randomized", "n_components": 1},),
    "n_oversamples": (
        {
            "svd_solver": "randomized",
            "n_components": 1,
            "iterated_power": 0,
            "random_state": 0,
        },
        {
            "algorithm": "randomized",
            "n_components": 1,
            "n_iter": 0,
            "random_state": 0,
        },
    ),
    "code_size": ({"code": "random"},),
    "threshold": ({"score_func": "relief", "k": None},),
    "SequentialFeatureSelector.tol": ({"n_features_to_select": None},),
    "SequentialFeatureSelector.random_state": (
        {"estimator": DecisionTreeRegressor(max_depth=2)},
    ),
    "n_neighbors": ({"score_func": "relief"}, {"kernel": "nearest"}),
    "SelectKBest.max_samples": ({"score_func": "relief"},),
    "plus": ({"direction": "plus_minus"},),
    "minus": ({"direction": "plus_minus"},),
    "SequentialFeatureSelector.scoring": (
        {"estimator": DecisionTreeRegressor(max_depth=2)},
    ),
    "k_best": ({"criterion": "k_best"},),
    "PriorShift.priors": ({},),
    "fill_value": ({"strategy": "constant"},),
    "costs": ({"budget": 5.0},),
    "routes": (
        {
            "stages": [*_TREES, ("other", NaiveBayes())],
            "thresholds": [0.99, 0.5],
        },
    ),
}

# Fitted on some rows and then, with more rounds where there are some, on all.
AGAIN = ("warm_start",)

# Learners that are given rows without labels.
FEW_LABELS = ("LabelPropagation", "SelfTrainingClassifier", "SemiSupervisedEM")

# Differences so fine that they need many rows or columns to show.
FINE = (
    "bound",
    "iterated_power",
    "n_iter",
    "n_oversamples",
    "TruncatedSVD.random_state",
    "PCA.random_state",
    "RandomForestClassifier.categorical_split",
    "KBinsDiscretizer.better_encoding",
)

# The table to try first, by "Learner.parameter", "parameter" or "Learner": others need not be tried
# then.
FIRST_TABLE = {
    **dict.fromkeys(
        (
            "DatetimeEncoder",
            "KNNImputer",
            "SimpleImputer",
            "MissingCategory",
            "OneHotEncoder",
            "IterativeImputer",
            "TextVectorizer",
            "attributes",
            "categorical_smoothing",
            "categorical_split",
            "m",
            "m_prior",
            "max_parents",
            "BernoulliMixture.n_init",
            "C45.pruning",
            "GaussianMixture.max_iter",
            "ID3.max_p_value",
            "KMedoids.n_subsamples",
            "NaiveBayes.estimate",
            "ParzenClassifier.rtol",
        ),
        "mixed",
    ),
    **dict.fromkeys(
        (
            "default_class",
            "require_gain",
            "BernoulliMixture.max_iter",
            "Ridge.solver",
            "TruncatedSVD.algorithm",
        ),
        "crossed",
    ),
}

# Beside the settings of the laws.
QUICK = {
    "DecisionTreeClassifier": {"max_depth": None},
    "MixtureOfExperts": {"tol": 1e-4, "max_iter": 4},
    "HierarchicalMixtureOfExperts": {"tol": 1e-4, "max_iter": 4},
    "GaussianMixture": {"tol": 0.02},
    "BayesianGaussianMixture": {"tol": 0.02},
    "BernoulliMixture": {"tol": 0.02},
    "MultinomialMixture": {"tol": 0.02},
    "PriorTransfer": {"tol": 1e-4},
    "StackingClassifier": {"estimators": _TREES},
    "OutputCodeClassifier": {"estimator": _STUMP},
}

# Learners that are given a column of dates.
OF_DATES = ("DatetimeEncoder",)

# Learners of any target that are given a number.
OF_NUMBERS = ("SequentialFeatureSelector",)

# By nature without effect on a result: the reason for each.
WITHOUT_EFFECT: dict[str, str] = {
    "n_jobs": "how many run at a time",
    "verbose": "what is printed on the way",
    "store_cv_results": "what is kept beside the model: tests/dropin/test_linear.py",
    "alpha_per_target": "of several targets alone: tests/dropin/test_linear.py",
    "fit_inverse_transform": "what `inverse_transform` does: tests/dropin/test_classifiers.py",
    "KernelPCA.alpha": "of the learned inverse: tests/dropin/test_classifiers.py",
    "force_alpha": "of an alpha below 1e-10: tests/dropin/test_classifiers.py",
    "kernel_params": "of a kernel that is a function: tests/dropin/test_classifiers.py",
    "break_ties": "of equally many votes alone: tests/dropin/test_classifiers.py",
    **dict.fromkeys(
        (
            "OneHotEncoder.categories",
            "OneHotEncoder.dtype",
            "OneHotEncoder.feature_name_combiner",
            "OneHotEncoder.max_categories",
            "OneHotEncoder.min_frequency",
            "OneHotEncoder.sparse_output",
            "KBinsDiscretizer.dtype",
            "KBinsDiscretizer.encode",
            "KBinsDiscretizer.quantile_method",
            "KBinsDiscretizer.random_state",
            "KBinsDiscretizer.subsample",
            "KNNImputer.add_indicator",
            "KNNImputer.keep_empty_features",
            "KNNImputer.metric",
            "KNNImputer.missing_values",
            "SimpleImputer.keep_empty_features",
            "SimpleImputer.missing_values",
        ),
        "of arrays alone, or refused by kinds of columns: tests/dropin/test_prepare.py",
    ),
    "cache": "a file of results to go on from",
    "cache_size": "memory for kernel values that are computed again otherwise",
    "algorithm": "which search or which bounds: the results are the same",
    "copy_x": "scikit-learn's; cells that are given are never changed",
    "leaf_size": "of scikit-learn's trees of neighbors",
    "verbose_interval": "scikit-learn's; `verbose` says how often",
    "shuffle_window": "rows in memory at a time when they are streamed",
}
