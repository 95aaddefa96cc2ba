"""Classifiers and transformers have scikit-learn's parameters, with their effect."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from packaging.version import Version
from scipy import sparse
from scipy.special import expit
from sklearn import datasets, decomposition, discriminant_analysis, linear_model, svm
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import NotFittedError

from lyceum import bayes, kernels, linear
from lyceum.bayes import BernoulliNB, LinearDiscriminantAnalysis, MultinomialNB
from lyceum.decision import CalibratedClassifierCV
from lyceum.decomposition import PCA
from lyceum.errors import SettingError
from lyceum.kernels import SVC, KernelPCA, KernelRidge, LinearSVC
from lyceum.linear import LogisticRegression
from lyceum.prepare import MinMaxScaler, StandardScaler
from lyceum.trees import DecisionTreeClassifier

X, Y = datasets.load_iris(return_X_y=True)
# what scikit-learn answers since 1.9 is what ours answers, whatever version is there
SINCE_1_9 = pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.9"),
    reason="scikit-learn answered otherwise before 1.9",
)


@SINCE_1_9  # variances within classes are divided by n, not by n - K
@pytest.mark.parametrize("settings", [{}, {"n_components": 1}], ids=str)
def test_the_directions_of_a_linear_discriminant(settings):
    model = LinearDiscriminantAnalysis(**settings).fit(X, Y)
    other = discriminant_analysis.LinearDiscriminantAnalysis(**settings).fit(X, Y)
    assert_allclose(abs(model.transform(X)), abs(other.transform(X)), atol=1e-9)
    ratio = other.explained_variance_ratio_
    assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-9)


def test_a_shrunk_covariance_gives_the_posteriors_of_scikit_learn():
    settings = {"shrinkage": 0.3, "solver": "lsqr"}
    model = LinearDiscriminantAnalysis(**settings).fit(X, Y)
    other = discriminant_analysis.LinearDiscriminantAnalysis(**settings).fit(X, Y)
    assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("ensemble", [False, True, "auto"])
def test_a_classifier_with_scores_alone_is_calibrated(ensemble):
    model = CalibratedClassifierCV(LinearSVC(), ensemble=ensemble).fit(X, Y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert model.score(X, Y) > 0.9
    assert len(model.calibrated_classifiers_) == (5 if ensemble else 1)


def test_pairs_of_classes_are_scored_and_ties_broken_as_set():
    model = SVC(decision_function_shape="ovo", tol=1e-6).fit(X, Y)
    other = svm.SVC(decision_function_shape="ovo", tol=1e-6).fit(X, Y)
    assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-3)
    # three pairs that form a circle give every class one vote
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    corners = np.repeat(rows, 5, axis=0) + np.random.default_rng(0).normal(
        scale=0.5, size=(15, 2)
    )
    codes = np.repeat([0, 1, 2], 5)
    grid = np.random.default_rng(1).uniform(-1, 2, size=(4000, 2))
    first = SVC(kernel="rbf", gamma=9.0, break_ties=False).fit(corners, codes)
    broken = SVC(kernel="rbf", gamma=9.0, break_ties=True).fit(corners, codes)
    votes = np.round(broken.decision_function(grid))
    tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert tied.any()
    assert_array_equal(first.predict(grid), votes.argmax(axis=1))
    scores = broken.decision_function(grid)
    assert_array_equal(broken.predict(grid), scores.argmax(axis=1))


@SINCE_1_9  # the settings of the reference mean this
@pytest.mark.parametrize(
    ("settings", "other"),
    [
        ({"penalty": None}, {"C": np.inf}),
        ({"penalty": "l2", "solver": "newton-cg"}, {}),
        ({"penalty": "l1", "C": 0.5}, {"l1_ratio": 1.0, "C": 0.5, "solver": "saga"}),
    ],
    ids=str,
)
def test_penalties_of_earlier_versions(settings, other):
    overlap = Y > 0
    rows = (X - X.mean(axis=0))[overlap][:, :2]
    model = LogisticRegression(**settings).fit(rows, Y[overlap])
    reference = linear_model.LogisticRegression(**other, max_iter=5000, tol=1e-6)
    reference.fit(rows, Y[overlap])
    assert_allclose(model.predict_proba(rows), reference.predict_proba(rows), atol=1e-3)


def test_tiny_pseudo_counts_are_raised_unless_forced():
    counts = np.array([[1, 0, 2], [0, 3, 1]])
    for kind in (MultinomialNB, BernoulliNB):
        with pytest.warns(UserWarning, match="alpha too small"):
            raised = kind(alpha=0.0, force_alpha=False).fit(counts, [0, 1])
        assert np.isfinite(raised.feature_log_prob_).all()
    model = MultinomialNB(alpha=[1.0, 2.0, 3.0]).fit(counts, [0, 1])
    smoothed = counts + np.array([1.0, 2.0, 3.0])
    expected = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
    assert_allclose(model.feature_log_prob_, expected)


def test_scales_are_told_as_scikit_learn_tells_them():
    model = MinMaxScaler((-1, 2)).fit(X)
    assert_allclose(X * model.scale_ + model.min_, model.transform(X), atol=1e-12)
    assert_allclose(model.data_range_, np.ptp(X, axis=0))
    assert StandardScaler().fit(X).n_samples_seen_ == 150
    hole = X.copy()
    hole[0, 0] = np.nan
    assert StandardScaler().fit(hole).n_samples_seen_.tolist() == [149, 150, 150, 150]


def test_the_number_of_components_by_evidence():
    rows = np.random.default_rng(0).normal(size=(200, 10))
    rows[:, :3] *= 10.0
    ours = PCA("mle").fit(rows)
    theirs = decomposition.PCA("mle", svd_solver="full").fit(rows)
    assert ours.n_components_ == theirs.n_components_ == 3
    assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "rbf", "n_components": 2, "fit_inverse_transform": True},
        {
            "kernel": "poly",
            "n_components": 3,
            "fit_inverse_transform": True,
            "alpha": 0.1,
        },
        {"n_components": 6, "remove_zero_eig": True},
    ],
    ids=str,
)
def test_kernel_components_and_their_learned_inverse(settings):
    rows = np.random.default_rng(0).normal(size=(40, 4))
    ours = KernelPCA(**settings).fit(rows)
    theirs = decomposition.KernelPCA(**settings).fit(rows)
    scores = theirs.transform(rows)
    assert_allclose(abs(ours.transform(rows)), abs(scores), atol=1e-9)
    if "alpha" in settings or settings.get("fit_inverse_transform"):
        inverse = ours.inverse_transform(ours.transform(rows))
        assert_allclose(inverse, theirs.inverse_transform(scores), atol=1e-9)


def test_a_kernel_that_is_a_function_gets_its_parameters():
    def power(x, y, degree):
        return float(x @ y + 1.0) ** degree

    rows = X[::10]
    settings = {"kernel": power, "kernel_params": {"degree": 2}}
    by_function = KernelRidge(**settings).fit(rows, Y[::10]).predict(rows)
    by_name = KernelRidge(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
    expected = by_name.fit(rows, Y[::10]).predict(rows)
    assert_allclose(by_function, expected, rtol=1e-6)
    model = KernelPCA(3, **settings).fit(rows)
    named = KernelPCA(3, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(rows)
    assert_allclose(model.eigenvalues_, named.eigenvalues_, rtol=1e-8)


def test_random_directions_are_as_exact_as_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 60)) @ np.diag(0.97 ** np.arange(60))
    exact = PCA(5).fit(rows).explained_variance_
    settings = {"n_components": 5, "svd_solver": "randomized", "random_state": 0}
    ours = PCA(**settings).fit(rows).explained_variance_
    theirs = decomposition.PCA(**settings).fit(rows).explained_variance_
    error = abs(ours / exact - 1).max()
    assert error < 3 * abs(theirs / exact - 1).max()
    assert error < 1e-4


@SINCE_1_9  # variances are divided by n, not by n - 1
def test_discriminants_shrink_as_scikit_learns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) * [1.0, 2.0, 3.0, 4.0] + y[:, None]
    for settings in (
        {"shrinkage": 0.3},
        {"shrinkage": "auto"},
        {"covariance_estimator": LedoitWolf()},
    ):
        for name in ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
            ours = getattr(bayes, name)(solver="eigen", **settings).fit(X, y)
            theirs = getattr(discriminant_analysis, name)(solver="eigen", **settings)
            want = theirs.fit(X, y).predict_proba(X)
            assert_allclose(ours.predict_proba(X), want, atol=1e-12)
    ours = bayes.QuadraticDiscriminantAnalysis(reg_param=0.2).fit(X, y)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.2)
    theirs.fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    assert_allclose(ours.scalings_, theirs.scalings_)
    with pytest.raises(SettingError, match="Only one of the two can be set"):
        bayes.LinearDiscriminantAnalysis(
            solver="lsqr", shrinkage=0.1, covariance_estimator=LedoitWolf()
        ).fit(X, y)
    with pytest.raises(SettingError, match="partial_fit keeps sums"):
        bayes.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(
            X, y
        ).partial_fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_machines_of_sparse_rows_have_sparse_coefficients(kernel):
    rng = np.random.default_rng(1)
    X = sparse.random_array((40, 6), density=0.4, rng=rng, format="csr")
    y = rng.integers(0, 3, 40)
    ours = kernels.SVC(kernel=kernel, gamma=1.0).fit(X, y)
    dense = kernels.SVC(kernel=kernel, gamma=1.0).fit(X.toarray(), y)
    assert sparse.issparse(ours.dual_coef_)
    assert_allclose(ours.dual_coef_.toarray(), dense.dual_coef_, atol=1e-9)
    want = dense.decision_function(X.toarray())
    assert_allclose(ours.decision_function(X), want, atol=1e-9)
    assert ours.n_iter_.shape == (3,)
    if kernel == "linear":
        assert_allclose(ours.coef_.toarray(), dense.coef_, atol=1e-9)


def test_coefficients_that_are_set_by_hand_predict():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 3.0]])
    model = linear.LogisticRegression()
    model.classes_ = np.array(["no", "yes"])
    model.coef_ = np.array([[1.0, -1.0]])
    model.intercept_ = np.array([-0.5])
    assert model.predict(X).tolist() == ["no", "yes", "no"]
    assert_allclose(model.decision_function(X), [-1.5, 1.5, -0.5])
    # scikit-learn's LogisticRegressionCV sets them flat
    model.coef_ = np.array([1.0, -1.0, 9.0])[:-1]
    model.intercept_ = -0.5
    assert model.predict(X).tolist() == ["no", "yes", "no"]
    assert_allclose(model.predict_proba(X)[:, 1], expit([-1.5, 1.5, -0.5]))
    with pytest.raises(NotFittedError):
        linear.LogisticRegression().predict(X)


def test_a_frame_is_taken_by_places_where_an_array_was_learned():
    rows = np.column_stack([X, np.arange(len(X)) % 3])
    model = pickle.loads(pickle.dumps(DecisionTreeClassifier().fit(rows, Y)))
    frame = pd.DataFrame(rows[:, :-1])
    frame[rows.shape[1] - 1] = pd.Categorical(rows[:, -1])
    assert (model.predict(frame) == model.predict(rows)).all()
