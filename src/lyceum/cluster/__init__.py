"""Clustering."""

from lyceum.cluster._bayesian_mixture import BayesianGaussianMixture
from lyceum.cluster._bernoulli_mixture import BernoulliMixture
from lyceum.cluster._gaussian_mixture import GaussianMixture
from lyceum.cluster._kmeans import KMeans
from lyceum.cluster._multinomial_mixture import MultinomialMixture
from lyceum.cluster._student_mixture import StudentMixture

__all__ = [
    "BayesianGaussianMixture",
    "BernoulliMixture",
    "GaussianMixture",
    "KMeans",
    "MultinomialMixture",
    "StudentMixture",
]
