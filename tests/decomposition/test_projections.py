"""SVD, feature embedding, multidimensional scaling and Fisher's projection, against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA as PeerPCA, TruncatedSVD as PeerSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from lyceum.data import scan
from lyceum.decomposition import (
    PCA,
    ClassicalMDS,
    DiscriminantProjection,
    RowSVD,
    TruncatedSVD,
)
from lyceum.errors import DataError, SettingError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6)) @ RNG.normal(size=(6, 6)) + 2.0


def aligned(A, B):
    return A * np.sign((A * B).sum(axis=0))


def apart(A, B):
    return np.linalg.norm(A[:, None] - B, axis=2)


# -- PCA: solvers and reconstruction ---------------------------------------------------


@pytest.mark.syllabus("13.1")
def test_few_rows_allow_few_components_as_in_scikit_learn():
    rows = RNG.normal(size=(4, 9))
    with pytest.raises(
        SettingError,
        match=r"n_components=6 must be between 0 and min\(n_samples, n_features\)=4",
    ):
        PCA(6).fit(rows)
    assert PCA().fit(rows).n_components_ == PeerPCA().fit(rows).n_components_ == 4


@pytest.mark.syllabus("13.1")
@pytest.mark.parametrize("solver", ["full", "randomized", "covariance_eigh"])
def test_every_solver_finds_the_same_components(solver):
    wide = RNG.normal(size=(300, 40)) * np.geomspace(10, 0.01, 40)
    peer = PeerPCA(5, svd_solver="full").fit(wide)
    pca = PCA(5, svd_solver=solver, iterated_power=6, random_state=0).fit(wide)
    np.testing.assert_allclose(
        pca.explained_variance_, peer.explained_variance_, rtol=1e-6
    )
    np.testing.assert_allclose(
        np.abs((pca.components_ * peer.components_).sum(axis=1)), 1.0, rtol=1e-6
    )
    np.testing.assert_allclose(
        pca.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-6
    )
    thin = PCA(5, svd_solver=solver, iterated_power=6, random_state=0).fit(
        sparse.csr_array(wide)
    )
    np.testing.assert_allclose(
        thin.explained_variance_, peer.explained_variance_, rtol=1e-6
    )
    weighted = PCA(5, svd_solver=solver, iterated_power=6, random_state=0).fit(
        wide, sample_weight=np.full(300, 2.0)
    )
    doubled = PeerPCA(5, svd_solver="full").fit(np.vstack([wide, wide]))
    np.testing.assert_allclose(
        weighted.explained_variance_, doubled.explained_variance_, rtol=1e-6
    )


@pytest.mark.syllabus("13.1.3")
def test_the_reconstruction_error_is_the_variance_left_out():
    pca = PCA(2).fit(X)
    squares = pca.reconstruction_error(X)
    np.testing.assert_allclose(
        squares, ((X - pca.reconstruct(X)) ** 2).sum(axis=1), rtol=1e-9
    )
    assert squares.mean() == pytest.approx(pca.reconstruction_error_)
    assert pca.reconstruction_error_ == pytest.approx(
        PCA().fit(X).explained_variance_[2:].sum() * 79 / 80
    )


def test_the_full_solver_keeps_digits_that_the_scatter_loses():
    tiny = np.column_stack([X[:, 0], X[:, 0] + 1e-9 * X[:, 1]])
    exact = PCA(svd_solver="full").fit(tiny).singular_values_[1]
    expected = linalg.svdvals(tiny - tiny.mean(axis=0))[1]
    assert exact == pytest.approx(expected, rel=1e-5)


# -- SVD -------------------------------------------------------------------------------


@pytest.mark.syllabus("13.1.4")
@pytest.mark.parametrize("solver", ["auto", "full", "randomized"])
@pytest.mark.parametrize("rows", [X, RNG.normal(size=(20, 700))])
def test_svd_is_scipys_and_its_error_is_that_of_the_factorization(solver, rows):
    _, s, Vt = linalg.svd(rows, full_matrices=False)
    svd = TruncatedSVD(3, algorithm=solver, n_iter=40, random_state=0).fit(rows)
    np.testing.assert_allclose(svd.singular_values_, s[:3], rtol=1e-6)
    np.testing.assert_allclose(
        np.abs((svd.components_ * Vt[:3]).sum(axis=1)), 1.0, rtol=1e-5
    )
    left = rows - svd.reconstruct(rows)
    assert svd.error_ == pytest.approx(np.linalg.norm(left), rel=1e-6)
    assert svd.relative_error_ == pytest.approx(
        np.linalg.norm(left) / np.linalg.norm(rows), rel=1e-6
    )
    found_U, found_s, found_V = svd.factors(rows)
    np.testing.assert_allclose(
        (found_U * found_s) @ found_V, svd.reconstruct(rows), atol=1e-9
    )
    np.testing.assert_allclose(found_U.T @ found_U, np.eye(3), atol=1e-5)


def test_no_other_matrix_of_the_rank_is_nearer():
    svd = TruncatedSVD(2).fit(X)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        other = svd.reconstruct(X) + 0.01 * rng.normal(size=(80, 1)) @ rng.normal(
            size=(1, 6)
        )
        U, s, Vt = linalg.svd(other, full_matrices=False)
        other = (U[:, :2] * s[:2]) @ Vt[:2]
        assert np.linalg.norm(X - other) >= svd.error_ - 1e-9


# -- feature embedding -----------------------------------------------------------------


@pytest.mark.syllabus("13.1.5")
def test_feature_embedding_is_pca_from_inner_products():
    rows = RNG.normal(size=(12, 500))
    embedding = RowSVD().fit(rows)
    assert embedding.n_components_ == 11
    pca = PeerPCA(11).fit(rows)
    scores = pca.transform(rows)
    np.testing.assert_allclose(aligned(embedding.embedding_, scores), scores, atol=1e-9)
    np.testing.assert_allclose(
        embedding.transform(rows), embedding.embedding_, atol=1e-9
    )
    new = RNG.normal(size=(3, 500))
    np.testing.assert_allclose(
        np.abs(embedding.transform(new)), np.abs(pca.transform(new)), atol=1e-9
    )
    centered = rows - rows.mean(axis=0)
    np.testing.assert_allclose(
        embedding.embedding_ @ embedding.embedding_.T, centered @ centered.T, atol=1e-8
    )


# -- multidimensional scaling ----------------------------------------------------------


@pytest.mark.syllabus("13.2.1")
def test_euclidean_distances_give_the_points_back():
    points = RNG.normal(size=(30, 3))
    D = squareform(pdist(points))
    for model, rows in (
        (ClassicalMDS(3, metric="precomputed"), D),
        (ClassicalMDS(3), points),
    ):
        found = model.fit_transform(rows)
        np.testing.assert_allclose(squareform(pdist(found)), D, atol=1e-9)
        assert model.stress_ < 1e-9
        assert model.negative_ratio_ < 1e-9
        assert model.kept_ratio_ == pytest.approx(1.0)
    scores = PeerPCA(3).fit_transform(points)
    np.testing.assert_allclose(aligned(found, scores), scores, atol=1e-9)


@pytest.mark.syllabus("13.2")
def test_double_centering_by_its_definition():
    D = squareform(pdist(RNG.normal(size=(9, 4)), "cityblock"))
    J = np.eye(9) - 1 / 9
    values = np.linalg.eigvalsh(-0.5 * J @ D**2 @ J)[::-1]
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    np.testing.assert_allclose(model.all_eigenvalues_, values, atol=1e-9)
    np.testing.assert_array_equal(model.eigenvalues_, model.all_eigenvalues_[:2])
    assert model.negative_ratio_ == pytest.approx(
        -values[values < 0].sum() / np.abs(values).sum(), abs=1e-9
    )


@pytest.mark.syllabus("13.2")
def test_similarities_are_inner_products():
    points = RNG.normal(size=(15, 2))
    model = ClassicalMDS(2, metric="similarity").fit(points @ points.T)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(points), atol=1e-9)
    new = RNG.normal(size=(4, 2))
    placed = model.transform(new @ points.T)
    expected = np.linalg.norm(new[:, None] - points, axis=2)
    np.testing.assert_allclose(
        np.linalg.norm(placed[:, None] - model.embedding_, axis=2), expected, atol=1e-9
    )


@pytest.mark.syllabus("13.2")
def test_a_new_row_is_placed_at_its_distances():
    points, new = RNG.normal(size=(25, 3)), RNG.normal(size=(6, 3))
    expected = np.linalg.norm(new[:, None] - points, axis=2)
    for model, rows, asked in (
        (ClassicalMDS(3), points, new),
        (ClassicalMDS(3, metric="precomputed"), squareform(pdist(points)), expected),
    ):
        placed = model.fit(rows).transform(asked)
        np.testing.assert_allclose(
            np.linalg.norm(placed[:, None] - model.embedding_, axis=2),
            expected,
            atol=1e-9,
        )
        np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-9)


def test_mixed_columns_go_by_gower():
    frame = pd.DataFrame(
        {"age": [20.0, 30.0, np.nan, 60.0], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]}
    )
    model = ClassicalMDS(2, metric="gower").fit(frame)
    np.testing.assert_allclose(model.transform(frame), model.embedding_, atol=1e-9)


def test_wrong_matrices_are_refused():
    with pytest.raises(DataError, match="must be 2-dimensional and square"):
        ClassicalMDS(metric="precomputed").fit(np.ones((3, 2)))
    with pytest.raises(DataError, match="symmetric"):
        ClassicalMDS(metric="precomputed").fit(np.array([[0.0, 1], [2, 0]]))
    with pytest.raises(DataError, match="metric='similarity'"):
        ClassicalMDS(metric="precomputed").fit(np.eye(3))


# -- Fisher ----------------------------------------------------------------------------


def classes(K, n=120, seed=1):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, K, n)
    return rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + 2.0 * rng.normal(
        size=(K, 4)
    )[k], k


@pytest.mark.syllabus("13.2")
@pytest.mark.parametrize("K", [2, 3, 5])
def test_fisher_solves_its_eigenproblem(K):
    rows, y = classes(K)
    fisher = DiscriminantProjection().fit(rows, y)
    m = rows.mean(axis=0)
    S_W = sum(
        (rows[y == k] - rows[y == k].mean(axis=0)).T
        @ (rows[y == k] - rows[y == k].mean(axis=0))
        for k in range(K)
    )
    spread = [(rows[y == k].mean(axis=0) - m) for k in range(K)]
    S_B = sum((y == k).sum() * np.outer(d, d) for k, d in enumerate(spread))
    np.testing.assert_allclose(fisher.within_scatter_, S_W, rtol=1e-9)
    np.testing.assert_allclose(fisher.between_scatter_, S_B, rtol=1e-9, atol=1e-9)
    assert fisher.n_components_ == min(K - 1, 4)
    for w, J in zip(fisher.components_, fisher.criterion_):
        assert w @ S_B @ w / (w @ S_W @ w) == pytest.approx(J, rel=1e-9)
        np.testing.assert_allclose(
            S_B @ w, J * S_W @ w, atol=1e-6 * np.abs(S_B @ w).max()
        )
    best = linalg.eigh(S_B, S_W, eigvals_only=True)[::-1][: fisher.n_components_]
    np.testing.assert_allclose(fisher.criterion_, best, rtol=1e-8)
    peer = LinearDiscriminantAnalysis(solver="eigen").fit(rows, y).transform(rows)
    for a, b in zip(fisher.transform(rows).T, peer.T):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.syllabus("13.2.2")
def test_two_classes_have_the_direction_of_fisher():
    rows, y = classes(2)
    fisher = DiscriminantProjection().fit(rows, y)
    w = np.linalg.solve(fisher.within_scatter_, fisher.means_[1] - fisher.means_[0])
    assert abs(w @ fisher.components_[0]) == pytest.approx(
        np.linalg.norm(w) * np.linalg.norm(fisher.components_[0])
    )


def test_fisher_streams_and_refuses(tmp_path):
    rows, y = classes(3)
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(y=[f"k{k}" for k in y])
    frame.to_csv(tmp_path / "t.csv", index=False)
    stream = DiscriminantProjection().fit(
        scan(tmp_path / "t.csv", target="y", memory=0)
    )
    np.testing.assert_allclose(
        stream.criterion_, DiscriminantProjection().fit(rows, y).criterion_, rtol=1e-9
    )
    with pytest.raises(SettingError, match="between 1 and min"):
        DiscriminantProjection(3).fit(rows, y)
    with pytest.raises(DataError, match="at least 2 classes"):
        DiscriminantProjection().fit(rows, np.zeros(120, dtype=int))


@pytest.mark.parametrize("algorithm", ["auto", "full", "randomized"])
def test_attributes_of_svd_are_those_of_scikit_learn(algorithm):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 3.0
    ours = TruncatedSVD(3, algorithm=algorithm, n_iter=40, random_state=0).fit(X)
    theirs = PeerSVD(3, algorithm="arpack").fit(X)
    for name in (
        "components_",
        "singular_values_",
        "explained_variance_",
        "explained_variance_ratio_",
    ):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-7
        )
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-7)


@pytest.mark.syllabus("13.2.3")
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_fisher_for_two_classes_has_both_scatters_between(offset):
    """S_B = (m1 - m2)(m1 - m2)ᵀ beside the weighted one, n1 n2 / N times that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) + offset
    y = np.repeat([0, 1], [15, 35])
    X[y == 1] += [1.0, -0.5, 2.0]
    w = rng.integers(1, 4, 50).astype(float)
    fisher = DiscriminantProjection().fit(X, y, w)
    m = [np.average(X[y == k], axis=0, weights=w[y == k]) for k in (0, 1)]
    plain = np.outer(m[0] - m[1], m[0] - m[1])
    np.testing.assert_allclose(fisher.mean_difference_scatter_, plain, rtol=1e-6)
    n = [w[y == k].sum() for k in (0, 1)]
    np.testing.assert_allclose(
        fisher.between_scatter_, n[0] * n[1] / sum(n) * plain, rtol=1e-6
    )
    v = fisher.components_[0]
    J = v @ plain @ v / (v @ fisher.within_scatter_ @ v)
    np.testing.assert_allclose(fisher.mean_difference_criterion_, J, rtol=1e-6)
    assert "J with S_B = (m1 - m2)(m1 - m2)ᵀ" in fisher.summary().facts
    three = DiscriminantProjection().fit(X, np.arange(50) % 3)
    assert not hasattr(three, "mean_difference_scatter_")
    assert len(three.summary().facts) == 5


def test_names_of_a_learner_on_a_matrix_can_be_listed():
    assert "fit" in dir(ClassicalMDS(1, metric="precomputed"))
