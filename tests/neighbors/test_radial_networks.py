"""Networks of radial basis functions and restricted Coulomb energy."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as SkLogistic

from lyceum.distances import pairwise
from lyceum.errors import SettingError
from lyceum.neighbors import (
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    RestrictedCoulombClassifier,
)
from lyceum.neighbors.radial.units import RadialUnits

pytestmark = pytest.mark.syllabus("10.7")


def waves(n=300, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] + 0.05 * rng.normal(size=n), rng


@pytest.mark.syllabus("10.7.2")
def test_weights_are_the_least_squares_solution():
    X, y, rng = waves()
    C = rng.uniform(-2, 2, (7, 2))
    model = RBFNetworkRegressor(
        centers=C, bandwidth=0.8, alpha=0.0, standardize=False
    ).fit(X, y)
    P = np.column_stack([np.exp(-(pairwise(X, C) ** 2) / (2 * 0.64)), np.ones(len(X))])
    fitted = P @ np.linalg.lstsq(P, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), fitted, atol=1e-8)
    np.testing.assert_allclose(model.activations(X), P[:, :-1], atol=1e-12)
    linear = RBFNetworkRegressor(
        centers=C,
        bandwidth=0.8,
        alpha=0.0,
        standardize=False,
        units="linear",
        normalized=True,
    )
    H = P[:, :-1] / P[:, :-1].sum(axis=1, keepdims=True)
    Q = np.hstack([H, H * X[:, :1], H * X[:, 1:]])
    expected = Q @ np.linalg.lstsq(Q, y, rcond=None)[0]
    np.testing.assert_allclose(linear.fit(X, y).predict(X), expected, atol=1e-8)


@pytest.mark.syllabus("10.7.1")
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_gradients_are_those_of_the_loss(linear, normalized):
    rng = np.random.default_rng(1)
    Z, T, w = rng.normal(size=(20, 2)), rng.normal(size=(20, 3)), np.full(20, 0.05)
    weights = rng.normal(size=(4, 3 if linear else 1, 3))
    bias = np.zeros(3) if normalized else rng.normal(size=3)
    units = RadialUnits(
        rng.normal(size=(4, 2)),
        rng.uniform(0.5, 2, 4),
        np.zeros(4),
        normalized,
        linear,
        weights,
        bias,
    )
    theta = units.pack()
    numeric = approx_fprime(
        theta, lambda t: units.unpack(t).loss(Z, T, w, 0.1)[0], 1e-7
    )
    if normalized:
        numeric[-3:] = 0.0  # there is no bias
    np.testing.assert_allclose(units.loss(Z, T, w, 0.1)[1], numeric, atol=1e-5)
    value = 0.5 * np.sum((units.outputs(Z) - T) ** 2 * w[:, None]) + 0.05 * np.sum(
        weights**2
    )
    assert units.loss(Z, T, w, 0.1)[0] == pytest.approx(value)


@pytest.mark.syllabus("10.7.2")
def test_gradient_steps_lower_the_error_and_move_the_centers():
    X, y, _ = waves()
    fixed = RBFNetworkRegressor(n_centers=5, random_state=0).fit(X, y)
    moved = RBFNetworkRegressor(
        n_centers=5, random_state=0, fit_by="gradient", bandwidth="own", record=True
    ).fit(X, y)
    assert (np.diff(moved.history_) <= 1e-12).all()
    assert np.mean((moved.predict(X) - y) ** 2) < 0.5 * np.mean(
        (fixed.predict(X) - y) ** 2
    )
    assert np.abs(moved.centers_ - fixed.centers_).max() > 0.05
    assert len(moved.record_) > 2
    shared = RBFNetworkRegressor(n_centers=5, random_state=0, fit_by="gradient").fit(
        X, y
    )
    assert np.ptp(shared.widths_) < 1e-12


@pytest.mark.syllabus("10.7.3")
@pytest.mark.parametrize("units", ["constant", "linear"])
def test_em_never_lowers_the_likelihood_and_finds_local_lines(units):
    rng = np.random.default_rng(2)
    X = rng.uniform(-3, 3, (400, 1))
    y = np.abs(X[:, 0]) + 0.05 * rng.normal(size=400)
    model = RBFNetworkRegressor(
        n_centers=4, fit_by="em", units=units, random_state=0, bandwidth="own"
    ).fit(X, y)
    assert (np.diff(model.history_) >= -1e-6).all()
    assert model.score(X, y) > (0.97 if units == "linear" else 0.6)
    np.testing.assert_allclose(model.activations(X).sum(axis=1), 1.0)
    with pytest.raises(SettingError, match="normalized"):
        RBFNetworkRegressor(fit_by="em", normalized=False).fit(X, y)


@pytest.mark.parametrize("centers", ["clustered", "sampled", "uniform"])
@pytest.mark.parametrize("fit_by", ["least_squares", "gradient", "em"])
def test_rings_are_classified(centers, fit_by):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = np.where((X**2).sum(axis=1) < 1.2, "in", "out")
    model = RBFNetworkClassifier(
        centers=centers, fit_by=fit_by, random_state=0, max_iter=60, tol=1e-4
    )
    assert model.fit(X, y).score(X, y) > (0.85 if fit_by == "em" else 0.93)


def test_few_and_equal_rows_are_no_trouble():
    for kind in (RBFNetworkClassifier, RBFNetworkRegressor):
        for fit_by in ("least_squares", "gradient", "em"):
            model = kind(fit_by=fit_by, random_state=0).fit(
                [[1.0, 1.0]] * 5, [1, 1, 1, 1, 1]
            )
            assert model.predict([[1.0, 1.0]])[0] == pytest.approx(1)
    with pytest.raises(SettingError, match="one row per unit"):
        RBFNetworkRegressor(centers=[[1.0, 2.0]]).fit([[1.0]], [1.0])


@pytest.mark.syllabus("10.7.5")
def test_spheres_cover_their_own_rows_and_no_others():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 2)) + y[:, None]
    model = RestrictedCoulombClassifier(standardize=False).fit(X, y)
    apart = pairwise(X, model.centers_)
    inside = apart <= model.radii_
    assert (inside & (y[:, None] == model.center_class_)).any(axis=1).all()
    assert not (inside & (y[:, None] != model.center_class_)).any()
    assert model.score(X, y) == 1.0
    assert len(model.radii_) < 250
    assert model.counts_.sum() == 300
    for radius, center, c in zip(model.radii_, model.centers_, model.center_class_):
        nearest = np.sqrt(((X[y != c] - center) ** 2).sum(axis=1)).min()
        assert radius == pytest.approx(nearest, rel=1e-8)
    assert (model.region(X) == "identified").all()
    assert model.region([[1e3, 1e3]]).tolist() in (["unknown"], ["identified"])


def test_spheres_shrink_when_rows_of_other_classes_come():
    model = RestrictedCoulombClassifier(standardize=False, max_radius=3.0).fit(
        [[0.0], [10.0]], ["a", "b"]
    )
    assert model.region([[2.0], [5.0]]).tolist() == ["identified", "unknown"]
    model.partial_fit([[2.0]], ["b"])
    assert model.radii_.round(6).tolist() == [2.0, 3.0, 2.0]
    assert model.predict([[1.9], [0.1]]).tolist()[1] == "a"
    assert model.region([[1.0]]).tolist() == ["ambiguous"]
    assert model.n_rows_ == 3


@pytest.mark.syllabus("10.7.4")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("normalized", [False, True])
def test_logistic_outputs_are_logistic_regression_on_the_activations(
    n_classes, normalized
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (np.hypot(*X.T) + 0.5 * rng.normal(size=200) > 1.2).astype(int)
    y = y + (X[:, 0] > 0.5) * (n_classes - 2)
    w = rng.integers(1, 4, 200).astype(float)
    model = RBFNetworkClassifier(
        n_centers=6,
        outputs="logistic",
        normalized=normalized,
        alpha=1e-2,
        max_iter=5000,
        tol=1e-9,
        random_state=0,
    ).fit(X, y, w)
    H = model.activations(X)
    penalty = 1e-2 * w @ (H**2).mean(axis=1)
    K = len(model.classes_)
    # two scores of opposite sign for two classes: the penalty on their difference is half
    C = 1.0 / penalty if K > 2 else 2.0 / penalty
    peer = SkLogistic(C=C, tol=1e-10, max_iter=10_000).fit(H, y, w)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(H), atol=1e-4)
    repeated = (
        clone(model)
        .set_params(centers=model.centers_)
        .fit(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
    )
    again = clone(model).set_params(centers=model.centers_).fit(X, y, w)
    np.testing.assert_allclose(
        again.predict_proba(X), repeated.predict_proba(X), atol=1e-5
    )
    np.testing.assert_allclose(
        model.explain(X).scores, model.predict_proba(X).max(axis=1), atol=1e-9
    )


def test_logistic_outputs_refuse_units_that_move():
    with pytest.raises(SettingError, match="leaves centers and widths"):
        RBFNetworkClassifier(outputs="logistic", fit_by="em").fit(
            [[0.0], [1.0]], [0, 1]
        )
