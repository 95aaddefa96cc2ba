"""Covariances by volume, shape and orientation, against mclust's results and their definition."""

import warnings

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize

import lyceum
from lyceum.datasets import load
from lyceum.evaluate import degrees_of_freedom
from lyceum.mixtures import GaussianMixture, StudentMixture
from lyceum.mixtures.covariance_forms import CovariancePrior
from lyceum.mixtures.named_forms import FORMS

pytestmark = pytest.mark.syllabus("12.4")

LETTERS = [name for name in FORMS if name.isupper()]
# BIC by mclustBIC(faithful, G = 2) of mclust 5, 2 log L - p log N (Scrucca et al. 2016, The R
# Journal 8; computed again with mclust 6.0.0), and the number of parameters p
MCLUST = {
    "EII": (-3452.998, 6),
    "VII": (-3458.305, 7),
    "EEI": (-2354.601, 7),
    "VEI": (-2350.607, 8),
    "EVI": (-2352.618, 8),
    "VVI": (-2346.065, 9),
    "EEE": (-2325.220, 8),
    "VVV": (-2322.192, 11),
}


def faithful():
    return np.asarray(load("old_faithful").in_one_block("a test").X, dtype=float)


def blobs(seed=0, n=400, d=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    stretch = np.array([[1.0, 2.0, 0.5], [0.4, 0.4, 3.0], [2.0, 1.0, 1.0]])[y, :d]
    return rng.normal(size=(n, d)) * stretch + 6.0 * y[:, None], y


@pytest.mark.parametrize("name", MCLUST)
def test_bic_of_old_faithful_is_that_of_mclust(name):
    X = faithful()
    bic, n_parameters = MCLUST[name]
    mixture = GaussianMixture(
        2, covariance_type=name, prior_rows=0, tol=1e-9, max_iter=3000, random_state=0
    ).fit(X)
    # mclust stops at a relative gain of 1e-5
    assert -mixture.bic(X) == pytest.approx(bic, abs=0.01)
    assert degrees_of_freedom(mixture) == n_parameters


def objective(covariances, S, n, prior):
    """What an M-step maximizes, as it is defined."""
    total = 0.0
    for k, sigma in enumerate(covariances):
        scatter = S[k] + prior.rows * np.diag(prior.variance)
        _, log_det = np.linalg.slogdet(sigma)
        inverse = np.linalg.inv(sigma)
        total -= 0.5 * ((n[k] + prior.rows) * log_det + np.trace(inverse @ scatter))
    return total


def by_parameters(name, v, K, d):
    """Covariances from free numbers: log volumes, shapes of determinant 1, rotations."""
    volume, shape, orientation = name
    values = iter(v)

    def take(count):
        return np.array([next(values) for _ in range(count)])

    def repeated(letter, size):
        if letter == "I":
            return np.zeros((K, size))
        if letter == "E":
            return np.tile(take(size), (K, 1))
        return take(K * size).reshape(K, size)

    volumes = repeated(volume, 1)
    shapes = repeated(shape, d - 1)
    angles = repeated(orientation, d * (d - 1) // 2)
    found = []
    for k in range(K):
        logs = np.append(shapes[k], -shapes[k].sum())
        skew = np.zeros((d, d))
        skew[np.triu_indices(d, 1)] = angles[k]
        D = expm(skew - skew.T)
        found.append(np.exp(volumes[k, 0]) * D @ np.diag(np.exp(logs)) @ D.T)
    return np.array(found)


@pytest.mark.parametrize(
    "name", ["VEI", "EVI", "VII", "VVI", "VEE", "EEV", "VEV", "EVV", "VVV"]
)
def test_an_m_step_is_the_best_of_its_form(name):
    rng = np.random.default_rng(1)
    K, d = 2, 3
    A = rng.normal(size=(K, d, d)) * np.array([1.0, 3.0])[:, None, None]
    S = 20 * np.einsum("kij,klj->kil", A, A)
    n = np.array([30.0, 50.0])
    prior = CovariancePrior(2.0, np.array([1.0, 2.0, 0.5]))
    form = FORMS[name]
    scatter = np.einsum("kjj->kj", S) if form.diagonal else S
    found = form.expand(form.estimate(scatter, n, prior), K, d)
    if found.ndim == 2:
        found = found[:, :, None] * np.eye(d)
    reached = objective(found, S, n, prior)

    def loss(v):
        return -objective(by_parameters(name, v, K, d), S, n, prior)

    best = np.inf
    for _ in range(6):
        start = rng.normal(size=K * (1 + d - 1 + d * (d - 1) // 2))
        best = min(best, minimize(loss, start, method="BFGS").fun)
    assert reached == pytest.approx(-best, rel=1e-6)


@pytest.mark.parametrize("name", ["EII", "EEI", "EEE"])
def test_one_covariance_of_all_is_the_mean_scatter(name):
    X, y = blobs()
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    R = X - means[y]
    S = np.array([R[y == k].T @ R[y == k] for k in range(3)])
    n = np.bincount(y).astype(float)
    prior = CovariancePrior(0.0, np.ones(3))
    pooled = S.sum(axis=0) / len(X)
    form = FORMS[name]
    if name == "EEE":
        given, expected = S.sum(axis=0, keepdims=True), pooled
    else:
        given = np.einsum("kjj->kj", S)
        expected = np.diag(pooled)
        if name == "EII":
            expected = np.full(3, expected.mean())
    found = form.expand(form.estimate(given, n, prior), 3, 3)
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape))


@pytest.mark.syllabus("12.4.1")
@pytest.mark.parametrize("name", LETTERS)
@pytest.mark.parametrize("learner", [GaussianMixture, StudentMixture])
def test_components_have_what_their_letters_say(learner, name, tmp_path):
    X, _ = blobs()
    X = X + 1e6
    mixture = learner(3, covariance_type=name, random_state=0).fit(X)
    assert np.diff(mixture.history_).min() > -1e-6
    matrices = mixture._form.expand(mixture.covariances_, 3, 3)
    if matrices.ndim == 2:
        matrices = matrices[:, :, None] * np.eye(3)
    volumes = np.linalg.det(matrices) ** (1 / 3)
    shapes = np.linalg.eigvalsh(matrices) / volumes[:, None]
    if name[0] == "E":
        np.testing.assert_allclose(volumes, volumes[0], rtol=1e-6)
    else:
        assert np.ptp(volumes) > 1e-3
    if name[1] == "E":
        np.testing.assert_allclose(shapes - shapes[0], 0.0, atol=1e-6)
    if name[1] == "I":
        np.testing.assert_allclose(shapes, 1.0)
    if name[2] == "I":
        off = matrices - np.einsum("kjj->kj", matrices)[:, :, None] * np.eye(3)
        assert not off.any()
    path = tmp_path / "mixture.lyceum"
    lyceum.save(mixture, path)
    again = lyceum.load(path)
    np.testing.assert_array_equal(again.predict_proba(X), mixture.predict_proba(X))
    assert mixture.summary().as_dict()
    assert mixture.precisions_.shape == mixture.covariances_.shape


@pytest.mark.parametrize("name", LETTERS)
def test_missing_cells_a_constant_column_and_weights(name):
    X, _ = blobs()
    X = np.column_stack([X, np.full(len(X), 7.0)])
    X[::5, 1] = np.nan
    repeats = np.random.default_rng(0).integers(0, 3, len(X))
    centers = np.repeat([[0.0], [6.0], [12.0]], 3, axis=1)
    means = np.column_stack([centers, np.full(3, 7.0)])
    options = {
        "covariance_type": name,
        "means_init": means,
        "tol": 1e-9,
        "max_iter": 1000,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = GaussianMixture(3, **options).fit(X, sample_weight=repeats)
        repeated = GaussianMixture(3, **options).fit(np.repeat(X, repeats, axis=0))
    assert np.isfinite(weighted.lower_bound_)
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, abs=1e-6)
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-3)


def test_names_of_the_four_forms_are_the_four_forms():
    X, _ = blobs()
    for name, same in (
        ("VII", "spherical"),
        ("VVI", "diag"),
        ("EEE", "tied"),
        ("VVV", "full"),
    ):
        one = GaussianMixture(3, covariance_type=name, random_state=0).fit(X)
        two = GaussianMixture(3, covariance_type=same, random_state=0).fit(X)
        np.testing.assert_array_equal(one.covariances_, two.covariances_)
        assert one.bic(X) == two.bic(X)
