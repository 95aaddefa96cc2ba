"""The workloads of trees and of ensembles grown from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Workload, learner, size, workload

THREADS = 2


def rows_with_interactions(n: int, d: int, seed: int = 0):
    """Two classes by sums, products and waves of a few numbers; 50,000 rows more for the test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 50_000, d)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * X[:, 4] * X[:, 5]
    y = (score + rng.logistic(size=len(X)) > 0).astype(np.int64)
    return X[:n], y[:n], X[n:], y[n:]


def rows_like_higgs(n: int, seed: int = 0):
    """Columns like those of HIGGS, skewed, tagged and derived; 50,000 rows more for the test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 50_000, 28))
    X[:, 0:21:5] = np.exp(0.6 * X[:, 0:21:5])
    X[:, 3:21:6] = 1.1 * rng.integers(0, 3, size=X[:, 3:21:6].shape)
    X[:, 21] = np.sqrt(X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * X[:, 21] ** 2)
    X[:, 22] = np.abs(X[:, 1] - X[:, 4]) + 0.2 * X[:, 22]
    X[:, 23] = X[:, 2] * X[:, 4] + 0.3 * X[:, 23]
    X[:, 24] = np.log1p(X[:, 5]) * X[:, 6]
    X[:, 25] = np.sqrt(np.abs(X[:, 7] * X[:, 8]))
    X[:, 26] = X[:, 10] - X[:, 11] * X[:, 12]
    X[:, 27] = np.hypot(X[:, 13], X[:, 14])
    score = (
        1.2 * np.sin(1.5 * X[:, 21])
        + 0.9 * X[:, 23] * (X[:, 22] < 1)
        - 0.7 * np.abs(X[:, 26])
    )
    score += 0.8 * (X[:, 27] > 1.2) + 0.5 * X[:, 3] * X[:, 9] + 0.4 * X[:, 24]
    score += 0.6 * X[:, 16] * (X[:, 17] > 0)
    y = (rng.random(len(X)) < 1 / (1 + np.exp(0.2 - score - 0.3 * X[:, 18]))).astype(
        np.int64
    )
    X = X.astype(np.float32)
    return X[:n], y[:n], X[n:], y[n:]


def ranks(truth: np.ndarray) -> Callable[[Any], dict]:
    """The area under the ROC curve of scores of the test rows."""

    def quality(scores: np.ndarray) -> dict:
        from sklearn.metrics import roc_auc_score

        return {"AUC": roc_auc_score(truth, scores)}

    return quality


def fit_and_score(X, y, test):
    """Fits are timed with the prediction of the test rows, which takes little of the time."""
    return lambda model: model.fit(X, y).predict_proba(test)[:, 1]


def boosters(X, y, test, rounds) -> tuple[Callable, Callable]:
    """LightGBM and XGBoost by their native interfaces: settings -> contender."""

    def lightgbm(**more):
        def prepare():
            import lightgbm as lgb

            common = {
                "objective": "binary",
                "verbose": -1,
                "num_threads": THREADS,
                "seed": 0,
            }
            return lambda: lgb.train(common | more, lgb.Dataset(X, y), rounds).predict(
                test
            )

        return prepare

    def xgboost(**more):
        def prepare():
            import xgboost as xgb

            common = {
                "objective": "binary:logistic",
                "nthread": THREADS,
                "seed": 0,
                "verbosity": 0,
            }
            return lambda: xgb.train(common | more, xgb.DMatrix(X, y), rounds).predict(
                xgb.DMatrix(test)
            )

        return prepare

    return lightgbm, xgboost


@workload
def tree_full(scale):
    X, y, test, truth = rows_with_interactions(size(200_000, scale), 20)
    use = fit_and_score(X, y, test)
    return Workload(
        "Trees",
        "Decision tree, exact, fully grown, n=200k d=20 float32",
        {
            "lyceum": learner("lyceum.trees.DecisionTreeClassifier", use),
            "sklearn DecisionTree": learner(
                "sklearn.tree.DecisionTreeClassifier", use, random_state=0
            ),
        },
        ranks(truth),
        ("AUC", +1, 1e-2),
    )


@workload
def tree_depth_8(scale):
    X, y, test, truth = rows_with_interactions(size(200_000, scale), 20)
    use = fit_and_score(X, y, test)
    lightgbm, xgboost = boosters(X, y, test, 1)
    one = {"max_depth": 8, "learning_rate": 1.0, "lambda": 0.0, "min_child_weight": 0.0}
    return Workload(
        "Trees",
        "Decision tree, max_depth=8, n=200k d=20 float32 (lyceum and sklearn: exact)",
        {
            "lyceum": learner("lyceum.trees.DecisionTreeClassifier", use, max_depth=8),
            "sklearn DecisionTree": learner(
                "sklearn.tree.DecisionTreeClassifier", use, max_depth=8, random_state=0
            ),
            "xgboost hist, 1 tree": xgboost(tree_method="hist", **one),
            "xgboost exact, 1 tree": xgboost(tree_method="exact", **one),
            "lightgbm hist, 1 tree": lightgbm(
                max_depth=8,
                num_leaves=256,
                learning_rate=1.0,
                min_data_in_leaf=1,
                min_sum_hessian_in_leaf=0.0,
            ),
        },
        ranks(truth),
        ("AUC", +1, 1e-2),
    )


@workload
def random_forest(scale):
    X, y, test, truth = rows_with_interactions(size(100_000, scale), 20)
    use = fit_and_score(X, y, test)
    _, xgboost = boosters(X, y, test, 1)
    jobs = {"n_estimators": 100, "random_state": 0, "n_jobs": THREADS}
    return Workload(
        "Ensembles",
        "Random forest, 100 trees, n=100k d=20 float32, sqrt features",
        {
            "lyceum": learner(
                "lyceum.ensemble.RandomForestClassifier", use, random_state=0
            ),
            "sklearnex RandomForest": learner(
                "sklearnex.ensemble.RandomForestClassifier", use, **jobs
            ),
            "sklearn RandomForest": learner(
                "sklearn.ensemble.RandomForestClassifier", use, **jobs
            ),
            "xgboost rf": xgboost(
                num_parallel_tree=100,
                subsample=0.63,
                colsample_bynode=0.2,
                max_depth=20,
                learning_rate=1.0,
            ),
        },
        ranks(truth),
        ("AUC", +1, 1e-2),
    )


@workload
def extra_trees(scale):
    X, y, test, truth = rows_with_interactions(size(100_000, scale), 20)
    use = fit_and_score(X, y, test)
    jobs = {"n_estimators": 100, "random_state": 0, "n_jobs": THREADS}
    return Workload(
        "Ensembles",
        "Extremely randomized trees, 100 trees, n=100k d=20 float32, sqrt features",
        {
            "lyceum": learner(
                "lyceum.ensemble.ExtraTreesClassifier", use, random_state=0
            ),
            "sklearnex ExtraTrees": learner(
                "sklearnex.ensemble.ExtraTreesClassifier", use, **jobs
            ),
            "sklearn ExtraTrees": learner(
                "sklearn.ensemble.ExtraTreesClassifier", use, **jobs
            ),
        },
        ranks(truth),
        ("AUC", +1, 1e-2),
    )


@workload
def adaboost(scale):
    X, y, test, truth = rows_with_interactions(size(50_000, scale), 20)
    use = fit_and_score(X, y, test)
    common = {"n_estimators": 200, "random_state": 0}
    return Workload(
        "Ensembles",
        "AdaBoost, 200 stumps, n=50k d=20 float32",
        {
            "lyceum": learner("lyceum.ensemble.AdaBoostClassifier", use, **common),
            "sklearn AdaBoost": learner(
                "sklearn.ensemble.AdaBoostClassifier", use, **common
            ),
        },
        ranks(truth),
        ("AUC", +1, 1e-2),
    )


@workload
def gradient_boosting(scale):
    X, y, test, truth = rows_like_higgs(size(500_000, scale))
    use = fit_and_score(X, y, test)
    lightgbm, xgboost = boosters(X, y, test, 100)
    leaves = {"num_leaves": 31, "learning_rate": 0.1}
    return Workload(
        "Ensembles",
        "Gradient boosting, 100 rounds, 31 leaves, lr 0.1, n=500k d=28 float32 (like HIGGS)",
        {
            "lyceum": learner(
                "lyceum.ensemble.HistGradientBoostingClassifier", use, random_state=0
            ),
            "lightgbm": lightgbm(**leaves),
            "lightgbm quantized": lightgbm(use_quantized_grad=True, **leaves),
            "xgboost hist lossguide": xgboost(
                tree_method="hist",
                grow_policy="lossguide",
                max_leaves=31,
                max_depth=0,
                learning_rate=0.1,
            ),
            "sklearn HistGradientBoosting": learner(
                "sklearn.ensemble.HistGradientBoostingClassifier",
                use,
                early_stopping=False,
                random_state=0,
            ),
        },
        ranks(truth),
        ("AUC", +1, 1.2e-3),
    )


def fitted(where: str, X, y, **settings) -> Any:
    from importlib import import_module

    module, _, name = where.rpartition(".")
    return getattr(import_module(module), name)(**settings).fit(X, y)


def predictions(title, contenders, truth) -> Workload:
    return Workload("Ensembles", title, contenders, ranks(truth), ("AUC", +1, 2e-2))


@workload
def predict_forest(scale):
    X, y, test, truth = rows_with_interactions(100_000, 20)
    many = np.tile(test, (size(1_000_000, scale) // len(test) + 1, 1))[
        : size(1_000_000, scale)
    ]
    truth = np.tile(truth, len(many) // len(truth) + 1)[: len(many)]
    settings = {"n_estimators": 50, "max_depth": 12, "random_state": 0}

    def contender(where, **more):
        model = fitted(where, X, y, **settings, **more)
        return lambda: lambda: model.predict_proba(many)[:, 1]

    return predictions(
        "Prediction of 1M rows by a random forest, 50 trees of depth 12, d=20 float32",
        {
            "lyceum": contender("lyceum.ensemble.RandomForestClassifier"),
            "sklearn RandomForest": contender(
                "sklearn.ensemble.RandomForestClassifier", n_jobs=THREADS
            ),
            "sklearnex RandomForest": contender(
                "sklearnex.ensemble.RandomForestClassifier", n_jobs=THREADS
            ),
        },
        truth,
    )


@workload
def predict_boosted(scale):
    X, y, test, truth = rows_with_interactions(100_000, 28)
    many = np.tile(test, (size(1_000_000, scale) // len(test) + 1, 1))[
        : size(1_000_000, scale)
    ]
    truth = np.tile(truth, len(many) // len(truth) + 1)[: len(many)]

    def ours():
        model = fitted(
            "lyceum.ensemble.HistGradientBoostingClassifier", X, y, random_state=0
        )
        return lambda: model.predict_proba(many)[:, 1]

    def lightgbm():
        import lightgbm as lgb

        settings = {"objective": "binary", "verbose": -1, "num_threads": THREADS}
        model = lgb.train(settings, lgb.Dataset(X, y), 100)
        return lambda: model.predict(many)

    def xgboost():
        import xgboost as xgb

        settings = {
            "objective": "binary:logistic",
            "nthread": THREADS,
            "learning_rate": 0.1,
        }
        leaves = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide"}
        model = xgb.train(settings | leaves, xgb.DMatrix(X, y), 100)
        return lambda: model.inplace_predict(many)

    def hist():
        model = fitted(
            "sklearn.ensemble.HistGradientBoostingClassifier",
            X,
            y,
            early_stopping=False,
        )
        return lambda: model.predict_proba(many)[:, 1]

    return predictions(
        "Prediction of 1M rows by 100 boosted trees of 31 leaves, d=28 float32",
        {
            "lyceum": ours,
            "lightgbm": lightgbm,
            "xgboost": xgboost,
            "sklearn HistGradientBoosting": hist,
        },
        truth,
    )


@workload
def predict_tree(scale):
    X, y, test, truth = rows_with_interactions(200_000, 20)
    many = np.tile(test, (size(1_000_000, scale) // len(test) + 1, 1))[
        : size(1_000_000, scale)
    ]
    truth = np.tile(truth, len(many) // len(truth) + 1)[: len(many)]

    def contender(where, **more):
        model = fitted(where, X, y, **more)
        return lambda: lambda: model.predict_proba(many)[:, 1]

    return predictions(
        "Prediction of 1M rows by a fully grown tree, d=20 float32",
        {
            "lyceum": contender("lyceum.trees.DecisionTreeClassifier"),
            "sklearn DecisionTree": contender(
                "sklearn.tree.DecisionTreeClassifier", random_state=0
            ),
        },
        truth,
    )
