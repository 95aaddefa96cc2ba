"""Bayesian learning of a Gaussian: Normal-inverse-Wishart classes, and a mean of known variance."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import LinAlgWarning
from scipy.stats import multivariate_t, norm

from lyceum.bayes import (
    BayesianGaussianClassifier,
    NormalMean,
    QuadraticDiscriminantAnalysis,
)
from lyceum.data import scan
from lyceum.errors import DataError, SettingError

pytestmark = pytest.mark.syllabus("3.6")


def classes_of_rows(n=60, d=3, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    shapes = np.eye(d) + 0.4 * rng.normal(size=(K, d, d))
    return np.einsum("nj,njk->nk", rng.normal(size=(n, d)), shapes[y]) + 0.9 * y[
        :, None
    ], y


def row_by_row(X, m, kappa, nu, S):
    """The posterior after each row in turn: every update is that of one row."""
    for x in X:
        S = S + kappa / (kappa + 1) * np.outer(x - m, x - m)
        m, kappa, nu = (kappa * m + x) / (kappa + 1), kappa + 1, nu + 1
    return m, kappa, nu, S


PRIOR = {
    "prior_mean": [0.5, -1.0, 2.0],
    "kappa_0": 1.7,
    "nu_0": 4.5,
    "scale": [[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 3.0]],
}


def start():
    return (
        np.array(PRIOR["prior_mean"]),
        PRIOR["kappa_0"],
        PRIOR["nu_0"],
        np.array(PRIOR["scale"]),
    )


def predictive(X, m, kappa, nu, S):
    left = nu - len(m) + 1
    return multivariate_t(m, S * (kappa + 1) / (kappa * left), df=left).logpdf(X)


def normalized(joint):
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


def test_posterior_is_that_of_one_row_at_a_time():
    X, y = classes_of_rows()
    model = BayesianGaussianClassifier(**PRIOR).fit(X, y)
    for k in range(3):
        m, kappa, nu, S = row_by_row(X[y == k], *start())
        np.testing.assert_allclose(model.means_[k], m)
        np.testing.assert_allclose([model.kappa_[k], model.nu_[k]], [kappa, nu])
        np.testing.assert_allclose(model.scale_[k], S)


@pytest.mark.syllabus("3.6.3")
def test_posteriors_of_the_classes_are_those_of_student_densities():
    X, y = classes_of_rows()
    model = BayesianGaussianClassifier(**PRIOR, priors="laplace").fit(X, y)
    priors = (np.bincount(y) + 1) / (len(y) + 3)
    joint = [
        predictive(X, *row_by_row(X[y == k], *start())) + np.log(priors[k])
        for k in range(3)
    ]
    np.testing.assert_allclose(
        model.predict_log_proba(X), normalized(np.stack(joint, axis=1)), atol=1e-10
    )


def test_shared_covariance_adds_the_scatters_of_all_classes():
    X, y = classes_of_rows()
    model = BayesianGaussianClassifier(covariance="shared", **PRIOR).fit(X, y)
    S, nu, joint = start()[3], PRIOR["nu_0"] + len(X), []
    found = [row_by_row(X[y == k], *start()) for k in range(3)]
    S = S + sum(one[3] - start()[3] for one in found)
    for k, (m, kappa, _, _) in enumerate(found):
        joint.append(predictive(X, m, kappa, nu, S) + np.log((y == k).mean()))
    np.testing.assert_allclose(
        model.predict_log_proba(X), normalized(np.stack(joint, axis=1)), atol=1e-10
    )


def test_predictive_density_is_the_ratio_of_evidences_by_integration():
    """In one dimension: p(x | rows) by averaging the Gaussian over draws of the posterior on a
    grid."""
    rows, kappa, nu, S = np.array([0.3, 1.1, 2.0]), 0.8, 3.0, 1.5
    model = BayesianGaussianClassifier(
        prior_mean=0.0, kappa_0=kappa, nu_0=nu, scale=S
    ).fit(rows[:, None], [0] * 3)
    mu, var = np.linspace(-30, 30, 2001)[:, None], np.exp(np.linspace(-7, 9, 301))
    # inverse Wishart in one dimension, inverse gamma: var^(-nu/2 - 1) exp(-S / 2 var); d var = var
    # d log var
    log = (
        -nu / 2 * np.log(var)
        - S / (2 * var)
        + norm.logpdf(mu, 0.0, np.sqrt(var / kappa))
    )
    log = log + sum(norm.logpdf(x, mu, np.sqrt(var)) for x in rows)
    weight = np.exp(log - log.max())
    for x in (-1.0, 0.5, 3.0):
        wanted = (weight * norm.pdf(x, mu, np.sqrt(var))).sum() / weight.sum()
        left = model.degrees_[0]
        found = multivariate_t(model.means_[0], model.shape_[0], df=left).pdf(x)
        assert found == pytest.approx(wanted, rel=1e-4)


def test_a_vague_prior_tends_to_maximum_likelihood():
    X, y = classes_of_rows(n=200)
    vague = {"prior_mean": 0.0, "kappa_0": 1e-12, "nu_0": 4.0, "scale": 1e-12}
    model, other = (
        BayesianGaussianClassifier(**vague).fit(X, y),
        QuadraticDiscriminantAnalysis().fit(X, y),
    )
    np.testing.assert_allclose(model.means_, other.means_, rtol=1e-9)
    mean_covariance = model.scale_ / (model.nu_ - 3 - 1)[:, None, None]  # d = 3
    np.testing.assert_allclose(
        mean_covariance, other.covariance_, rtol=1e-9, atol=1e-11
    )
    gaps = []
    for n in (100, 1000, 10000):
        X, y = classes_of_rows(n=n)
        p = [
            m.fit(X, y).predict_proba(X)
            for m in (
                BayesianGaussianClassifier(**vague),
                QuadraticDiscriminantAnalysis(),
            )
        ]
        gaps.append(np.abs(p[0] - p[1]).max())
    assert gaps[2] < gaps[1] < gaps[0]
    assert gaps[2] < 0.01


def test_a_strong_prior_holds_means_and_covariances():
    X, y = classes_of_rows()
    strong = {"prior_mean": 7.0, "kappa_0": 1e9, "nu_0": 1e9, "scale": 2e9}
    model = BayesianGaussianClassifier(**strong).fit(X, y)
    np.testing.assert_allclose(model.means_, 7.0, rtol=1e-6)
    np.testing.assert_allclose(
        model.scale_ / 1e9, np.tile(2 * np.eye(3), (3, 1, 1)), atol=1e-4
    )


@pytest.mark.parametrize("covariance", ["separate", "shared"])
@pytest.mark.parametrize("prior", [{}, PRIOR], ids=["data", "given"])
def test_recursive_is_batch(covariance, prior):
    X, y = classes_of_rows()
    learner = BayesianGaussianClassifier(covariance=covariance, **prior)
    wanted = learner.fit(X, y).predict_log_proba(X)
    streamed = BayesianGaussianClassifier(covariance=covariance, **prior)
    for i in range(len(X)):
        streamed.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
    np.testing.assert_allclose(
        streamed.predict_log_proba(X), wanted, rtol=1e-9, atol=1e-9
    )


def test_weight_two_equals_repeated_row():
    X, y = classes_of_rows()
    w = np.random.default_rng(1).integers(0, 3, len(X))
    learner = BayesianGaussianClassifier()
    wanted = learner.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_log_proba(X)
    np.testing.assert_allclose(
        learner.fit(X, y, w).predict_log_proba(X), wanted, rtol=1e-9, atol=1e-12
    )


def test_array_equals_parquet_equals_dask(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    X, y = classes_of_rows()
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        y=np.array(["p", "q", "r"])[y]
    )
    table["color"] = np.random.default_rng(2).choice(["red", "green", "blue"], len(X))
    cells = table.drop(columns="y")
    learner = BayesianGaussianClassifier()
    wanted = learner.fit(cells, table["y"]).predict_log_proba(cells)
    table.to_parquet(tmp_path / "t.parquet", row_group_size=13)
    for rows in (
        scan(tmp_path / "t.parquet", target="y", memory=0),
        scan(dask.from_pandas(table, npartitions=4), target="y"),
    ):
        np.testing.assert_allclose(
            learner.fit(rows).predict_log_proba(cells), wanted, rtol=1e-8, atol=1e-9
        )


def test_a_column_that_is_constant_over_all_rows_changes_nothing_with_a_prior_from_data():
    X, y = classes_of_rows()
    learner = BayesianGaussianClassifier()
    wanted = learner.fit(X, y).predict_log_proba(X)
    wide = np.insert(X, 1, 1e6, axis=1)
    np.testing.assert_allclose(
        learner.fit(wide, y).predict_log_proba(wide), wanted, rtol=1e-9, atol=1e-12
    )


def test_fewer_rows_than_columns_need_no_warning_and_posteriors_sum_to_one():
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    X = rng.normal(size=(12, 50)) + y[:, None]
    model = BayesianGaussianClassifier().fit(X, y)
    far = rng.normal(size=(100, 50)) * 1e8
    densities = zip(model.means_, model.shape_, model.degrees_)
    logs = [multivariate_t(m, S, df=v).logpdf(far) for m, S, v in densities]
    assert np.max(logs) < np.log(np.finfo(float).tiny)
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0, atol=1e-14)


def test_a_class_without_rows_has_the_density_of_the_prior():
    X, y = classes_of_rows(K=2)
    model = BayesianGaussianClassifier(**PRIOR, priors="laplace").partial_fit(
        X, y, classes=[0, 1, 2]
    )
    assert model.degrees_[2] == PRIOR["nu_0"] - 3 + 1
    joint = [predictive(X, *row_by_row(X[y == k], *start())) for k in range(3)]
    joint = np.stack(joint, axis=1) + np.log(
        (np.bincount(y, minlength=3) + 1) / (len(y) + 3)
    )
    np.testing.assert_allclose(
        model.predict_log_proba(X), normalized(joint), atol=1e-10
    )


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"nu_0": 1.5}, "nu_0 must be above d - 1, which is 2"),
        (
            {"prior_mean": [1.0, 2.0]},
            "prior_mean must be one finite number, or one for each of the 3",
        ),
        ({"scale": -np.eye(3)}, "scale must be a positive definite matrix"),
        ({"scale": np.eye(2)}, r"of shape \(3, 3\)"),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(wrong, text):
    X, y = classes_of_rows()
    with pytest.raises(SettingError, match=text):
        BayesianGaussianClassifier(**wrong).fit(X, y)


def test_a_scale_too_small_for_collinear_columns_is_said():
    X, y = classes_of_rows()
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.warns(LinAlgWarning, match="too small to undo it"):
        model = BayesianGaussianClassifier(scale=1e-14).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_contributions_sum_to_the_log_odds():
    X, y = classes_of_rows()
    model = BayesianGaussianClassifier().fit(X, y)
    log_p = np.sort(model.predict_log_proba(X), axis=1)
    np.testing.assert_allclose(
        model.explain(X).scores, log_p[:, -1] - log_p[:, -2], rtol=1e-8, atol=1e-10
    )
    assert "kappa_0" in str(model.summary())


# -- a mean of known variance ----------------------------------------------------------


def test_posterior_of_the_mean_is_prior_times_likelihood():
    x, prior = np.array([1.0, 2.5, 0.3]), (0.4, 2.0, 1.5)
    found = NormalMean(*prior).update(x)
    mu = np.linspace(-20, 20, 200_001)
    log = norm.logpdf(mu, prior[0], np.sqrt(prior[1])) + norm.logpdf(
        x[:, None], mu, np.sqrt(prior[2])
    ).sum(axis=0)
    p = np.exp(log - log.max())
    p /= p.sum()
    assert found.mean == pytest.approx(p @ mu, rel=1e-9)
    assert found.variance == pytest.approx(p @ (mu - p @ mu) ** 2, rel=1e-9)
    wanted = p @ norm.pdf(3.0, mu, np.sqrt(prior[2]))
    assert np.exp(found.log_density(3.0)) == pytest.approx(wanted, rel=1e-9)


def test_a_weak_prior_gives_maximum_likelihood_and_a_strong_one_shrinks():
    x = np.random.default_rng(0).normal(5.0, 2.0, 40)
    exact = NormalMean(mean=-100.0, variance=np.inf, noise=4.0).update(x)
    np.testing.assert_allclose(
        [exact.mean, exact.variance], [x.mean(), 4.0 / 40], rtol=1e-12
    )
    pulled = [
        float(NormalMean(0.0, v, 4.0).update(x).mean)
        for v in (1e6, 1.0, 1e-2, 1e-6, 0.0)
    ]
    assert pulled == sorted(pulled, reverse=True)
    assert pulled[0] == pytest.approx(x.mean(), rel=1e-6)
    assert pulled[-1] == 0.0


def test_one_row_at_a_time_is_all_rows_at_once():
    x = np.random.default_rng(0).normal(size=(30, 2)) + 1e6
    start = NormalMean(mean=[1e6, 0.0], variance=[1.0, np.inf], noise=[2.0, 3.0])
    once, turn = start.update(x), start
    for row in x:
        turn = turn.update(row[None])
    np.testing.assert_allclose(turn.mean, once.mean, rtol=1e-13)
    np.testing.assert_allclose(turn.variance, once.variance, rtol=1e-12)
    weighted = start.update(x[:3], weight=[2, 0, 1])
    np.testing.assert_allclose(weighted.mean, start.update(x[[0, 0, 2]]).mean)
    assert start.update(x, weight=np.zeros(30)) is start


@pytest.mark.parametrize(
    "wrong", [{"noise": 0.0}, {"variance": -1.0}, {"mean": np.nan}, {"noise": np.inf}]
)
def test_numbers_that_make_no_prior_are_refused(wrong):
    with pytest.raises(SettingError, match="mean must be finite"):
        NormalMean(**wrong)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="cannot be learned from"):
        NormalMean(mean=[0.0, 0.0]).update([1.0, 2.0])
    with pytest.raises(DataError, match="weight must have one number"):
        NormalMean().update([1.0, 2.0], weight=[1.0])
    with pytest.raises(DataError, match="no predictive density"):
        NormalMean().log_density(1.0)
