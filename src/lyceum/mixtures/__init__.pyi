from lyceum.mixtures.bayesian_mixture import (
    BayesianGaussianMixture as BayesianGaussianMixture,
)
from lyceum.mixtures.bernoulli_mixture import BernoulliMixture as BernoulliMixture
from lyceum.mixtures.gaussian_mixture import GaussianMixture as GaussianMixture
from lyceum.mixtures.multinomial_mixture import MultinomialMixture as MultinomialMixture
from lyceum.mixtures.student_mixture import StudentMixture as StudentMixture
