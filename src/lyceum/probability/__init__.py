"""Values of probability: loss matrices, tables, Gaussian algebra, class priors and class weights."""

from lyceum.probability._class_priors import PRIOR_CONSTRAINTS, class_priors, log_probability
from lyceum.probability._class_weights import class_weight_factors
from lyceum.probability._gaussian_fusion import FusedGaussian, fuse_gaussians
from lyceum.probability._labels import class_codes, find_labels, label_array, label_key
from lyceum.probability._loss_matrix import LossMatrix
from lyceum.probability._probability_table import BayesUpdate, ProbabilityTable, bayes_theorem
from lyceum.probability._runner_up import odds_explanation, runner_up, runner_up_odds
from lyceum.probability._whitening import RIDGE, Whitening, whiten

__all__ = [
    "PRIOR_CONSTRAINTS",
    "RIDGE",
    "BayesUpdate",
    "FusedGaussian",
    "LossMatrix",
    "ProbabilityTable",
    "Whitening",
    "bayes_theorem",
    "class_codes",
    "class_priors",
    "class_weight_factors",
    "find_labels",
    "fuse_gaussians",
    "label_array",
    "label_key",
    "log_probability",
    "odds_explanation",
    "runner_up",
    "runner_up_odds",
    "whiten",
]
