"""Mixtures of Gaussians: scikit-learn's numbers from the same start, Old Faithful, missing
cells."""

import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.linalg import LinAlgWarning
from scipy.special import logsumexp
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

import lyceum.mixtures.sums as module
from lyceum import datasets
from lyceum._core.probability import runner_up_odds
from lyceum.data import scan
from lyceum.errors import DataError, SettingError
from lyceum.mixtures import BayesianGaussianMixture, GaussianMixture, StudentMixture

pytestmark = pytest.mark.syllabus("12.4")
FORMS = ("full", "tied", "diag", "spherical")


def groups(n=600, d=3, K=3, seed=0):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, K, n)
    A = np.eye(d) + 0.4 * rng.normal(size=(K, d, d))
    return (
        np.einsum("nij,nj->ni", A[k], rng.normal(size=(n, d)))
        + 2.5 * rng.normal(size=(K, d))[k]
    )


def same_start(X, K, form, seed=1):
    """Weights, means and precisions to start from."""
    d = X.shape[1]
    precision = {
        "full": np.stack([np.eye(d)] * K),
        "tied": np.eye(d),
        "diag": np.ones((K, d)),
        "spherical": np.ones(K),
    }[form]
    rows = np.random.default_rng(seed).choice(len(X), K, replace=False)
    return {
        "weights_init": np.full(K, 1 / K),
        "means_init": X[rows],
        "precisions_init": precision,
        "covariance_type": form,
    }


def quietly(model, X, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **fit)


@pytest.mark.syllabus("12.4.1")
@pytest.mark.parametrize("form", FORMS)
def test_the_same_start_gives_scikit_learns_likelihood_after_every_iteration(form):
    X = groups()
    start = same_start(X, 3, form)
    for steps in (1, 7):
        ours = quietly(
            GaussianMixture(3, prior_rows=0, max_iter=steps, tol=0, **start), X
        )
        peer = quietly(Peer(3, reg_covar=0, max_iter=steps, tol=0, **start), X)
        np.testing.assert_allclose(
            ours.score_samples(X), peer.score_samples(X), rtol=1e-9
        )
        np.testing.assert_allclose(
            ours.covariances_, peer.covariances_, rtol=1e-8, atol=1e-10
        )
        np.testing.assert_allclose(
            ours.predict_proba(X), peer.predict_proba(X), atol=1e-9
        )
        assert ours.bic(X) == pytest.approx(peer.bic(X), rel=1e-10)
        assert ours.aic(X) == pytest.approx(peer.aic(X), rel=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", [GaussianMixture, BayesianGaussianMixture])
def test_no_iteration_lowers_the_objective(form, model):
    X = groups(seed=3)
    X[::5, 0] = np.nan
    settings = {"covariance_type": form, "n_init": 1, "random_state": 0}
    fitted = quietly(model(4, tol=0, max_iter=15, record=True, **settings), X)
    assert (np.diff(fitted.history_) >= -1e-9 * abs(fitted.history_[0])).all()
    assert [step["objective"] for step in fitted.record_] == fitted.history_


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", [GaussianMixture, StudentMixture])
def test_no_iteration_lowers_the_objective_with_a_constant_column(form, model):
    rng = np.random.default_rng(1)
    parts = (
        rng.normal(size=(40, 3)),
        rng.normal(size=(40, 3)) * 0.2 + 5,
        rng.normal(size=(40, 3)) - 4,
    )
    X = np.column_stack([np.vstack(parts) * [3.0, 1.0, 0.1], np.ones(120)])
    fitted = model(
        3, covariance_type=form, tol=1e-8, max_iter=2000, random_state=0
    ).fit(X)
    assert (np.diff(fitted.history_) >= -1e-10 * abs(fitted.history_[-1])).all()
    assert fitted.converged_


@pytest.mark.syllabus("12.4")
def test_old_faithful_has_two_components():
    X = np.column_stack(_old_faithful())
    model = GaussianMixture(
        2, random_state=0, tol=1e-9, max_iter=1000, prior_rows=0
    ).fit(X)
    short = int(np.argmin(model.means_[:, 0]))
    # the published maximum likelihood estimates (e.g. R's mclust, model VVV)
    np.testing.assert_allclose(model.means_[short], [2.0364, 54.4785], rtol=1e-4)
    np.testing.assert_allclose(model.means_[1 - short], [4.2897, 79.9681], rtol=1e-4)
    np.testing.assert_allclose(model.weights_[short], 0.3559, atol=1e-4)
    np.testing.assert_allclose(
        model.covariances_[short], [[0.0692, 0.4352], [0.4352, 33.697]], rtol=2e-3
    )
    assert model.score(X) * len(X) == pytest.approx(-1130.264, abs=0.01)
    default = GaussianMixture(2, random_state=0).fit(X)
    np.testing.assert_allclose(
        np.sort(default.means_[:, 0]), [2.0364, 4.2897], rtol=5e-3
    )
    assert default.bic(X) < GaussianMixture(1).fit(X).bic(X)


def _old_faithful():
    rows = datasets.load("old_faithful")
    return np.asarray(rows.in_one_block("a test", "nothing").X, dtype=float).T[:2]


@pytest.mark.syllabus("12.4.2")
def test_a_component_does_not_collapse_onto_a_point():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), np.repeat([[5.0, 5.0]], 4, axis=0)])
    start = [[0.0, 0.0], [5.0, 5.0]]
    model = GaussianMixture(2, means_init=start).fit(X)
    assert np.linalg.eigvalsh(model.covariances_).min() > 1e-4
    with pytest.warns((LinAlgWarning, ConvergenceWarning)):
        GaussianMixture(2, means_init=start, prior_rows=0).fit(X)


def test_the_prior_is_rows_of_the_variance_within():
    X = groups(50, 2, 1)
    ml, one = GaussianMixture(prior_rows=0).fit(X), GaussianMixture(prior_rows=3).fit(X)
    V = np.diag(one.prior_variance_)
    np.testing.assert_allclose(
        one.covariances_[0], (50 * ml.covariances_[0] + 3 * V) / 53, rtol=1e-12
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_column_missing_everywhere_in_some_rows_is_integrated_out(form):
    X = groups(seed=2)
    model = GaussianMixture(3, covariance_type=form, random_state=0).fit(X)
    gone = X.copy()
    gone[:, 1] = np.nan
    matrices = np.array(model._form.expand(model.covariances_, 3, 3))
    matrices = matrices if matrices.ndim == 3 else matrices[:, :, None] * np.eye(3)
    keep = [0, 2]
    joint = np.stack(
        [
            np.log(model.weights_[k])
            + stats.multivariate_normal(
                model.means_[k, keep], matrices[k][np.ix_(keep, keep)]
            ).logpdf(X[:, keep])
            for k in range(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(
        model.score_samples(gone), logsumexp(joint, axis=1), rtol=1e-9
    )
    empty = np.full((1, 3), np.nan)
    np.testing.assert_allclose(model.predict_proba(empty)[0], model.weights_, rtol=1e-9)
    assert model.score_samples(empty)[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "learner", [GaussianMixture, StudentMixture, BayesianGaussianMixture]
)
@pytest.mark.parametrize("form", ["full", "tied", "diag"])
def test_rows_of_rare_and_of_frequent_patterns_of_missing_cells_are_one_method(
    learner, form, monkeypatch
):
    rng = np.random.default_rng(8)
    X = np.vstack(
        [rng.normal(c, 1.0, (60, 4)) @ rng.normal(size=(4, 4)) for c in (0.0, 3.0)]
    )
    X[rng.random(X.shape) < 0.25] = np.nan
    X[5], w = np.nan, rng.integers(1, 4, 120).astype(float)
    X = np.column_stack([X, np.full(120, 2.0)])  # a column without variance
    found = []
    for many in (1, 10**9):
        warnings.simplefilter("ignore", ConvergenceWarning)
        monkeypatch.setattr(module, "_MANY_ROWS", many)
        model = learner(
            2, covariance_type=form, max_iter=4, n_init=1, random_state=0
        ).fit(X, sample_weight=w)
        found.append(
            [model.means_, model.covariances_, model.weights_, model.score_samples(X)]
        )
    for rare, frequent in zip(*found):
        np.testing.assert_allclose(rare, frequent, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "learner", [GaussianMixture, StudentMixture, BayesianGaussianMixture]
)
@pytest.mark.parametrize("form", FORMS)
def test_known_cells_are_explained_by_the_marginals_of_their_components(learner, form):
    rng = np.random.default_rng(3)
    # a column without variance
    X = np.column_stack([groups(150, 3, 2, seed=5), np.full(150, 2.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner(
            2, covariance_type=form, max_iter=4, n_init=1, random_state=0
        ).fit(X)
    X[:60][rng.random((60, 4)) < 0.4] = np.nan
    X[7] = np.nan
    at, found = model._values, model.explain(X)
    for i in range(80):
        there = np.flatnonzero(~np.isnan(X[i]))
        known = module.Marginal.of(at, there).values if len(there) < 4 else at
        by_hand = runner_up_odds(
            known.terms(X[[i]][:, there]), known.log_weights + known.constant
        )[0]
        assert found.predicted[i] == by_hand[0]
        assert found.base[i] == pytest.approx(by_hand[1], rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(
            found.contributions[i, there], by_hand[2:], rtol=1e-10, atol=1e-10
        )
        assert not found.contributions[i, np.isnan(X[i])].any()


def test_missing_cells_of_one_gaussian_reach_the_maximum_of_the_observed_likelihood():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + [1.0, -2.0, 3.0]
    X[rng.random(X.shape) < 0.25] = np.nan
    model = GaussianMixture(1, prior_rows=0, tol=0, max_iter=600)
    model = quietly(model, X)

    def likelihood(mean, covariance):
        total = 0.0
        for there in np.unique(~np.isnan(X), axis=0):
            if there.any():
                rows = X[(~np.isnan(X) == there).all(axis=1)][:, there]
                density = stats.multivariate_normal(
                    mean[there], covariance[np.ix_(there, there)]
                )
                total += density.logpdf(rows).sum()
        return total

    mean, S = model.means_[0], model.covariances_[0]
    best = likelihood(mean, S)
    assert best == pytest.approx(model.history_[-1], rel=1e-9)
    step = 1e-3
    # a stationary point: both sides are lower by the same, second-order amount
    for j in range(3):
        moved = np.zeros(3)
        moved[j] = step
        sides = likelihood(mean + moved, S) - best, likelihood(mean - moved, S) - best
        assert max(sides) < 0
        assert sides[0] == pytest.approx(sides[1], rel=1e-2)
        other = S.copy()
        other[j, j] += step
        lower = S.copy()
        lower[j, j] -= step
        sides = likelihood(mean, other) - best, likelihood(mean, lower) - best
        assert max(sides) < 0


@pytest.mark.syllabus("4.6.1")
def test_the_density_integrates_to_one():
    X, x = groups(300, 1, 2), np.linspace(-30, 30, 6001)
    for form in ("full", "spherical"):
        model = GaussianMixture(2, covariance_type=form, random_state=0).fit(X)
        area = integrate.simpson(np.exp(model.score_samples(x[:, None])), x=x)
        assert area == pytest.approx(1.0, abs=1e-6)


@pytest.mark.syllabus("4.6")
def test_draws_come_from_the_density_and_anomalies_are_improbable():
    X = groups(800, 2, 2)
    model = GaussianMixture(2, random_state=0).fit(X)
    drawn, labels = model.sample(40_000, random_state=1)
    np.testing.assert_allclose(np.bincount(labels) / 40_000, model.weights_, atol=0.01)
    for k in range(2):
        np.testing.assert_allclose(
            np.cov(drawn[labels == k].T), model.covariances_[k], rtol=0.1, atol=0.1
        )
    assert model.anomalies(drawn, quantile=0.05).mean() == pytest.approx(
        0.05, abs=0.005
    )
    assert model.anomalies([[1e3, 1e3]]).all()


def test_a_file_and_weights_give_the_same_mixture(tmp_path):
    X = groups(300, 2, 2)
    path = tmp_path / "t.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    start = X[:2]
    one = GaussianMixture(2, means_init=start).fit(X)
    two = GaussianMixture(2, means_init=start).fit(scan(path, memory=0))
    np.testing.assert_allclose(one.means_, two.means_, rtol=1e-9)
    doubled = GaussianMixture(2, means_init=start).fit(np.vstack([X, X]))
    weighted = GaussianMixture(2, means_init=start).fit(
        X, sample_weight=np.full(300, 2.0)
    )
    np.testing.assert_allclose(doubled.covariances_, weighted.covariances_, rtol=1e-9)


def test_a_warm_start_goes_on():
    X = groups()
    first = quietly(GaussianMixture(3, random_state=0, max_iter=2, tol=0), X)
    bound = first.history_[-1]
    first.set_params(warm_start=True)
    assert quietly(first, X).history_[0] == pytest.approx(bound, rel=1e-12)


def test_random_memberships_are_those_of_the_rows_in_any_blocks(tmp_path):
    X = groups(700, 2, 2, seed=3)
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    start = GaussianMixture(2, init_params="random", random_state=0, max_iter=0)
    in_memory = quietly(start, X).means_
    streamed = quietly(start, scan(path, memory=0)).means_
    again = quietly(start.set_params(random_state=1), X).means_
    np.testing.assert_allclose(streamed, in_memory, rtol=1e-9)
    assert np.abs(again - in_memory).max() > 1e-3
    model = GaussianMixture(2, init_params="random", random_state=0).fit(X)
    np.testing.assert_allclose(
        model.lower_bounds_, np.array(model.history_[1:]) / len(X), rtol=1e-12
    )


def test_more_starts_do_not_lower_the_objective():
    X = groups(200, 2, 4, seed=8)
    one = GaussianMixture(4, init_params="random_from_data", random_state=3).fit(X)
    many = GaussianMixture(
        4, init_params="random_from_data", random_state=3, n_init=6
    ).fit(X)
    assert many.lower_bound_ >= one.lower_bound_ - 1e-6


@pytest.mark.parametrize(
    "X", [np.ones((1, 2)), np.ones((5, 2)), np.c_[np.arange(6.0), np.ones(6)]]
)
def test_one_row_and_constant_columns_are_taken(X):
    model = GaussianMixture().fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(BayesianGaussianMixture(1).fit(X).score_samples(X)).all()


def test_errors_say_what_to_do():
    X = groups(20)
    with pytest.raises(DataError, match="n_samples=2 should be >= n_components=3"):
        GaussianMixture(3).fit(X[:2])
    with pytest.raises(
        SettingError,
        match=r"'means' should have the shape of \(2, 3\), but got \(1, 3\)",
    ):
        GaussianMixture(2, means_init=X[:1]).fit(X)
    with pytest.raises(SettingError, match="sum to 2"):
        GaussianMixture(2, weights_init=[1.0, 1.0]).fit(X)


# -- the Bayesian mixture --------------------------------------------------------------


@pytest.mark.syllabus("12.4.3")
@pytest.mark.parametrize("kind", ["dirichlet_process", "dirichlet_distribution"])
def test_the_bayesian_mixture_finds_the_number_of_components(kind):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, 1.0, (150, 2)) for m in ([0, 0], [8, 0], [0, 8])])
    settings = {"weight_concentration_prior_type": kind, "n_init": 1, "random_state": 0}
    model = BayesianGaussianMixture(8, **settings).fit(X)
    assert model.n_active_ == 3
    assert model.counts_.sum() == pytest.approx(450)


def test_the_bayesian_mixture_is_scikit_learns():
    from sklearn.mixture import BayesianGaussianMixture as BayesPeer

    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0, 1, (80, 2)), rng.normal(7, 1.5, (120, 2))])
    settings = {
        "weight_concentration_prior_type": "dirichlet_distribution",
        "weight_concentration_prior": 0.7,
        "mean_precision_prior": 2.0,
        "mean_prior": [1.0, 2.0],
        "degrees_of_freedom_prior": 3.0,
        "covariance_prior": np.array([[2.0, 0.3], [0.3, 1.0]]),
        "tol": 1e-13,
        "max_iter": 2000,
        "random_state": 0,
    }
    peer = BayesPeer(n_components=2, reg_covar=0, **settings).fit(X)
    ours = BayesianGaussianMixture(2, **settings).fit(X)
    order, peers = np.argsort(ours.means_[:, 0]), np.argsort(peer.means_[:, 0])
    for name in (
        "means_",
        "covariances_",
        "weights_",
        "degrees_of_freedom_",
        "mean_precision_",
    ):
        np.testing.assert_allclose(
            getattr(ours, name)[order], getattr(peer, name)[peers], rtol=1e-5
        )


def test_the_bound_is_below_the_evidence_and_exact_for_one_component():
    # one component: the bound is the log evidence of the Normal-Wishart model, in closed form
    from scipy.special import multigammaln

    X = groups(30, 2, 1)
    nu, kappa, m, Psi = 4.0, 0.5, np.zeros(2), np.diag([1.0, 2.0])
    settings = {
        "degrees_of_freedom_prior": nu,
        "mean_precision_prior": kappa,
        "mean_prior": m,
        "covariance_prior": Psi,
    }
    model = BayesianGaussianMixture(
        1, weight_concentration_prior_type="dirichlet_distribution", **settings
    )
    model.fit(X)
    n, x = len(X), X.mean(axis=0)
    S = (X - x).T @ (X - x)
    after = Psi + S + kappa * n / (kappa + n) * np.outer(x - m, x - m)
    evidence = (
        -n * np.log(np.pi)
        + multigammaln((nu + n) / 2, 2)
        - multigammaln(nu / 2, 2)
        + nu / 2 * np.linalg.slogdet(Psi)[1]
        - (nu + n) / 2 * np.linalg.slogdet(after)[1]
        + np.log(kappa / (kappa + n))
    )
    assert model.history_[-1] == pytest.approx(evidence, rel=1e-10)


@pytest.mark.syllabus("12.4")
def test_the_two_components_of_old_faithful_are_found_without_saying_two():
    rows = scan(datasets.path("old_faithful"))
    assert BayesianGaussianMixture(random_state=0).fit(rows).n_active_ == 2


def test_a_merge_leaves_a_solution_that_iterations_alone_cannot():
    rng = np.random.default_rng(5)
    centers = rng.uniform(-12, 12, (2, 4))
    X = np.vstack([c + rng.normal(size=(60, 4)) for c in centers])
    start = np.vstack(
        [centers[:1] + 0.5, centers[:1] - 0.5, centers[1:] + 0.5, centers[1:] - 0.5]
    )
    for form in FORMS:
        settings = {"covariance_type": form, "means_init": start}
        alone = BayesianGaussianMixture(4, merge=False, **settings).fit(X)
        merged = BayesianGaussianMixture(4, **settings).fit(X)
        assert merged.n_active_ == 2
        assert merged.lower_bound_ >= alone.lower_bound_
        assert (np.diff(merged.history_) >= -1e-9 * abs(merged.history_[0])).all()


@pytest.mark.parametrize(
    "learner", [GaussianMixture, StudentMixture, BayesianGaussianMixture]
)
@pytest.mark.parametrize("form", FORMS)
def test_precisions_are_the_inverses_and_zero_in_constant_columns(learner, form):
    X = groups(150, 3, 2, seed=5)
    model = quietly(learner(2, covariance_type=form, random_state=0), X)
    inverse = np.linalg.inv if form in ("full", "tied") else np.reciprocal
    np.testing.assert_allclose(
        model.precisions_, inverse(model.covariances_), rtol=1e-8, atol=1e-12
    )
    if learner is not BayesianGaussianMixture and form != "spherical":
        constant = np.column_stack([X, np.full(150, 2.0)])
        found = quietly(
            learner(2, covariance_type=form, random_state=0), constant
        ).precisions_
        assert found.shape == model._form.shape(2, 4)
        assert not found[..., 3].any()
        others = found[..., :3] if form == "diag" else found[..., :3, :3]
        np.testing.assert_allclose(others, model.precisions_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("form", "precisions", "what"),
    [
        ("full", np.zeros((1, 2, 2)), "symmetric, positive-definite"),
        ("full", [[[1.0, 2.0], [2.0, 1.0]]], "symmetric, positive-definite"),
        ("full", [[[1.0, 0.5], [0.0, 1.0]]], "symmetric, positive-definite"),
        ("diag", [[1.0, 0.0]], "positive"),
    ],
)
def test_precisions_of_no_covariance_are_refused(form, precisions, what):
    with pytest.raises(SettingError, match=f"precision' should be {what}"):
        GaussianMixture(covariance_type=form, precisions_init=precisions).fit(
            groups(60, 2, 2)
        )


@pytest.mark.parametrize(
    ("form", "precisions"),
    [
        ("full", np.stack([np.eye(5)] * 2)),
        ("tied", np.eye(5)),
        ("diag", np.ones((2, 5))),
        ("spherical", np.ones(2)),
    ],
)
def test_attributes_are_those_of_scikit_learn(form, precisions):
    X, _ = make_blobs(300, 5, centers=3, cluster_std=2.5, random_state=3)
    settings = {
        "n_components": 2,
        "covariance_type": form,
        "tol": 1e-9,
        "max_iter": 2000,
    }
    settings |= {
        "means_init": X[[0, 7]],
        "weights_init": [0.5, 0.5],
        "precisions_init": precisions,
    }
    ours = GaussianMixture(prior_rows=0.0, **settings).fit(X)
    theirs = Peer(reg_covar=0.0, **settings).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "lower_bound_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-5, atol=1e-7
        )
    assert ours.converged_ is theirs.converged_ is True


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical", "EEI", "VEV"])
def test_what_is_added_to_the_variances_is_what_is_asked_for(shape):
    # one component without a prior: the covariance of the rows, and the ridge
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 2.0, 0.1]
    plain, raised = (
        GaussianMixture(covariance_type=shape, prior_rows=0, reg_covar=ridge).fit(X)
        for ridge in (0.0, 0.25)
    )
    difference = raised.covariances_ - plain.covariances_
    if shape in ("full", "tied", "VEV"):
        np.testing.assert_allclose(np.squeeze(difference), 0.25 * np.eye(3), atol=1e-12)
    else:
        np.testing.assert_allclose(difference, 0.25)
    if shape == "full":
        theirs = Peer(reg_covar=0.25).fit(X)
        np.testing.assert_allclose(raised.covariances_, theirs.covariances_)
