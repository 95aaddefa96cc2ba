"""Generative classifiers: the distribution of every class, and Bayes' theorem.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.bayes._bayesian_gaussian import BayesianGaussianClassifier
    from lyceum.bayes._count_bayes import BernoulliNaiveBayes, MultinomialNaiveBayes
    from lyceum.bayes._drifting_means import DriftingMeans
    from lyceum.bayes._linear_discriminant import LinearDiscriminant
    from lyceum.bayes._naive_bayes import NaiveBayes
    from lyceum.bayes._normal_mean import NormalMean
    from lyceum.bayes._quadratic_discriminant import QuadraticDiscriminant
    from lyceum.bayes._regularized_discriminant import RegularizedDiscriminant

__all__ = [
    "BayesianGaussianClassifier",
    "BernoulliNaiveBayes",
    "DriftingMeans",
    "LinearDiscriminant",
    "MultinomialNaiveBayes",
    "NaiveBayes",
    "NormalMean",
    "QuadraticDiscriminant",
    "RegularizedDiscriminant",
]

_MODULES = {
    "_bayesian_gaussian": ("BayesianGaussianClassifier",),
    "_count_bayes": ("BernoulliNaiveBayes", "MultinomialNaiveBayes"),
    "_drifting_means": ("DriftingMeans",),
    "_linear_discriminant": ("LinearDiscriminant",),
    "_naive_bayes": ("NaiveBayes",),
    "_normal_mean": ("NormalMean",),
    "_quadratic_discriminant": ("QuadraticDiscriminant",),
    "_regularized_discriminant": ("RegularizedDiscriminant",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
