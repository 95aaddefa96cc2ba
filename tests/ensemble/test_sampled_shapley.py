"""Explanations of committees: Shapley values over sampled rows."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from lyceum.bayes import NaiveBayes
from lyceum.ensemble import VotingClassifier, VotingRegressor
from lyceum.linear import LinearRegression, Ridge
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

RNG = np.random.default_rng(5)


def _shapley(value, d):
    """By enumeration of all coalitions."""
    out = np.zeros(d)
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for subset in combinations(others, size):
                out[j] += weight * (value({*subset, j}) - value(set(subset)))
    return out


def _numbers(n=300, d=7):
    X = RNG.normal(size=(n, d))
    y = X[:, 0] * X[:, 1] + 2 * (X[:, 2] > 0) * X[:, 3] + X[:, 4]
    return X, y


@pytest.mark.parametrize(("d", "margin"), [(3, 1e-12), (7, 0.25)])
def test_contributions_are_shapley_values_over_the_background(d, margin):
    X, y = _numbers()
    X = X[:, -d:] if d == 3 else X
    model = VotingRegressor([LinearRegression(), DecisionTreeRegressor(max_depth=6)])
    model.fit(X, y)
    errors = []
    sizes = []
    for x in X[:4]:

        def value(own, x=x):
            mixed = np.where(np.isin(np.arange(d), list(own)), x, model.background_)
            return model.predict(mixed).mean()

        found = model.explain(x[None])
        exact = _shapley(value, d)
        assert found.base[0] == pytest.approx(value(set()))
        assert found.scores[0] == pytest.approx(model.predict(x[None])[0])
        errors += [np.abs(found.contributions[0] - exact).max()]
        sizes += [np.abs(exact).max()]
    # with seven columns the orders are a sample: far below what columns add
    assert max(errors) <= margin * max(1.0, max(sizes))


def test_a_column_at_its_commonest_value_adds_what_it_makes_of_other_rows():
    """Most rows are "no", and "no" lowers the chance: from a row of commonest cells it added 0."""
    n = 400
    bought = RNG.random(n) < 0.4
    other = RNG.normal(size=n)
    sick = RNG.random(n) < np.where(bought, 0.9, 0.1)
    frame = pd.DataFrame({"bought": np.where(bought, "yes", "no"), "other": other})
    tree = DecisionTreeClassifier(max_depth=3)
    model = VotingClassifier([NaiveBayes(), tree], voting="soft").fit(frame, sick)
    row = pd.DataFrame({"bought": ["no"], "other": [0.0]})
    found = model.explain(row)
    assert not found.predicted[0]
    assert found.contributions[0, 0] > 0.2
    assert abs(found.contributions[0, 1]) < 0.05


def test_the_background_depends_neither_on_order_nor_on_repeated_rows():
    X, y = _numbers(60)
    w = RNG.integers(0, 4, 60)
    members = [LinearRegression(), DecisionTreeRegressor(max_depth=3)]
    model = VotingRegressor(members, random_state=0).fit(X, y, w)
    repeated = np.repeat(np.arange(60), w)
    shuffled = RNG.permutation(repeated)
    again = VotingRegressor(members, random_state=1).fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(model.background_, again.background_)
    assert len(np.unique(model.background_, axis=0)) > 20
    # the same numbers, whichever rows are explained together
    alone = [model.explain(x[None]).contributions for x in X[:9]]
    found = model.explain(X[:9]).contributions
    np.testing.assert_allclose(found, np.vstack(alone), atol=1e-12)


@pytest.mark.parametrize(("d", "most"), [(2, 300), (20, 1_300), (300, 2_500)])
def test_the_rows_that_are_asked_for_are_bounded(d, most):
    asked = []

    class Counting(Ridge):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    X = RNG.normal(size=(40, d))
    model = VotingRegressor([("one", Counting())]).fit(X, X[:, 0])
    asked.clear()
    model.explain(X[:1])
    assert 0 < sum(asked) <= most
