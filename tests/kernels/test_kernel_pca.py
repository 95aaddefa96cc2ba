"""Kernel PCA and features that approximate kernels."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.decomposition import KernelPCA as ScikitKernelPCA
from sklearn.pipeline import make_pipeline

from lyceum.data import scan
from lyceum.decomposition import PCA
from lyceum.errors import DataError, SettingError
from lyceum.kernels import (
    DistanceKernel,
    KernelPCA,
    KernelRidge,
    Nystroem,
    PolynomialKernel,
    RBFKernel,
    RBFSampler,
)
from lyceum.linear import LogisticRegression, Ridge
from lyceum.prepare import StandardScaler


def rows(n=80, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) @ np.diag(
        np.arange(d, 0, -1.0)
    )


@pytest.mark.syllabus("9.4")
# all eigenvalues, or the largest by Lanczos steps
@pytest.mark.parametrize("n", [80, 700])
def test_scores_are_those_of_scikit_learn_also_for_new_rows(n):
    X, new = rows(n), rows(20, seed=1)
    ours = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    theirs = ScikitKernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    signs = np.sign((ours.transform(X) * theirs.transform(X)).sum(axis=0))
    np.testing.assert_allclose(
        ours.transform(new), theirs.transform(new) * signs, atol=1e-8
    )


@pytest.mark.syllabus("9.4.3")
def test_the_linear_kernel_is_pca_with_exact_reconstruction():
    X, w = rows(), np.random.default_rng(3).integers(1, 4, 80).astype(float)
    ours, pca = (
        KernelPCA(2, kernel="linear").fit(X, sample_weight=w),
        PCA(2).fit(X, sample_weight=w),
    )
    signs = np.sign((ours.transform(X) * pca.transform(X)).sum(axis=0))
    np.testing.assert_allclose(ours.transform(X) * signs, pca.transform(X), atol=1e-9)
    np.testing.assert_allclose(ours.eigenvalues_, pca.singular_values_**2, rtol=1e-9)
    again = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(
        again, pca.inverse_transform(pca.transform(X)), atol=1e-9
    )
    np.testing.assert_allclose(
        ours.reconstruction_error(X), ((X - again) ** 2).sum(axis=1), atol=1e-8
    )


@pytest.mark.syllabus("9.4")
def test_scores_are_uncorrelated_and_their_scatter_is_the_eigenvalue():
    X, w = rows(), np.random.default_rng(3).integers(1, 4, 80).astype(float)
    model = KernelPCA(5, kernel="rbf", gamma=0.1).fit(X, sample_weight=w)
    Z = model.transform(X)
    np.testing.assert_allclose(w @ Z, 0.0, atol=1e-9)
    np.testing.assert_allclose((Z.T * w) @ Z, np.diag(model.eigenvalues_), atol=1e-9)
    full = KernelPCA(kernel="rbf", gamma=0.1).fit(X, sample_weight=w)
    assert full.explained_variance_ratio_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(full.reconstruction_error(X), 0.0, atol=1e-7)


def test_a_pre_image_of_the_rbf_kernel_takes_noise_away():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 150)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = clean + 0.15 * rng.normal(size=clean.shape)
    model = KernelPCA(4, kernel="rbf", gamma=0.5).fit(noisy)
    back = model.inverse_transform(model.transform(noisy))
    off = [
        np.abs(np.linalg.norm(points, axis=1) - 1.0).mean() for points in (noisy, back)
    ]
    assert off[1] < 0.6 * off[0]
    near = KernelPCA(kernel="rbf", gamma=2.0).fit(noisy[:20])
    np.testing.assert_allclose(
        near.inverse_transform(near.transform(noisy[:20])), noisy[:20], atol=1e-3
    )


def test_kernels_without_pre_images_and_awkward_rows():
    X = rows(30)
    model = KernelPCA(2, kernel=PolynomialKernel(2)).fit(X)
    with pytest.raises(SettingError, match="no rows of their own"):
        model.inverse_transform(model.transform(X))
    with pytest.raises(DataError, match="scores have 3 columns, but there are 2"):
        model.inverse_transform(np.zeros((1, 3)))
    assert (
        KernelPCA().fit(np.ones((4, 2))).transform(np.ones((2, 2))).tolist()
        == [[0.0]] * 2
    )
    assert KernelPCA(3).fit([[1.0, 2.0]]).transform([[1.0, 2.0]]).shape == (1, 1)
    narrow = KernelPCA(kernel="rbf", gamma=1e-12).fit(
        X
    )  # all values are 1 but for their last digits
    assert (narrow.eigenvalues_ >= 0).all()
    frame = pd.DataFrame(
        {"age": [1.0, np.nan, 3.0, 9.0], "town": ["Ulm", "Bonn", None, "Ulm"]}
    )
    assert np.isfinite(
        np.asarray(KernelPCA(2, kernel=DistanceKernel("gower")).fit_transform(frame))
    ).all()
    dense, thin = (
        KernelPCA(2, kernel="rbf").fit_transform(X),
        KernelPCA(2, kernel="rbf").fit(sparse.csr_array(X)).transform(X),
    )
    np.testing.assert_allclose(thin, dense, atol=1e-8)


# -- approximations --------------------------------------------------------------------


@pytest.mark.syllabus("9.4")
def test_features_of_all_rows_are_the_kernel_itself():
    X = rows(40)
    model = Nystroem(gamma=0.1, random_state=0).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z @ Z.T, RBFKernel(gamma=0.1).gram(X), atol=1e-9)
    part = Nystroem(PolynomialKernel(2), n_components=15, random_state=0).fit(X)
    drawn = part.transform(part.rows_)
    np.testing.assert_allclose(
        drawn @ drawn.T, PolynomialKernel(2).gram(part.rows_), rtol=1e-6
    )


@pytest.mark.syllabus("9.4")
def test_waves_come_nearer_to_the_kernel_the_more_there_are():
    X, K = rows(60), RBFKernel(gamma=0.05).gram(rows(60))
    errors = []
    for waves in (50, 5000):
        Z = RBFSampler(
            n_components=2 * waves, gamma=0.05, random_state=0
        ).fit_transform(X)
        np.testing.assert_allclose((Z * Z).sum(axis=1), 1.0)
        errors.append(np.abs(Z @ Z.T - K).max())
    assert errors[1] < 0.06
    assert errors[1] < 0.25 * errors[0]


@pytest.mark.syllabus("9.4.4")
@pytest.mark.parametrize(
    "features",
    [
        Nystroem(n_components=60, gamma=0.5, random_state=0),
        RBFSampler(n_components=120, gamma=0.5, random_state=0),
    ],
)
def test_a_linear_machine_behind_features_is_a_kernel_machine_on_files(
    features, tmp_path
):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (3000, 2))
    inside = np.where((X**2).sum(axis=1) < 2.0, "in", "out")
    table = pa.table(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "town": rng.choice(["Ulm", "Bonn"], 3000),
            "side": inside,
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=500)
    rows_of_file = scan(tmp_path / "rows.parquet", target="side", memory=0)
    model = make_pipeline(StandardScaler(), features, LogisticRegression(C=100.0)).fit(
        rows_of_file
    )
    assert model.score(rows_of_file) > 0.97
    assert LogisticRegression().fit(rows_of_file).score(rows_of_file) < 0.75
    frame = table.to_pandas()
    in_memory = make_pipeline(
        StandardScaler(), features, LogisticRegression(C=100.0)
    ).fit(frame[["a", "b", "town"]], inside)
    assert (
        np.asarray(in_memory.predict(frame[["a", "b", "town"]])) == inside
    ).mean() > 0.97


def test_ridge_behind_features_nears_kernel_ridge():
    X = rows(400, d=2)
    y = np.sin(X[:, 0]) * X[:, 1]
    exact = KernelRidge(0.1, kernel="rbf", gamma=0.5).fit(X, y).predict(X)
    for drawn, within in ((100, 0.1), (200, 0.03), (400, 1e-6)):
        features = Nystroem(n_components=drawn, gamma=0.5, random_state=0)
        near = make_pipeline(features, Ridge(alpha=0.1, fit_intercept=False)).fit(X, y)
        assert np.std(near.predict(X) - exact) < within * np.std(y)
    with pytest.raises(SettingError, match="KernelRidge"):
        Nystroem(kernel=DistanceKernel("gower")).fit(X)


def test_given_values_need_not_be_symmetric_and_gamma_is_said():
    # about the means of columns and of rows: 9, -9, -9, 9
    model = KernelPCA(1, kernel="precomputed").fit([[1.0, 2.0], [3.0, 40.0]])
    np.testing.assert_allclose(model.eigenvalues_, [18.0], rtol=1e-12)
    X = rows()
    assert KernelPCA(2, kernel="rbf").fit(X).gamma_ == 1 / X.shape[1]
    assert KernelPCA(2, kernel="rbf", gamma=0.3).fit(X).gamma_ == 0.3
    with pytest.raises(SettingError, match="Cannot fit_inverse_transform"):
        KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(X @ X.T)


def test_rounding_of_single_precision_is_no_component():
    X = rows(40, 3) + 3.0
    assert KernelPCA().fit(X.astype(np.float32)).n_components_ == 3
