"""Evaluation."""

from lyceum.catalog.entry import Item

__all__ = ["ITEMS"]

ITEMS = (
    Item("splitter", package="lyceum.evaluate", syllabus=("1.5", "14.5")),
    Item("train_validation_test", package="lyceum.evaluate", syllabus=("1.5",)),
    Item("majority_vote_error", package="lyceum.evaluate", syllabus=("11.1",)),
    Item("confusion", package="lyceum.evaluate", syllabus=("14.1",)),
    Item("binary_report", package="lyceum.evaluate", syllabus=("14.2",)),
    Item("class_report", package="lyceum.evaluate", syllabus=("14.2",)),
    Item("roc", package="lyceum.evaluate", syllabus=("14.3",)),
    Item("auc_fawcett", package="lyceum.evaluate", syllabus=("14.3",)),
    Item("auc_hand_till", package="lyceum.evaluate", syllabus=("14.3",)),
    Item("macro_average_modified", package="lyceum.evaluate", syllabus=("14.3",)),
    Item("regression_report", package="lyceum.evaluate", syllabus=("14.4",)),
    Item("cross_validate", package="lyceum.evaluate", syllabus=("14.5",)),
    Item("bootstrap_632", package="lyceum.evaluate", syllabus=("14.5",)),
    Item("mcnemar", package="lyceum.evaluate", syllabus=("14.6",)),
    Item("five_by_two", package="lyceum.evaluate", syllabus=("14.5", "14.6")),
    Item("corrected_t", package="lyceum.evaluate", syllabus=("14.6",)),
    Item("delong", package="lyceum.evaluate", syllabus=("14.6",)),
    Item("auc_interval", package="lyceum.evaluate", syllabus=("14.6",)),
    Item("bayes_factor", package="lyceum.evaluate", syllabus=("14.6",)),
    Item("information_criteria", package="lyceum.evaluate", syllabus=("14.6",)),
    Item("error_interval", package="lyceum.evaluate", syllabus=("14.7",)),
    Item("hoeffding", package="lyceum.evaluate", syllabus=("14.7",)),
    Item("chebyshev", package="lyceum.evaluate", syllabus=("14.7",)),
    Item("markov", package="lyceum.evaluate", syllabus=("14.7",)),
    Item("holdout_size", package="lyceum.evaluate", syllabus=("14.7",)),
    Item("bias_variance", package="lyceum.evaluate", syllabus=("14.8",)),
    Item("density_errors", package="lyceum.evaluate", syllabus=("4.3", "14.8")),
    Item("error_parts", package="lyceum.evaluate", syllabus=("14.8",)),
    Item("learning_curve", package="lyceum.evaluate", syllabus=("14.8",)),
    Item("validation_curve", package="lyceum.evaluate", syllabus=("14.8",)),
)
