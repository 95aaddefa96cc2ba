"""Networks of several targets: beside models of one target each, fitted to their optimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import PoissonRegressor

from lyceum import load, save
from lyceum.errors import DataError, SettingError
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.neural import MLPClassifier, MLPRegressor

RNG = np.random.default_rng(4)
X = RNG.normal([3.0, 0.0], [1.0, 2.0], size=(120, 2))
Y = X @ RNG.normal(size=(2, 3)) + RNG.normal(size=(120, 3)) * [0.1, 1.0, 5.0] + 7.0
LABELS = (X @ RNG.normal(size=(2, 3)) + RNG.logistic(size=(120, 3)) > 0.5).astype(int)
# without hidden layers and penalty there is one optimum
TO_THE_END = {
    "hidden_layer_sizes": (),
    "solver": "lbfgs",
    "alpha": 0.0,
    "tol": 1e-9,
    "max_iter": 2000,
    "random_state": 0,
}


def test_several_numbers_are_each_fitted_by_least_squares():
    model = MLPRegressor(**TO_THE_END).fit(X, Y)
    lines = LinearRegression().fit(X, Y)
    assert_allclose(model.predict(X), lines.predict(X), rtol=1e-5)
    assert model.score(X, Y) == pytest.approx(lines.score(X, Y))
    assert (model.n_outputs_, model.n_targets_) == (3, 3)
    assert_allclose(model.target_mean_, Y.mean(axis=0))


def test_several_labels_are_each_fitted_by_logistic_regression():
    model = MLPClassifier(**TO_THE_END).fit(X, LABELS)
    for k, label in enumerate(LABELS.T):
        one = LogisticRegression(C=np.inf, tol=1e-10).fit(X, label)
        assert_allclose(
            model.predict_proba(X)[:, k], one.predict_proba(X)[:, 1], rtol=1e-4
        )
    assert_array_equal(model.predict(X), model.predict_proba(X) >= 0.5)
    assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert model.score(X, LABELS) == (model.predict(X) == LABELS).all(axis=1).mean()
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.out_activation_ == "logistic"
    thin = MLPClassifier(**TO_THE_END).fit(X, sparse.csr_array(LABELS))
    assert_array_equal(thin.predict(X), model.predict(X))


def test_counts_are_fitted_as_by_a_poisson_regression():
    y = RNG.poisson(np.exp(0.3 * X[:, 0]))
    w = RNG.uniform(0.5, 2.0, len(y))
    model = MLPRegressor(loss="poisson", **TO_THE_END).fit(X, y, w)
    rate = PoissonRegressor(alpha=0, tol=1e-8, max_iter=1000).fit(X, y, sample_weight=w)
    assert_allclose(model.predict(X), rate.predict(X), rtol=1e-4)
    deviance = y * np.log(np.maximum(y, 1) / model.predict(X)) - y + model.predict(X)
    assert model.loss_ == pytest.approx(np.average(deviance, weights=w), rel=1e-6)
    with pytest.raises(DataError, match="from 0 on"):
        model.fit(X, y - 1)


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_a_network_of_several_targets_learns_stops_and_is_kept(loss, tmp_path):
    targets = np.exp(0.1 * Y)
    settings = {"loss": loss, "hidden_layer_sizes": 5, "learning_rate_init": 0.02}
    model = MLPRegressor(
        **settings, early_stopping=True, max_iter=60, tol=None, random_state=0
    ).fit(X, targets)
    assert model.validation_history_[-1] < model.validation_history_[0]
    save(model, tmp_path / "model.lyceum")
    kept = load(tmp_path / "model.lyceum")
    assert_array_equal(kept.predict(X), model.predict(X))
    model.set_params(early_stopping=False).partial_fit(X, targets)
    kept.set_params(early_stopping=False).partial_fit(X, targets)
    assert_array_equal(kept.predict(X), model.predict(X))
    with pytest.raises(SettingError, match="one network per column"):
        model.explain(X)


def test_labels_go_on_and_columns_of_classes_are_refused():
    model = MLPClassifier(4, loss="squared_error", random_state=0)
    model.partial_fit(X, LABELS, classes=[0, 1, 2])
    first = model.loss_
    for _ in range(20):
        model.partial_fit(X, LABELS)
    assert model.loss_ < first
    with pytest.raises(DataError, match="zeros and ones"):
        model.fit(X, LABELS + 1)
    with pytest.raises(SettingError, match="several labels"):
        MLPClassifier(class_weight="balanced").fit(X, LABELS)


@pytest.mark.parametrize("seed", range(6))
def test_of_ten_rows_two_or_more_are_held_out(seed):
    """The hashes of a seed in ten hold out none of ten rows for a share of .2."""
    model = MLPRegressor(
        early_stopping=True, validation_fraction=0.2, max_iter=1, random_state=seed
    )
    model.set_params(tol=None).fit(X[:10], Y[:10, 0])
    assert len(model.validation_scores_) == 1
