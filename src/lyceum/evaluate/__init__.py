"""Evidence: confusion, rates, curves, resampling, comparisons, criteria, bounds, bias and variance.

Works on labels, scores and predictions of any origin and on estimators of any library with scikit-learn's
interface. Resampling, curves and comparisons take arrays, frames and scanned rows, in memory or in files.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.evaluate._bayes_factor import BayesFactor, bayes_factor
    from lyceum.evaluate._bias_variance import BiasVariance, bias_variance, decompose
    from lyceum.evaluate._binary import BinaryReport, binary_report
    from lyceum.evaluate._bootstrap_632 import Bootstrap632, bootstrap_632
    from lyceum.evaluate._bounds import (
        Interval,
        error_interval,
        error_sd,
        holdout_size,
        majority_vote_error,
    )
    from lyceum.evaluate._calibration import Calibration, brier_score, calibration, log_loss, log_losses
    from lyceum.evaluate._cobweb import Cobweb, cobweb
    from lyceum.evaluate._confusion import Confusion, confusion
    from lyceum.evaluate._criteria import (
        InformationCriteria,
        criterion_weights,
        degrees_of_freedom,
        gaussian_log_likelihood,
        information_criteria,
        ridge_degrees_of_freedom,
    )
    from lyceum.evaluate._delong import AucInterval, DeLong, auc_interval, delong
    from lyceum.evaluate._density_errors import DensityErrors, density_errors
    from lyceum.evaluate._error_parts import ErrorParts, error_parts
    from lyceum.evaluate._joint_likelihood import joint_log_likelihood
    from lyceum.evaluate._kappa import kappa_from_rates, kappa_reading
    from lyceum.evaluate._learning_curves import LearningCurve, learning_curve
    from lyceum.evaluate._many_classes import auc_fawcett, auc_hand_till, macro_average_modified
    from lyceum.evaluate._mcnemar import McNemar, mcnemar
    from lyceum.evaluate._paired_tests import CorrectedT, FiveByTwoTest, corrected_t, five_by_two
    from lyceum.evaluate._per_class import ClassAverages, ClassReport, class_report
    from lyceum.evaluate._regression import RegressionReport, regression_report
    from lyceum.evaluate._resampling import CrossValidation, cross_validate
    from lyceum.evaluate._roc import RocCurve, auc, roc
    from lyceum.evaluate._score_curves import (
        CostCurve,
        PrecisionRecall,
        cost_curve,
        precision_recall,
        probability_cost,
    )
    from lyceum.evaluate._split_schemes import row_splits, splitter
    from lyceum.evaluate._splits import (
        Bootstrap,
        FiveByTwo,
        Holdout,
        RandomSubsampling,
        StratifiedFolds,
        train_validation_test,
    )
    from lyceum.evaluate._tail_bounds import Bound, chebyshev, hoeffding, markov
    from lyceum.evaluate._validation_curves import ValidationCurve, validation_curve
    from lyceum.evaluate._verdict import FitVerdict, fit_verdict

__all__ = [
    "AucInterval",
    "BayesFactor",
    "BiasVariance",
    "BinaryReport",
    "Bootstrap",
    "Bootstrap632",
    "Bound",
    "Calibration",
    "ClassAverages",
    "ClassReport",
    "Cobweb",
    "Confusion",
    "CorrectedT",
    "CostCurve",
    "CrossValidation",
    "DeLong",
    "DensityErrors",
    "ErrorParts",
    "FitVerdict",
    "FiveByTwo",
    "FiveByTwoTest",
    "Holdout",
    "InformationCriteria",
    "Interval",
    "LearningCurve",
    "McNemar",
    "PrecisionRecall",
    "RandomSubsampling",
    "RegressionReport",
    "RocCurve",
    "StratifiedFolds",
    "ValidationCurve",
    "auc",
    "auc_fawcett",
    "auc_hand_till",
    "auc_interval",
    "bayes_factor",
    "bias_variance",
    "binary_report",
    "bootstrap_632",
    "brier_score",
    "calibration",
    "chebyshev",
    "class_report",
    "cobweb",
    "confusion",
    "corrected_t",
    "cost_curve",
    "criterion_weights",
    "cross_validate",
    "decompose",
    "degrees_of_freedom",
    "delong",
    "density_errors",
    "error_interval",
    "error_parts",
    "error_sd",
    "fit_verdict",
    "five_by_two",
    "gaussian_log_likelihood",
    "hoeffding",
    "holdout_size",
    "information_criteria",
    "joint_log_likelihood",
    "kappa_from_rates",
    "kappa_reading",
    "learning_curve",
    "log_loss",
    "log_losses",
    "macro_average_modified",
    "majority_vote_error",
    "markov",
    "mcnemar",
    "precision_recall",
    "probability_cost",
    "regression_report",
    "ridge_degrees_of_freedom",
    "roc",
    "row_splits",
    "splitter",
    "train_validation_test",
    "validation_curve",
]

_MODULES = {
    "_bayes_factor": ("BayesFactor", "bayes_factor"),
    "_bias_variance": ("BiasVariance", "bias_variance", "decompose"),
    "_binary": ("BinaryReport", "binary_report"),
    "_bootstrap_632": ("Bootstrap632", "bootstrap_632"),
    "_bounds": ("Interval", "error_interval", "error_sd", "holdout_size", "majority_vote_error"),
    "_calibration": ("Calibration", "brier_score", "calibration", "log_loss", "log_losses"),
    "_cobweb": ("Cobweb", "cobweb"),
    "_confusion": ("Confusion", "confusion"),
    "_criteria": (
        "InformationCriteria",
        "criterion_weights",
        "degrees_of_freedom",
        "gaussian_log_likelihood",
        "information_criteria",
        "ridge_degrees_of_freedom",
    ),
    "_delong": ("AucInterval", "DeLong", "auc_interval", "delong"),
    "_density_errors": ("DensityErrors", "density_errors"),
    "_error_parts": ("ErrorParts", "error_parts"),
    "_joint_likelihood": ("joint_log_likelihood",),
    "_kappa": ("kappa_from_rates", "kappa_reading"),
    "_learning_curves": ("LearningCurve", "learning_curve"),
    "_many_classes": ("auc_fawcett", "auc_hand_till", "macro_average_modified"),
    "_mcnemar": ("McNemar", "mcnemar"),
    "_paired_tests": ("CorrectedT", "FiveByTwoTest", "corrected_t", "five_by_two"),
    "_per_class": ("ClassAverages", "ClassReport", "class_report"),
    "_regression": ("RegressionReport", "regression_report"),
    "_resampling": ("CrossValidation", "cross_validate"),
    "_roc": ("RocCurve", "auc", "roc"),
    "_score_curves": ("CostCurve", "PrecisionRecall", "cost_curve", "precision_recall", "probability_cost"),
    "_split_schemes": ("row_splits", "splitter"),
    "_splits": (
        "Bootstrap",
        "FiveByTwo",
        "Holdout",
        "RandomSubsampling",
        "StratifiedFolds",
        "train_validation_test",
    ),
    "_tail_bounds": ("Bound", "chebyshev", "hoeffding", "markov"),
    "_validation_curves": ("ValidationCurve", "validation_curve"),
    "_verdict": ("FitVerdict", "fit_verdict"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__)
