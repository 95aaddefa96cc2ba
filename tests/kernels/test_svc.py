"""Support vector classification: hand-solved problems, optimality, and libsvm's answers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as LibSVM

from lyceum.errors import DataError, SettingError
from lyceum.kernels import (
    SVC,
    SVR,
    DistanceKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
)

INF = float("inf")


def two_classes(n=120, d=3, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + apart * y[:, None], y


def residual(model, X, y, C, K=None):
    """The largest violation of the KKT conditions, from the definition."""
    K = model.kernel_.gram(X) if K is None else K
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    f = K @ (signs * model.alpha_) + model.intercept_[0]
    margins = signs * f - 1
    low, high = model.alpha_ <= 0, model.alpha_ >= C
    wrong = np.where(
        low,
        np.maximum(0, -margins),
        np.where(high, np.maximum(0, margins), np.abs(margins)),
    )
    return max(wrong.max(), abs(signs @ model.alpha_))


@pytest.mark.syllabus("9.3")
def test_three_points_by_hand():
    X, y = [[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0]], [-1, -1, 1]
    model = SVC(kernel="linear", C=INF, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.alpha_, [0, 1 / 8, 1 / 8], atol=1e-12)
    np.testing.assert_allclose(model.coef_, [[0, -0.5]], atol=1e-12)
    assert model.intercept_[0] == pytest.approx(0, abs=1e-12)
    assert model.margin_width_[0] / 2 == pytest.approx(2.0)
    np.testing.assert_allclose(np.abs(model.distances(X)), 2.0)
    assert model.primal_objective_[0] == pytest.approx(model.dual_objective_[0])
    assert model.support_.tolist() == [1, 2]


@pytest.mark.syllabus("9.3.4")
def test_three_support_vectors_with_the_bias_folded_in_by_hand():
    X, y = [[0.0, 1.0], [-1.0, 3.0], [1.0, 3.0]], [-1, 1, 1]
    model = SVC(kernel="linear", C=INF, intercept_scaling=1.0, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.alpha_, [3.5, 0.75, 0.75], atol=1e-9)
    np.testing.assert_allclose(model.coef_, [[0, 1]], atol=1e-9)
    assert model.intercept_[0] == pytest.approx(-2.0)


@pytest.mark.syllabus("9.3.1")
@given(st.integers(4, 40), st.integers(1, 4), st.integers(0, 10**6))
def test_the_hard_margin_is_the_distance_of_the_convex_hulls(n, d, seed):
    X, y = two_classes(n, d, seed, apart=8.0)
    model = SVC(kernel="linear", C=INF, tol=1e-9).fit(X, y)
    A, B = X[y == 0], X[y == 1]

    def distance(weights):
        return ((weights[: len(A)] @ A - weights[len(A) :] @ B) ** 2).sum()

    def slope(weights):
        apart = weights[: len(A)] @ A - weights[len(A) :] @ B
        return 2 * np.concatenate([A @ apart, -B @ apart])

    sides = [
        {"type": "eq", "fun": lambda w: w[: len(A)].sum() - 1},
        {"type": "eq", "fun": lambda w: w[len(A) :].sum() - 1},
    ]
    start = np.concatenate([np.full(len(A), 1 / len(A)), np.full(len(B), 1 / len(B))])
    hull = minimize(
        distance,
        start,
        jac=slope,
        bounds=[(0, 1)] * n,
        constraints=sides,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert model.margin_width_[0] == pytest.approx(np.sqrt(hull.fun), rel=1e-3)
    # α scaled by the half of their sum are the weights of the nearest points of both hulls
    weights = 2 * model.alpha_ / model.alpha_.sum()
    nearest = np.concatenate([weights[y == 0], weights[y == 1]])
    assert np.sqrt(distance(nearest)) == pytest.approx(model.margin_width_[0], rel=1e-6)


@pytest.mark.syllabus("9.3")
def test_classes_that_are_not_separable_have_no_hard_margin():
    X, y = two_classes(60, 2, apart=0.5)
    with pytest.raises(DataError, match="not separable by the kernel Linear"):
        SVC(kernel="linear", C=INF).fit(X, y)
    with pytest.raises(DataError, match="not separable"):
        SVC(C=INF, gamma=1.0).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    for gap in (1e-6, 1e-9):  # a linear program tells a thin margin from none
        with pytest.raises(
            DataError, match=r"are separable by .* too thin for a hard margin"
        ):
            SVC(kernel="linear", C=INF).fit(
                [[0.0, 5.0], [gap, 5.0], [1.0, 3.0]], [0, 1, 1]
            )
    with pytest.raises(DataError, match="not separable by the kernel Linear"):
        SVC(kernel="linear", C=INF).fit([[0.0, 1.0], [0.0, 1.0], [1.0, 3.0]], [0, 1, 1])
    far = SVC(kernel="linear", C=INF).fit(
        np.array([[0.0], [1.0], [3.0]]) + 1e6, [0, 0, 1]
    )
    assert far.margin_width_[0] == pytest.approx(2.0, rel=1e-4)
    model = SVC(C=INF, gamma=20.0).fit(X, y)  # distinct rows are separable by RBF
    assert model.score(X, y) == 1.0
    assert model.n_at_bound_[0] == model.n_wrong_[0] == 0


@pytest.mark.syllabus("9.3.1")
@pytest.mark.parametrize(
    ("kernel", "settings"),
    [
        ("linear", {}),
        ("rbf", {"gamma": 0.3}),
        ("poly", {"degree": 2, "coef0": 1.0, "gamma": 0.5}),
    ],
)
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_libsvm_finds_the_same_optimum(kernel, settings, C):
    X, y = two_classes(150, 4, seed=3)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    ours = SVC(kernel=kernel, C=C, tol=1e-8, **settings).fit(X, y, w)
    peer = LibSVM(kernel=kernel, C=C, tol=1e-8, **settings).fit(X, y, w)
    K = ours.kernel_.gram(X)
    coef = np.zeros(len(y))
    coef[peer.support_] = peer.dual_coef_[0]
    dual = np.abs(coef).sum() - 0.5 * coef @ K @ coef
    assert ours.dual_objective_[0] == pytest.approx(dual, rel=1e-7)
    assert ours.dual_objective_[0] <= ours.primal_objective_[0] + 1e-9
    assert ours.primal_objective_[0] == pytest.approx(dual, rel=1e-6)
    assert ours.support_.tolist() == peer.support_.tolist()
    # libsvm keeps kernel values in single precision; ours are in double, as their residual shows
    single = 1e-5 + 1e-4 * C
    assert ours.intercept_[0] == pytest.approx(peer.intercept_[0], abs=single)
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), rtol=1e-4, atol=single
    )
    assert residual(ours, X, y, C * w) <= 1.1e-8


@pytest.mark.syllabus("9.3")
@given(
    st.integers(2, 60),
    st.integers(1, 4),
    st.sampled_from([1e-2, 1.0, 1e3]),
    st.sampled_from(["linear", "rbf", "poly"]),
    st.integers(0, 10**6),
)
def test_kkt_conditions_hold_to_tol_on_awkward_rows(n, d, C, kernel, seed):
    """Whole numbers make duplicates and both labels on one point; one column is constant."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, d)).astype(float)
    X[:, 0] = 1.0
    y = rng.permutation(np.arange(n) % 2)
    model = SVC(kernel=kernel, C=C, tol=1e-5, coef0=1.0).fit(X, y)
    assert model.converged_
    assert residual(model, X, y, C) <= 1.01e-5 * max(1.0, C * 1e-8)
    assert model.kkt_residual_[0] <= 1e-5
    assert abs(np.where(y == 1, 1, -1) @ model.alpha_) <= 1e-9 * C * n


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize(
    "kernel",
    [
        RBFKernel(gamma=0.1),
        PolynomialKernel(degree=2, gamma=0.2),
        LinearKernel(),
        2 * RBFKernel(gamma=0.1) + 1,
    ],
)
def test_many_rows_reach_tol_in_double_precision(kernel):
    X, y = two_classes(2100, 6, seed=5, apart=0.6)  # more than fit into one working set
    K = kernel.gram(X)
    for tol in (1e-3, 1e-7):
        model = SVC(kernel=kernel, tol=tol).fit(X, y)
        assert residual(model, X, y, 1.0, K) <= tol * 1.001
    assert 0 <= model.primal_objective_[0] - model.dual_objective_[0] < 1e-3
    assert np.all(np.diff(model.history_) > -1e-6 * abs(model.history_[-1]))


@pytest.mark.syllabus("9.3.2")
def test_what_is_said_of_the_machine_is_true():
    X, y = two_classes(90, 2, apart=1.2)
    model = SVC(kernel="linear", C=1.0, tol=1e-6).fit(X, y)
    f, signs = model.decision_function(X), np.where(y == 1, 1.0, -1.0)
    slack = np.maximum(0, 1 - signs * f)
    np.testing.assert_allclose(model.slack_, slack, atol=1e-8)
    assert model.n_wrong_[0] == (signs * f < 0).sum()
    assert model.n_slack_[0] == (slack > 1e-6).sum()
    assert (
        model.n_on_margin_[0] + model.n_at_bound_[0]
        == len(model.support_)
        == model.n_support_.sum()
    )
    np.testing.assert_allclose(
        model.distances(X)[:, 0], f / np.linalg.norm(model.coef_), rtol=1e-9
    )
    assert model.primal_objective_[0] == pytest.approx(
        0.5 * (model.coef_**2).sum() + slack.sum()
    )
    text = str(model.summary())
    for word in ("KKT residual", "ξ > 1", "margin width", "gap", "support vectors"):
        assert word in text


@pytest.mark.syllabus("9.3")
def test_intercepts_free_penalized_and_none():
    X, y = two_classes(80, 2, apart=1.0)
    plain = SVC(kernel="linear", fit_intercept=False, tol=1e-7).fit(X, y)
    assert plain.intercept_[0] == 0
    folded = SVC(kernel="linear", intercept_scaling=1.0, tol=1e-7).fit(X, y)
    column = SVC(kernel="linear", fit_intercept=False, tol=1e-7).fit(
        np.column_stack([X, np.ones(len(X))]), y
    )
    np.testing.assert_allclose(
        np.append(folded.coef_, folded.intercept_), column.coef_[0], atol=1e-5
    )
    assert folded.dual_objective_[0] == pytest.approx(
        folded.primal_objective_[0], rel=1e-5
    )


@pytest.mark.syllabus("9.1")
def test_precomputed_function_and_object_are_one_machine():
    X, y = two_classes(100, 3)
    y = np.array(["a", "b", "c"])[(y + (X[:, 0] > 1)) % 3]
    kernel = RBFKernel(sigma=1.3)
    objects = SVC(kernel=kernel, tol=1e-8, probability=True, random_state=0).fit(X, y)
    function = SVC(
        kernel=lambda A, B: kernel.gram(A, B),
        tol=1e-8,
        probability=True,
        random_state=0,
    ).fit(X, y)
    given = SVC(kernel="precomputed", tol=1e-8, probability=True, random_state=0).fit(
        kernel.gram(X), y
    )
    T = X[:20] + 0.1
    want = objects.machine_scores(T)
    np.testing.assert_allclose(function.machine_scores(T), want, atol=1e-6)
    np.testing.assert_allclose(given.machine_scores(kernel.gram(T, X)), want, atol=1e-6)
    np.testing.assert_allclose(
        given.predict_proba(kernel.gram(T, X)), objects.predict_proba(T), atol=1e-5
    )
    with pytest.raises(DataError, match="one column per row"):
        SVC(kernel="precomputed").fit(X, y)


def test_sparse_rows_are_dense_rows():
    X = sparse.random(120, 40, 0.2, "csr", random_state=1)
    y = (np.asarray(X.sum(axis=1)).ravel() > X.sum() / 120).astype(int)
    for kernel in ("linear", "rbf", "poly"):
        one, two = (
            SVC(kernel=kernel, tol=1e-7, gamma=0.5).fit(X, y),
            SVC(kernel=kernel, tol=1e-7, gamma=0.5).fit(X.toarray(), y),
        )
        np.testing.assert_allclose(
            one.decision_function(X), two.decision_function(X.toarray()), atol=1e-6
        )


@pytest.mark.syllabus("9.3", "9.6.4")
@pytest.mark.parametrize("strategy", ["one_vs_one", "one_vs_rest"])
def test_several_classes(strategy):
    rng = np.random.default_rng(2)
    y = np.arange(200) % 4
    X = rng.normal(size=(200, 2)) + 4 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[y]
    model = SVC(strategy=strategy, probability=True, random_state=0).fit(X, y)
    assert len(model.machines_) == (6 if strategy == "one_vs_one" else 4)
    assert model.score(X, y) > 0.9
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P.argmax(axis=1) == y).mean() > 0.9
    assert np.log(P[np.arange(200), y]).mean() > -0.4
    assert (model.decision_function(X).argmax(axis=1) == model.predict(X)).all()


def test_posteriors_are_calibrated_on_rows_not_seen():
    X, y = two_classes(600, 2, apart=1.0)
    T, t = two_classes(4000, 2, seed=9, apart=1.0)
    p = (
        SVC(probability=True, random_state=0, C=100.0, gamma=5.0)
        .fit(X, y)
        .predict_proba(T)[:, 1]
    )
    for low in (0.1, 0.3, 0.5, 0.7):
        inside = (p > low) & (p <= low + 0.2)
        if inside.sum() > 100:
            assert t[inside].mean() == pytest.approx(p[inside].mean(), abs=0.12)


@pytest.mark.syllabus("9.1")
def test_gower_on_a_mixed_table_with_missing_cells():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.normal(40, 10, 80), "sex": rng.choice(["f", "m"], 80)}
    )
    y = np.where((frame.age > 40) == (frame.sex == "f"), "yes", "no")
    frame.loc[::9, "age"] = np.nan
    frame.loc[4::11, "sex"] = None
    model = SVC(kernel=DistanceKernel("gower", gamma=5.0), C=10.0).fit(frame, y)
    assert model.score(frame, y) > 0.85
    found = model.explain(frame[:5])
    np.testing.assert_allclose(
        found.scores, model.decision_function(frame[:5]), atol=1e-9
    )


def test_contributions_of_support_vectors_sum_to_the_score():
    X, y = two_classes(60, 3)
    model = SVC().fit(X, y)
    found = model.explain(X[:4], by="support_vectors")
    np.testing.assert_allclose(found.scores, model.decision_function(X[:4]))
    assert list(found.names) == [f"row {i}" for i in model.support_]
    line = SVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(
        line.explain(X).contributions, line.coef_ * (X - X.mean(axis=0)), atol=1e-9
    )
    with pytest.raises(SettingError, match="choose 'columns'"):
        model.explain(X, by="rows")


def test_class_weights_are_weights_of_rows():
    X, y = two_classes(90, 2)
    one = SVC(class_weight={1: 3.0}, tol=1e-7, gamma=0.5).fit(X, y)
    two = SVC(tol=1e-7, gamma=0.5).fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), atol=1e-6
    )
    assert (SVC(class_weight={1: 30.0}).fit(X, y).predict(X) == 1).mean() > (
        SVC().fit(X, y).predict(X) == 1
    ).mean()


def test_a_small_cache_changes_nothing():
    X, y = two_classes(2300, 80, seed=1, apart=0.1)
    small = SVC(cache_size=0.5, tol=1e-4).fit(X, y)
    large = SVC(cache_size=500, tol=1e-4).fit(X, y)
    assert small.dual_objective_[0] == pytest.approx(large.dual_objective_[0], rel=1e-6)


def test_a_thin_margin_of_any_kernel_is_told_from_classes_that_no_plane_separates():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    hard = {"C": np.inf, "gamma": 1e-3}
    with pytest.raises(DataError, match=r"are separable by the kernel RBF.* too thin"):
        SVC(**hard).fit(X, y)
    twice, both = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(DataError, match="are not separable by the kernel RBF"):
        SVC(**hard).fit(twice, both)
    with pytest.raises(DataError, match="are not separable by the kernel Polynomial"):
        SVC(C=np.inf, kernel="poly", degree=2, coef0=1.0, gamma=1.0).fit(X, y)
    angle = rng.uniform(0, 2 * np.pi, 20)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rings = np.vstack([circle, circle * (1 + 1e-6)])
    with pytest.raises(
        DataError, match=r"are separable by the kernel Polynomial.* too thin"
    ):
        SVC(C=np.inf, kernel="poly", degree=2, coef0=1.0, gamma=1.0).fit(
            rings, np.repeat([0, 1], 20)
        )


@pytest.mark.parametrize("learner", [SVC, SVR])
def test_max_iter_counts_steps_as_libsvm_does(learner):
    X, y = two_classes(150, 3, seed=2)
    with pytest.warns(
        ConvergenceWarning, match=r"Solver terminated early \(max_iter=7"
    ):
        model = learner(max_iter=7).fit(X, y)
    assert np.all(model.n_iter_ == 7)
    assert np.all(model.kkt_residual_ > model.tol)
    # enough steps are as many as no limit
    full = learner().fit(X, y)
    enough = learner(max_iter=int(np.max(full.n_iter_)) + 1).fit(X, y)
    np.testing.assert_array_equal(enough.alpha_, full.alpha_)


def test_a_hard_margin_stops_at_max_iter():
    X, y = two_classes(40, 5, seed=0, apart=9.0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2\b"):
        assert SVC(C=INF, max_iter=2).fit(X, y).n_iter_[0] == 2


@pytest.mark.filterwarnings("ignore:.*probability:FutureWarning")
def test_pairs_whose_score_is_zero_vote_as_in_libsvm():
    # far from all rows a score is the intercept, 0 for two classes of equal size
    X = np.vstack([np.eye(6), 2 * np.eye(6)[:1]])
    y = np.array([0, 0, 1, 1, 2, 2, 2])
    far = np.full((1, 6), 50.0)
    peer = LibSVM(gamma=1e3).fit(X, y)
    for row in (far, X):
        ours = SVC(gamma=1e3).fit(X, y).predict(row)
        np.testing.assert_array_equal(ours, peer.predict(row))
    broken = SVC(gamma=1e3, break_ties=True).fit(X, y)
    assert broken.predict(far)[0] == broken.decision_function(far).argmax()


def test_rows_of_negative_weight_are_left_out():
    X, y = two_classes(40, 2, seed=1)
    w = np.where(np.arange(40) % 5 == 0, -2.0, 1.0)
    model = SVC(kernel="linear").fit(X, y, sample_weight=w)
    left = SVC(kernel="linear").fit(X[w > 0], y[w > 0])
    np.testing.assert_allclose(model.coef_, left.coef_, rtol=1e-9)
    with pytest.raises(DataError, match="zero or negative weights"):
        SVC().fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(DataError, match="belong to the same class"):
        SVC().fit(X, y, sample_weight=y)


def test_no_support_vector_is_left_by_rounding():
    X = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 0], [0, 0, 2], [3, 3, 3]])
    model = SVC(kernel="linear").fit(X, [1, 2, 2, 2, 3])
    assert np.abs(model.alpha_[model.alpha_ != 0]).min() > 1e-6
