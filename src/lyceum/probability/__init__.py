"""Values of probability: loss matrices, tables, Gaussian algebra, class priors and class weights."""

from lyceum.probability._bayes_theorem import BayesUpdate, bayes_theorem
from lyceum.probability._class_priors import PRIOR_CONSTRAINTS, class_priors, log_probability
from lyceum.probability._class_weights import class_weight_factors
from lyceum.probability._conjugate_counts import BetaBernoulli, DirichletMultinomial, GammaPoisson
from lyceum.probability._factor import Factor
from lyceum.probability._gaussian import Gaussian
from lyceum.probability._gaussian_fusion import FusedGaussian, fuse_gaussians
from lyceum.probability._gaussian_log_density import gaussian_log_density, squared_distance_parts
from lyceum.probability._independence import Independence
from lyceum.probability._labels import class_codes, find_labels, label_array, label_key
from lyceum.probability._loss_matrix import LossMatrix
from lyceum.probability._low_rank_covariance import LowRankCovariance
from lyceum.probability._normal_inverse_wishart import (
    NormalInverseWishart,
    StudentT,
    positive_matrix,
    prior_mean_vector,
)
from lyceum.probability._probability_table import ProbabilityTable
from lyceum.probability._runner_up import AGAINST_RUNNER_UP, runner_up, runner_up_odds
from lyceum.probability._shares import check_shares
from lyceum.probability._sigmoid import fit_sigmoid
from lyceum.probability._sum_product import max_product, sum_product
from lyceum.probability._whitening import RIDGE, Whitening, whiten

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
