"""Linear classifiers that go on learning."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from lyceum import load, save
from lyceum.errors import SchemaError, SettingError
from lyceum.linear import LogisticRegression, Perceptron

RNG = np.random.default_rng(0)
X = RNG.normal([5.0, 0.0, -2.0], size=(400, 3))
NOISY = (X @ [1.0, -1.0, 0.5] + RNG.logistic(size=400) > 4.0).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=400), [4.5, 5.5])
CLEAN = np.where(X[:, 0] - X[:, 1] > 5.0, "yes", "no")


@pytest.mark.parametrize("y", [CLEAN, THREE])
def test_passes_of_the_perceptron_one_by_one_are_those_of_fit(y):
    model = Perceptron(tol=None, penalty="l2", record=True)
    with pytest.warns(Warning, match="Perceptron made"):
        whole = clone(model).set_params(max_iter=4).fit(X, y)
    for _ in range(4):
        model.partial_fit(X, y)
    assert model.history_ == whole.history_
    assert len(model.record_) == 4
    assert_allclose(model.coef_, whole.coef_, rtol=1e-10)
    assert_allclose(model.intercept_, whole.intercept_, rtol=1e-10)
    assert_allclose(model.mean_, X.mean(axis=0))


def test_the_perceptron_goes_on_after_fit_and_after_loading(tmp_path):
    model = Perceptron(center=True, tol=None).fit(X[:200], CLEAN[:200])
    save(model, tmp_path / "model.lyceum")
    kept = load(tmp_path / "model.lyceum").partial_fit(X[200:], CLEAN[200:])
    model.partial_fit(X[200:], CLEAN[200:])
    assert_allclose(kept.coef_, model.coef_)
    assert model.n_rows_ == 400
    assert model.score(X, CLEAN) > 0.95


@pytest.mark.parametrize("learner", [Perceptron(center=True), LogisticRegression()])
def test_classes_are_named_in_the_first_call(learner):
    first = np.flatnonzero(NOISY == 0)[:20]
    model = (
        clone(learner)
        .partial_fit(X[first], NOISY[first], classes=[0, 1])
        .partial_fit(X, NOISY)
    )
    assert model.score(X, NOISY) > 0.6
    with pytest.raises(SchemaError, match="name all classes in the first partial_fit"):
        model.partial_fit(X, np.where(NOISY == 1, 7, 0))


@pytest.mark.parametrize("y", [NOISY, THREE])
def test_logistic_regression_goes_on_from_the_optimum_of_a_fit(y):
    whole = LogisticRegression().fit(X, y)
    model = LogisticRegression().fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    assert model.n_rows_ == 400
    before = LogisticRegression().fit(X[:300], y[:300])
    near = np.abs(model.predict_proba(X) - whole.predict_proba(X)).max()
    assert near < 0.35 * np.abs(before.predict_proba(X) - whole.predict_proba(X)).max()
    assert_allclose(model.standard_errors_, whole.standard_errors_, rtol=0.1)
    again = (
        LogisticRegression().fit(X[:300], y[:300]).partial_fit(X[300:350], y[300:350])
    )
    assert_allclose(again.partial_fit(X[350:], y[350:]).coef_, model.coef_, rtol=1e-9)


def test_what_cannot_go_on_says_so():
    for settings, why in (
        ({"C": np.inf}, "a finite C"),
        ({"l1_ratio": 0.5}, "give l1_ratio=0"),
        ({"class_weight": "balanced"}, "give class_weight as a dict"),
    ):
        model = LogisticRegression(**settings)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as caught:
            model.partial_fit(X, NOISY)
        assert why in str(caught.value.__cause__)
    with pytest.raises(SettingError, match="kept no covariance"):
        LogisticRegression(standard_errors=False).fit(X, NOISY).partial_fit(X, NOISY)
