"""Values of probability: tables, Gaussian algebra, class priors."""

from lyceum._core.probability import (
    BayesUpdate,
    BetaBernoulli,
    DirichletMultinomial,
    Factor,
    FusedGaussian,
    GammaPoisson,
    Gaussian,
    Independence,
    NormalInverseWishart,
    ProbabilityTable,
    StudentT,
    bayes_theorem,
    class_priors,
    fuse_gaussians,
)

__all__ = [
    "BayesUpdate",
    "BetaBernoulli",
    "DirichletMultinomial",
    "Factor",
    "FusedGaussian",
    "GammaPoisson",
    "Gaussian",
    "Independence",
    "NormalInverseWishart",
    "ProbabilityTable",
    "StudentT",
    "bayes_theorem",
    "class_priors",
    "fuse_gaussians",
]
