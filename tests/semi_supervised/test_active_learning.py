"""Active learning: what is asked, and that it helps."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier as SkTree

from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, SettingError
from lyceum.linear import LogisticRegression
from lyceum.semi_supervised import STRATEGIES, active_learning, query_scores

P = np.array(
    [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.4, 0.3, 0.3], [1 / 3, 1 / 3, 1 / 3]]
)


@pytest.mark.syllabus("15.2.1")
def test_scores_by_hand():
    np.testing.assert_allclose(query_scores("uncertainty", P), [0.1, 0.5, 0.6, 2 / 3])
    np.testing.assert_allclose(
        query_scores("margin", P), [-0.85, 0.0, -0.1, 0.0], atol=1e-15
    )
    entropy = query_scores("entropy", P)
    assert entropy[1] == pytest.approx(np.log(2))
    assert entropy[3] == pytest.approx(np.log(3))
    members = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]])
    np.testing.assert_allclose(
        query_scores("committee", None or P, committee=members), [np.log(2), 0.0]
    )
    crowd = np.vstack([np.zeros((9, 2)), [[8.0, 8.0]]])
    worth = query_scores("density", np.full((10, 2), 0.5), crowd)
    assert worth[:9].min() > worth[9]


def task(seed, n=600):
    """Two classes of a linear rule among eight columns, six of them noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def line(seed, n=300):
    X = np.random.default_rng(seed).normal(size=(n, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def sectors(seed, n=300):
    """Three classes by the angle in the first two of four columns."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.digitize(np.arctan2(X[:, 1], X[:, 0]), [-np.pi / 3, np.pi / 3])


def corner(seed, n=300):
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 3))
    return X, ((X[:, 0] > 0.1) & (X[:, 1] > -0.4)).astype(int)


class PlainLogistic(BaseEstimator):
    """Softmax regression with an L2 penalty by Newton's steps, without the checks of a library."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        K, Z = len(self.classes_), np.column_stack([X, np.ones(len(X))])
        d, self.W = Z.shape[1], np.zeros((Z.shape[1], K))
        penalty = np.append(np.ones(d - 1), 1e-6)  # the intercept is all but free
        for _ in range(8):
            P = softmax(Z @ self.W, axis=1)
            slope = Z.T @ (P - np.eye(K)[codes]) + penalty[:, None] * self.W
            V = np.einsum("nk,kl->nkl", P, np.eye(K)) - P[:, :, None] * P[:, None, :]
            H = np.einsum("ni,nkl,nj->ikjl", Z, V, Z, optimize=True).reshape(
                d * K, d * K
            )
            step = np.linalg.solve(H + np.diag(np.repeat(penalty, K)), slope.ravel())
            self.W = self.W - step.reshape(d, K)
        return self

    def predict_proba(self, X):
        return softmax(X @ self.W[:-1] + self.W[-1], axis=1)

    def score(self, X, y):
        return np.mean(self.classes_[self.predict_proba(X).argmax(axis=1)] == y)


class PlainTree(SkTree):
    """A tree that takes its rows unchecked."""

    def fit(self, X, y):
        return super().fit(X.astype(np.float32), y, check_input=False)

    def predict_proba(self, X):
        return super().predict_proba(X.astype(np.float32), check_input=False)

    def score(self, X, y):
        return np.mean(self.classes_[self.predict_proba(X).argmax(axis=1)] == y)


@pytest.mark.syllabus("15.2")
@pytest.mark.parametrize(
    ("learner", "task", "margins", "batch_size"),
    [
        (
            PlainLogistic(),
            sectors,
            {"uncertainty": 0.015, "margin": 0.03, "entropy": 0.01},
            10,
        ),
        (PlainLogistic(), line, {"density": 0.012}, 10),
        (
            PlainTree(random_state=0),
            corner,
            {"committee": 0.015},
            5,
        ),  # trees are sure: posteriors tell nothing
    ],
    ids=["sectors", "line", "corner"],
)
def test_asking_beats_drawing_by_a_margin_over_twenty_seeds(
    learner, task, margins, batch_size
):
    """Accuracy on 500 fresh rows with 40 labels of 300, 10 of them drawn first."""
    gains = {strategy: [] for strategy in margins}
    for seed in range(20):
        X, y = task(seed)
        settings = {
            "n_queries": 30,
            "batch_size": batch_size,
            "test": task(1000 + seed, 500),
        }
        drawn = active_learning(
            learner, X, y, strategy="random", random_state=seed, **settings
        )
        for strategy, found in gains.items():
            asked = active_learning(
                learner, X, y, strategy=strategy, random_state=seed, **settings
            )
            np.testing.assert_array_equal(asked.n_labeled, drawn.n_labeled)
            found.append(asked.scores[-1] - drawn.scores[-1])
    for strategy, found in gains.items():
        assert np.mean(found) > margins[strategy], strategy
        assert np.mean(np.array(found) > 0) >= 0.65, strategy


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_asks_each_row_once(strategy):
    X, y = task(0, 80)
    found = active_learning(
        LogisticRegression(), X, y, strategy=strategy, n_queries=8, random_state=0
    )
    assert len(set(found.queried.tolist())) == 8
    np.testing.assert_array_equal(found.labels, y[found.queried])
    np.testing.assert_array_equal(
        found.estimator.predict(X[:3]),
        LogisticRegression().fit(X[found.labeled], y[found.labeled]).predict(X[:3]),
    )
    again = active_learning(
        LogisticRegression(), X, y, strategy=strategy, n_queries=8, random_state=0
    )
    np.testing.assert_array_equal(found.queried, again.queried)


@pytest.mark.syllabus("15.2.2")
def test_an_oracle_may_stop_and_frames_are_asked_about():
    frame = pd.DataFrame({"x": np.arange(40.0), "town": ["Ulm", "Bonn"] * 20})
    answers = iter(range(12))

    def oracle(row):
        return None if next(answers, None) is None else "high" if row >= 20 else "low"

    found = active_learning(
        NaiveBayes(), frame, oracle, n_start=4, n_queries=30, random_state=0
    )
    assert len(found.labeled) == 12
    assert (
        found.estimator.score(frame, np.where(np.arange(40) >= 20, "high", "low")) > 0.8
    )


def test_what_cannot_start_is_said():
    X, y = task(0, 30)
    with pytest.raises(SettingError, match="strategy must be one of"):
        active_learning(LogisticRegression(), X, y, strategy="guess")
    with pytest.raises(DataError, match="two classes at least"):
        active_learning(LogisticRegression(), X, np.zeros(30))
    with pytest.raises(DataError, match="knows 3 labels of 30 rows"):
        active_learning(LogisticRegression(), X, y[:3])
