"""Logistic regression against scikit-learn, statsmodels, finite differences, and the laws of rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.utils.estimator_checks import parametrize_with_checks

from lyceum import scan
from lyceum.errors import MissingValuesError, SettingError
from lyceum.linear import LogisticRegression


@parametrize_with_checks([LogisticRegression(solver="lbfgs", class_weight="balanced")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def rows(K=2, n=400, d=4, seed=0, offset=0.0, strength=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, K)) * strength + rng.gumbel(size=(n, K))
    return X + offset, scores.argmax(axis=1)


def objective(coef, intercept, X, y, C=1.0, w=None):
    """The sum of log losses and ||b||² / (2C), from the definition."""
    scores = X @ coef.T + intercept
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(y)), scores[:, 0]])
    losses = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
    return (losses if w is None else w * losses).sum() + (coef**2).sum() / (2 * C)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("solver", ["irls", "levenberg_marquardt", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_objective_is_at_most_that_of_scikit_learn(K, solver, fit_intercept, C):
    X, y = rows(K, offset=2.0)
    w = np.random.default_rng(1).uniform(0, 2, len(y))
    ours = LogisticRegression(solver=solver, fit_intercept=fit_intercept, C=C).fit(X, y, w)
    theirs = Reference(solver="newton-cholesky", fit_intercept=fit_intercept, C=C, tol=1e-10).fit(X, y, w)
    best = objective(theirs.coef_, theirs.intercept_, X, y, C, w)
    assert objective(ours.coef_, ours.intercept_, X, y, C, w) <= best * (1 + 1e-8)
    assert_allclose(ours.objective_, best, rtol=1e-8)
    assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert_allclose(ours.decision_function(X), X @ ours.coef_.T.squeeze() + ours.intercept_, rtol=1e-12)


@pytest.mark.syllabus("7.4")
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]), st.sampled_from(["irls", "lbfgs"]), st.booleans())
def test_slope_in_every_direction_is_nought_at_the_optimum(seed, K, solver, fit_intercept):
    X, y = rows(K, n=80, d=3, seed=seed)
    if len(np.unique(y)) < K:
        return
    model = LogisticRegression(solver=solver, fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=model.coef_.shape), rng.normal(size=model.intercept_.shape) * fit_intercept
    h = 1e-4
    up = objective(model.coef_ + h * a, model.intercept_ + h * b, X, y)
    down = objective(model.coef_ - h * a, model.intercept_ - h * b, X, y)
    assert abs(up - down) / (2 * h) < 1e-5 * len(y)
    assert up + down >= 2 * model.objective_ - 1e-9


@pytest.mark.syllabus("7.4")
def test_maximum_likelihood_and_errors_are_those_of_statsmodels():
    X, y = rows(offset=5.0)
    ours = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    assert_allclose(ours.coef_[0], theirs.params[1:], rtol=1e-8)
    assert_allclose(ours.intercept_[0], theirs.params[0], rtol=1e-8)
    assert_allclose(ours.standard_errors_[0], theirs.bse[1:], rtol=1e-7)
    assert_allclose(ours.intercept_standard_errors_[0], theirs.bse[0], rtol=1e-7)
    assert_allclose(ours.z_[0], theirs.tvalues[1:], rtol=1e-7)
    assert_allclose(ours.p_[0], theirs.pvalues[1:], rtol=1e-5)
    assert_allclose(ours.confidence_interval(0.9)[0], theirs.conf_int(0.1)[1:], rtol=1e-7)
    assert_allclose(
        [ours.log_likelihood_, ours.null_log_likelihood_], [theirs.llf, theirs.llnull], rtol=1e-10
    )


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_softmax_against_a_reference_class_is_that_of_statsmodels(solver):
    X, y = rows(3, offset=5.0)
    ours = LogisticRegression(C=np.inf, tol=1e-9, solver=solver).fit(X, y)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12, method="newton")
    table = pd.DataFrame(ours.log_odds(0).rows, columns=ours.log_odds(0).columns)
    for k in (1, 2):
        mine = table[table["class"] == str(k)]
        order = [4, 0, 1, 2, 3]  # statsmodels has the constant first
        assert_allclose(mine["log-odds"].to_numpy()[order], theirs.params[:, k - 1], rtol=1e-6)
        assert_allclose(mine["std. error"].to_numpy()[order], theirs.bse[:, k - 1], rtol=1e-6)
    assert_allclose(ours.coef_.sum(axis=0), 0, atol=1e-9)
    assert_allclose(ours.log_likelihood_, theirs.llf, rtol=1e-10)


@pytest.mark.parametrize("K", [2, 3])
def test_covariance_is_the_inverse_of_the_curvature(K):
    X, y = rows(K, d=2)
    model = LogisticRegression(C=0.5, tol=1e-9).fit(X, y)
    theta = np.column_stack([model.coef_, model.intercept_])
    f = lambda t: objective(t[:, :-1], t[:, -1], X, y, 0.5)  # noqa: E731
    size, h = theta.size, 1e-3
    steps = [h * e.reshape(theta.shape) for e in np.eye(size)]
    H = np.array(
        [
            [f(theta + a + b) - f(theta + a - b) - f(theta - a + b) + f(theta - a - b) for a in steps]
            for b in steps
        ]
    )
    H /= 4 * h * h
    basis = np.eye(size)
    if K == 3:  # stay where the classes sum to zero
        basis = np.kron(np.linalg.qr(np.array([[1.0, 1], [-1, 1], [0, -2]]))[0], np.eye(3))
    want = basis @ np.linalg.inv(basis.T @ H @ basis) @ basis.T
    assert_allclose(model.covariance_, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_offset_of_a_million_costs_no_digits(K, dtype):
    X, y = rows(K)
    X = np.round(X * 8)
    near = LogisticRegression(tol=1e-9).fit(X, y)
    far = LogisticRegression(tol=1e-9).fit((X + 1e6).astype(dtype), y)
    assert_allclose(far.coef_, near.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(far.standard_errors_, near.standard_errors_, rtol=1e-7)
    assert_allclose(far.predict_proba((X + 1e6).astype(dtype)), near.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_units_of_columns_do_not_matter_without_a_penalty(K, solver):
    X, y = rows(K)
    units = 10.0 ** np.array([-6, 0, 3, 8])
    one = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    other = LogisticRegression(C=np.inf, solver=solver).fit(X * units, y)
    assert one.n_iter_ == other.n_iter_ < 40
    assert_allclose(other.coef_ * units, one.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}])
def test_weight_two_equals_repeated_row(K, class_weight):
    X, y = rows(K, n=150)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = LogisticRegression(class_weight=class_weight, tol=1e-9).fit(X, y, w)
    repeated = LogisticRegression(class_weight=class_weight, tol=1e-9).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(weighted.standard_errors_, repeated.standard_errors_, rtol=1e-7)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_class_weights_are_those_of_scikit_learn(class_weight):
    X, y = rows(3)
    ours = LogisticRegression(class_weight=class_weight, tol=1e-8).fit(X, y)
    theirs = Reference(class_weight=class_weight, tol=1e-10, solver="newton-cholesky").fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_unknown_class_in_class_weight_is_refused():
    X, y = rows()
    with pytest.raises(SettingError, match=r"class_weight names the class 7; the classes are \[0, 1\]"):
        LogisticRegression(class_weight={7: 2.0}).fit(X, y)


@pytest.mark.parametrize("K", [2, 3])
def test_any_chunking_file_and_dask_give_the_same(K, tmp_path):
    da = pytest.importorskip("dask.array")
    X, y = rows(K, n=20_000, offset=100)
    whole = LogisticRegression(tol=1e-9).fit(X, y)
    table = pa.table({**dict(zip("abcd", X.T)), "y": pa.array(y).cast(pa.string())})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=7000)
    streamed = LogisticRegression(tol=1e-9).fit(scan(tmp_path / "rows.parquet", target="y", memory=0))
    dasked = LogisticRegression(tol=1e-9).fit(
        da.from_array(X, chunks=(6500, 4)), da.from_array(y, chunks=6500)
    )
    for other in (streamed, dasked):
        assert_allclose(other.coef_, whole.coef_, rtol=1e-7, atol=1e-9)
        assert_allclose(other.standard_errors_, whole.standard_errors_, rtol=1e-7)


def test_threads_do_not_change_a_bit():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    for K in (2, 3):
        X, y = rows(K, n=40_000)
        two = LogisticRegression().fit(X, y)
        with threadpoolctl.threadpool_limits(1):
            one = clone(two).fit(X, y)
        assert_array_equal(one.coef_, two.coef_)
        assert_array_equal(one.standard_errors_, two.standard_errors_)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_equals_dense(K, solver, fit_intercept):
    X, y = rows(K)
    X[:, :3][np.abs(X[:, :3]) < 1.0] = 0
    X[:, 3] += 1e3 * fit_intercept  # a column without a gap
    w = np.random.default_rng(3).uniform(0, 2, len(y))
    model = LogisticRegression(solver=solver, fit_intercept=fit_intercept, tol=1e-9)
    dense, thin = clone(model).fit(X, y, w), clone(model).fit(sparse.csr_array(X), y, w)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(thin.standard_errors_, dense.standard_errors_, rtol=1e-6)
    assert_allclose(thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-7)
    assert_allclose(thin.explain(sparse.csr_array(X)).scores, dense.explain(X).scores, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_wide_sparse_rows_need_no_square_matrix(K):
    rng = np.random.default_rng(5)
    X = sparse.random_array((300, 3000), density=0.01, rng=rng, format="csr")
    y = (X[:, :K].toarray() + 0.1 * rng.normal(size=(300, K))).argmax(axis=1)
    ours = LogisticRegression().fit(X, y)
    theirs = Reference(tol=1e-8, max_iter=1000).fit(X, y)
    assert not hasattr(ours, "standard_errors_")
    assert ours.objective_ <= objective(theirs.coef_, theirs.intercept_, X, y) * (1 + 1e-8)
    X.data[77] = np.nan
    with pytest.raises(MissingValuesError, match="missing value"):
        LogisticRegression().fit(X, y)


# -- separation, one class, convergence
# ----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_separable_classes_are_told_when_nothing_holds_the_coefficients(K, solver):
    x = np.linspace(0, 1, 60)
    y = np.minimum((x * K).astype(int), K - 1)
    with pytest.warns(ConvergenceWarning, match="separated .* give a finite C"):
        model = LogisticRegression(C=np.inf, solver=solver).fit(x[:, None], y)
    assert model.separated_
    assert_array_equal(model.predict(x[:, None]), y)
    assert "separated" in str(model.summary())
    assert not LogisticRegression(C=1e3, max_iter=1000).fit(x[:, None], y).separated_


def test_partly_separable_classes_are_told():
    X, y = rows(n=300)
    flag = np.zeros(300)
    flag[np.flatnonzero(y)[:10]] = 1.0  # a flag that only ones have
    with pytest.warns(ConvergenceWarning, match="separated"):
        model = LogisticRegression(C=np.inf).fit(np.column_stack([X, flag]), y)
    assert model.separated_
    assert not LogisticRegression(C=np.inf).fit(X, y).separated_


def test_dependent_columns_are_named_without_a_penalty():
    X, y = rows()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(np.exceptions.RankWarning, match=r"columns 'x0', 'x1', 'x4' depend linearly"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(
        model.predict_proba(X),
        LogisticRegression(C=np.inf).fit(X[:, :4], y).predict_proba(X[:, :4]),
        atol=1e-6,
    )


def test_one_class_has_probability_one():
    model = LogisticRegression().fit([[0.0], [1.0]], ["only", "only"])
    assert model.predict([[5.0]]) == ["only"]
    assert model.predict_proba([[5.0]]) == [[1.0]]
    str(model.summary())


@pytest.mark.parametrize("K", [2, 3])
def test_class_without_weight_is_never_predicted(K):
    X, y = rows(K)
    model = LogisticRegression().fit(X, y, (y != 0).astype(float))
    assert model.predict_proba(X)[:, 0].max() < 1e-6


@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_stopping_early_is_told_with_a_remedy(solver):
    X, y = rows(3, strength=5.0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 iterations .* raise max_iter"):
        model = LogisticRegression(max_iter=1, solver=solver).fit(X, y)
    assert not model.converged_


def test_constant_columns_get_no_coefficient():
    X, y = rows()
    model = LogisticRegression().fit(np.column_stack([X, np.full(len(y), 1e6)]), y)
    assert_allclose(model.coef_[0], [*LogisticRegression().fit(X, y).coef_[0], 0.0], atol=1e-7)


# -- what it tells
# -------------------------------------------------------------------------------------------------


def test_history_falls_and_the_record_holds_every_step():
    X, y = rows(3)
    model = LogisticRegression(solver="lbfgs", record=True).fit(X, y)
    assert (np.diff(model.history_) <= 0).all()
    assert len(model.record_) == len(model.history_) == model.n_iter_ + 1
    last = model.record_[-1]
    assert_array_equal(last["coef"], model.coef_)
    assert last["gradient"] <= model.tol
    for step in model.record_:
        assert_allclose(objective(step["coef"], step["intercept"], X, y), step["objective"], rtol=1e-10)


def test_warm_start_goes_on_from_the_optimum():
    X, y = rows(3)
    model = LogisticRegression(warm_start=True, solver="lbfgs").fit(X, y)
    cold = model.n_iter_
    assert cold > 3
    assert model.fit(X, y).n_iter_ == 1
    assert model.fit(X[:, :2], y).coef_.shape == (3, 2)


@pytest.mark.parametrize("K", [2, 3])
def test_contributions_and_base_add_up_to_the_log_odds(K):
    X, y = rows(K)
    model = LogisticRegression().fit(X, y)
    told = model.explain(X[:20])
    scores = np.sort(np.atleast_2d(model.decision_function(X[:20]).T).T, axis=1)
    want = scores[:, 0] if K == 2 else scores[:, -1] - scores[:, -2]
    assert_allclose(told.scores, want, rtol=1e-9, atol=1e-12)
    assert_array_equal(told.predicted, model.predict(X[:20]))


def test_mixed_columns_and_summary():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"colour": rng.choice(list("abc"), 500), "x": rng.normal(size=500)})
    y = np.where(frame["x"] + (frame["colour"] == "b") + rng.logistic(size=500) > 0, "yes", "no")
    model = LogisticRegression(C=np.inf).fit(frame, pd.Series(y, name="bought"))
    design = pd.get_dummies(frame, drop_first=True, dtype=float)[["colour_b", "colour_c", "x"]]
    theirs = sm.Logit((y == "yes").astype(float), sm.add_constant(design)).fit(disp=0)
    assert_allclose(model.coef_[0], theirs.params.iloc[1:], rtol=1e-5)
    text = str(model.summary())
    for word in (
        "LogisticRegression of bought",
        "odds ratio",
        "std. error",
        "colour=b",
        "likelihood ratio",
        "log-odds of yes",
    ):
        assert word in text
    assert "not computed" in str(LogisticRegression(standard_errors=False).fit(frame, y).summary())


def test_many_categories_take_the_sparse_way_to_the_same_place():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"town": rng.choice([f"t{i}" for i in range(30)], 2000), "x": 1e4 + rng.normal(size=2000)}
    )
    y = rng.random(2000) < 0.3 + 0.4 * (frame["x"] > 1e4)
    model = LogisticRegression(tol=1e-9).fit(frame, y)
    design = pd.get_dummies(frame, dtype=float).set_axis(["x", *sorted(frame["town"].unique())], axis=1)
    dense = design[[*sorted(frame["town"].unique())[1:], "x"]].to_numpy()
    want = LogisticRegression(tol=1e-9).fit(dense, y)
    assert_allclose(model.coef_, want.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(model.standard_errors_, want.standard_errors_, rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_bad_cell_is_named(K):
    X, y = rows(K)
    X[31, 1] = np.nan
    with pytest.raises(MissingValuesError, match=r"column 'x1' has a missing value \(NaN\) in row 31"):
        LogisticRegression().fit(X, y)


@pytest.mark.syllabus("7.4")
def test_the_cost_per_row_is_minus_the_mean_of_the_log_posteriors():
    X, y = rows(n=50)
    model = LogisticRegression(C=np.inf).fit(X, y)
    h = 1 / (1 + np.exp(-model.decision_function(X)))
    cost = -(y * np.log(h) + (1 - y) * np.log(1 - h)).mean()
    assert cost > 0
    assert_allclose(cost, -model.log_likelihood_ / len(y), rtol=1e-10)
    assert_allclose(cost, model.objective_ / len(y), rtol=1e-10)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("solver", ["irls", "lbfgs", "bound"])
def test_separable_rows_and_a_large_C_are_followed_to_the_optimum(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(57, 4))
    y = (X @ [1.0, 2.0, -1.0, 0.5] > 0.1).astype(int)
    model = LogisticRegression(solver=solver, C=1e8).fit(X, y)
    sign, A = 2 * y - 1, np.column_stack([X, np.ones(57)])
    theta = np.append(model.coef_[0], model.intercept_)
    p = 1 / (1 + np.exp(sign * (A @ theta)))
    gradient = -A.T @ (sign * p) + np.append(model.coef_[0], 0.0) / 1e8
    H = (A * (p * (1 - p))[:, None]).T @ A + np.diag([1e-8] * 4 + [0.0])
    loss = np.logaddexp(0, -sign * (A @ theta)).sum() + 0.5 * (model.coef_**2).sum() / 1e8
    assert model.objective_ == pytest.approx(loss, rel=1e-6)
    assert gradient @ np.linalg.solve(H, gradient) < 1e-5 * loss  # what one more Newton step would gain
    for scale in (0.98, 1.02):
        other = scale * theta
        assert np.logaddexp(0, -sign * (A @ other)).sum() + 0.5 * (other[:-1] ** 2).sum() / 1e8 > loss
