from lyceum._core.probability.gaussians.fusion import (
    FusedGaussian as FusedGaussian,
    fuse_gaussians as fuse_gaussians,
)
from lyceum._core.probability.gaussians.gaussian import Gaussian as Gaussian
from lyceum._core.probability.gaussians.log_density import (
    gaussian_log_density as gaussian_log_density,
    squared_distance_parts as squared_distance_parts,
)
from lyceum._core.probability.gaussians.low_rank_covariance import (
    LowRankCovariance as LowRankCovariance,
)
from lyceum._core.probability.gaussians.normal_inverse_wishart import (
    NormalInverseWishart as NormalInverseWishart,
    StudentT as StudentT,
    positive_matrix as positive_matrix,
    prior_mean_vector as prior_mean_vector,
)
from lyceum._core.probability.gaussians.whitening import (
    RIDGE as RIDGE,
    Whitening as Whitening,
    whiten as whiten,
)
from lyceum._core.probability.labels import (
    class_codes as class_codes,
    find_labels as find_labels,
    label_array as label_array,
    label_key as label_key,
)
from lyceum._core.probability.losses.loss_matrix import LossMatrix as LossMatrix
from lyceum._core.probability.priors import (
    PRIOR_CONSTRAINTS as PRIOR_CONSTRAINTS,
    check_shares as check_shares,
    class_priors as class_priors,
    class_weight_factors as class_weight_factors,
    log_probability as log_probability,
)
from lyceum._core.probability.runner_up_class import (
    AGAINST_RUNNER_UP as AGAINST_RUNNER_UP,
    runner_up as runner_up,
    runner_up_odds as runner_up_odds,
)
from lyceum._core.probability.sigmoid import fit_sigmoid as fit_sigmoid
from lyceum._core.probability.tables.bayes_theorem import (
    BayesUpdate as BayesUpdate,
    bayes_theorem as bayes_theorem,
)
from lyceum._core.probability.tables.conjugate_counts import (
    BetaBernoulli as BetaBernoulli,
    DirichletMultinomial as DirichletMultinomial,
    GammaPoisson as GammaPoisson,
)
from lyceum._core.probability.tables.factor import Factor as Factor
from lyceum._core.probability.tables.independence import Independence as Independence
from lyceum._core.probability.tables.probability_table import (
    ProbabilityTable as ProbabilityTable,
)
from lyceum._core.probability.tables.sum_product import (
    max_product as max_product,
    sum_product as sum_product,
)
