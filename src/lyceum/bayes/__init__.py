"""Generative classifiers: the distribution of every class, turned round by Bayes' theorem."""

from lyceum.bayes._drifting_means import DriftingMeans
from lyceum.bayes._linear_discriminant import LinearDiscriminant
from lyceum.bayes._naive_bayes import NaiveBayes
from lyceum.bayes._priors import class_priors
from lyceum.bayes._quadratic_discriminant import QuadraticDiscriminant

__all__ = ["DriftingMeans", "LinearDiscriminant", "NaiveBayes", "QuadraticDiscriminant", "class_priors"]
