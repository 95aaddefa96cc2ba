"""Workloads of cascades, transfer, active learning and reinforcement learning, beside plain
formulations.

No library is a peer of most of these: they are timed beside the same method written down with
scikit-learn and NumPy, or beside the learner without it, whose quality it should surpass.
"""

from __future__ import annotations

import numpy as np
from workloads import Workload, fit_predictor, size, workload


def _classes(n: int, d: int, seed: int):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (2.0 * X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n) > 0).astype(
        int
    )
    return X, y


def _accuracy(X, y):
    return lambda predict: {"accuracy": float((np.asarray(predict(X)) == y).mean())}


@workload
def cascade(scale):
    """Predictions only: a cascade is slower to fit, for its thresholds, and quicker to ask."""
    (X, y), (Z, truth) = _classes(5_000, 10, 60), _classes(size(200_000, scale), 10, 61)
    few = [0, 1, 2]

    def forest():
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(100, min_samples_leaf=3, random_state=0)

    def ours():
        from sklearn.naive_bayes import GaussianNB

        from lyceum.ensemble import CascadeClassifier

        stages = [("bayes", GaussianNB(), few), ("forest", forest())]
        model = CascadeClassifier(stages, thresholds=[0.95], cv=3, random_state=0).fit(
            X, y
        )
        return lambda: model.predict(Z)

    def by_hand():
        from sklearn.naive_bayes import GaussianNB

        first, last = GaussianNB().fit(X[:, few], y), forest().fit(X, y)

        def run():
            proba = first.predict_proba(Z[:, few])
            out = proba.argmax(axis=1)
            doubt = proba.max(axis=1) < 0.95
            out[doubt] = last.predict(Z[doubt])
            return out

        return run

    def alone():
        last = forest().fit(X, y)
        return lambda: last.predict(Z)

    return Workload(
        "Committees",
        "cascade of naive Bayes on 3 columns and a forest of scikit-learn's, 200k predictions,"
        " d=10",
        {"lyceum": ours, "sklearn by hand": by_hand, "forest alone": alone},
        lambda out: {"accuracy": float((np.asarray(out) == truth).mean())},
        ("accuracy", 1, 0.01),
    )


@workload
def auxiliary_targets(scale):
    n = size(20_000, scale)
    rng = np.random.default_rng(62)
    X = rng.standard_normal((2 * n, 6))
    hints = np.column_stack(
        [np.sin(3.0 * X[:, 0]), X[:, 1] + X[:, 2]]
    )  # clean, where the target is noisy
    y = (hints.sum(axis=1) + rng.standard_normal(2 * n) > 0).astype(int)
    train, unknown = (
        np.hstack([X, hints])[:n],
        np.hstack([X, np.full((2 * n, 2), np.nan)])[n:],
    )

    def ours():
        from lyceum.ensemble import AuxiliaryTargets

        return AuxiliaryTargets(auxiliary=[6, 7], random_state=0)

    def by_hand():
        from sklearn.model_selection import cross_val_predict
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        def run():
            tree = DecisionTreeRegressor(max_depth=6)
            said = [cross_val_predict(tree, X[:n], hints[:n, j], cv=5) for j in (0, 1)]
            members = [
                DecisionTreeRegressor(max_depth=6).fit(X[:n], hints[:n, j])
                for j in (0, 1)
            ]
            main = DecisionTreeClassifier(max_depth=6).fit(
                np.column_stack([X[:n], *said]), y[:n]
            )
            return lambda Z: main.predict(
                np.column_stack([Z[:, :6], *(one.predict(Z[:, :6]) for one in members)])
            )

        return run

    def alone():
        from sklearn.tree import DecisionTreeClassifier

        def run():
            tree = DecisionTreeClassifier(max_depth=6).fit(X[:n], y[:n])
            return lambda Z: tree.predict(Z[:, :6])

        return run

    return Workload(
        "Committees",
        "two auxiliary targets beside the main one, trees of depth 6, n=20k d=6",
        {
            "lyceum": fit_predictor(ours, train, y[:n]),
            "sklearn by hand": by_hand,
            "tree without them": alone,
        },
        _accuracy(unknown, y[n:]),
        ("accuracy", 1, 0.01),
    )


def _domains(n: int, few: int, seed: int):
    """Rows of another task, a quarter of which follow another rule, and few of the task."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + few, 8))
    domain = np.arange(n + few) >= n
    same = domain | (np.arange(n + few) % 4 > 0)
    return X, np.where(same, X[:, 0] + X[:, 1] > 0, X[:, 2] > 0).astype(int), domain


@workload
def transfer_boost(scale):
    X, y, domain = _domains(size(50_000, scale), 50, 63)
    rng = np.random.default_rng(64)
    Z = rng.standard_normal((20_000, 8))
    truth = Z[:, 0] + Z[:, 1] > 0
    rounds = 20

    def ours():
        from lyceum.transfer import TrAdaBoost

        return TrAdaBoost(n_estimators=rounds, random_state=0)

    def by_hand():
        from sklearn.tree import DecisionTreeClassifier

        def run():
            w = np.where(domain, 0.5 / domain.sum(), 0.5 / (~domain).sum())
            shrink = 1.0 / (1.0 + np.sqrt(2.0 * np.log((~domain).sum()) / rounds))
            members = []
            for _ in range(rounds):
                tree = DecisionTreeClassifier(max_depth=2).fit(X, y, w / w.sum())
                wrong = tree.predict(X) != y
                error = min(
                    max(w[domain & wrong].sum() / w[domain].sum(), 1e-10), 0.499
                )
                w[~domain & wrong] *= shrink
                w[~domain] *= 2.0 * (1.0 - error)
                w[domain & wrong] *= (1.0 - error) / error
                members.append((np.log((1.0 - error) / error), tree))
            return lambda rows: (
                sum(a * (2.0 * tree.predict(rows) - 1.0) for a, tree in members) > 0
            )

        return run

    def alone():
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        return AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=rounds, random_state=0
        )

    return Workload(
        "Transfer",
        "20 rounds of boosting across domains, 50k rows of another task and 50 of this one, d=8",
        {
            "lyceum": fit_predictor(ours, X, y, domain=domain),
            "sklearn by hand": by_hand,
            "AdaBoost on the 50": fit_predictor(alone, X[domain], y[domain]),
            "AdaBoost on all rows": fit_predictor(alone, X, y),
        },
        lambda predict: {
            "error on the target": float((np.asarray(predict(Z)) != truth).mean())
        },
        ("error on the target", -1, 0.01),
    )


@workload
def prior_shift(scale):
    n = size(500_000, scale)
    rng = np.random.default_rng(65)
    y = rng.integers(0, 3, 30_000)
    X = rng.standard_normal((30_000, 5)) + 1.2 * np.eye(3, 5)[y]
    new = rng.choice(3, n, p=[0.8, 0.15, 0.05])
    Z = rng.standard_normal((n, 5)) + 1.2 * np.eye(3, 5)[new]

    def model():
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB()

    def ours():
        from lyceum.transfer import PriorShift

        shifted = PriorShift(model()).fit(X, y)
        return lambda: shifted.adapt(Z).predict(Z)

    def by_hand():
        member = model().fit(X, y)

        def run():
            proba, old = member.predict_proba(Z), member.class_prior_
            now = old
            for _ in range(1000):
                soft = proba * (now / old)
                soft /= soft.sum(axis=1, keepdims=True)
                before, now = now, soft.mean(axis=0)
                if np.abs(now - before).max() < 1e-8:
                    break
            return (proba * (now / old)).argmax(axis=1)

        return run

    def alone():
        member = model().fit(X, y)
        return lambda: member.predict(Z)

    return Workload(
        "Transfer",
        "class shares of 500k unlabeled rows by EM, and predictions with them, d=5, 3 classes",
        {"lyceum": ours, "NumPy by hand": by_hand, "as it was trained": alone},
        lambda out: {"accuracy": float((np.asarray(out) == new).mean())},
        ("accuracy", 1, 0.005),
    )


@workload
def model_as_prior(scale):
    n = size(100_000, scale)
    rng = np.random.default_rng(66)
    d, few = 30, 60
    first, moved = rng.standard_normal(d), 0.3 * rng.standard_normal(d)
    X = rng.standard_normal((n + few + 20_000, d))
    y = np.where(np.arange(len(X)) < n, X @ first > 0, X @ (first + moved) > 0).astype(
        int
    )

    def source():
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression().fit(X[:n], y[:n])

    some, labels = X[n : n + few], y[n : n + few]

    def ours():
        from lyceum.transfer import PriorTransfer

        model, given = PriorTransfer(), source()
        return lambda: model.fit(some, labels, source=given).predict

    def by_hand():
        from scipy.optimize import minimize
        from scipy.special import expit

        given = source()
        sign = 2.0 * labels - 1.0

        def run():
            offset = given.decision_function(some)

            def loss(v):  # the penalty of two opposite rows of V
                margin = sign * (offset + some @ v[:-1] + v[-1])
                pull = -sign * expit(-margin)
                gradient = np.append(some.T @ pull + 0.5 * v[:-1], pull.sum())
                return np.logaddexp(0.0, -margin).sum() + 0.25 * v[:-1] @ v[
                    :-1
                ], gradient

            v = minimize(loss, np.zeros(d + 1), jac=True, method="L-BFGS-B").x
            return lambda Z: (
                given.decision_function(Z) + Z @ v[:-1] + v[-1] > 0
            ).astype(int)

        return run

    def alone():
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()

    return Workload(
        "Transfer",
        "logistic model of 100k rows of another task as prior for 60 rows, d=30",
        {
            "lyceum": ours,
            "SciPy by hand": by_hand,
            "the 60 rows alone": fit_predictor(alone, some, labels),
        },
        _accuracy(X[n + few :], y[n + few :]),
        ("accuracy", 1, 0.01),
    )


@workload
def active_learning(scale):
    (X, y), test = _classes(size(20_000, scale), 10, 67), _classes(20_000, 10, 68)
    queries = 100

    def model():
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(solver="liblinear")

    def ours(strategy):
        def prepare():
            from lyceum.semi_supervised import active_learning as learn

            more = {
                "strategy": strategy,
                "labeled": np.arange(10),
                "n_queries": queries,
                "random_state": 0,
            }
            return lambda: learn(model(), X, y, **more).estimator.predict

        return prepare

    def by_hand():
        def run():
            rows = list(range(10))
            for _ in range(queries):
                doubt = 1.0 - model().fit(X[rows], y[rows]).predict_proba(X).max(axis=1)
                doubt[rows] = -1.0
                rows.append(int(doubt.argmax()))
            return model().fit(X[rows], y[rows]).predict

        return run

    return Workload(
        "Active learning",
        "100 questions by uncertainty, logistic regression of scikit-learn's, 20k rows, d=10",
        {
            "lyceum": ours("uncertainty"),
            "sklearn by hand": by_hand,
            "lyceum at random": ours("random"),
        },
        _accuracy(*test),
        ("accuracy", 1, 0.02),
    )
