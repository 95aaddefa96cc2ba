"""How learners did on rows that they had not seen, one by one and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum.report import plain
from lyceum.studies._format import metric_name

if TYPE_CHECKING:
    from lyceum.evaluate import LearningCurve

__all__ = ["Comparison", "HoldoutResult", "OutOfSample", "RankedLearner", "Span"]

Span = tuple[float, float]  # low and high end of a 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLearner:
    """How one learner did on rows that it had not seen.

    For regression the numbers that need posteriors are None, and for classification those of regression.

    Attributes
    ----------
    name, label : str
        As in `Candidate`.
    params : dict
        The settings chosen most often by the inner cross-validation, with those that were fixed.
    rank : int
        1 is the best; learners are ranked by `loss`.
    loss : float
        What the study ranks by, `Comparison.criterion`: mean cost, error rate or RMSE.
    interval : (float, float)
        95 % interval of `loss`.
    standard_error : float
        Of `loss`, over rows, or over groups of rows.
    error : float or None
        Share of wrong classes among the decisions made: rows that are rejected, or given an action that names
        no class, do not count; None where all are.
    error_interval : (float, float) or None
        Wilson's.
    cost : float or None
        Mean cost of the minimum-risk decisions under the study's loss matrix, doubt included; the error rate
        without either.
    cost_interval : (float, float) or None
    reject_rate : float or None
        Share of rows rejected by doubt, 0 without.
    log_loss, auc, brier, calibration_error : float or None
        `auc` is the area under the ROC curve, Hand and Till's for more than two classes, averaged over folds;
        the others are of the pooled posteriors. `calibration_error` is the expected calibration error of the
        second class, or of the likeliest of more than two, in ten bins of equal width.
    auc_error : float or None
        Standard error of `auc` over folds; None with fewer than three.
    rmse, mae, r2 : float or None
    rmse_interval : (float, float) or None
    fold_losses : tuple of float
        The loss of every fold, in the order of repeats and folds; a squared error for regression.
    train_loss : float
        Mean of `loss` on the rows learned from; of a committee that of out-of-fold predictions.
    confusion : tuple of tuples of float, or None
        Rows = true class, columns = action in the order of `Study.actions`: rows (or weight) so decided.
    seconds : float
        Search, fit and prediction, all folds.
    memory : int
        Largest growth of the process in a fold, in bytes.
    difference : float or None
        `loss` over that of the best, in mean fold losses; None for the best itself.
    p_value, p_value_holm : float or None
        Against the best, by the test that fits the number of folds (`Comparison.test`), and with Holm's
        correction for comparing several learners; None for the best, and where no test is possible. Those of
        the constant guess are the `p_rows` of this pair and the `p_baseline` of the best.
    p_corrected_t, p_rows, p_mcnemar : float or None
        The single tests: the corrected resampled t test (Nadeau and Bengio) on fold losses (their logarithms
        for regression), the permutation test on the losses of rows, and McNemar's on the rows decided wrong
        (classification only, and not with groups).
    p_corrected_t_holm, p_mcnemar_holm : float or None
        The same, with Holm's correction for comparing several learners.
    p_baseline : float or None
        Against the constant guess, by the permutation test on rows, or on whole groups of rows, with Holm's
        correction.
    error_632 : float or None
        The .632 bootstrap estimate, where it was requested.
    is_level : bool
        Whether the loss is above that of the best by at most half a standard error of the difference, which
        is taken row by row.
    complexity : int
        How many numbers a prediction needs.
    is_baseline : bool
    fit_word : str
        "overfitting": beyond chance worse than the best (or a constant guess) on new rows, but better on the
        rows it learned from; "underfitting": worse on both; else, and for committees, "balanced".
    verdict : str
        One sentence for people.
    folds_done, folds_planned : int
    settings_tried : int
        How many settings the inner folds compared in every fold that was searched; 1 where there is nothing
        to choose.
    folds_searched : int
        In how many of the finished folds settings were searched; in the others the learner has its defaults,
        because the budget did not reach.
    calibration : str
        How its posteriors were calibrated in most folds: "temperature", "sigmoid" or "isotonic"; else empty.
    folds_calibrated : int
        In how many folds they were calibrated, by whatever map the inner folds favoured.
    search_seconds : float
        The part of `seconds` that the search took.
    members : dict of str to float
        Of a committee or of stacking: the learners, and what each weighs; empty for others.
    warnings : tuple of str
    """

    name: str
    label: str
    params: Mapping[str, Any]
    loss: float
    interval: Span
    standard_error: float
    fold_losses: tuple[float, ...]
    train_loss: float
    complexity: int
    seconds: float
    memory: int
    folds_done: int
    folds_planned: int
    is_baseline: bool
    rank: int = 0
    error: float | None = None
    error_interval: Span | None = None
    cost: float | None = None
    cost_interval: Span | None = None
    reject_rate: float | None = None
    log_loss: float | None = None
    auc: float | None = None
    auc_error: float | None = None
    brier: float | None = None
    calibration_error: float | None = None
    rmse: float | None = None
    rmse_interval: Span | None = None
    mae: float | None = None
    r2: float | None = None
    confusion: tuple[tuple[float, ...], ...] | None = None
    difference: float | None = None
    p_value: float | None = None
    p_value_holm: float | None = None
    p_baseline: float | None = None
    p_rows: float | None = None
    p_corrected_t: float | None = None
    p_corrected_t_holm: float | None = None
    p_mcnemar: float | None = None
    p_mcnemar_holm: float | None = None
    error_632: float | None = None
    is_level: bool = False
    fit_word: str = "balanced"
    verdict: str = ""
    settings_tried: int = 1
    folds_searched: int = 0
    search_seconds: float = 0.0
    calibration: str = ""
    folds_calibrated: int = 0
    members: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def is_tuned(self) -> bool:
        """Whether its settings were searched in every finished fold, or there was nothing to search."""
        return self.settings_tried < 2 or self.folds_searched >= self.folds_done

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


@dataclass(frozen=True, slots=True)
class HoldoutResult:
    """The choice, fitted on all other rows and measured once on rows that were not used for any choice.

    Attributes
    ----------
    n_rows : int
        The rows held out.
    loss : float
        The mean loss on them.
    interval : Span
        Its 95 % interval.
    error : float or None, default=None
        Share of wrong classes among the decisions made.
    reject_rate : float or None, default=None
        The share of rows rejected, where rejecting is allowed.
    """

    n_rows: int
    loss: float
    interval: Span
    error: float | None = None
    reject_rate: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The learners against each other.

    Attributes
    ----------
    criterion : str
        "mean cost", "error rate" or "RMSE": what `RankedLearner.loss` is.
    learners : tuple of RankedLearner
        Best first, the baseline among them.
    best : str
        The name with the least loss.
    choice : str
        What is fitted on all rows: of the learners within half a standard error of the best, for classes
        also within a quarter of the lowest log loss among these, the simplest (the best if the recipe says
        `choose = "best"`).
    choice_reason : str
        One sentence.
    n_rows : int
        Rows tested; every learner was tested on the same.
    n_groups : int or None
        Groups tested, where the recipe names a `group`: intervals and tests count these, not rows.
    n_folds : int
        Folds compared, over all repeats.
    hoeffding : float or None
        ε of Hoeffding's bound over the models compared, with probability 95 %, in units of `criterion`; None
        for regression, whose loss has no bound.
    test : str
        The test behind `RankedLearner.p_value`; empty where none is possible.
    learning_curve : lyceum.evaluate.LearningCurve or None
        Of the choice, in `criterion` (squared error for regression); None when the budget did not reach.
    holdout : HoldoutResult or None
    statements : tuple of str
        Plain sentences: what the test rows can support, doubt, leaks, budget, sample, folds.
    """

    criterion: str
    learners: tuple[RankedLearner, ...]
    best: str
    choice: str
    choice_reason: str
    n_rows: int
    n_folds: int
    hoeffding: float | None
    test: str
    learning_curve: LearningCurve | None
    holdout: HoldoutResult | None
    statements: tuple[str, ...]
    n_groups: int | None = None

    def __getitem__(self, name: str) -> RankedLearner:
        """The learner of that name."""
        for learner in self.learners:
            if learner.name == name:
                return learner
        raise KeyError(f"{name!r} was not compared: there are {', '.join(s.name for s in self.learners)}")

    @property
    def metric(self) -> str:
        """The criterion as people call it: AUC, the larger the better, where the loss is 1 − AUC."""
        return metric_name(self.criterion)

    @property
    def baseline(self) -> RankedLearner | None:
        """The constant guess."""
        return next((learner for learner in self.learners if learner.is_baseline), None)

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain({each.name: getattr(self, each.name) for each in fields(self)})


@dataclass(frozen=True, slots=True, eq=False)
class OutOfSample:
    """Predictions for rows that the learner had not seen, ordered by repeat, then by row.

    Unpacks to truth and predictions: `y, proba = study.out_of_sample(name)`.

    Attributes
    ----------
    rows : array of shape (m,)
        Row numbers in the data; with several repeats a row occurs once per repeat.
    repeats, folds : array of shape (m,)
    y : array of shape (m,)
        True class codes into `Study.classes`, or true values.
    predicted : array of shape (m, K) or (m,)
        Posteriors, or predicted values.
    weight : array of shape (m,) or None
    groups : array of shape (m,) or None
        Codes of the groups of the recipe's `group`: rows of one group are alike, and count as one.
    """

    rows: np.ndarray
    repeats: np.ndarray
    folds: np.ndarray
    y: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None = None

    def __iter__(self):
        return iter((self.y, self.predicted))
