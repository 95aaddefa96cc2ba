"""Values of probability: loss matrices, tables, Gaussian algebra, class priors and class
weights."""

from lyceum._core.probability.gaussians.fusion import FusedGaussian, fuse_gaussians
from lyceum._core.probability.gaussians.gaussian import Gaussian
from lyceum._core.probability.gaussians.log_density import (
    gaussian_log_density,
    squared_distance_parts,
)
from lyceum._core.probability.gaussians.low_rank_covariance import LowRankCovariance
from lyceum._core.probability.gaussians.normal_inverse_wishart import (
    NormalInverseWishart,
    StudentT,
    positive_matrix,
    prior_mean_vector,
)
from lyceum._core.probability.gaussians.whitening import RIDGE, Whitening, whiten
from lyceum._core.probability.labels import (
    class_codes,
    find_labels,
    label_array,
    label_key,
)
from lyceum._core.probability.losses.loss_matrix import LossMatrix
from lyceum._core.probability.priors import (
    PRIOR_CONSTRAINTS,
    check_shares,
    class_priors,
    class_weight_factors,
    log_probability,
)
from lyceum._core.probability.runner_up_class import (
    AGAINST_RUNNER_UP,
    runner_up,
    runner_up_odds,
)
from lyceum._core.probability.sigmoid import fit_sigmoid
from lyceum._core.probability.tables.bayes_theorem import BayesUpdate, bayes_theorem
from lyceum._core.probability.tables.conjugate_counts import (
    BetaBernoulli,
    DirichletMultinomial,
    GammaPoisson,
)
from lyceum._core.probability.tables.factor import Factor
from lyceum._core.probability.tables.independence import Independence
from lyceum._core.probability.tables.probability_table import ProbabilityTable
from lyceum._core.probability.tables.sum_product import max_product, sum_product

__all__ = [
    "AGAINST_RUNNER_UP",
    "PRIOR_CONSTRAINTS",
    "RIDGE",
    "BayesUpdate",
    "BetaBernoulli",
    "DirichletMultinomial",
    "Factor",
    "FusedGaussian",
    "GammaPoisson",
    "Gaussian",
    "Independence",
    "LossMatrix",
    "LowRankCovariance",
    "NormalInverseWishart",
    "ProbabilityTable",
    "StudentT",
    "Whitening",
    "bayes_theorem",
    "check_shares",
    "class_codes",
    "class_priors",
    "class_weight_factors",
    "find_labels",
    "fit_sigmoid",
    "fuse_gaussians",
    "gaussian_log_density",
    "label_array",
    "label_key",
    "log_probability",
    "max_product",
    "positive_matrix",
    "prior_mean_vector",
    "runner_up",
    "runner_up_odds",
    "squared_distance_parts",
    "sum_product",
    "whiten",
]
