"""Expectation-maximization: mixtures of Gaussians in a few lines, over rows from memory, files and
Dask."""

from dataclasses import dataclass
from functools import partial

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from lyceum._core.probability import gaussian_log_density, whiten
from lyceum.data import scan
from lyceum.errors import Cancelled, DataError
from lyceum.progress import watch
from lyceum.solvers import EMProblem, Expectation, ExpectationMaximization
from lyceum.statistics import ClassMoments, ClassScatter


@dataclass(frozen=True)
class Mixture:
    share: np.ndarray  # (K,)
    mean: np.ndarray  # (K, d)
    covariance: np.ndarray  # (K, d, d), or (K, d) if diagonal


class GaussianMixtureProblem(EMProblem):
    """A mixture of Gaussians with full or diagonal covariances."""

    def __init__(self, diagonal=False):
        self.statistic = ClassMoments.of if diagonal else partial(ClassScatter.of)

    def expectation(self, block, parameters):
        white = [whiten(S, np.ones(block.X.shape[1])) for S in parameters.covariance]
        constant = [
            -0.5 * (one.log_det + block.X.shape[1] * np.log(2 * np.pi)) for one in white
        ]
        W = np.stack([one.W for one in white])
        constant = np.log(parameters.share) + constant
        joint = gaussian_log_density(block.X, parameters.mean, W, constant)
        log_p = logsumexp(joint, axis=1)
        w = np.ones(len(block)) if block.w is None else block.w
        statistic = self.statistic(
            block, responsibilities=np.exp(joint - log_p[:, None])
        )
        return Expectation(statistic, float(w @ log_p), float(w.sum()))

    def maximization(self, statistic):
        n = statistic.class_weight
        scatter = statistic.scatter / n.reshape(
            [-1] + [1] * (statistic.scatter.ndim - 1)
        )
        return Mixture(n / n.sum(), statistic.mean, scatter)


def frame_of(seed=0, n=600, d=3):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    A = np.eye(d) + 0.4 * rng.normal(size=(2, d, d))
    X = np.einsum("nij,nj->ni", A[k], rng.normal(size=(n, d))) + 1.5 * k[:, None]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])


def start_of(frame, diagonal=False):
    d = frame.shape[1]
    mean = frame.to_numpy()[[0, 1]]
    spread = np.ones((2, d)) if diagonal else np.stack([np.eye(d)] * 2)
    return Mixture(np.array([0.5, 0.5]), mean, 4.0 * spread)


def sources(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=150)
    return {
        "memory": scan(frame),
        "file": scan(tmp_path / "rows.parquet", memory=0),
        "dask": scan(dd.from_pandas(frame, npartitions=4)),
    }


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_mixture_equals_that_of_scikit_learn_from_any_source(diagonal, tmp_path):
    frame = frame_of()
    start = start_of(frame, diagonal)
    theirs = GaussianMixture(
        2,
        covariance_type="diag" if diagonal else "full",
        reg_covar=0.0,
        tol=0.0,
        max_iter=25,
        weights_init=start.share,
        means_init=start.mean,
        precisions_init=1 / start.covariance
        if diagonal
        else np.linalg.inv(start.covariance),
    )
    with pytest.warns(ConvergenceWarning):
        theirs.fit(frame.to_numpy())
    for name, rows in sources(frame, tmp_path).items():
        with pytest.warns(ConvergenceWarning, match="max_iter=25"):
            found = ExpectationMaximization(max_iter=25, tol=0.0).maximize(
                rows, GaussianMixtureProblem(diagonal), start
            )
        assert found.n_iter == 25, name
        np.testing.assert_allclose(found.parameters.share, theirs.weights_, rtol=1e-8)
        np.testing.assert_allclose(
            found.parameters.mean, theirs.means_, rtol=1e-7, atol=1e-9
        )
        np.testing.assert_allclose(
            found.parameters.covariance, theirs.covariances_, rtol=1e-7, atol=1e-9
        )
        assert found.objective == pytest.approx(
            theirs.score_samples(frame.to_numpy()).sum(), rel=1e-10
        )


def test_two_components_of_one_column_are_found():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(-2, 0.5, 4000), rng.normal(3, 1.5, 6000)])
    rows = scan(pd.DataFrame({"x": rng.permutation(x)}))
    start = Mixture(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    found = ExpectationMaximization(tol=1e-9).maximize(
        rows, GaussianMixtureProblem(True), start
    )
    assert found.converged
    np.testing.assert_allclose(found.parameters.share, [0.4, 0.6], atol=0.02)
    np.testing.assert_allclose(found.parameters.mean[:, 0], [-2, 3], atol=0.1)
    np.testing.assert_allclose(
        found.parameters.covariance[:, 0], [0.25, 2.25], atol=0.12
    )


def test_the_likelihood_rises_at_every_iteration_and_is_recorded():
    frame = frame_of(2)
    solver = ExpectationMaximization(tol=1e-7, max_iter=500, record=True)
    found = solver.maximize(scan(frame), GaussianMixtureProblem(), start_of(frame))
    assert found.converged
    assert (np.diff(found.history) > -1e-9).all()
    assert len(found.history) == found.n_iter + 1 == len(found.record)
    assert found.history[-1] == found.objective
    assert [step["step"] for step in found.record] == list(range(found.n_iter + 1))
    assert [step["objective"] for step in found.record] == found.history
    assert found.record[-1]["parameters"] is found.parameters
    log_p = [
        np.log(share) + stats.multivariate_normal(mean, S).logpdf(frame.to_numpy())
        for share, mean, S in zip(
            found.parameters.share, found.parameters.mean, found.parameters.covariance
        )
    ]
    assert found.objective == pytest.approx(logsumexp(log_p, axis=0).sum(), rel=1e-12)


def test_weight_two_equals_a_repeated_row():
    frame, w = frame_of(3, 200), np.random.default_rng(0).integers(0, 3, 200)
    solver = ExpectationMaximization(tol=1e-6, max_iter=300)
    weighted = scan(frame.assign(w=w.astype(float)), weight="w")
    repeated = scan(frame.loc[np.repeat(frame.index, w)].reset_index(drop=True))
    one, two = (
        solver.maximize(rows, GaussianMixtureProblem(), start_of(frame))
        for rows in (weighted, repeated)
    )
    np.testing.assert_allclose(one.parameters.mean, two.parameters.mean, rtol=1e-6)
    assert one.objective == pytest.approx(two.objective, rel=1e-9)


def test_the_best_of_several_starts_is_taken():
    frame = frame_of(4)
    X, rng = frame.to_numpy(), np.random.default_rng(0)
    starts = [
        Mixture(
            np.array([0.5, 0.5]), X[rng.choice(len(X), 2)], np.stack([np.cov(X.T)] * 2)
        )
        for _ in range(4)
    ]
    solver = ExpectationMaximization(tol=1e-6, max_iter=500)
    best = solver.maximize_from(scan(frame), GaussianMixtureProblem(), starts)
    each = [
        solver.maximize(scan(frame), GaussianMixtureProblem(), start).objective
        for start in starts
    ]
    assert best.start_objectives == tuple(each)
    assert best.objective == max(each)
    with pytest.raises(ValueError, match="starts is empty"):
        solver.maximize_from(scan(frame), GaussianMixtureProblem(), [])


class ShrinkingProblem(GaussianMixtureProblem):
    """An M-step that is wrong: after a few exact steps it moves the means away."""

    def maximization(self, statistic):
        exact = super().maximization(statistic)
        self.steps = getattr(self, "steps", 0) + 1
        return (
            exact
            if self.steps < 4
            else Mixture(exact.share, exact.mean + 1.0, exact.covariance)
        )


def test_a_fall_of_the_likelihood_is_said_and_undone():
    frame = frame_of(5)
    with pytest.warns(
        ConvergenceWarning, match="iteration 4 lowered the log-likelihood"
    ):
        found = ExpectationMaximization(tol=0.0).maximize(
            scan(frame), ShrinkingProblem(), start_of(frame)
        )
    assert found.n_iter == 3
    assert not found.converged
    assert found.objective == max(found.history)


class PriorProblem(GaussianMixtureProblem):
    """Covariances with an inverse-Wishart prior of scale I and ν_0: the posterior's mode, not the
    maximum."""

    def log_prior(self, parameters):
        log_det, precision = (
            np.linalg.slogdet(parameters.covariance)[1],
            np.linalg.inv(parameters.covariance),
        )
        return -0.5 * (4 * log_det.sum() + np.trace(precision, axis1=1, axis2=2).sum())

    def maximization(self, statistic):
        n, d = statistic.class_weight, statistic.mean.shape[1]
        scatter = (statistic.scatter + np.eye(d)) / (n + 4)[:, None, None]
        return Mixture(n / n.sum(), statistic.mean, scatter)


def test_with_a_prior_the_posterior_rises_where_the_likelihood_may_not():
    frame = frame_of(6, 60)
    solver = ExpectationMaximization(tol=1e-8, max_iter=2000)
    found = solver.maximize(scan(frame), PriorProblem(), start_of(frame))
    assert found.converged
    assert (np.diff(found.history) > -1e-9).all()
    likelihood = solver.maximize(
        scan(frame), GaussianMixtureProblem(), found.parameters
    ).history[0]
    assert found.objective == pytest.approx(
        likelihood + PriorProblem().log_prior(found.parameters)
    )


def test_progress_is_reported_and_can_be_cancelled():
    frame, seen = frame_of(7), []

    def show(update):
        if update.stage == "iterations":
            seen.append(update)
            watched.cancel()

    solver = ExpectationMaximization(tol=0.0)
    with watch(show) as watched, pytest.raises(Cancelled):
        solver.maximize(scan(frame), GaussianMixtureProblem(), start_of(frame))
    assert [(update.done, update.total) for update in seen] == [(0, 100)]


def test_a_likelihood_that_is_no_number_is_an_error():
    class Broken(GaussianMixtureProblem):
        def log_prior(self, parameters):
            return np.nan

    frame = frame_of(8)
    with pytest.raises(DataError, match="not a number after 0 iterations"):
        ExpectationMaximization().maximize(scan(frame), Broken(), start_of(frame))


def test_a_problem_must_define_its_steps():
    with pytest.raises(NotImplementedError, match="does not define expectation"):
        EMProblem().expectation(None, None)
    with pytest.raises(NotImplementedError, match="does not define maximization"):
        EMProblem().maximization(None)
