"""Gaussian densities: maximum likelihood, Normal-inverse-Wishart by its formulas, known
covariance."""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import LinAlgWarning

from lyceum.density import GaussianDensity
from lyceum.errors import MissingValuesError, SettingError


def rows_of(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


NIW = {
    "prior_mean": [1.0, -1.0, 0.5],
    "kappa_0": 2.5,
    "nu_0": 6.0,
    "scale": np.diag([1.0, 2.0, 3.0]) + 0.2,
}


def posterior_by_hand(rows, m_0, kappa_0, nu_0, S_0):
    n, x = len(rows), rows.mean(axis=0)
    S = (rows - x).T @ (rows - x)
    kappa, nu = kappa_0 + n, nu_0 + n
    shift = kappa_0 * n / kappa * np.outer(x - m_0, x - m_0)
    return kappa, nu, (kappa_0 * m_0 + n * x) / kappa, S_0 + S + shift


def test_maximum_likelihood_is_scipys_gaussian():
    rows, X = rows_of(60, 3), rows_of(20, 3, 1)
    peer = stats.multivariate_normal(rows.mean(axis=0), np.cov(rows.T, ddof=0))
    np.testing.assert_allclose(
        GaussianDensity().fit(rows).score_samples(X), peer.logpdf(X), rtol=1e-10
    )


@pytest.mark.syllabus("3.6")
def test_the_predictive_density_is_student_t():
    rows, X = rows_of(9, 3), rows_of(20, 3, 1)
    m_0, S_0 = np.array(NIW["prior_mean"]), NIW["scale"]
    kappa, nu, m, S = posterior_by_hand(rows, m_0, 2.5, 6.0, S_0)
    model = GaussianDensity(estimate="bayes", **NIW).fit(rows)
    assert (model.kappa_, model.nu_, model.degrees_) == (11.5, 15.0, 13.0)
    np.testing.assert_allclose(model.mean_, m)
    peer = stats.multivariate_t(m, S * (kappa + 1) / (kappa * (nu - 2)), df=nu - 2)
    np.testing.assert_allclose(model.score_samples(X), peer.logpdf(X), rtol=1e-10)


@pytest.mark.syllabus("3.6")
def test_map_is_the_mode_of_the_posterior():
    rows = rows_of(9, 3)
    kappa, nu, m, S = posterior_by_hand(
        rows, np.array(NIW["prior_mean"]), 2.5, 6.0, NIW["scale"]
    )
    model = GaussianDensity(estimate="map", **NIW).fit(rows)
    np.testing.assert_allclose(model.mean_, m)
    np.testing.assert_allclose(model.covariance_, S / (nu + 5))

    def log_posterior(mean, covariance):
        gaussian = stats.multivariate_normal(m, covariance / kappa).logpdf(mean)
        return gaussian + stats.invwishart(nu, S).logpdf(covariance)

    best = log_posterior(model.mean_, model.covariance_)
    rng = np.random.default_rng(0)
    for _ in range(50):
        A = 0.05 * rng.normal(size=(3, 3))
        other = model.covariance_ + 0.5 * (A + A.T)
        assert log_posterior(model.mean_ + 0.1 * rng.normal(size=3), other) < best


@pytest.mark.syllabus("3.6")
def test_a_vague_prior_tends_to_maximum_likelihood():
    rows = rows_of(20_000, 2)
    X = rows[:50]
    ml = GaussianDensity().fit(rows).score_samples(X)
    vague = GaussianDensity(
        estimate="bayes", prior_mean=0.0, kappa_0=1e-9, nu_0=1.001, scale=1e-9
    ).fit(rows)
    np.testing.assert_allclose(vague.score_samples(X), ml, atol=5e-3)
    strong = GaussianDensity(estimate="map", prior_mean=7.0, kappa_0=1e9).fit(rows)
    np.testing.assert_allclose(strong.mean_, 7.0, atol=1e-3)


@pytest.mark.syllabus("3.6.1")
def test_a_mean_of_known_covariance_adds_precisions():
    rows = rows_of(7, 2)
    noise, V_0, m_0 = (
        np.array([[2.0, 0.5], [0.5, 1.0]]),
        np.array([[3.0, -1.0], [-1.0, 2.0]]),
        np.array([4.0, 5.0]),
    )
    V = np.linalg.inv(np.linalg.inv(V_0) + 7 * np.linalg.inv(noise))
    m = V @ (np.linalg.solve(V_0, m_0) + 7 * np.linalg.solve(noise, rows.mean(axis=0)))
    said = {"prior_mean": m_0, "known_covariance": noise, "prior_covariance": V_0}
    model = GaussianDensity(estimate="bayes", **said).fit(rows)
    np.testing.assert_allclose(model.mean_, m)
    np.testing.assert_allclose(model.mean_covariance_, V)
    np.testing.assert_allclose(model.covariance_, noise + V)
    np.testing.assert_allclose(
        GaussianDensity(estimate="map", **said).fit(rows).covariance_, noise
    )
    flat = GaussianDensity(estimate="bayes", known_covariance=noise).fit(rows)
    np.testing.assert_allclose(flat.mean_, rows.mean(axis=0))
    np.testing.assert_allclose(flat.covariance_, noise * (1 + 1 / 7))
    strong = GaussianDensity(
        estimate="map", prior_mean=9.0, known_covariance=1.0, prior_covariance=1e-9
    ).fit(rows)
    np.testing.assert_allclose(strong.mean_, 9.0, atol=1e-6)


@pytest.mark.syllabus("3.5.1", "3.6")
@pytest.mark.parametrize("estimate", ["ml", "map", "bayes"])
def test_row_by_row_is_the_batch(estimate):
    rows = rows_of(12, 2) + 1e6
    model = GaussianDensity(estimate=estimate, prior_mean=1e6).partial_fit(rows[:3])
    for row in rows[3:]:
        model.partial_fit(row[None])
    batch = GaussianDensity(estimate=estimate, prior_mean=1e6).fit(rows)
    np.testing.assert_allclose(model.mean_, batch.mean_, rtol=1e-14)
    np.testing.assert_allclose(
        model.score_samples(rows), batch.score_samples(rows), rtol=1e-7
    )


@pytest.mark.parametrize("estimate", ["ml", "bayes"])
def test_samples_integrals_and_anomalies_agree(estimate):
    model = GaussianDensity(estimate=estimate).fit(rows_of(15, 2))
    draws = model.sample(40_000, random_state=0)
    box = np.array([[-1.0, 2.0], [-np.inf, 0.5]])
    inside = ((draws >= box[:, 0]) & (draws <= box[:, 1])).all(axis=1).mean()
    assert model.integrate(box) == pytest.approx(inside, abs=0.01)
    assert model.anomalies(draws, 0.1).mean() == pytest.approx(0.1, abs=0.006)
    line = GaussianDensity(estimate=estimate).fit(rows_of(15, 1))
    grid = np.linspace(-3.0, 1.0, 4001)
    numbers = np.trapezoid(np.exp(line.score_samples(grid[:, None])), grid)
    assert line.integrate([-3.0, 1.0]) == pytest.approx(numbers, abs=1e-6)


@pytest.mark.parametrize("estimate", ["ml", "bayes"])
def test_the_explanation_adds_up(estimate):
    rows = rows_of(30, 3)
    model = GaussianDensity(estimate=estimate).fit(rows)
    explanation = model.explain(rows[:5])
    np.testing.assert_allclose(
        explanation.scores, model.score_samples(rows[:5]), rtol=1e-10
    )
    far = model.mean_ + np.array([0.0, 50.0, 0.0])
    assert np.abs(model.explain(far[None]).contributions[0]).argmax() == 1


def test_constant_columns_are_left_out_and_dependent_ones_warned_of():
    rows = rows_of(30, 2)
    with_constant = np.column_stack([rows, np.full(30, 1e6)])
    model = GaussianDensity().fit(with_constant)
    np.testing.assert_allclose(
        model.score_samples(with_constant),
        GaussianDensity().fit(rows).score_samples(rows),
    )
    draws = model.sample(5, random_state=0)
    np.testing.assert_array_equal(draws[:, 2], 1e6)
    assert model.integrate([[-np.inf, np.inf]] * 2 + [[0.0, 1.0]]) == 0.0
    with pytest.warns(LinAlgWarning, match="column 'x2' depends linearly on others"):
        GaussianDensity().fit(np.column_stack([rows, rows.sum(axis=1)]))


def test_one_row_with_a_prior():
    model = GaussianDensity(
        estimate="bayes", prior_mean=0.0, kappa_0=1.0, nu_0=3.0, scale=2.0
    ).fit([[2.0]])
    assert (model.mean_[0], model.degrees_) == (1.0, 4.0)
    peer = stats.t(4.0, 1.0, np.sqrt((2 + 0.5 * 4) * 3 / (2 * 4)))
    assert model.score_samples([[0.7]])[0] == pytest.approx(peer.logpdf(0.7))


def test_bad_input_is_named():
    with pytest.raises(SettingError, match="nu_0 must be above d - 1, which is 1 here"):
        GaussianDensity(estimate="bayes", nu_0=0.5).fit(rows_of(5, 2))
    with pytest.raises(
        SettingError, match="known_covariance must be a positive definite matrix"
    ):
        GaussianDensity(known_covariance=[[1.0, 2.0], [2.0, 1.0]]).fit(rows_of(5, 2))
    with pytest.raises(SettingError, match="prior_mean must be one finite number"):
        GaussianDensity(estimate="map", prior_mean=[0.0]).fit(rows_of(5, 2))
    with pytest.raises(MissingValuesError, match="column 'x1' has a missing value"):
        GaussianDensity().fit([[0.0, 1.0], [1.0, np.nan]])
    assert "Student-t" in str(
        GaussianDensity(estimate="bayes").fit(rows_of(5, 2)).summary()
    )


@pytest.mark.syllabus("3.6")
def test_the_evidence_is_the_product_of_the_predictions_of_every_next_row():
    X = np.random.default_rng(8).normal(size=(6, 2)) + 1.0
    settings = {"prior_mean": 0.0, "kappa_0": 0.5, "nu_0": 4.0, "scale": 2.0}
    total = 0.0
    for i in range(1, 6):
        total += (
            GaussianDensity(estimate="bayes", **settings)
            .fit(X[:i])
            .score_samples(X[i : i + 1])[0]
        )
    found = [
        GaussianDensity(estimate="map", **settings).fit(X[:n]).log_evidence_
        for n in (1, 6)
    ]
    assert found[1] - found[0] == pytest.approx(total)
    assert "ln evidence" in str(
        GaussianDensity(estimate="bayes", **settings).fit(X).summary()
    )
    assert np.isnan(GaussianDensity().fit(X).log_evidence_)
