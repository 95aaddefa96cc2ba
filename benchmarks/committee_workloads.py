"""Workloads of committees, label propagation and isolation forests, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
from workloads import Workload, fit_predictor, size, workload


def _classes(n: int, d: int, seed: int, noise: float = 1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + noise * 0.3 * rng.standard_normal(n) > 0).astype(
        int
    )
    return X, y


def _accuracy(X, y):
    return lambda predict: {"accuracy": float((np.asarray(predict(X)) == y).mean())}


def _members():
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    return [
        ("nb", GaussianNB()),
        ("logistic", LogisticRegression()),
        ("tree", DecisionTreeClassifier(max_depth=8, random_state=0)),
    ]


def _alone(X, y):
    """The members without a committee: what it may not be much slower than."""

    def prepare():
        def run():
            fitted = [one.fit(X, y) for _, one in _members()]
            return lambda Z: (
                np.mean([one.predict_proba(Z)[:, 1] for one in fitted], axis=0) > 0.5
            )

        return run

    return prepare


@workload
def committee(scale):
    n = size(100_000, scale)
    (X, y), test = _classes(n, 20, 50), _classes(20_000, 20, 51)

    def ours():
        from lyceum.ensemble import VotingClassifier

        return VotingClassifier(_members(), voting="soft")

    def theirs():
        from sklearn.ensemble import VotingClassifier

        return VotingClassifier(_members(), voting="soft")

    return Workload(
        "Committees",
        "three scikit-learn members, mean of posteriors, n=100k d=20",
        {
            "lyceum": fit_predictor(ours, X, y),
            "sklearn": fit_predictor(theirs, X, y),
            "members alone": _alone(X, y),
        },
        _accuracy(*test),
        ("accuracy", 1, 0.005),
    )


@workload
def stacking(scale):
    n = size(25_000, scale)
    (X, y), test = _classes(n, 20, 52), _classes(20_000, 20, 53)

    def ours():
        from sklearn.linear_model import LogisticRegression

        from lyceum.ensemble import StackingClassifier

        return StackingClassifier(
            _members(), LogisticRegression(), cv=5, random_state=0
        )

    def theirs():
        from sklearn.ensemble import StackingClassifier
        from sklearn.linear_model import LogisticRegression

        return StackingClassifier(_members(), LogisticRegression(), cv=5)

    return Workload(
        "Committees",
        "stacking of three scikit-learn members, 5 folds, n=25k d=20",
        {"lyceum": fit_predictor(ours, X, y), "sklearn": fit_predictor(theirs, X, y)},
        _accuracy(*test),
        ("accuracy", 1, 0.005),
    )


def _moons(n: int):
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=0.1, random_state=0)
    given = np.full(n, -1)
    for k in (0, 1):
        given[np.flatnonzero(y == k)[:50]] = k
    return X, y, given


def _transduced(make, X, given):
    def prepare():
        model = make()

        def run():
            model.fit(X, given)
            found = model.label_distributions_.argmax(axis=1)
            return found

        return run

    return prepare


@workload
def label_propagation(scale):
    n = size(100_000, scale)
    X, y, given = _moons(n)

    def ours():
        from lyceum.semi_supervised import LabelSpreading

        return LabelSpreading(
            "nearest", gamma=None, n_neighbors=7, alpha=0.99, max_iter=1000
        )

    def theirs():
        from sklearn.semi_supervised import LabelSpreading

        return LabelSpreading(
            kernel="knn", n_neighbors=7, alpha=0.99, max_iter=1000, n_jobs=-1
        )

    return Workload(
        "Unlabeled rows",
        "label spreading, 100 labels, n=100k d=2, graph of 7 neighbors",
        {
            "lyceum": _transduced(ours, X, given),
            "sklearn": _transduced(theirs, X, given),
        },
        lambda labels: {"accuracy": float((labels == y).mean())},
        ("accuracy", 1, 0.005),
    )


@workload
def isolation(scale):
    n = size(200_000, scale)
    rng = np.random.default_rng(54)
    X = np.vstack(
        [rng.standard_normal((n, 10)), rng.standard_normal((n // 100, 10)) + 3.0]
    )
    truth = np.repeat([0, 1], [n, n // 100])

    def scored(make):
        def prepare():
            model = make()
            return lambda: -model.fit(X).score_samples(X)

        return prepare

    def ours():
        from lyceum.anomaly import IsolationForest

        return IsolationForest(random_state=0)

    def theirs():
        from sklearn.ensemble import IsolationForest

        return IsolationForest(random_state=0, n_jobs=-1)

    def quality(scores):
        from sklearn.metrics import roc_auc_score

        return {"AUC": float(roc_auc_score(truth, scores))}

    return Workload(
        "Anomalies",
        "isolation forest, 100 trees, fit and score n=200k d=10",
        {"lyceum": scored(ours), "sklearn n_jobs=-1": scored(theirs)},
        quality,
        ("AUC", 1, 0.01),
    )


def _hundredth(n: int):
    """Three Gaussian classes; one row in a hundred has a label."""
    rng = np.random.default_rng(55)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, 10)) + 1.2 * np.eye(3, 10)[y]
    return X, y, np.where(np.arange(n) < n // 100, y, -1)


@workload
def self_training(scale):
    X, y, given = _hundredth(size(100_000, scale))

    def ours():
        from lyceum.semi_supervised import SelfTrainingClassifier

        return SelfTrainingClassifier(threshold=0.9)

    def theirs():
        from sklearn.naive_bayes import GaussianNB
        from sklearn.semi_supervised import (
            SelfTrainingClassifier as TheirSelfTrainingClassifier,
        )

        return TheirSelfTrainingClassifier(GaussianNB(), threshold=0.9)

    return Workload(
        "Unlabeled rows",
        "self-training of naive Bayes, one label in a hundred, n=100k d=10",
        {
            "lyceum": fit_predictor(ours, X, given),
            "sklearn": fit_predictor(theirs, X, given),
        },
        _accuracy(X, y),
        ("accuracy", 1, 0.005),
    )


@workload
def semi_supervised_em(scale):
    X, y, given = _hundredth(size(100_000, scale))
    known, hidden = np.flatnonzero(given >= 0), np.flatnonzero(given < 0)
    steps = 20

    def ours():
        from lyceum.bayes import NaiveBayes
        from lyceum.semi_supervised import SemiSupervisedEM

        return SemiSupervisedEM(NaiveBayes(estimate="raw"), max_iter=steps, tol=0.0)

    def theirs():
        from sklearn.naive_bayes import GaussianNB

        rows = np.concatenate([known, np.tile(hidden, 3)])
        labels = np.concatenate([given[known], np.repeat([0, 1, 2], len(hidden))])

        def run():
            model = GaussianNB().fit(X[known], given[known])
            for _ in range(steps):
                soft = model.predict_proba(X[hidden])
                model = GaussianNB().fit(
                    X[rows], labels, np.append(np.ones(len(known)), soft.T.ravel())
                )
            return model.predict

        return run

    return Workload(
        "Unlabeled rows",
        "20 steps of EM over naive Bayes, one label in a hundred, n=100k d=10",
        {"lyceum": fit_predictor(ours, X, given), "sklearn in a loop": theirs},
        _accuracy(X, y),
        ("accuracy", 1, 0.005),
    )


@workload
def far_from_neighbors(scale):
    n = size(20_000, scale)
    rng = np.random.default_rng(56)
    X = np.vstack(
        [rng.standard_normal((n, 10)), 2.0 * rng.standard_normal((n // 100, 10))]
    )
    truth = np.repeat([0, 1], [n, n // 100])

    def ours():
        from lyceum.anomaly import NeighborAnomalyScore

        model = NeighborAnomalyScore(metric="euclidean")
        return lambda: -model.fit(X).score_samples(X)

    def theirs():
        from sklearn.neighbors import NearestNeighbors

        model = NearestNeighbors(n_neighbors=10)
        return lambda: model.fit(X).kneighbors(X)[0].mean(axis=1)

    def quality(scores):
        from sklearn.metrics import roc_auc_score

        return {"AUC": float(roc_auc_score(truth, scores))}

    return Workload(
        "Anomalies",
        "mean distance to 10 nearest rows, n=20k d=10",
        {"lyceum": ours, "sklearn": theirs},
        quality,
        ("AUC", 1, 0.01),
    )


@workload
def experts(scale):
    n = size(20_000, scale)
    rng = np.random.default_rng(57)
    X = rng.standard_normal((n, 5))
    y = np.where(X[:, 0] > 0, X[:, 1], -2.0 * X[:, 2]) + 0.1 * rng.standard_normal(n)

    def ours():
        from lyceum.ensemble import MixtureOfExperts

        return MixtureOfExperts(n_experts=2, random_state=0)

    def peer():
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor()

    def quality(predict):
        return {"R2": float(1.0 - np.mean((np.asarray(predict(X)) - y) ** 2) / y.var())}

    return Workload(
        "Committees",
        "two linear experts under a gate, beside boosted trees of scikit-learn, n=20k d=5",
        {
            "lyceum": fit_predictor(ours, X, y),
            "sklearn boosting": fit_predictor(peer, X, y),
        },
        quality,
        ("R2", 1, 0.02),
    )
