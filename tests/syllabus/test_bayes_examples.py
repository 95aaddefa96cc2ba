"""Worked examples of the syllabus, 2.5 and section 3, solved by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from lyceum.bayes import (
    BayesianGaussianClassifier,
    BernoulliNB,
    DriftingMeans,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NaiveBayes,
    NormalMean,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminant,
)
from lyceum.probability import class_priors


@pytest.mark.syllabus("2.5")
def test_priors_of_six_three_and_no_rows():
    n = np.array([6.0, 3.0, 0.0])
    assert class_priors(n, None) == pytest.approx([6 / 9, 3 / 9, 0])
    assert class_priors(n, "laplace") == pytest.approx([7 / 12, 4 / 12, 1 / 12])
    alpha = [2.0, 3.0, 4.0]
    assert class_priors(n, "dirichlet_map", alpha) == pytest.approx(
        [7 / 15, 5 / 15, 3 / 15]
    )
    assert class_priors(n, "dirichlet_mean", alpha) == pytest.approx(
        [8 / 18, 6 / 18, 4 / 18]
    )


@pytest.mark.syllabus("3.1.1")
def test_one_model_of_a_table_a_gaussian_a_histogram_and_a_kernel():
    rows = pd.DataFrame(
        {
            "sky": ["sun", "rain", "sun", "rain"],
            "heat": [1.0, 3.0, 5.0, 7.0],
            "wind": [0.5, 1.5, 1.5, 1.5],
            "sea": [0.0, 2.0, 8.0, 10.0],
        }
    )
    model = NaiveBayes(
        continuous={"wind": "histogram", "sea": "kernel"},
        n_bins=[0.0, 1.0, 2.0],
        bandwidth=1.0,
        estimate="raw",
        var_smoothing=0.0,
    ).fit(rows, ["no", "no", "yes", "yes"])
    new = pd.DataFrame({"sky": ["sun"], "heat": [4.0], "wind": [1.2], "sea": [2.0]})

    def gauss(u, variance=1.0):
        return np.exp(-(u**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)

    no = 0.5 * 0.5 * gauss(4 - 2) * 0.5 * (gauss(2) + gauss(0)) / 2
    yes = 0.5 * 0.5 * gauss(4 - 6) * 1.0 * (gauss(6) + gauss(8)) / 2
    np.testing.assert_allclose(
        model.predict_proba(new), [[no / (no + yes), yes / (no + yes)]], rtol=1e-6
    )


@pytest.mark.syllabus("3.2")
def test_the_m_estimate_of_two_in_five():
    rows = pd.DataFrame({"color": ["red", "red", "blue", "blue", "blue", "red"]})
    model = NaiveBayes(estimate="m", m=3.0).fit(rows, ["a"] * 5 + ["b"])
    table = dict(zip(model.categories_[0], model.tables_[0][0]))
    assert table["red"] == pytest.approx((2 + 3 * 0.5) / (5 + 3))
    assert sum(table.values()) == pytest.approx(1.0)


@pytest.mark.syllabus("3.2.3")
def test_words_by_their_counts_and_by_their_presence():
    texts = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 1]])  # ball, vote, win
    labels = ["sport", "sport", "news"]
    counts = MultinomialNB().fit(texts, labels)
    np.testing.assert_allclose(
        np.exp(counts.feature_log_prob_),
        [[1 / 7, 4 / 7, 2 / 7], [4 / 8, 2 / 8, 2 / 8]],
        rtol=1e-12,
    )
    presence = BernoulliNB().fit(texts, labels)
    np.testing.assert_allclose(
        np.exp(presence.feature_log_prob_),
        [[1 / 3, 2 / 3, 2 / 3], [3 / 4, 2 / 4, 2 / 4]],
        rtol=1e-12,
    )


@pytest.mark.syllabus("3.3", "3.4")
def test_two_classes_on_a_line_between_all_rules():
    # near: -1, 1 (mean 0, scatter 2); far: 2, 6 (mean 4, scatter 8); pooled scatter 10 over 4 rows
    X, y = np.array([[-1.0], [1.0], [2.0], [6.0]]), ["near", "near", "far", "far"]
    assert LinearDiscriminantAnalysis().fit(X, y).covariance_[0, 0] == pytest.approx(
        2.5
    )
    assert QuadraticDiscriminantAnalysis().fit(
        X, y
    ).covariance_.ravel() == pytest.approx([4.0, 1.0])
    half = RegularizedDiscriminant(alpha=0.5, gamma=0.0).fit(X, y)
    # [(1 - a) S_k + a S] / [(1 - a) n_k + a N] = (4 + 5) / (1 + 2) and (1 + 5) / (1 + 2)
    assert half.covariance_.ravel() == pytest.approx([3.0, 2.0])


@pytest.mark.syllabus("3.4.2")
def test_the_corners_and_a_shrunken_matrix_by_hand():
    X = np.array(
        [[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0], [9.0, 9.0], [11.0, 13.0]]
    )
    y = [0, 0, 0, 0, 1, 1]
    first = RegularizedDiscriminant(alpha=0.0, gamma=0.5).fit(X, y).covariance_[0]
    np.testing.assert_allclose(
        first, [[0.5 * 1 + 0.5 * 2.5, 0.0], [0.0, 0.5 * 4 + 0.5 * 2.5]]
    )
    second = (
        RegularizedDiscriminant(alpha=0.0, gamma=0.5, shrinkage="diagonal")
        .fit(X, y)
        .covariance_[1]
    )
    np.testing.assert_allclose(second, [[1.0, 1.0], [1.0, 4.0]])


@pytest.mark.syllabus("3.5")
def test_one_row_at_a_time_is_all_rows_at_once():
    X = np.array(
        [[1.0, 2.0], [3.0, 1.0], [2.0, 5.0], [8.0, 6.0], [7.0, 9.0], [9.0, 8.0]]
    )
    y = np.array([0, 0, 0, 1, 1, 1])
    order = [0, 3, 1, 4, 2, 5]
    streamed = BayesianGaussianClassifier(
        prior_mean=0.0, kappa_0=1.0, nu_0=4.0, scale=1.0
    )
    for i in order:
        streamed.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    np.testing.assert_allclose(streamed.means_, [[6 / 4, 8 / 4], [24 / 4, 23 / 4]])
    assert streamed.kappa_.tolist() == [4.0, 4.0]
    assert streamed.nu_.tolist() == [7.0, 7.0]
    means = (
        DriftingMeans("1/(n+m)", m=1.0)
        .start_from({"a": [0.0]})
        .update([[6.0], [0.0]], ["a", "a"])
    )
    assert means["a"].tolist() == pytest.approx([2.0])  # 0 + 6/2 = 3, then 3 - 3/3 = 2


@pytest.mark.syllabus("3.6")
def test_a_mean_between_a_prior_and_three_rows():
    # precisions 1/4 and 3/2 add to 7/4; the mean is (10/4 + 3 * 4 / 2) / (7/4)
    posterior = NormalMean(mean=10.0, variance=4.0, noise=2.0).update([3.0, 4.0, 5.0])
    assert float(posterior.variance) == pytest.approx(4 / 7)
    assert float(posterior.mean) == pytest.approx((2.5 + 6.0) / 1.75)
    assert float(posterior.predictive_variance) == pytest.approx(4 / 7 + 2)


@pytest.mark.syllabus("3.6")
def test_normal_inverse_wishart_of_two_rows_by_hand():
    X = np.array([[1.0, 0.0], [3.0, 2.0]])
    model = BayesianGaussianClassifier(
        prior_mean=0.0, kappa_0=2.0, nu_0=3.0, scale=1.0
    ).fit(X, ["a", "a"])
    # mean (2, 1), scatter [[2, 2], [2, 2]], and kappa_0 n / kappa_n = 4/4 times the square of (2,
    # 1)
    np.testing.assert_allclose(
        model.scale_[0], [[1 + 2 + 4, 2 + 2], [2 + 2, 1 + 2 + 1]]
    )
    assert (model.kappa_[0], model.nu_[0], model.degrees_[0]) == (4.0, 5.0, 4.0)
    np.testing.assert_allclose(model.means_[0], [1.0, 0.5])
    np.testing.assert_allclose(
        model.shape_[0], np.array([[7.0, 4.0], [4.0, 4.0]]) * 5 / (4 * 4)
    )


@pytest.mark.syllabus("3.1", "3.3", "3.4", "3.6")
@pytest.mark.parametrize(
    "learner",
    [
        NaiveBayes(),
        NaiveBayes(continuous="kernel"),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        RegularizedDiscriminant(),
        BayesianGaussianClassifier(),
    ],
    ids=repr,
)
def test_posteriors_sum_to_one_in_fifty_dimensions_where_no_likelihood_is_a_double(
    learner,
):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    X = rng.normal(size=(600, 50)) * 1e-3 + y[:, None]
    far = 1e5 * rng.normal(size=(200, 50))
    lower = multivariate_normal(np.zeros(50), np.eye(50)).logpdf(far)
    assert lower.max() < -1e9  # exp(-745) is the smallest double
    p = learner.fit(X, y).predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_array_equal(learner.predict(X), y)
