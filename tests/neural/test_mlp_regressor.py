"""MLPRegressor: against scikit-learn and least squares, and in the target's units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor as Peer

from lyceum.errors import SettingError
from lyceum.linear import LinearRegression, Ridge
from lyceum.neural import MLPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.05 * rng.normal(size=400)


def small(**options):
    return MLPRegressor(
        **{"hidden_layer_sizes": 8, "max_iter": 5, "random_state": 0, **options}
    )


@pytest.mark.syllabus("8.1")
@pytest.mark.parametrize(
    "activation", [("relu", "relu"), ("sigmoid", "logistic"), ("linear", "identity")]
)
def test_from_the_same_weights_it_goes_where_scikit_learn_goes(waves, activation):
    X, y = waves
    common = {
        "hidden_layer_sizes": (6,),
        "shuffle": False,
        "batch_size": 50,
        "warm_start": True,
        "max_iter": 1,
        "alpha": 0.01,
    }
    ours = small(**common, activation=activation[0], standardize=False).fit(X, y)
    theirs = Peer(**common, activation=activation[1], random_state=0).fit(X, y)
    for k, (w, b) in enumerate(zip(theirs.coefs_, theirs.intercepts_)):
        ours.coefs_[k][:], ours.intercepts_[k][:] = w, b
    ours.set_params(max_iter=4).fit(X, y)
    theirs.set_params(max_iter=4).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-8)


@pytest.mark.syllabus("8.1")
def test_without_hidden_layers_it_finds_least_squares(waves):
    X, y = waves
    options = {
        "batch_size": "all",
        "solver": "sgd",
        "learning_rate_init": 0.3,
        "tol": None,
        "alpha": 0.0,
    }
    model = small(hidden_layer_sizes=(), max_iter=500, **options).fit(X, y)
    assert_allclose(
        model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-8
    )


@pytest.mark.syllabus("8.2")
@pytest.mark.parametrize("integration", ["weighted", "quadratic", "spherical"])
def test_it_learns_a_bent_surface(waves, integration):
    X, y = waves
    model = small(
        hidden_layer_sizes=(40, 40),
        activation="tanh",
        integration=[integration, "weighted"],
        max_iter=150,
        learning_rate_init=0.01,
        tol=None,
    ).fit(X, y)
    # x² does not know the sign of x, which this surface turns on
    assert model.score(X, y) > (0.97 if integration != "quadratic" else -0.1)
    even = np.abs(X[:, 0]) * np.abs(X[:, 1])
    assert model.fit(X, even).score(X, even) > 0.95


def test_units_of_the_target_do_not_matter(waves):
    X, y = waves
    one, two = small(max_iter=30).fit(X, y), small(max_iter=30).fit(X, 1e6 + 1e4 * y)
    assert_allclose(one.predict(X), (two.predict(X) - 1e6) / 1e4, atol=1e-6)
    assert_allclose(one.history_, two.history_, rtol=1e-6)


def test_explanations_are_in_the_units_of_the_target(waves):
    X, y = waves
    model = small(activation="tanh", max_iter=60, hidden_layer_sizes=20).fit(
        X, 100 + 10 * y
    )
    explained = model.explain(X[:10])
    assert_allclose(explained.scores, model.predict(X[:10]), rtol=1e-9)
    assert_allclose(explained.base, model.predict(model.center_[None])[0], atol=1e-4)


@pytest.mark.syllabus("8.3")
def test_early_stopping_keeps_the_epoch_of_least_validation_loss(waves):
    X, y = waves
    model = small(
        early_stopping=True,
        max_iter=300,
        learning_rate_init=0.05,
        hidden_layer_sizes=60,
    ).fit(X, y)
    assert model.best_epoch_ == 1 + int(np.argmin(model.validation_history_))
    # R² = 1 - 2 loss / variance of the rows held out
    ratio = (
        2
        * np.array(model.validation_history_)
        / (1 - np.array(model.validation_scores_))
    )
    assert_allclose(ratio, ratio[0])


def test_weight_two_equals_a_repeated_row(waves):
    X, y = waves
    w = np.arange(400) % 3
    one = small(batch_size="all", max_iter=20).fit(X, y, w)
    two = small(batch_size="all", max_iter=20).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert_allclose(one.parameters_, two.parameters_, rtol=1e-8, atol=1e-10)


def test_partial_fit_goes_on_after_a_constant_target():
    model = small().partial_fit([[1.0], [2.0]], [5.0, 5.0])
    assert_allclose(model.predict([[1.5]]), 5.0, atol=1.5)
    assert model.partial_fit([[3.0]], [5.0]).n_iter_ == 2


def test_lbfgs_brings_a_network_of_identities_to_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=80)
    settings = {"activation": "identity", "solver": "lbfgs", "alpha": 0.0}
    model = MLPRegressor(
        hidden_layer_sizes=4, **settings, tol=1e-8, max_iter=500, random_state=0
    )
    want = LinearRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, y).predict(X), want, atol=1e-5)
    assert model.stopped_ == "the loss no longer fell"
    assert np.all(np.diff(model.loss_curve_) <= 0)
    assert len(model.loss_curve_) == model.n_iter_
    assert not hasattr(model, "partial_fit")
    sparse_rows = MLPRegressor(
        hidden_layer_sizes=4, **settings, tol=1e-8, max_iter=500, random_state=0
    ).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse_rows.predict(X), want, atol=1e-5)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        MLPRegressor(hidden_layer_sizes=4, **settings, max_iter=2, random_state=0).fit(
            X, y
        )
    with pytest.raises(SettingError, match="no epochs to stop after"):
        MLPRegressor(hidden_layer_sizes=4, solver="lbfgs", early_stopping=True).fit(
            X, y
        )


def test_lbfgs_ends_where_the_penalized_loss_has_no_slope():
    """A network without hidden layers is a ridge regression of the same penalty."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2)) * [1.0, 3.0]
    y = X @ [1.0, -2.0] + rng.normal(size=50)
    model = MLPRegressor(
        hidden_layer_sizes=(),
        solver="lbfgs",
        alpha=5.0,
        tol=1e-9,
        standardize=False,
        random_state=0,
    ).fit(X, y)
    ridge = Ridge(alpha=5.0).fit(X, y)
    np.testing.assert_allclose(model.coefs_[0][:, 0], ridge.coef_, rtol=1e-5)
    np.testing.assert_allclose(model.intercepts_[0][0], ridge.intercept_, rtol=1e-4)
