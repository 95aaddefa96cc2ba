"""Generative classifiers: the distribution of every class, and Bayes' theorem."""

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
