"""Locally weighted regression against independent weighted least squares, refitting and known
answers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.nonparametric.smoothers_lowess import lowess

from lyceum.errors import MissingValuesError, SettingError
from lyceum.neighbors import LocallyWeightedRegression

pytestmark = pytest.mark.syllabus("10.6")

KERNELS = {
    "uniform": lambda u: np.ones_like(u),
    "tricube": lambda u: np.clip(1 - u**3, 0, None) ** 3,
    "epanechnikov": lambda u: np.clip(1 - u**2, 0, None),
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "exponential_square": lambda u: np.exp(-(u**2)),
    "inverse": lambda u: 1 / u,
    "inverse_square": lambda u: 1 / u**2,
    "shifted_inverse_square": lambda u: 1 / (1 + u) ** 2,
}


def terms(U, degree):
    columns = [np.ones(len(U))]
    if degree > 0:
        columns += list(U.T)
    if degree > 1:
        columns += [
            U[:, i] * U[:, j] for i in range(U.shape[1]) for j in range(i, U.shape[1])
        ]
    return np.column_stack(columns)


def by_lstsq(X, y, q, kernel, degree, k=None, h=None):
    """The definition: weighted least squares about the query by a QR-type solver; value and
    |l|²."""
    d = np.sqrt(((X - q) ** 2).sum(axis=1))
    near = np.argsort(d, kind="stable")[:k]
    h = d[near].max() * (1 + 1e-9) if h is None else h
    w = KERNELS[kernel](d[near] / h)
    T = terms(X[near] - q, degree)
    root = np.sqrt(w)[:, None]
    smoother = np.linalg.pinv(T * root) * root[:, 0]
    return smoother[0] @ y[near], (smoother[0] ** 2).sum()


def table(n=150, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.sin(X[:, 0]) + X.sum(axis=1) ** 2 + 0.1 * rng.normal(size=n), rng


@pytest.mark.syllabus("10.6.2")
@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0, 1, 2]),
    st.sampled_from(sorted(KERNELS)),
    st.integers(1, 3),
)
def test_values_are_those_of_weighted_least_squares(seed, degree, kernel, d):
    X, y, rng = table(60, d, seed)
    Q = rng.uniform(-2.5, 2.5, (7, d))
    for k, h in ((40, None), (40, 1.5), ("all", 1.5)):
        if kernel in ("tricube", "epanechnikov") and h is not None:
            h = 4.0  # enough rows inside
        model = LocallyWeightedRegression(
            n_neighbors=k,
            degree=degree,
            kernel=kernel,
            bandwidth=h or "nearest",
            standardize=False,
        ).fit(X, y)
        values, errors = model.predict(Q, return_std=True)
        expected = [
            by_lstsq(X, y, q, kernel, degree, None if k == "all" else k, h) for q in Q
        ]
        np.testing.assert_allclose(
            values, [one[0] for one in expected], rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(
            errors, model.sigma_ * np.sqrt([one[1] for one in expected]), rtol=1e-5
        )


def test_leave_one_out_is_refitting_without_every_row():
    X, y, _ = table(24)
    for settings_ in (
        {"n_neighbors": "leave_one_out"},
        {"n_neighbors": "all", "bandwidth": "leave_one_out"},
    ):
        model = LocallyWeightedRegression(
            standardize=False, kernel="gaussian", **settings_
        ).fit(X, y)
        for at in (0, len(model.tried_) // 2, -1):
            one = float(model.tried_[at])
            fixed = (
                {"n_neighbors": int(one)}
                if len(settings_) == 1
                else {"n_neighbors": "all", "bandwidth": one}
            )
            squares = []
            for i in range(24):
                rest = np.arange(24) != i
                refit = LocallyWeightedRegression(
                    standardize=False, kernel="gaussian", **fixed
                ).fit(X[rest], y[rest])
                squares.append((refit.predict(X[[i]])[0] - y[i]) ** 2)
            assert model.errors_[at] == pytest.approx(np.mean(squares), rel=1e-6)
        assert (
            model.errors_.min()
            == model.errors_[
                np.isin(model.tried_, [model.n_neighbors_, model.bandwidth_])
            ]
        )


@pytest.mark.syllabus("10.6.1")
@pytest.mark.filterwarnings("ignore:.*extrapolate far out of the targets")
def test_polynomials_of_its_degree_are_found_exactly():
    X, _, rng = table(80, 3)
    plane, bowl = X @ [1.0, -2.0, 0.5] + 1e6, (X**2).sum(axis=1) + X[:, 0] * X[:, 1]
    Q = rng.uniform(-3, 3, (20, 3))  # outside too
    np.testing.assert_allclose(
        LocallyWeightedRegression().fit(X, plane).predict(Q), Q @ [1.0, -2.0, 0.5] + 1e6
    )
    model = LocallyWeightedRegression(degree=2, n_neighbors=40).fit(X, bowl)
    np.testing.assert_allclose(
        model.predict(Q), (Q**2).sum(axis=1) + Q[:, 0] * Q[:, 1], atol=1e-7
    )
    found = model.explain(Q)
    gradient = 2 * Q + Q[:, [1, 0, 2]] * [1, 1, 0]
    np.testing.assert_allclose(
        found.contributions, gradient * (Q - X.mean(axis=0)), atol=1e-6
    )


def test_degenerate_neighborhoods_have_the_fit_of_least_norm():
    X = np.column_stack(
        [np.repeat([0.0, 1.0], 20), np.ones(40), np.repeat([0.0, 2.0], 20)]
    )
    y = np.repeat([1.0, 3.0], 20)
    model = LocallyWeightedRegression(degree=2, n_neighbors=10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y)
    fit = model._model().at(np.zeros((1, 3)))
    assert fit.degenerate[0] == 1
    assert model.degenerate_share_ == 1.0
    assert model.summary().facts["degenerate fits"] == "100.0%"
    assert np.isfinite(
        LocallyWeightedRegression().fit([[1.0]], [2.0]).predict([[5.0]])
    )[0]
    same = LocallyWeightedRegression().fit(np.zeros((50, 2)), np.arange(50.0))
    # the mean of the first thirty
    assert same.predict([[0.0, 0.0]])[0] == pytest.approx(14.5)


def test_gradient_descent_goes_to_the_direct_solution_and_records_its_steps():
    X, y, rng = table(100)
    Q = rng.uniform(-1.5, 1.5, (5, 2))
    direct = LocallyWeightedRegression().fit(X, y)
    slow = LocallyWeightedRegression(
        solver="gradient_descent", max_steps=20_000, tol=1e-13
    ).fit(X, y)
    np.testing.assert_allclose(slow.predict(Q), direct.predict(Q), rtol=1e-6)
    steps = slow.descend(Q[0])
    objectives = [step["objective"] for step in steps]
    assert (np.diff(objectives) <= 1e-12).all()
    assert steps[-1]["value"] == pytest.approx(direct.predict(Q[:1])[0], rel=1e-6)
    few = LocallyWeightedRegression(
        solver="gradient_descent", max_steps=3, tol=0.0
    ).fit(X, y)
    assert few.predict(Q[:1])[0] == pytest.approx(few.descend(Q[0])[3]["value"])


def test_noise_and_degrees_of_freedom_of_a_plane_are_those_of_least_squares():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=60)
    model = LocallyWeightedRegression(n_neighbors=60, kernel="uniform").fit(X, y)
    T = np.column_stack([np.ones(60), X])
    residual = y - T @ np.linalg.lstsq(T, y, rcond=None)[0]
    assert model.sigma_ == pytest.approx(np.sqrt((residual**2).sum() / 57))
    assert model.effective_degrees_ == pytest.approx(3)
    _, errors = model.predict(X, return_std=True)
    hat = T @ np.linalg.inv(T.T @ T) @ T.T
    np.testing.assert_allclose(errors, model.sigma_ * np.sqrt(np.diag(hat)), rtol=1e-8)


@pytest.mark.syllabus("10.6.3")
def test_columns_have_a_scale_of_their_own():
    X, y, rng = table(200)
    Q = rng.uniform(-2, 2, (9, 2))
    stretched = (
        LocallyWeightedRegression(standardize=[1.0, 10.0])
        .fit(X * [1, 10], y)
        .predict(Q * [1, 10])
    )
    np.testing.assert_allclose(
        stretched, LocallyWeightedRegression(standardize=False).fit(X, y).predict(Q)
    )
    with pytest.raises(SettingError, match="2 positive numbers"):
        LocallyWeightedRegression(standardize=[1.0]).fit(X, y)
    with pytest.raises(SettingError, match="cannot both be chosen"):
        LocallyWeightedRegression(
            n_neighbors="leave_one_out", bandwidth="leave_one_out"
        ).fit(X, y)


@pytest.mark.parametrize("kernel", ["inverse", "inverse_square"])
def test_an_exact_hit_returns_the_stored_value(kernel):
    X, y, _ = table(50)
    np.testing.assert_allclose(
        LocallyWeightedRegression(kernel=kernel).fit(X, y).predict(X), y
    )


@pytest.mark.parametrize(
    ("options", "name"),
    [({"kernel": "uniform"}, "E1"), ({"n_neighbors": "all"}, "E2"), ({}, "E3")],
)
def test_the_summary_names_the_criterion(options, name):
    X = np.arange(8.0)[:, None]
    model = LocallyWeightedRegression(**options).fit(X, X[:, 0])
    assert model.summary().facts["criterion"].startswith(name + ": ")


def test_missing_cells_are_not_sent_to_a_metric_that_cannot_be_chosen():
    with pytest.raises(MissingValuesError, match=r"SimpleImputer\(\)$"):
        LocallyWeightedRegression().fit([[1.0], [np.nan], [3.0]], [1.0, 2.0, 3.0])


@pytest.mark.syllabus("10.6.3")
def test_robust_loess_is_that_of_statsmodels():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 80))
    y = np.sin(x) + 0.1 * rng.normal(size=80)
    y[::9] += 5.0  # outliers
    theirs = lowess(y, x, frac=0.4, it=4, delta=0.0, return_sorted=False)
    model = LocallyWeightedRegression(n_neighbors=32, robust=4, standardize=False).fit(
        x[:, None], y
    )
    np.testing.assert_allclose(model.predict(x[:, None]), theirs, atol=1e-4)
    assert (model.robustness_[::9] == 0).all()
    assert np.abs(model.predict(x[:, None]) - np.sin(x)).max() < 0.3
    plain = LocallyWeightedRegression(n_neighbors=32).fit(x[:, None], y)
    assert np.abs(plain.predict(x[:, None]) - np.sin(x)).max() > 0.5
    assert model.summary().facts["rows of robust weight 0"] >= 9


def test_robust_weights_count_a_row_of_weight_two_twice():
    X, y, rng = table(60, 1)
    y[::7] += 30.0
    w = rng.integers(1, 3, 60)
    options = {"n_neighbors": 25, "robust": 3, "standardize": False}
    weighted = LocallyWeightedRegression(**options).fit(X, y, w)
    repeated = LocallyWeightedRegression(**options).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    Q = np.linspace(-2, 2, 9)[:, None]
    np.testing.assert_allclose(weighted.predict(Q), repeated.predict(Q), rtol=1e-6)
    exact = LocallyWeightedRegression(robust=2).fit(X, 2 * X[:, 0])
    np.testing.assert_allclose(exact.predict(Q), 2 * Q[:, 0], atol=1e-9)
    assert (exact.robustness_ == 1).all()


@pytest.mark.syllabus("10.6.5")
def test_the_local_line_is_that_of_weighted_least_squares():
    X, y, _ = table(60, 2)
    model = LocallyWeightedRegression(n_neighbors=20).fit(X, y)
    why = model.explain(X[:3])
    for i in range(3):
        rows, w = why.rows[i], why.weights[i]
        T = np.column_stack([np.ones(len(rows)), X[rows]])
        root = np.sqrt(w)[:, None]
        by_hand = np.linalg.lstsq(T * root, y[rows] * root[:, 0], rcond=None)[0]
        np.testing.assert_allclose(why.intercepts[i], by_hand[0], atol=1e-8)
        np.testing.assert_allclose(why.slopes[i], by_hand[1:], atol=1e-8)
    np.testing.assert_allclose(
        why.intercepts + (why.slopes * X[:3]).sum(axis=1), model.predict(X[:3])
    )
    words = str(why)
    assert "Local line of row 0" in words
    assert "b1 of x1" in words
    assert set(why.as_dict()["rows"][0]["line"]) == {"b0", "b1", "rows", "weights"}
    assert "Local line at the means" in str(model.summary())
    single = LocallyWeightedRegression(n_neighbors=20).fit(X[:, :1], 3 * X[:, 0] - 1)
    lines = single.summary().tables[-1]
    assert len(lines.rows) == 5
    np.testing.assert_allclose([row[1:3] for row in lines.rows], [[-1, 3]] * 5)


def test_a_step_by_hand_has_the_given_rate_and_start():
    """Δw = η Σ K (y - ŷ) x: two rows about x = 1 with K(u) = exp(-u²), u = 1."""
    X, y = np.array([[0.0], [2.0]]), np.array([1.0, 4.0])
    model = LocallyWeightedRegression(
        n_neighbors="all",
        kernel="exponential_square",
        bandwidth=1.0,
        standardize=False,
        max_steps=1,
        tol=0.0,
    ).fit(X, y)
    steps = model.descend([1.0], learning_rate=0.1, start=[0.5, 1.0])
    # ŷ = 0.5 and 2.5: errors 0.5 and 1.5, K = e⁻¹ for both
    K = np.exp(-1)
    change = 0.1 * K * np.array([0.5 + 1.5, 0.5 * 0 + 1.5 * 2])
    np.testing.assert_allclose(steps[0]["coefficients"], [0.5, 1.0])
    np.testing.assert_allclose(steps[1]["coefficients"], np.add([0.5, 1.0], change))
    assert steps[0]["objective"] == pytest.approx(K * (0.25 + 2.25))
    model.set_params(max_steps=5000)
    end = model.descend([1.0], learning_rate=0.1)[-1]
    np.testing.assert_allclose(end["coefficients"], [1.0, 1.5], atol=1e-6)
    with pytest.raises(SettingError, match="runs away"):
        model.descend([1.0], learning_rate=100.0)
    with pytest.raises(SettingError, match="start has 3 coefficients"):
        model.descend([1.0], start=[0.0, 0.0, 0.0])


@pytest.mark.syllabus("10.6.4")
def test_a_learner_with_a_start_predicts_by_the_steps_on_paper():
    X, y = np.array([[0.0], [2.0]]), np.array([1.0, 4.0])
    chosen = {
        "n_neighbors": "all",
        "kernel": "exponential_square",
        "bandwidth": 1.0,
        "standardize": False,
        "solver": "gradient_descent",
        "learning_rate": 0.1,
        "tol": 0.0,
    }
    model = LocallyWeightedRegression(**chosen, coef_init=[0.5, 1.0], max_steps=1).fit(
        X, y
    )
    # ŷ = 0.5 and 2.5: errors 0.5 and 1.5, K = e⁻¹ for both
    K = np.exp(-1)
    b0 = 0.5 + 0.1 * K * (0.5 + 1.5)
    b1 = 1.0 + 0.1 * K * (0.5 * 0 + 1.5 * 2)
    assert model.predict([[1.0]])[0] == pytest.approx(b0 + b1, rel=1e-15)
    line = model.explain([[1.0]])
    assert line.intercepts[0] == pytest.approx(b0, rel=1e-14)
    assert line.slopes[0, 0] == pytest.approx(b1, rel=1e-14)
    assert model.descend([1.0])[1]["value"] == model.predict([[1.0]])[0]
    for degree, start in ((0, [3.0]), (1, [3.0, 0.0]), (2, [0.0, 1.0, 0.0])):
        chosen |= {"degree": degree, "coef_init": start}
        for m in (1, 7):
            moved = LocallyWeightedRegression(**chosen, max_steps=m).fit(X, y)
            path = moved.descend([1.3])
            assert moved.predict([[1.3]])[0] == pytest.approx(path[m]["value"])


def test_the_steps_on_paper_end_where_the_direct_solution_is():
    X, y, rng = table(60)
    Q = rng.uniform(-1, 1, (5, 2))
    direct = LocallyWeightedRegression(standardize=[2.0, 3.0]).fit(X, y)
    steps = LocallyWeightedRegression(
        standardize=[2.0, 3.0],
        solver="gradient_descent",
        learning_rate=0.02,
        coef_init=[0.0, 1.0, -1.0],
        max_steps=20_000,
        tol=1e-14,
    ).fit(X, y)
    for one, two in zip(
        steps.predict(Q, return_std=True), direct.predict(Q, return_std=True)
    ):
        np.testing.assert_allclose(one, two, rtol=1e-6)
    assert steps.effective_degrees_ == pytest.approx(direct.effective_degrees_)
    np.testing.assert_allclose(
        steps.explain(Q).slopes, direct.explain(Q).slopes, rtol=1e-5
    )
    weights = rng.integers(1, 4, len(y))
    again = steps.set_params(max_steps=30).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    repeated = again.predict(Q, return_std=True)
    weighted = steps.fit(X, y, sample_weight=weights).predict(Q, return_std=True)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_a_start_that_does_not_fit_is_refused():
    X, y = np.array([[0.0], [2.0]]), np.array([1.0, 4.0])
    for wrong, message in [
        ({"coef_init": [0.0, 0.0]}, "where solver='gradient_descent' starts"),
        (
            {"coef_init": [0.0], "solver": "gradient_descent"},
            "coef_init has 1 coefficients",
        ),
        ({"learning_rate": 2.5, "solver": "gradient_descent"}, "give less than 2"),
    ]:
        with pytest.raises(SettingError, match=message):
            LocallyWeightedRegression(**wrong).fit(X, y)


def test_a_wild_extrapolation_is_said_or_kept_inside():
    X = np.array([[0.0], [1.0], [1.1], [1.2]])
    y = np.array([0.0, 0.0, 1.0, 3.0])
    model = LocallyWeightedRegression(n_neighbors=3).fit(X, y)
    with pytest.warns(UserWarning, match="extrapolate far out of the targets, 0 to 3"):
        assert model.predict([[5.0]])[0] > 6.0
    kept = LocallyWeightedRegression(n_neighbors=3, clip=True).fit(X, y)
    assert kept.predict([[5.0]])[0] == 3.0
    assert kept.explain([[5.0]]).scores[0] == pytest.approx(3.0)
    assert kept.predict([[1.1]])[0] == model.predict([[1.1]])[0]
