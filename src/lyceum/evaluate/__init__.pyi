from lyceum.evaluate.curves.calibration import (
    Calibration as Calibration,
    brier_score_loss as brier_score_loss,
    calibration_curve as calibration_curve,
    log_loss as log_loss,
)
from lyceum.evaluate.curves.learning_curves import (
    LearningCurve as LearningCurve,
    learning_curve as learning_curve,
)
from lyceum.evaluate.curves.roc import (
    RocCurve as RocCurve,
    roc_auc_score as roc_auc_score,
    roc_curve as roc_curve,
)
from lyceum.evaluate.curves.score_curves import (
    CostCurve as CostCurve,
    PrecisionRecall as PrecisionRecall,
    cost_curve as cost_curve,
    precision_recall_curve as precision_recall_curve,
    probability_cost as probability_cost,
)
from lyceum.evaluate.curves.validation_curves import (
    ValidationCurve as ValidationCurve,
    validation_curve as validation_curve,
)
from lyceum.evaluate.curves.verdict import (
    FitVerdict as FitVerdict,
    fit_verdict as fit_verdict,
)
from lyceum.evaluate.errors.bias_variance import (
    BiasVariance as BiasVariance,
    bias_variance as bias_variance,
    decompose as decompose,
)
from lyceum.evaluate.errors.density_errors import (
    DensityErrors as DensityErrors,
    density_errors as density_errors,
)
from lyceum.evaluate.errors.error_parts import (
    ErrorParts as ErrorParts,
    error_parts as error_parts,
)
from lyceum.evaluate.reports.binary import (
    BinaryReport as BinaryReport,
    binary_report as binary_report,
)
from lyceum.evaluate.reports.cobweb import Cobweb as Cobweb, cobweb as cobweb
from lyceum.evaluate.reports.confusion import (
    Confusion as Confusion,
    confusion_matrix as confusion_matrix,
)
from lyceum.evaluate.reports.kappa import (
    kappa_from_rates as kappa_from_rates,
    kappa_reading as kappa_reading,
)
from lyceum.evaluate.reports.many_classes import (
    auc_fawcett as auc_fawcett,
    auc_hand_till as auc_hand_till,
    macro_average_modified as macro_average_modified,
)
from lyceum.evaluate.reports.per_class import (
    ClassAverages as ClassAverages,
    ClassReport as ClassReport,
    class_report as class_report,
)
from lyceum.evaluate.reports.regression import (
    RegressionReport as RegressionReport,
    regression_report as regression_report,
)
from lyceum.evaluate.resampling.bootstrap_632 import (
    Bootstrap632 as Bootstrap632,
    bootstrap_632 as bootstrap_632,
)
from lyceum.evaluate.resampling.cross_validation import (
    CrossValidation as CrossValidation,
    cross_validate as cross_validate,
)
from lyceum.evaluate.resampling.split_schemes import splitter as splitter
from lyceum.evaluate.resampling.splits import (
    Bootstrap as Bootstrap,
    FiveByTwo as FiveByTwo,
    Holdout as Holdout,
    RandomSubsampling as RandomSubsampling,
    StratifiedFolds as StratifiedFolds,
    train_validation_test as train_validation_test,
)
from lyceum.evaluate.significance.bayes_factor import (
    BayesFactor as BayesFactor,
    bayes_factor as bayes_factor,
)
from lyceum.evaluate.significance.criteria import (
    InformationCriteria as InformationCriteria,
    criterion_weights as criterion_weights,
    degrees_of_freedom as degrees_of_freedom,
    gaussian_log_likelihood as gaussian_log_likelihood,
    information_criteria as information_criteria,
    ridge_degrees_of_freedom as ridge_degrees_of_freedom,
)
from lyceum.evaluate.significance.delong import (
    AucInterval as AucInterval,
    DeLong as DeLong,
    auc_interval as auc_interval,
    delong as delong,
)
from lyceum.evaluate.significance.intervals import (
    Interval as Interval,
    error_interval as error_interval,
    error_sd as error_sd,
    holdout_size as holdout_size,
    majority_vote_error as majority_vote_error,
)
from lyceum.evaluate.significance.joint_likelihood import (
    joint_log_likelihood as joint_log_likelihood,
)
from lyceum.evaluate.significance.mcnemar import McNemar as McNemar, mcnemar as mcnemar
from lyceum.evaluate.significance.paired_tests import (
    CorrectedT as CorrectedT,
    FiveByTwoTest as FiveByTwoTest,
    PairedT as PairedT,
    corrected_t as corrected_t,
    five_by_two as five_by_two,
    paired_t as paired_t,
)
from lyceum.evaluate.significance.rank_tests import (
    RankComparison as RankComparison,
    RankedPair as RankedPair,
    compare_ranks as compare_ranks,
    holm as holm,
)
from lyceum.evaluate.significance.tail_bounds import (
    Bound as Bound,
    chebyshev_bound as chebyshev_bound,
    hoeffding_bound as hoeffding_bound,
    markov_bound as markov_bound,
)
