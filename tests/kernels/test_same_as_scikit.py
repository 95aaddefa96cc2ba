"""Attributes and defaults that scikit-learn has too mean the same: shapes, order, signs, values."""

import inspect

import numpy as np
import pytest
from sklearn import datasets, decomposition, kernel_approximation, kernel_ridge, svm
from sklearn.metrics import pairwise
from sklearn.preprocessing import scale

from lyceum.density import KernelDensity
from lyceum.kernels import (
    SVC,
    SVR,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    Nystroem,
    PolynomialKernel,
    RBFKernel,
    RBFSampler,
    SigmoidKernel,
)
from lyceum.neighbors import KNeighborsRegressor, LocallyWeightedRegression


def two_classes():
    return datasets.make_moons(120, noise=0.3, random_state=0)


def iris():
    return datasets.load_iris(return_X_y=True)


def words():
    X, y = datasets.make_blobs(150, 3, centers=5, cluster_std=3.0, random_state=1)
    return X, np.array(["e", "b", "d", "a", "c"])[y]


TABLES = [two_classes, iris, words]
PAIRS = [
    (SVC, svm.SVC),
    (SVR, svm.SVR),
    (LinearSVC, svm.LinearSVC),
    (KernelRidge, kernel_ridge.KernelRidge),
    (KernelPCA, decomposition.KernelPCA),
    (Nystroem, kernel_approximation.Nystroem),
    (RBFSampler, kernel_approximation.RBFSampler),
]
OUR_OWN = {  # what the solvers are told differs, and is not what is learned
    # `probability` is deprecated there
    "SVC": {"max_iter", "verbose", "probability"},
    "SVR": {"max_iter", "verbose"},
    "LinearSVC": set(),
    "Nystroem": {"degree", "coef0"},  # None there, which their kernels read as 3 and 1
}


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda kind: kind.__name__)
def test_a_parameter_of_the_same_name_has_the_same_default(ours, theirs):
    mine, peer = (inspect.signature(kind).parameters for kind in (ours, theirs))
    for name in set(mine) & set(peer) - OUR_OWN.get(ours.__name__, set()):
        assert mine[name].default == peer[name].default, name
    positional = [n for n, p in peer.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [
        n for n, p in mine.items() if p.kind is p.POSITIONAL_OR_KEYWORD
    ] == positional


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_svc_has_libsvm_s_support_vectors_coefficients_and_intercepts(table, kernel):
    X, y = table()
    # a positive definite kernel has one solution; libsvm stores kernel values in single precision
    ours = SVC(kernel=kernel, C=0.7, tol=1e-9).fit(X, y)
    peer = svm.SVC(kernel=kernel, C=0.7, tol=1e-9).fit(X, y)
    size = np.abs(peer.decision_function(X)).max()
    assert (
        ours.dual_coef_.shape[0] == peer.dual_coef_.shape[0] == len(ours.classes_) - 1
    )
    assert ours.n_support_.dtype.kind == "i"
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4 * size)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    if kernel == "rbf":
        np.testing.assert_array_equal(ours.support_, peer.support_)
        np.testing.assert_array_equal(ours.n_support_, peer.n_support_)
        np.testing.assert_allclose(ours.support_vectors_, peer.support_vectors_)
        np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), atol=1e-3 * size
    )
    pairs = svm.SVC(kernel=kernel, C=0.7, tol=1e-9, decision_function_shape="ovo").fit(
        X, y
    )
    np.testing.assert_allclose(
        np.squeeze(ours.machine_scores(X)), pairs.decision_function(X), atol=1e-3 * size
    )


def test_scores_follow_from_the_dual_coefficients_by_the_documented_formula():
    X, y = words()
    model = SVC(tol=1e-8).fit(X, y)
    first = np.concatenate([[0], np.cumsum(model.n_support_)])
    K = model.kernel_.gram(X, model.support_vectors_)
    machine = 0
    for i in range(5):
        for j in range(i + 1, 5):
            in_i, in_j = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
            scores = K[:, in_i] @ model.dual_coef_[j - 1, in_i]
            scores += K[:, in_j] @ model.dual_coef_[i, in_j] + model.intercept_[machine]
            np.testing.assert_allclose(
                model.machine_scores(X)[:, machine], scores, atol=1e-9
            )
            machine += 1


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_is_that_of_libsvm(gamma):
    X, y = words()  # iris has equal rows, whose coefficients may be exchanged
    ours = SVC(gamma=gamma, tol=1e-8).fit(X, y)
    peer = svm.SVC(gamma=gamma, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, atol=1e-4)
    assert ours.kernel_.native.gamma == pytest.approx(peer._gamma)


def test_svr_has_libsvm_s_coefficients():
    for X, y in (
        datasets.load_diabetes(return_X_y=True),
        datasets.make_friedman1(150, 6),
    ):
        X, y = scale(X), scale(y)
        for kernel in ("linear", "rbf"):
            ours = SVR(kernel=kernel, tol=1e-9).fit(X, y)
            peer = svm.SVR(kernel=kernel, tol=1e-9).fit(X, y)
            np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
            assert ours.dual_coef_.shape == (1, ours.n_support_[0])
            if kernel == "linear":
                np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
                continue
            np.testing.assert_array_equal(ours.support_, peer.support_)
            np.testing.assert_array_equal(ours.n_support_, peer.n_support_)
            np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, atol=1e-4)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "hinge"},
        {"penalty": "l1", "dual": False},
        {"intercept_scaling": 4.0},
        {"penalty": "l1", "dual": False, "intercept_scaling": 4.0},
        {"fit_intercept": False},
    ],
)
def test_linear_svc_has_liblinear_s_plane(table, settings):
    X, y = table()
    X = scale(X)
    peer = svm.LinearSVC(tol=1e-9, max_iter=1_000_000, random_state=0, **settings).fit(
        X, y
    )
    settings = {name: value for name, value in settings.items() if name != "dual"}
    ours = LinearSVC(tol=1e-8, **settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(
        ours.intercept_, np.ravel(peer.intercept_) * np.ones(len(ours.coef_)), atol=2e-3
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_kernels_by_name_have_scikit_s_default_widths(kernel):
    X, y = datasets.load_diabetes(return_X_y=True)
    X = scale(X)[:150]
    y = y[:150]
    peer = kernel_ridge.KernelRidge(kernel=kernel, alpha=5.0)
    if kernel != "sigmoid":  # which is no Mercer kernel: KernelRidge refuses it
        peer.fit(X, y)
        ours = KernelRidge(kernel=kernel, alpha=5.0).fit(X, y)
        np.testing.assert_allclose(
            ours.dual_coef_, peer.dual_coef_, rtol=1e-6, atol=1e-8
        )
    Z = Nystroem(kernel, n_components=150, random_state=0).fit(X)
    np.testing.assert_allclose(
        Z.kernel_.gram(X), peer._get_kernel(X), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernel_pca_has_scikit_s_eigenvalues_and_eigenvectors(kernel):
    X, _ = iris()
    ours = KernelPCA(3, kernel=kernel).fit(X)
    peer = decomposition.KernelPCA(3, kernel=kernel).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-8)
    signs = np.sign((ours.eigenvectors_ * peer.eigenvectors_).sum(axis=0))
    np.testing.assert_allclose(
        ours.eigenvectors_, signs * peer.eigenvectors_, atol=1e-7
    )
    np.testing.assert_allclose(ours.transform(X), signs * peer.transform(X), atol=1e-7)


@pytest.mark.parametrize("n_components", [400, 401])
def test_rbf_sampler_gives_as_many_features_as_are_asked_for(n_components):
    X, _ = two_classes()
    ours = RBFSampler(n_components=n_components, random_state=0).fit(X)
    Z = ours.transform(X)
    assert Z.shape == (len(X), n_components)
    error = np.abs(Z @ Z.T - np.exp(-((X[:, None] - X) ** 2).sum(axis=2)))
    assert error.max() < 0.25
    assert error.mean() < 0.05


def test_the_shift_of_a_kernel_has_scikit_learns_default_in_objects_and_in_learners():
    X = np.random.default_rng(0).normal(size=(6, 2))
    d = X.shape[1]
    for ours, theirs in (
        (PolynomialKernel(gamma=1 / d), pairwise.polynomial_kernel),
        (SigmoidKernel(gamma=1 / d), pairwise.sigmoid_kernel),
    ):
        np.testing.assert_allclose(ours.gram(X), theirs(X))
    for learner in (KernelPerceptron, KernelRidge, KernelPCA):
        assert inspect.signature(learner).parameters["coef0"].default == 1.0
    assert inspect.signature(Nystroem).parameters["coef0"].default is None  # 1 too
    for learner in (SVC, SVR):
        assert inspect.signature(learner).parameters["coef0"].default == 0.0


def test_gaussian_means_the_same_in_every_room():
    """exp(-u²/2): the kernel, the votes of neighbors, local regression, densities and bases."""
    d, h = 1.3, 0.7
    want = np.exp(-((d / h) ** 2) / 2)
    stored, query = np.array([[0.0], [d]]), np.array([[0.0]])
    assert RBFKernel(sigma=h).gram(query, stored)[0, 1] == pytest.approx(want)
    voter = KNeighborsRegressor("all", weights="gaussian", bandwidth=h)
    share = voter.fit(stored, [0.0, 1.0]).predict(query)[0]
    assert share / (1 - share) == pytest.approx(want)
    local = LocallyWeightedRegression(
        n_neighbors="all", degree=0, kernel="gaussian", bandwidth=h, standardize=False
    )
    share = local.fit(stored, [0.0, 1.0]).predict(query)[0]
    assert share / (1 - share) == pytest.approx(want)
    density = KernelDensity(kernel="gaussian", bandwidth=h).fit([[0.0]])
    ratio = np.exp(np.subtract(*density.score_samples([[d], [0.0]])))
    assert ratio == pytest.approx(want, rel=1e-6)


@pytest.mark.syllabus("9.1")
@pytest.mark.filterwarnings("ignore:Perceptron made")  # random labels
@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_coef0_means_the_same_in_every_kernel_learner(kernel):
    """The shift c of (γ x·y + c)² and tanh(γ x·y + c)."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    y = np.repeat([0, 1], 6)
    shape = np.square
    learners = [SVC, SVR, KernelRidge, KernelPCA, KernelPerceptron, Nystroem]
    if kernel == "sigmoid":
        shape = np.tanh
        learners = [SVC, SVR, KernelPerceptron]  # others need a Mercer kernel
    for learner in learners:
        for c in (0.0, 2.5):
            settings = {"kernel": kernel, "gamma": 0.5, "degree": 2, "coef0": c}
            model = learner(**settings).fit(X, y)
            by_hand = shape(0.5 * X @ X.T + c)
            np.testing.assert_allclose(model.kernel_.gram(X), by_hand)
