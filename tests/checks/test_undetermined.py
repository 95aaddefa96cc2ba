"""Learners say when rows do not determine what they solve for: an attribute, and a line of the
summary."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import lyceum
from lyceum._core.text import undetermined_fact
from lyceum.bayesnets import BayesNet, GaussianNode, learn_parameters
from lyceum.decomposition import SequentialFeatureSelector
from lyceum.kernels import KernelRidge
from lyceum.linear import LinearRegression, LogisticRegression, Ridge, RidgeCV
from lyceum.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LearnedMetric,
    NearestCentroid,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
)
from lyceum.solvers import Newton, Point, Problem

LINE = "not determined"

# what is fitted, whether the target is a class, and the count that one repeated column gives
CASES = {
    "Ridge without a penalty": (Ridge(0.0), False, 1),
    "Ridge with a penalty below rounding": (Ridge(1e-20), False, 1),
    "RidgeCV": (RidgeCV([1e-20, 1e-19], cv=3, random_state=0), False, 1),
    "LogisticRegression": (LogisticRegression(C=np.inf), True, 1),
    "LogisticRegression by L-BFGS": (
        LogisticRegression(C=np.inf, solver="lbfgs"),
        True,
        1,
    ),
    "LogisticRegression with a penalty below rounding": (
        LogisticRegression(C=1e20),
        True,
        1,
    ),
    "RBFNetworkRegressor": (
        RBFNetworkRegressor(n_centers=3, units="linear", alpha=0.0, random_state=0),
        False,
        3,
    ),
    "RBFNetworkClassifier": (
        RBFNetworkClassifier(n_centers=2, units="linear", alpha=0.0, random_state=0),
        True,
        2,
    ),
    "RBFNetworkRegressor by gradients": (
        RBFNetworkRegressor(
            n_centers=2,
            units="linear",
            alpha=0.0,
            fit_by="gradient",
            max_iter=3,
            random_state=0,
        ),
        False,
        2,
    ),
    "KNeighborsClassifier": (KNeighborsClassifier(metric="mahalanobis"), True, 1),
    "KNeighborsRegressor": (KNeighborsRegressor(metric="mahalanobis"), False, 1),
    "NearestCentroid": (NearestCentroid("mahalanobis"), True, 1),
    "NearestCentroid by class": (NearestCentroid(covariance="class"), True, 1),
    "LearnedMetric": (LearnedMetric(max_iter=5), True, 1),
    "SequentialFeatureSelector": (
        SequentialFeatureSelector(
            n_features_to_select=None, direction="backward", cv=3, random_state=0
        ),
        False,
        1,
    ),
}


def table(repeated):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=60)
    X = np.column_stack([X, X[:, 0] if repeated else rng.normal(size=60)])
    return X, y


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_repeated_column_is_said_and_an_ordinary_table_is_not(case):
    learner, classes, count = CASES[case]
    for repeated in (True, False):
        X, y = table(repeated)
        learner.fit(X, y > 0 if classes else y)
        assert learner.n_undetermined_ == (count if repeated else 0)
        text = learner.summary().facts.get(LINE, "")
        assert text.startswith(f"{count} of ") if repeated else not text


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
def test_least_squares_says_it_by_its_rank():
    for repeated in (True, False):
        model = LinearRegression().fit(*table(repeated))
        assert model.rank_ == 4 - repeated
        assert (LINE in model.summary().facts) == repeated
        assert model.leverages(table(repeated)[0]).sum() == pytest.approx(
            1 + model.rank_
        )


@pytest.mark.parametrize(
    "learner",
    [
        Ridge(),
        LogisticRegression(),
        RBFNetworkRegressor(units="linear", n_centers=3, random_state=0),
    ],
)
def test_a_penalty_determines_the_coefficients_of_repeated_columns(learner):
    X, y = table(True)
    learner.fit(X, y > 0 if isinstance(learner, LogisticRegression) else y)
    assert learner.n_undetermined_ == 0
    assert LINE not in learner.summary().facts


def test_em_says_which_terms_a_constant_column_leaves_open():
    X, y = table(False)
    X[:, 3] = 2.0
    learner = RBFNetworkRegressor(
        n_centers=2, units="linear", fit_by="em", random_state=0
    ).fit(X, y)
    assert learner.n_undetermined_ == 2  # a slope of either unit
    assert learner.summary().facts[LINE].startswith("2 of 10 weights")
    assert (
        RBFNetworkRegressor(n_centers=2, units="linear", fit_by="em")
        .fit(*table(False))
        .n_undetermined_
        == 0
    )


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-22, "loo"])
def test_kernel_ridge_says_that_alpha_decides_alone_and_leaves_rows_out_as_a_larger_alpha_does(
    intercept, alpha
):
    X, y = table(False)
    settings = {"kernel": "linear", "fit_intercept": intercept}
    grid = {"alphas": [1e-22]} if alpha == "loo" else {}
    with pytest.warns(
        np.exceptions.RankWarning, match="56 directions .* give a larger alpha"
    ):
        model = KernelRidge(alpha, **settings, **grid).fit(X, y)
    assert model.n_undetermined_ == 56  # of 60 rows in 4 columns
    assert model.summary().facts[LINE].startswith("56 of 60 directions; alpha alone")
    larger = KernelRidge(1e-6, **settings).fit(X, y)
    assert larger.n_undetermined_ == 0
    assert LINE not in larger.summary().facts
    assert_allclose(
        model.leave_one_out().residuals, larger.leave_one_out().residuals, rtol=1e-4
    )


def test_gaussian_nodes_say_which_coefficients_equal_parents_leave_open():
    X, y = table(False)
    net = BayesNet(
        [GaussianNode("a"), GaussianNode("b"), GaussianNode("y", ["a", "b"], 0, [0, 0])]
    )
    for repeated in (True, False):
        names = {"a": X[:, 0], "b": X[:, 0] if repeated else X[:, 1], "y": y}
        found = learn_parameters(net, pa.table(names))
        assert found.node("y").n_undetermined == repeated
        assert (
            found.summary().facts.get(LINE, "").startswith("1 of 2 coefficients")
            == repeated
        )


def test_a_point_counts_the_directions_that_a_newton_step_leaves_alone():
    class Valley(Problem):
        def evaluate(self, theta, hessian=False):
            r = theta.sum() - 1.0
            return Point(theta, r**2 / 2, np.full(2, r), np.ones((2, 2)))

    valley = Valley()
    found = Newton().minimize(
        valley, valley.evaluate(np.array([3.0, 0.0]), True), 20, 1e-12
    )
    assert_allclose(found.point.theta, [2.0, -1.0])
    assert found.point.n_undetermined == 1


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
@pytest.mark.parametrize(
    "case", ["KNeighborsClassifier", "RBFNetworkRegressor", "LogisticRegression"]
)
def test_model_files_keep_it(case, tmp_path):
    learner, classes, count = CASES[case]
    X, y = table(True)
    learner.fit(X, y > 0 if classes else y)
    lyceum.save(learner, tmp_path / "model.lyceum")
    loaded = lyceum.load(tmp_path / "model.lyceum")
    assert loaded.n_undetermined_ == count
    assert loaded.summary().facts[LINE] == learner.summary().facts[LINE]


def test_the_line_is_one_sentence_for_all():
    assert undetermined_fact(0, 3, "row") == {}
    assert undetermined_fact(2, 1200, "weight") == {
        LINE: "2 of 1,200 weights; the solution of least norm was taken"
    }
