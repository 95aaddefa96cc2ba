"""How learners did on rows that they had not seen, one by one and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum.evaluate import LearningCurve
from lyceum.studies.report.format import (
    aligned_interval,
    aligned_loss,
    gap_text,
    metric_name,
)

if TYPE_CHECKING:
    from lyceum.studies.report.parts import IntervalScale

Span = tuple[float, float]  # low and high end of a 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLearner(Shown):
    """How one learner did on rows that it had not seen.

    For regression the numbers that need posteriors are None, and for classification those of
    regression.

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
        Share of wrong classes among the decisions made: rows that are rejected, or given an action
        that names no class, do not count; None where all are.
    error_interval : (float, float) or None
        Wilson's.
    cost : float or None
        Mean cost of the minimum-risk decisions under the study's loss matrix, doubt included; the
        error rate without either.
    cost_interval : (float, float) or None
        95 % interval of `cost`.
    reject_rate : float or None
        Share of rows rejected by doubt, 0 without.
    log_loss, auc, brier, calibration_error : float or None
        `auc` is the area under the ROC curve, Hand and Till's for more than two classes, averaged
        over folds; the others are of the pooled posteriors. `calibration_error` is the expected
        calibration error of the second class, or of the likeliest of more than two, in ten bins of
        equal width.
    auc_error : float or None
        Standard error of `auc` over folds; None with fewer than three.
    rmse, mae, r2 : float or None
        Root mean squared error, mean absolute error and R² of numbers.
    rmse_interval : (float, float) or None
        95 % interval of `rmse`.
    fold_losses : tuple of float
        The loss of every fold, in the order of repeats and folds; a squared error for regression.
    train_loss : float
        Mean of `loss` on the rows learned from; of a committee that of out-of-fold predictions.
    confusion : tuple of tuples of float, or None
        Rows = true class, columns = action in the order of `Study.actions`: rows (or weight) so
        decided.
    seconds : float
        Search, fit and prediction, all folds.
    memory : int
        Largest growth of the process in a fold, in bytes.
    difference, difference_error : float or None
        `loss` less that of the best, and the standard error of this difference, which is taken row
        by row; None for the best itself.
    p_value, p_adjusted : float or None
        Against the best, by a permutation test on the losses of rows (or of groups of rows), and
        corrected for comparing several learners by Westfall and Young's max-T; None for the best,
        and where there are too few rows. `p_adjusted` of the constant guess is the `p_baseline` of
        the best.
    p_corrected_t, p_mcnemar : float or None
        Other tests: the corrected resampled t test (Nadeau and Bengio) on fold losses (their
        logarithms for regression), and McNemar's on the rows decided wrong (classification only,
        and not with groups).
    p_corrected_t_holm, p_mcnemar_holm : float or None
        The same, with Holm's correction for comparing several learners.
    p_baseline : float or None
        Against the constant guess, by the same test and correction.
    error_632 : float or None
        The .632 bootstrap estimate, where it was requested.
    is_level : bool
        Whether the loss is above that of the best by at most half a standard error of the
        difference, by at most 1 %, or by one row of errors.
    complexity : int
        How many numbers a prediction needs.
    is_baseline : bool
        Whether it is the constant guess.
    fit_word : str
        "overfitting": beyond chance worse than the best (or a constant guess) on new rows, but
        better on the rows it learned from; "underfitting": worse on both; else, and for committees,
        "balanced".
    verdict : str
        One sentence for people.
    folds_done, folds_planned : int
        The finished folds, over all repeats, and all folds of the plan.
    settings_tried : int
        How many settings the inner folds compared in every fold that was searched; 1 where there is
        nothing to choose.
    folds_searched : int
        In how many of the finished folds settings were searched; in the others the learner has its
        defaults, because the budget did not reach.
    calibration : str
        How its posteriors were calibrated in most folds: "temperature", "logit" or "bounded";
        else empty.
    folds_calibrated : int
        In how many folds they were calibrated, by whatever map the inner folds favored.
    search_seconds : float
        The part of `seconds` that the search took.
    members : dict of str to float
        Of a committee or of stacking: the weight of every learner; empty for others.
    warnings : tuple of str
        The warnings of its fits, each once.
    is_tuned : bool
        Whether its settings were searched in every finished fold, or there was nothing to search.

    See Also
    --------
    Comparison : All learners of a study, best first.
    Study.best, Study.choice : The one with the smallest loss; the one fitted on all rows.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22, 1927. Q. McNemar, "Note on the sampling error of the
    difference between correlated proportions or percentages", Psychometrika 12, 1947. S. Holm, "A
    simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
    1979. P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", 1993. D. J. Hand and
    R. J. Till, "A simple generalization of the area under the ROC curve for multiple class
    classification problems", Machine Learning 45, 2001. C. Nadeau and Y. Bengio, "Inference for the
    generalization error", Machine Learning 52, 2003.

    Examples
    --------
    As a study makes it, of a learner whose settings were searched in one of two folds:

    >>> from lyceum.studies import RankedLearner
    >>> learner = RankedLearner(
    ...     name="Ridge", label="ridge regression", params={"alpha": 0.1}, loss=2.1,
    ...     interval=(1.8, 2.4),
    ...     standard_error=0.15, fold_losses=(4.0, 4.82), train_loss=1.9, complexity=3,
    ...     seconds=0.2, memory=0,
    ...     folds_done=2, folds_planned=2, is_baseline=False, settings_tried=12, folds_searched=1)
    >>> learner.is_tuned, learner.as_dict()["interval"]
    (False, [1.8, 2.4])
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
    difference_error: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    p_baseline: float | None = None
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
        """Whether its settings were searched in every finished fold, or there was nothing to
        search."""
        return self.settings_tried < 2 or self.folds_searched >= self.folds_done

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain({each.name: getattr(self, each.name) for each in fields(self)})


@dataclass(frozen=True, slots=True)
class HoldoutResult(Shown):
    """The choice, fitted on all other rows and measured once on rows that were not used for any
    choice.

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

    See Also
    --------
    Comparison.holdout : That of a study.
    lyceum.study : Holds rows out by its `holdout`.

    Examples
    --------
    >>> from lyceum.studies import HoldoutResult
    >>> result = HoldoutResult(n_rows=50, loss=0.1, interval=(0.04, 0.21), error=0.1)
    >>> result.as_dict()
    {'n_rows': 50, 'loss': 0.1, 'interval': [0.04, 0.21], 'error': 0.1, 'reject_rate': None}
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
class Comparison(Shown):
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
        What is fitted on all rows: the simplest of the learners within 1 % of the best, for classes
        of those within two standard errors of the best by their errors and within 1 % of the lowest
        log loss among these (the best if the recipe says `choose = "best"`).
    choice_reason : str
        One sentence.
    n_rows : int
        Rows tested; every learner was tested on the same.
    n_groups : int or None
        Groups tested, where the recipe names a `group`: intervals and tests count these, not rows.
    n_folds : int
        Folds compared, over all repeats.
    hoeffding : float or None
        ε of Hoeffding's bound over the models compared, with probability 95 %, in units of
        `criterion`; None for regression, whose loss has no bound.
    test : str
        The test behind `RankedLearner.p_value`; empty where none is possible.
    smallest_p : float
        The smallest p-value that it can have with so many rows.
    learning_curve : lyceum.evaluate.LearningCurve or None
        Of the choice, by the error rate or mean cost of its decisions, or RMSE; None when the
        budget did not reach.
    holdout : HoldoutResult or None
        The result on the rows held out, where the recipe asks for it.
    statements : tuple of str
        Plain sentences: what the test rows can support, doubt, leaks, budget, sample, folds.
    metric : str
        The criterion as it is shown: AUC, larger is better, where the loss is 1 − AUC.
    baseline : RankedLearner or None
        The constant guess.
    axis : IntervalScale
        The axis on which the intervals of the learners are drawn.

    See Also
    --------
    Study.comparison : That of a study.
    RankedLearner : One learner of it.
    lyceum.workflows.compare_models : Two fitted models on the same rows.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from lyceum.studies import Comparison, RankedLearner
    >>> ridge = RankedLearner(
    ...     name="Ridge", label="ridge regression", params={}, loss=2.1, interval=(1.8, 2.4),
    ...     standard_error=0.15, fold_losses=(4.0, 4.82), train_loss=1.9, complexity=3,
    ...     seconds=0.2, memory=0,
    ...     folds_done=2, folds_planned=2, is_baseline=False, rank=1)
    >>> guess = replace(
    ...     ridge, name="MeanRegressor", loss=5.0, interval=(4.0, 6.0), is_baseline=True, rank=2)
    >>> comparison = Comparison(
    ...     "RMSE", (ridge, guess), best="Ridge", choice="Ridge", choice_reason="it is the best",
    ...     n_rows=40,
    ...     n_folds=2, hoeffding=None, test="", learning_curve=None, holdout=None, statements=())
    >>> comparison[comparison.best].loss, comparison.baseline.loss, comparison.metric
    (2.1, 5.0, 'RMSE')
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
    smallest_p: float = 0.0

    def __getitem__(self, name: str) -> RankedLearner:
        """The learner of that name."""
        for learner in self.learners:
            if learner.name == name:
                return learner
        raise KeyError(
            f"{name!r} was not compared: there are {', '.join(s.name for s in self.learners)}"
        )

    @property
    def metric(self) -> str:
        """The criterion as it is shown: AUC, larger is better, where the loss is 1 − AUC."""
        return metric_name(self.criterion)

    @property
    def baseline(self) -> RankedLearner | None:
        """The constant guess."""
        return next((learner for learner in self.learners if learner.is_baseline), None)

    @property
    def axis(self) -> IntervalScale:
        """The axis on which the intervals of the learners are drawn."""
        from lyceum.studies.report.parts import IntervalScale

        return IntervalScale.of(self.learners)

    def loss_text(self, learner: RankedLearner) -> str:
        """The loss of a learner as its metric is shown, with the decimals of the others."""
        return aligned_loss(self, learner.loss)

    def interval_text(self, learner: RankedLearner) -> str:
        """The interval of a learner as its metric is shown, with the decimals of the others."""
        low, high = aligned_interval(self, learner.interval)
        return f"{low.removesuffix(' %')} to {high}"

    def gap_text(self, learner: RankedLearner) -> str:
        """How far a learner is behind the best: "level", or "behind by 2.1 ± 1.4 points"."""
        return gap_text(self, learner)

    def gap_cell(self, learner: RankedLearner) -> str:
        """The same for a narrow column: nothing for the best, a question mark for chance."""
        if learner.difference is None:
            return ""
        if learner.is_level:
            return "level"
        gap = self.gap_text(learner).removeprefix("behind by ").replace(" points", "")
        return gap.replace(", perhaps by chance", " ?")

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain({each.name: getattr(self, each.name) for each in fields(self)})
