"""Bagging of Lyceum's own trees."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from lyceum.ensemble import BaggingClassifier, BaggingRegressor
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = load_iris(return_X_y=True)
Z, T = load_diabetes(return_X_y=True)


def gappy(n=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "old": rng.random(n) < 0.5,
        }
    )
    y = np.where(
        frame["a"] + (frame["town"] == "Ulm") + 0.3 * rng.normal(size=n) > 0.5,
        "yes",
        "no",
    )
    frame.loc[::6, "a"] = np.nan
    frame.loc[::11, "town"] = None
    return frame, y


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("missing", ["learned", "fractions"])
@pytest.mark.parametrize("max_features", [1.0, 2])
def test_trees_together_answer_as_one_by_one(voting, missing, max_features):
    frame, y = gappy()
    tree = DecisionTreeClassifier(missing=missing, max_depth=4)
    bag = BaggingClassifier(
        tree, 5, voting=voting, max_features=max_features, random_state=0
    ).fit(frame, y)
    answers = []
    for member, columns in zip(bag.estimators_, bag.estimators_features_):
        some = frame if columns is None else frame.iloc[:, columns]
        proba = member.predict_proba(some)
        voted = (member.predict(some)[:, None] == bag.classes_).astype(float)
        answers.append(proba if voting == "soft" else voted)
    np.testing.assert_allclose(
        bag.predict_proba(frame), np.mean(answers, axis=0), atol=1e-12
    )
    stages = list(bag.staged_predict_proba(frame))
    np.testing.assert_allclose(stages[2], np.mean(answers[:3], axis=0), atol=1e-12)


@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_explanations_sum_to_the_prediction(max_features):
    classifier = BaggingClassifier(
        n_estimators=4, max_features=max_features, random_state=0
    ).fit(X, Y)
    explained = classifier.explain(X[::7])
    np.testing.assert_allclose(
        explained.scores, classifier.predict_proba(X[::7]).max(axis=1)
    )
    regressor = BaggingRegressor(
        n_estimators=4, max_features=max_features, random_state=0
    ).fit(Z, T)
    explained = regressor.explain(Z[::17])
    np.testing.assert_allclose(explained.scores, regressor.predict(Z[::17]))
    one_by_one = np.mean(
        [
            member.explain(Z[::17] if some is None else Z[::17][:, some]).scores
            for member, some in zip(
                regressor.estimators_, regressor.estimators_features_
            )
        ],
        axis=0,
    )
    np.testing.assert_allclose(explained.scores, one_by_one)


@pytest.mark.syllabus("11.3")
def test_bagged_trees_are_better_than_one():
    tree = DecisionTreeRegressor().fit(Z[::2], T[::2])
    bag = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(
        Z[::2], T[::2]
    )
    errors = [np.mean((model.predict(Z[1::2]) - T[1::2]) ** 2) for model in (tree, bag)]
    assert errors[1] < 0.7 * errors[0]
    assert abs(bag.oob_mse_ - errors[1]) < 0.25 * errors[1]
    assert bag.oob_mse_ < bag.oob_errors_.mean()


def test_a_pickle_keeps_every_member():
    for model, data in (
        (BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0), (X, Y)),
        (BaggingRegressor(n_estimators=5, random_state=0), (Z, T)),
    ):
        model.fit(*data)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))
        for one, two in zip(model.estimators_, again.estimators_):
            assert type(one) is type(two)
            assert vars(one).keys() == vars(two).keys()
            assert str(one.schema_) == str(two.schema_)


def test_a_subclass_whose_fit_takes_only_X_and_y_is_bagged():
    class Plain(DecisionTreeClassifier):
        def fit(self, X, y):
            return super().fit(X, y)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    ours = BaggingClassifier(Plain(), 5, random_state=0).fit(X, y)
    for member, rows in zip(ours.estimators_, ours.estimators_samples_):
        alone = DecisionTreeClassifier().fit(X[rows], y[rows])
        assert (member.predict(X) == alone.predict(X)).all()
