"""What the solvers of the elastic net choose, count and certify, beside the optimum itself."""

import numpy as np
import pytest
from scipy import sparse

from lyceum._core.solvers import column_elastic_net
from lyceum._core.solvers.column_elastic_net import (
    ColumnElasticNet,
    DenseColumns,
    SparseColumns,
    _GrowingGram,
    _slices,
    _union,
)
from lyceum._core.solvers.gram_elastic_net import (
    GramElasticNet,
    gap_of,
    newton_on_support,
)
from lyceum.errors import DataError


def dense_problem(n=12, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X -= X.mean(axis=0)
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    y -= y.mean()
    columns = DenseColumns(X.T.copy(), np.zeros(d), (X**2).sum(axis=0))
    return X, y, ColumnElasticNet(columns, y, float(y @ y))


def sparse_problem(n=12, d=5, seed=0):
    """The same kind of problem on sparse columns that stand for centered ones."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    s = np.full(n, np.sqrt(1 / n))
    X = sparse.csc_array(cells * s[:, None])
    mean = X.T @ s
    centered = X.toarray() - np.outer(s, mean)
    y = rng.normal(size=n)
    y -= (s @ y) * s
    norms = (centered**2).sum(axis=0)
    columns = SparseColumns(
        X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data, s, mean, norms
    )
    return centered, y, ColumnElasticNet(columns, y, float(y @ y))


PROBLEMS = pytest.mark.parametrize("make", [dense_problem, sparse_problem])


def objective(X, y, b, l1, l2):
    r = y - X @ b
    return 0.5 * r @ r + l1 * np.abs(b).sum() + 0.5 * l2 * b @ b


# -- certificates ----------------------------------------------------------------------


@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_the_gap_is_the_primal_less_the_dual_value(l2):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
    b = rng.normal(size=3)
    l1 = 0.9
    r = y - X @ b
    g = X.T @ r - l2 * b
    steepest = float(np.abs(g).max())
    gap, s = gap_of(float(r @ r), float(y @ r), b, steepest, l1, l2)
    # the dual of the problem with rows √l2 I below X, at the point s (r, -√l2 b)
    long_r = np.concatenate([r, -np.sqrt(l2) * b])
    long_y = np.concatenate([y, np.zeros(3)])
    dual = 0.5 * long_y @ long_y - 0.5 * np.square(long_y - s * long_r).sum()
    assert gap == pytest.approx(objective(X, y, b, l1, l2) - dual, rel=1e-9)
    assert abs(s) * steepest <= l1 * (1 + 1e-12)
    # no other feasible scale has a larger dual value
    for other in np.linspace(-l1 / steepest, l1 / steepest, 41):
        value = 0.5 * long_y @ long_y - 0.5 * np.square(long_y - other * long_r).sum()
        assert value <= dual + 1e-12


def test_the_gap_of_nothing_left_is_the_penalty():
    b = np.array([2.0, -1.0])
    assert gap_of(0.0, 0.0, b, 0.0, 0.5, 0.0) == (1.5, 0.0)
    # without a slope any scale up to 1 is feasible
    assert gap_of(4.0, 2.0, np.zeros(1), 0.0, 0.5, 0.0) == (1.5, 0.5)
    assert gap_of(4.0, 8.0, np.zeros(1), 0.0, 0.5, 0.0)[1] == 1.0


@PROBLEMS
def test_squares_are_those_of_the_centered_columns(make):
    X, y, problem = make()
    b = np.array([1.0, 0.0, -2.0, 0.5, 0.0])
    r = y - X @ b
    assert problem.squares(b) == pytest.approx(float(r @ r), rel=1e-12)
    np.testing.assert_allclose(problem.xy, X.T @ y, atol=1e-12)
    on = np.array([0, 2, 3])
    np.testing.assert_allclose(problem.corner(on), X[:, on].T @ X[:, on], atol=1e-12)


def test_squares_of_a_gram_matrix_are_never_below_zero():
    problem = GramElasticNet(np.eye(1), np.ones(1), 1.0)
    assert problem.squares(np.array([3.0])) == 4.0
    assert GramElasticNet(np.eye(1), np.ones(1), 0.5).squares(np.ones(1)) == 0.0


@PROBLEMS
def test_what_was_last_seen_is_the_gradient_there(make):
    X, y, problem = make()
    assert not problem.last.coef.any()
    np.testing.assert_allclose(problem.last.gradient, X.T @ y, atol=1e-12)
    live = np.arange(5, dtype=np.int32)
    b = np.array([0.5, 0.0, 0.0, -0.25, 0.0])
    problem._set_last(live, b, 0.1, 0.0)
    assert problem.last.coef.tolist() == b.tolist()
    np.testing.assert_allclose(problem.last.gradient, X.T @ (y - X @ b), atol=1e-12)
    # a start of zeros needs no look at the columns
    problem._set_last(live, np.zeros(5), 0.1, 0.0)
    assert not problem.last.coef.any()
    np.testing.assert_allclose(problem.last.gradient, X.T @ y, atol=1e-12)


@PROBLEMS
def test_a_look_certifies_by_the_columns(make):
    X, y, problem = make()
    b = np.array([0.5, 0.0, 0.0, -0.25, 0.0])
    l1, l2 = 0.05, 0.3
    live = np.arange(5, dtype=np.int32)
    state = problem._look(live, b, l1, l2)
    r = y - X @ b
    g = X.T @ r - l2 * b
    np.testing.assert_allclose(state.g, g, atol=1e-12)
    gap, s = gap_of(float(r @ r), float(y @ r), b, float(np.abs(g).max()), l1, l2)
    assert (state.gap, state.scale) == (pytest.approx(gap), pytest.approx(s))
    # gap-safe screening by its formula
    reach = abs(s) * np.abs(g) + np.sqrt((X**2).sum(axis=0) + l2) * np.sqrt(2 * gap)
    kept = problem._unscreened_columns(state, b, l1, l2)
    assert kept.tolist() == np.flatnonzero((reach >= l1) | (b != 0)).tolist()
    tight = column_elastic_net._Look(live, g, gap / 1e9, s)
    reach = abs(s) * np.abs(g) + np.sqrt((X**2).sum(axis=0) + l2) * np.sqrt(2e-9 * gap)
    kept = problem._unscreened_columns(tight, b, l1, l2)
    assert kept.tolist() == np.flatnonzero((reach >= l1) | (b != 0)).tolist()
    assert len(kept) < 5


def test_columns_that_never_vary_have_no_product():
    XT = np.array([[1.0, -1.0, 0.0], [3.0, 3.0, 3.0]])
    columns = DenseColumns(XT, np.zeros(2), np.array([2.0, 0.0]))
    problem = ColumnElasticNet(columns, np.array([1.0, 0.0, 0.0]), 1.0)
    assert problem.xy.tolist() == [1.0, 0.0]
    assert problem.solve(0.1, 0.0, np.zeros(2), 1e-9, 50).coef[1] == 0.0


def test_a_row_just_behind_the_last_one_is_refused():
    one = np.ones(1)
    start = np.array([0, 1], np.int32)
    for row in (3, -1):
        with pytest.raises(DataError, match="there are 3 rows: 0 to 2"):
            SparseColumns(start, np.array([row], np.int32), one, np.ones(3), one, one)
    last = SparseColumns(start, np.array([2], np.int32), one, np.ones(3), one, one)
    assert last.index.tolist() == [2]


@pytest.mark.parametrize("most", [0, 1])
def test_newton_steps_are_taken_between_epochs_while_the_support_is_small(
    most, monkeypatch
):
    steps = []
    monkeypatch.setattr(column_elastic_net, "_EPOCHS", 1)
    monkeypatch.setattr(column_elastic_net, "_SMALL", 8 * most)
    monkeypatch.setattr(
        column_elastic_net, "newton_on_support", lambda *problem: steps.append(1)
    )
    problem = sparse_problem(n=40, d=8, seed=3)[-1]
    done = problem._descend(
        np.arange(8, dtype=np.int32), np.zeros(8), 1e-3, 0.0, 1e-13, 5
    )
    assert done == 5
    assert len(steps) == 4 * most


# -- choices ---------------------------------------------------------------------------


def test_the_strong_rule_chooses_first():
    # gradients 10, 7, 5.9, 2 at zero: with l1 = 8 those of at least 2 · 8 - 10 = 6
    XT = np.eye(4)
    y = np.array([10.0, -7.0, 5.9, 2.0])
    problem = ColumnElasticNet(
        DenseColumns(XT, np.zeros(4), np.ones(4)), y, float(y @ y)
    )
    live = np.arange(4, dtype=np.int32)
    problem._set_last(live, np.zeros(4), 8.0, 0.0)
    assert problem._first_choice(live, np.zeros(4), 8.0, 0.0).tolist() == [0, 1]
    # exactly at the bound, and where l1 is above every gradient
    assert problem._first_choice(live, np.zeros(4), 8.5, 0.0).tolist() == [0, 1]
    assert problem._first_choice(live, np.zeros(4), 20.0, 0.0).tolist() == []
    # a coefficient that is not zero stays, and l2 b counts
    b = np.array([0.0, 0.0, 0.0, 1.0])
    assert problem._first_choice(live, b, 8.0, 0.0).tolist() == [0, 1, 3]
    assert problem._first_choice(live, -4.5 * b, 8.0, 1.0).tolist() == [0, 1, 3]


def test_at_most_as_many_columns_are_added_as_were_chosen():
    size = np.array([3.0, 9.0, 5.0, 7.0])
    more = np.array([10, 11, 12, 13])
    assert _union(np.array([1, 12]), more, size, 2).tolist() == [1, 11, 12, 13]
    assert _union(np.array([1]), more, size, 4).tolist() == [1, 10, 11, 12, 13]
    problem = dense_problem(d=300, n=10)[-1]
    live = np.arange(300, dtype=np.int32)
    state = column_elastic_net._Look(live, np.arange(300.0) - 100, 1.0, 1.0)
    grown = problem._grow_set(np.arange(3), state, 99.5)
    # |g| > 99.5: the first one, and those from 200 on; the 64 largest beside the chosen
    assert grown.tolist() == [0, 1, 2, *range(236, 300)]
    grown = problem._grow_set(np.arange(80), state, 99.5)
    assert grown.tolist() == [*range(80), *range(220, 300)]
    assert problem._grow_set(np.arange(3), state, 199.0).tolist() == [0, 1, 2]
    assert problem._grow_set(np.arange(3), state, 198.5).tolist() == [0, 1, 2, 299]


def test_slices_cover_everything_once():
    assert list(_slices(7, 3)) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert list(_slices(6, 3)) == [slice(0, 3), slice(3, 6)]
    assert list(_slices(0, 3)) == []


def test_products_are_kept_until_more_of_the_past_is_held_than_of_the_present():
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(200, 6))
    gram = _GrowingGram()
    first = np.arange(60, dtype=np.int32)
    members, Q = gram.of(XT, first)
    np.testing.assert_allclose(Q, XT[members] @ XT[members].T)
    # 60 and 6 new ones are not more than 2 · 6 + 64; with 5, 66 are not either
    members, Q = gram.of(XT, np.arange(60, 66, dtype=np.int32))
    assert members.tolist() == list(range(66))
    np.testing.assert_allclose(Q, XT[members] @ XT[members].T)
    # 66 and 10 new ones are just not more than 2 · 6 + 64 = 76
    members, _ = gram.of(XT, np.array([1, 2, *range(66, 70)], np.int32))
    assert len(members) == 70
    # 70 and 7 new ones are more than 2 · 6 + 64, so that the past is let go
    chosen = np.arange(100, 107, dtype=np.int32)
    members, Q = gram.of(XT, chosen[:6])
    assert len(members) == 76
    members, Q = gram.of(XT, np.array([150], np.int32))
    assert members.tolist() == [150]
    np.testing.assert_allclose(Q, XT[[150]] @ XT[[150]].T)


def test_products_of_many_columns_are_all_filled_in():
    XT = np.random.default_rng(1).normal(size=(600, 3))
    members, Q = _GrowingGram().of(XT, np.arange(600, dtype=np.int32))
    np.testing.assert_allclose(Q, XT[members] @ XT[members].T, atol=1e-12)


@pytest.mark.parametrize(("n_rows", "uses_gram"), [(3, True), (2, False)])
def test_a_gram_matrix_is_used_up_to_twice_the_rows(n_rows, uses_gram, monkeypatch):
    monkeypatch.setattr(column_elastic_net, "_SMALL", 1)
    problem = dense_problem(n=n_rows, d=6)[-1]
    b = np.zeros(6)
    problem._descend(np.arange(6, dtype=np.int32), b, 0.01, 0.0, 1e-9, 50)
    assert (len(problem.columns.gram.members) > 0) is uses_gram
    monkeypatch.setattr(column_elastic_net, "_SMALL", 6)
    problem = dense_problem(n=n_rows, d=6)[-1]
    problem._descend(np.arange(6, dtype=np.int32), b, 0.01, 0.0, 1e-9, 50)
    assert len(problem.columns.gram.members) == 6


# -- counts ----------------------------------------------------------------------------


@PROBLEMS
def test_rounds_are_counted_and_seen(make):
    X, y, problem = make()
    seen = []

    def observer(coef, gap, epochs):
        seen.append((coef.copy(), gap, epochs))

    found = problem.solve(0.05, 0.1, np.zeros(5), 1e-10, 1000, observer)
    assert found.converged
    assert [gap for _, gap, _ in seen] == list(found.history)
    assert seen[-1][2] == found.n_iter >= 1
    counts = [epochs for _, _, epochs in seen]
    assert counts == sorted(counts)
    np.testing.assert_array_equal(seen[-1][0], found.coef)
    # the certificate: within the gap of scipy's optimum of the smooth problem in two parts
    best = objective(X, y, found.coef, 0.05, 0.1)
    rng = np.random.default_rng(2)
    for _ in range(20):
        nearby = found.coef + rng.normal(size=5) * 1e-3
        assert objective(X, y, nearby, 0.05, 0.1) >= best - found.gap


@PROBLEMS
def test_one_epoch_is_one_epoch(make):
    problem = make()[-1]
    found = problem.solve(0.01, 0.0, np.zeros(5), 1e-14, 1)
    assert (found.n_iter, len(found.history), found.converged) == (1, 1, False)
    assert found.coef.any()
    nothing = problem.solve(0.01, 0.0, np.zeros(5), 1e-14, 0)
    assert (nothing.n_iter, list(nothing.history), nothing.gap) == (0, [], np.inf)


@pytest.mark.parametrize("most", range(1, 9))
def test_no_more_epochs_are_done_than_allowed(most):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 200)) + rng.normal(size=(20, 1))
    X -= X.mean(axis=0)
    y = rng.normal(size=20)
    y -= y.mean()
    columns = DenseColumns(X.T.copy(), np.zeros(200), (X**2).sum(axis=0))
    problem = ColumnElasticNet(columns, y, float(y @ y))
    counts = []
    found = problem.solve(
        0.01,
        0.0,
        np.zeros(200),
        1e-14,
        most,
        lambda b, gap, epochs: counts.append(epochs),
    )
    assert 1 <= found.n_iter <= most
    assert counts[-1] == found.n_iter


def test_nothing_to_explain_is_solved_exactly():
    found = GramElasticNet(np.eye(2), np.zeros(2), 0.0).solve(
        1.0, 0.0, np.zeros(2), 0.0, 5
    )
    assert (found.gap, found.converged) == (0.0, True)


def test_many_epochs_on_columns_are_counted(monkeypatch):
    monkeypatch.setattr(column_elastic_net, "_EPOCHS", 2)
    problem = sparse_problem(n=40, d=8, seed=3)[-1]
    b = np.zeros(8)
    chosen = np.arange(8, dtype=np.int32)
    done = problem._descend(chosen, b, 1e-3, 0.0, 1e-13, 7)
    assert 2 < done <= 7
    long = problem._descend(chosen, np.zeros(8), 1e-3, 0.0, 1e-13, 1000)
    assert done <= long <= 1000


def test_a_ridge_without_l1_is_seen_once():
    seen = []
    problem = GramElasticNet(np.diag([2.0, 1.0]), np.array([2.0, 3.0]), 20.0)
    found = problem.solve(
        0.0, 1.0, np.zeros(2), 1e-9, 5, lambda *what: seen.append(what)
    )
    assert (len(seen), seen[0][2], found.n_iter) == (1, 1, 1)
    np.testing.assert_allclose(found.coef, [2 / 3, 1.5])
    assert found.gap == seen[0][1]


def test_a_gram_matrix_is_solved_in_epochs_up_to_the_limit():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6))
    y = rng.normal(size=30)
    problem = GramElasticNet(X.T @ X, X.T @ y, float(y @ y))
    one = problem.solve(1e-3, 0.0, np.zeros(6), 1e-13, 1)
    assert (one.n_iter, len(one.history), one.converged) == (1, 1, False)
    found = problem.solve(1e-3, 0.0, np.zeros(6), 1e-10, 5000)
    assert found.converged
    g = X.T @ (y - X @ found.coef)
    np.testing.assert_allclose(g, 1e-3 * np.sign(found.coef), atol=1e-6)


def test_rounding_ends_what_no_tolerance_can():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 4))
    y = rng.normal(size=30) * 1e3
    found = GramElasticNet(X.T @ X, X.T @ y, float(y @ y)).solve(
        1.0, 0.0, np.zeros(4), 0.0, 100_000
    )
    assert found.converged
    assert found.n_iter < 1000


# -- Newton steps on the support -------------------------------------------------------


def gram_of(Q):
    return lambda on: Q[np.ix_(on, on)].copy()


def test_a_newton_step_solves_the_problem_of_its_signs():
    Q = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    q = np.array([4.0, 3.0, 9.0])
    b = np.array([0.1, 0.2, 0.0])
    newton_on_support(gram_of(Q), q, b, l1=0.5, l2=0.25)
    right = np.linalg.solve(Q[:2, :2] + 0.25 * np.eye(2), q[:2] - 0.5)
    np.testing.assert_allclose(b, [*right, 0.0], rtol=1e-12)


def test_a_newton_step_stops_where_the_first_coefficient_is_zero(monkeypatch):
    from lyceum._core.solvers import gram_elastic_net

    monkeypatch.setattr(gram_elastic_net, "_STEPS", 1)
    # towards (-3, 2): the first coefficient is zero after a quarter of the way
    b = np.array([1.0, 1.0])
    newton_on_support(gram_of(np.eye(2)), np.array([-2.5, 2.5]), b, l1=0.5, l2=0.0)
    np.testing.assert_allclose(b, [0.0, 1.25], rtol=1e-12)
    # the next step is on the other one alone
    newton_on_support(gram_of(np.eye(2)), np.array([-2.5, 2.5]), b, l1=0.5, l2=0.0)
    np.testing.assert_allclose(b, [0.0, 2.0], rtol=1e-12)


def test_up_to_three_newton_steps_are_taken():
    # every step lets one more coefficient reach zero
    q = np.array([-1.0, -0.9, -0.8, -0.7, 5.0])
    b = np.array([1.0, 1.1, 1.2, 1.3, 1.0])
    newton_on_support(gram_of(np.eye(5)), q, b, l1=0.1, l2=0.0)
    assert np.count_nonzero(b) == 2


@pytest.mark.parametrize(
    "Q",
    [
        np.array([[1.0, 1.0], [1.0, 1.0]]),  # singular
        np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]]),  # nearly
        np.diag([1.0, -1.0]),
    ],
)
def test_a_newton_step_on_a_singular_support_moves_nothing(Q):
    b = np.array([0.5, 0.25])
    newton_on_support(gram_of(Q), np.ones(2), b, l1=0.1, l2=0.0)
    assert b.tolist() == [0.5, 0.25]
    zeros = np.zeros(2)
    newton_on_support(gram_of(Q), np.ones(2), zeros, l1=0.1, l2=0.0)
    assert not zeros.any()


def test_columns_whose_spread_is_rounding_get_no_coefficient():
    from lyceum.statistics import Scatter

    # a spread of 3 and of 5 roundings of the mean, of a weight of 2
    eps = np.finfo(float).eps
    for n_eps, varies in ((3.9, False), (4.1, True)):
        spread = 2.0 * (n_eps * eps * 7.0) ** 2
        scatter = np.array([[spread, 1.0], [1.0, 3.0]])
        moments = Scatter(2, 2.0, np.array([7.0, 1.0]), scatter, targets=1)
        problem = GramElasticNet.of(moments)
        assert problem.q.tolist() == [0.5 if varies else 0.0]
        assert problem.yy == 1.5
        assert problem.Q.tolist() == [[spread / 2 if varies else 0.0]]
    # moments are divided by any weight but zero
    for weight, divisor in ((0.5, 0.5), (0.0, 1.0)):
        moments = Scatter(
            2, weight, np.zeros(2), np.array([[4.0, 1.0], [1.0, 3.0]]), targets=1
        )
        assert GramElasticNet.of(moments).yy == 3.0 / divisor
