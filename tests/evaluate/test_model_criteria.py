"""Degrees of freedom counted by a fitted model, and the joint ln L, against SciPy and
scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import mixture, naive_bayes
from sklearn.exceptions import NotFittedError

from lyceum.bayes import (
    BernoulliNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from lyceum.bayesnets import BayesNetClassifier
from lyceum.density import GaussianDensity, KernelDensity
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import (
    degrees_of_freedom,
    information_criteria,
    joint_log_likelihood,
)
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.mixtures import GaussianMixture

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [30, 40, 20])
X = (
    RNG.normal(size=(90, 3)) @ RNG.normal(size=(3, 3))
    + (Y == "b")[:, None]
    + 2.0 * (Y == "c")[:, None]
)
COUNTS = RNG.poisson(2.0, size=(90, 4)).astype(float)


def matrices(model, k):
    """The covariance matrix of class k as a full one."""
    S = (
        model.covariance_
        if isinstance(model, LinearDiscriminantAnalysis)
        else model.covariance_[k]
    )
    return S if S.ndim == 2 else np.diag(S)


def free_entries(model):
    """Distinct numbers in the means, covariances and priors, less one as priors sum to 1."""
    if model.covariance == "identity":
        entries = 0
    else:
        classes = 1 if isinstance(model, LinearDiscriminantAnalysis) else 3
        every = [matrices(model, k)[np.tril_indices(3)] for k in range(classes)]
        entries = len(
            np.unique(np.round([v for S in every for v in S if v != 0.0], 12))
        )
    return model.means_.size + entries + len(model.priors_) - 1


DISCRIMINANTS = [
    *(
        LinearDiscriminantAnalysis(covariance=form)
        for form in ("full", "diagonal", "spherical", "identity")
    ),
    *(
        QuadraticDiscriminantAnalysis(covariance=form)
        for form in ("full", "diagonal", "spherical")
    ),
]


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize("model", DISCRIMINANTS, ids=str)
def test_a_discriminant_counts_its_distinct_numbers_and_has_the_likelihood_of_its_gaussians(
    model,
):
    model = model.fit(X, Y)
    assert degrees_of_freedom(model) == free_entries(model)
    densities = [
        stats.multivariate_normal(model.means_[k], matrices(model, k)).logpdf(X)
        + np.log(prior)
        for k, prior in enumerate(model.priors_)
    ]
    joint = model.predict_joint_log_proba(X)
    assert joint == pytest.approx(np.column_stack(densities))
    total = sum(row["abc".index(label)] for row, label in zip(joint, Y))
    assert joint_log_likelihood(model, X, Y) == pytest.approx(total)
    proba = np.exp(joint - joint.max(axis=1, keepdims=True))
    assert model.predict_proba(X) == pytest.approx(
        proba / proba.sum(axis=1, keepdims=True)
    )


@pytest.mark.syllabus("14.6.4")
def test_the_richer_covariance_always_fits_better_and_counts_more():
    for kind, forms in (
        (LinearDiscriminantAnalysis, 4),
        (QuadraticDiscriminantAnalysis, 3),
    ):
        names = ("full", "diagonal", "spherical", "identity")[:forms]
        models = [kind(covariance=name).fit(X, Y) for name in names]
        fits = [joint_log_likelihood(model, X, Y) for model in models]
        assert fits == sorted(fits, reverse=True)
        sizes = [degrees_of_freedom(model) for model in models]
        assert sizes == sorted(sizes, reverse=True)
        assert information_criteria(fits[0], sizes[0], len(Y)).bic > 0


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize(
    ("ours", "peer", "rows", "free"),
    [
        (NaiveBayes(), naive_bayes.GaussianNB(), X, 2 + 3 * 6),
        (MultinomialNB(), naive_bayes.MultinomialNB(), COUNTS, 2 + 3 * 3),
        (
            BernoulliNB(binarize=2.0),
            naive_bayes.BernoulliNB(binarize=2.0),
            COUNTS,
            2 + 3 * 4,
        ),
    ],
    ids=["gaussian", "multinomial", "bernoulli"],
)
def test_naive_bayes_has_the_joint_of_scikit_learn(ours, peer, rows, free):
    ours, peer = ours.fit(rows, Y), peer.fit(rows, Y)
    assert ours.predict_joint_log_proba(rows) == pytest.approx(
        peer.predict_joint_log_proba(rows), rel=1e-6
    )
    assert joint_log_likelihood(ours, rows, Y) == pytest.approx(
        joint_log_likelihood(peer, rows, Y), rel=1e-6
    )
    assert degrees_of_freedom(ours) == free


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_densities_and_mixtures_agree_with_scikit_learn(form):
    peer = mixture.GaussianMixture(2, covariance_type=form, random_state=0).fit(X)
    ours = GaussianMixture(2, covariance_type=form, random_state=0).fit(X)
    assert degrees_of_freedom(ours) == degrees_of_freedom(peer) == peer._n_parameters()
    ln_l, k = joint_log_likelihood(peer, X), degrees_of_freedom(peer)
    assert information_criteria(ln_l, k, len(X)).bic == pytest.approx(peer.bic(X))


def test_other_models_count_for_themselves():
    table = pd.DataFrame(
        {
            "sky": pd.Categorical(
                np.array(["sun", "rain", "snow"])[RNG.integers(0, 3, 90)]
            )
        }
    )
    table["heat"] = X[:, 0]
    assert degrees_of_freedom(NaiveBayes().fit(table, Y)) == 2 + 3 * (2 + 2)
    bins = NaiveBayes(continuous="histogram", n_bins=5).fit(table, Y)
    assert degrees_of_freedom(bins) == 2 + 3 * (2 + 4)
    assert degrees_of_freedom(GaussianDensity().fit(X)) == 3 + 6
    assert degrees_of_freedom(GaussianDensity(known_covariance=1.0).fit(X)) == 3
    assert degrees_of_freedom(LinearRegression().fit(X, X[:, 0])) == 3 + 1 + 1
    assert degrees_of_freedom(LogisticRegression(C=np.inf).fit(X, Y)) == 2 * 4
    net = BayesNetClassifier().fit(table[["sky"]], Y)
    assert degrees_of_freedom(net) == degrees_of_freedom(net.net_) == 2 + 3 * 2


def test_constant_columns_and_given_priors_are_not_free():
    wide = np.column_stack([X, np.full(90, 7.0)])
    for model in (
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        NaiveBayes(),
    ):
        k = degrees_of_freedom(model.fit(X, Y))
        expected = joint_log_likelihood(model, X, Y)
        assert degrees_of_freedom(model.fit(wide, Y)) == k
        assert joint_log_likelihood(model, wide, Y) == pytest.approx(expected)
        assert degrees_of_freedom(model.set_params(priors="uniform").fit(X, Y)) == k - 2


def test_weight_two_counts_a_row_twice():
    model, w = LinearDiscriminantAnalysis().fit(X, Y), RNG.integers(0, 3, 90)
    twice = joint_log_likelihood(model, np.repeat(X, w, axis=0), np.repeat(Y, w))
    assert joint_log_likelihood(model, X, Y, sample_weight=w) == pytest.approx(twice)


def test_errors_say_what_to_give():
    with pytest.raises(SettingError, match="KernelDensity has no count"):
        degrees_of_freedom(KernelDensity().fit(X))
    with pytest.raises(SettingError, match="kernel density"):
        degrees_of_freedom(NaiveBayes(continuous="kernel").fit(X, Y))
    with pytest.raises(SettingError, match="C=1"):
        degrees_of_freedom(LogisticRegression(C=1.0, standard_errors=False).fit(X, Y))
    with pytest.raises(SettingError, match="leave out d"):
        degrees_of_freedom(LinearDiscriminantAnalysis().fit(X, Y), d=3)
    with pytest.raises(NotFittedError):
        degrees_of_freedom(LinearDiscriminantAnalysis())
    with pytest.raises(SettingError, match="no density"):
        joint_log_likelihood(LogisticRegression().fit(X, Y), X, Y)
    with pytest.raises(DataError, match="give y"):
        joint_log_likelihood(NaiveBayes().fit(X, Y), X)
    with pytest.raises(DataError, match="'d'"):
        joint_log_likelihood(NaiveBayes().fit(X, Y), X, np.where(Y == "a", "d", Y))
