"""Basis functions against their formulas and scikit-learn's polynomials."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from lyceum import scan
from lyceum.errors import MissingValuesError, SettingError
from lyceum.linear import BasisExpansion, LinearRegression


def cells(seed=0, n=200, d=3):
    return np.random.default_rng(seed).normal(3, 2, (n, d))


@pytest.mark.syllabus("7.3")
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_joint_polynomials_are_those_of_scikit_learn(degree):
    X = cells()
    ours = BasisExpansion(degree=degree, joint=True, standardize=False).fit(X)
    theirs = PolynomialFeatures(degree, include_bias=False).fit(X)
    assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    assert [name.replace("*", " ") for name in ours.get_feature_names_out()] == list(
        theirs.get_feature_names_out()
    )


@pytest.mark.syllabus("7.3")
def test_polynomials_by_column_are_powers_of_standardized_columns():
    X = cells(d=2)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    want = np.column_stack(
        [z[:, 0], z[:, 0] ** 2, z[:, 0] ** 3, z[:, 1], z[:, 1] ** 2, z[:, 1] ** 3]
    )
    assert_allclose(
        BasisExpansion(degree=3).fit_transform(X), want, rtol=1e-9, atol=1e-12
    )


@pytest.mark.syllabus("7.3")
@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("gaussian", lambda a: np.exp(-(a**2) / 2)),
        ("sigmoid", lambda a: 1 / (1 + np.exp(-a))),
    ],
)
def test_given_centers_and_width_give_the_formula(kind, function):
    X, centers = cells(d=2), np.array([[0.0, 1.0], [2.0, 5.0]])
    out = BasisExpansion(
        kind=kind, centers=centers, bandwidth=0.7, standardize=False
    ).fit_transform(X)
    want = [
        function((X[:, j] - centers[k, j]) / 0.7) for j in range(2) for k in range(2)
    ]
    assert_allclose(out, np.column_stack(want), rtol=1e-12)


@pytest.mark.syllabus("7.3")
def test_joint_gaussians_are_of_the_distance_to_their_center():
    X, centers = cells(), cells(1, n=4)
    model = BasisExpansion(
        kind="gaussian", joint=True, centers=centers, bandwidth=2.0, standardize=False
    ).fit(X)
    want = np.exp(-((X[:, None] - model.centers_) ** 2).sum(axis=2) / 8)
    assert_allclose(model.transform(X), want, rtol=1e-10)
    assert {tuple(c) for c in model.centers_} == {tuple(c) for c in centers}


@pytest.mark.syllabus("7.3.3")
def test_centers_from_the_data_are_quantiles_or_rows():
    X = cells(n=101, d=1)
    by_quantile = BasisExpansion(kind="gaussian", n_centers=4, standardize=False).fit(X)
    want = np.quantile(
        X[:, 0], [0.125, 0.375, 0.625, 0.875], method="averaged_inverted_cdf"
    )
    assert_allclose(by_quantile.centers_[0], want)
    assert_allclose(by_quantile.bandwidths_, [np.ptp(want) / 3])
    by_row = BasisExpansion(
        kind="sigmoid", n_centers=6, centers="sample", standardize=False, random_state=0
    ).fit(X)
    assert set(by_row.centers_[0]) <= set(X[:, 0])
    other = BasisExpansion(
        kind="sigmoid", n_centers=6, centers="sample", standardize=False, random_state=1
    )
    assert set(other.fit(X).centers_[0]) != set(by_row.centers_[0])


@pytest.mark.parametrize("kind", ["polynomial", "gaussian", "sigmoid", "radial"])
def test_files_and_dask_give_the_same_and_stream(kind, tmp_path):
    X = cells(n=300)
    whole = BasisExpansion(kind=kind, centers="sample", random_state=0).fit(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=X[:, 0] ** 2)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    rows = scan(str(tmp_path / "rows.parquet"), target="y", memory=0)
    filed = BasisExpansion(kind=kind, centers="sample", random_state=0).fit(rows)
    streamed = np.vstack([block.X for block in filed.transform(rows).blocks()])
    assert_allclose(streamed, whole.transform(X), rtol=1e-9)
    lazy = BasisExpansion(kind=kind, centers="sample", random_state=0).fit(
        da.from_array(X, chunks=(77, -1))
    )
    assert_allclose(
        lazy.transform(da.from_array(X, chunks=(50, -1))).compute(),
        whole.transform(X),
        rtol=1e-9,
    )


def test_a_curve_is_linear_in_its_basis():
    x = np.linspace(-3, 3, 80)[:, None]
    y = np.sin(x[:, 0])
    plain = LinearRegression().fit(x, y).score(x, y)
    for basis in (
        BasisExpansion(degree=5),
        BasisExpansion(kind="gaussian", n_centers=8),
    ):
        assert (
            make_pipeline(basis, LinearRegression()).fit(x, y).score(x, y)
            > 0.999
            > plain
        )


def test_categories_are_left_as_they_are_before_the_new_columns():
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 4.0, 5.0], "color": ["red", "blue", "red", "blue"]}
    )
    out = BasisExpansion(standardize=False).fit_transform(frame)
    assert list(out.columns) == ["color", "x", "x^2"]
    assert out["color"].tolist() == frame["color"].tolist()
    assert_allclose(out["x^2"], frame["x"] ** 2)


def test_weight_two_equals_repeated_row_and_no_weight_is_not_there():
    X, w = cells(n=60), np.random.default_rng(3).integers(0, 3, 60)
    one = BasisExpansion(kind="gaussian").fit(X, sample_weight=w)
    two = BasisExpansion(kind="gaussian").fit(np.repeat(X, w, axis=0))
    for a, b in zip(one.centers_, two.centers_):
        assert_allclose(a, b, rtol=1e-9)


def test_constant_columns_and_ties_have_one_center():
    X = np.column_stack([np.full(20, 7.0), np.repeat([0.0, 1.5], 10)])
    model = BasisExpansion(kind="gaussian", n_centers=4).fit(X)
    assert [len(c) for c in model.centers_] == [1, 2]
    assert np.isfinite(model.transform(X)).all()
    assert_array_equal(model.transform(X)[:, 0], np.ones(20))


def test_what_has_no_meaning_is_refused():
    X = cells()
    with pytest.raises(ValueError, match="centers have shape"):
        BasisExpansion(kind="gaussian", centers=[[1.0]]).fit(X)
    with pytest.raises(MissingValuesError):
        BasisExpansion().fit(np.where(X > 5, np.nan, X))
    with pytest.raises(ValueError, match="more than a million"):
        BasisExpansion(degree=9, joint=True).fit(cells(d=30)).transform(cells(d=30))


def test_summary_tells_centers_in_the_units_of_the_columns():
    X = cells(d=1)
    text = str(BasisExpansion(kind="gaussian", centers=[[1.0], [4.0]]).fit(X).summary())
    for word in ("gaussian, column by column", "1, 4", "3"):
        assert word in text


@pytest.mark.syllabus("7.3")
def test_centers_of_one_column_may_be_a_plain_list_and_joint_ones_are_told():
    x = np.linspace(0, 4, 9)[:, None]
    plain = BasisExpansion(kind="sigmoid", centers=[1.0, 3.0]).fit_transform(x)
    assert_allclose(
        plain, BasisExpansion(kind="sigmoid", centers=[[1.0], [3.0]]).fit_transform(x)
    )
    joint = BasisExpansion(
        kind="gaussian", joint=True, centers=[[1.0, 2.0], [3.0, 4.0]]
    )
    told = str(joint.fit(np.column_stack([x, 2 * x])).summary())
    assert "gaussian_1" in told
    assert "standard deviations" in told


@pytest.mark.syllabus("7.3.1")
def test_radial_powers_are_those_of_the_length_of_the_row():
    Z = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 1.0]])
    model = BasisExpansion(kind="radial", degree=3, standardize=False).fit(Z)
    assert_allclose(model.transform(Z), [[5, 25, 125], [0, 0, 0], [2**0.5, 2, 8**0.5]])
    assert model.get_feature_names_out().tolist() == ["radius", "radius^2", "radius^3"]
    lengths = np.linalg.norm((Z - Z.mean(axis=0)) / Z.std(axis=0), axis=1)
    assert_allclose(
        BasisExpansion(kind="radial", degree=1).fit_transform(Z)[:, 0], lengths
    )
    with pytest.raises(SettingError, match="degree=5000"):
        BasisExpansion(kind="radial", degree=5000).fit_transform(Z)


@pytest.mark.syllabus("7.3")
def test_joint_sigmoids_are_of_a_linear_form_through_their_center():
    Z = np.random.default_rng(0).normal(size=(40, 3))
    given = [[0.0, 0.0, 0.0], [1.0, -1.0, 2.0]]
    model = BasisExpansion(
        kind="sigmoid",
        joint=True,
        centers=given,
        bandwidth=0.5,
        standardize=False,
        random_state=0,
    ).fit(Z)
    a = np.array([(Z - c) @ u for c, u in zip(model.centers_, model.directions_)]).T
    assert_allclose(model.transform(Z), 1 / (1 + np.exp(-a / 0.5)))
    assert_allclose(np.linalg.norm(model.directions_, axis=1), 1.0)
    assert_allclose(np.diag(model.transform(model.centers_)), 0.5)
    other = BasisExpansion(kind="sigmoid", joint=True, random_state=1).fit(Z)
    assert other.directions_.shape == (5, 3)
    assert "joint" in str(other.summary())


@pytest.mark.syllabus("7.3.2")
def test_directions_of_joint_sigmoids_may_be_given():
    Z = np.random.default_rng(0).normal(size=(40, 2))
    settings = {
        "kind": "sigmoid",
        "joint": True,
        "centers": [[0.0, 1.0]],
        "bandwidth": 1.0,
        "standardize": False,
    }
    found = BasisExpansion(**settings, directions=[[2.0, -1.0]]).fit_transform(Z)
    assert_allclose(found[:, 0], 1 / (1 + np.exp(-(2 * Z[:, 0] - (Z[:, 1] - 1)))))
    with pytest.raises(
        SettingError, match=r"directions have the shape \(1, 3\): .* \(1, 2\)"
    ):
        BasisExpansion(**settings, directions=[[1.0, 1.0, 1.0]]).fit(Z)
    with pytest.raises(SettingError, match="leave them out otherwise"):
        BasisExpansion(directions=[[1.0, 1.0]]).fit(Z)
