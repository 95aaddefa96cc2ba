"""What a study found, as plain values: standings of the learners, their comparison, and the study itself.

Everything here is rebuilt from the study folder alone, so that a study can be reopened, shown and reported
again without its data. The report is `lyceum.studies._report.render(study)`, a whole HTML page as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.report import Explanation, Summary, Table

if TYPE_CHECKING:
    from lyceum.data import Schema
    from lyceum.decision import LossMatrix
    from lyceum.evaluate import LearningCurve
    from lyceum.studies._recipe import Recipe

__all__ = ["Candidate", "Comparison", "Example", "Failure", "Holdout", "OutOfSample", "Standing", "Study",
           "Suspect"]  # fmt: skip

Task = Literal["classification", "regression"]
Span = tuple[float, float]  # low and high end of a 95 % interval


@dataclass(frozen=True, slots=True)
class Candidate:
    """One learner of the plan, as it is built.

    Attributes
    ----------
    name : str
        Unique in the study: the learner's name, with a number behind it where a learner is there twice.
    learner : str
        Its name in the catalog; "PriorClassifier" or "MeanRegressor" for the baseline.
    label : str
        For people: "logistic regression".
    about : str
        A sentence on the method.
    steps : tuple of str
        The pipeline, e.g. ("FillMissing", "Standardize", "LogisticRegression").
    settings : dict
        What is fixed.
    search : tuple of dicts
        The settings that the inner cross-validation chooses from; empty when there is nothing to choose.
    why : str
        Why it is here, or why it was built so.
    is_baseline : bool
    """

    name: str
    learner: str
    label: str
    about: str
    steps: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    search: tuple[Mapping[str, Any], ...] = ()
    why: str = ""
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class Suspect:
    """A column that looks wrong, in the words of `lyceum inspect`.

    `code` is the flag's ("identifier", "constant", "empty", "free_text", "leak", "mostly_missing", "copy",
    ...), `text` its sentence, `left_out` whether the study does without the column.
    """

    column: str
    code: str
    text: str
    left_out: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A learner that could not be compared, where it failed and why."""

    name: str
    label: str
    repeat: int
    fold: int
    reason: str


@dataclass(frozen=True, slots=True)
class Standing:
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
        Of `loss`, over rows.
    error : float or None
        Share of rows not given to their true class under minimum 0/1 risk.
    error_interval : (float, float) or None
        Wilson's.
    cost : float or None
        Mean cost of the minimum-risk decisions under the study's loss matrix, doubt included; the error rate
        without either.
    cost_interval : (float, float) or None
    reject_rate : float or None
        Share of rows rejected by doubt, 0 without.
    log_loss, auc, brier, calibration_error : float or None
        Of the pooled posteriors. `auc` is the area under the ROC curve, Hand and Till's for more than two
        classes; `calibration_error` the expected calibration error.
    rmse, mae, r2 : float or None
    rmse_interval : (float, float) or None
    fold_losses : tuple of float
        The loss of every fold, in the order of repeats and folds; a squared error for regression.
    train_loss : float
        Mean of `loss` on the rows learned from.
    confusion : tuple of tuples of float, or None
        Rows = true class, columns = action in the order of `Study.actions`: rows (or weight) so decided.
    seconds : float
        Search, fit and prediction, all folds.
    memory : int
        Largest growth of the process in a fold, in bytes.
    difference : float or None
        `loss` over that of the best, in mean fold losses; None for the best itself.
    p_corrected_t, p_mcnemar : float or None
        Against the best: the corrected resampled t test (Nadeau and Bengio) on fold losses, and McNemar's
        on the rows decided wrong (classification only).
    p_corrected_t_holm, p_mcnemar_holm : float or None
        The same, with Holm's correction for comparing several learners.
    error_632 : float or None
        The .632 bootstrap estimate, where it was asked for.
    within_one_se : bool
        Whether `loss` is at most one standard error above that of the best.
    complexity : int
        How many numbers a prediction needs.
    is_baseline : bool
    fit_word : str
        "underfitting", "overfitting" or "balanced".
    verdict : str
        One sentence for people.
    folds_done, folds_planned : int
    warnings : tuple of str
    """

    name: str
    label: str
    params: Mapping[str, Any]
    rank: int
    loss: float
    interval: Span
    standard_error: float
    error: float | None
    error_interval: Span | None
    cost: float | None
    cost_interval: Span | None
    reject_rate: float | None
    log_loss: float | None
    auc: float | None
    brier: float | None
    calibration_error: float | None
    rmse: float | None
    rmse_interval: Span | None
    mae: float | None
    r2: float | None
    fold_losses: tuple[float, ...]
    train_loss: float
    confusion: tuple[tuple[float, ...], ...] | None
    seconds: float
    memory: int
    difference: float | None
    p_corrected_t: float | None
    p_corrected_t_holm: float | None
    p_mcnemar: float | None
    p_mcnemar_holm: float | None
    error_632: float | None
    within_one_se: bool
    complexity: int
    is_baseline: bool
    fit_word: str
    verdict: str
    folds_done: int
    folds_planned: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Holdout:
    """The choice, fitted on all other rows and judged once on rows that nothing was chosen by."""

    n_rows: int
    loss: float
    interval: Span


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The learners against each other.

    Attributes
    ----------
    criterion : str
        "mean cost", "error rate" or "RMSE": what `Standing.loss` is.
    standings : tuple of Standing
        Best first, the baseline among them.
    best : str
        The name with the least loss.
    choice : str
        Occam's choice, which is fitted on all rows: the simplest learner within one standard error of the
        best (the best itself if the recipe says `choose = "best"`).
    choice_reason : str
        One sentence.
    n_rows : int
        Rows tested; every learner was tested on the same.
    n_folds : int
        Folds compared, over all repeats.
    hoeffding : float or None
        ε of Hoeffding's bound over the models compared, with probability 95 %, in units of `criterion`; None
        for regression, whose loss has no bound.
    learning_curve : lyceum.evaluate.LearningCurve or None
        Of the choice, in `criterion` (squared error for regression); None when the budget did not reach.
    holdout : Holdout or None
    statements : tuple of str
        Plain sentences: what the test rows can support, doubt, leaks, budget, sample, folds.
    """

    criterion: str
    standings: tuple[Standing, ...]
    best: str
    choice: str
    choice_reason: str
    n_rows: int
    n_folds: int
    hoeffding: float | None
    learning_curve: LearningCurve | None
    holdout: Holdout | None
    statements: tuple[str, ...]

    def __getitem__(self, name: str) -> Standing:
        """The standing of one learner."""
        for standing in self.standings:
            if standing.name == name:
                return standing
        raise KeyError(f"{name!r} was not compared: there are {', '.join(s.name for s in self.standings)}")

    @property
    def baseline(self) -> Standing | None:
        """The standing of the constant guess."""
        return next((standing for standing in self.standings if standing.is_baseline), None)


@dataclass(frozen=True, slots=True, eq=False)
class OutOfSample:
    """Predictions for rows that the learner had not seen, ordered by repeat, then by row.

    Unpacks to truth and predictions: `y, proba = study.out_of_sample(name)`.

    Attributes
    ----------
    rows : array of shape (m,)
        Row numbers in the data; with several repeats a row is there once a repeat.
    repeats, folds : array of shape (m,)
    y : array of shape (m,)
        True class codes into `Study.classes`, or true values.
    predicted : array of shape (m, K) or (m,)
        Posteriors, or predicted values.
    weight : array of shape (m,) or None
    """

    rows: np.ndarray
    repeats: np.ndarray
    folds: np.ndarray
    y: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray | None

    def __iter__(self):
        return iter((self.y, self.predicted))


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A row of the data, what the final model says of it, and why.

    Attributes
    ----------
    row : int
        Its number in the data.
    cells : dict of column to value
        As people read them; None where missing.
    truth : label or float
    decided : label or float
        What the final model says: a class, an action of the loss matrix, "reject", or a number.
    posterior : tuple of float, or None
        In the order of `Study.classes`.
    explanation : lyceum.report.Explanation of one row, or None where the learner does not explain
    picked : str
        Why it is shown: "surest", "least sure" or "surest mistake" (for regression "largest error", ...).
    """

    row: int
    cells: Mapping[str, Any]
    truth: Any
    decided: Any
    posterior: tuple[float, ...] | None
    explanation: Explanation | None
    picked: str

    def frame(self) -> Any:
        """The row as a pyarrow table of one row, ready for `predict` and `explain`."""
        import pyarrow as pa

        return pa.table({name: [value] for name, value in self.cells.items()})


@dataclass(frozen=True, eq=False)
class Study:
    """A study: what was asked, what was compared, and what came out.

    Made by `lyceum.study(...)`; reopened by `Study.open(folder)`.

    Attributes
    ----------
    folder : Path
    recipe : Recipe
    task : {"classification", "regression"}
    schema : Schema
        The columns that the learners saw, with the target.
    classes : tuple of labels, or None for regression
    loss : LossMatrix or None
        The costs that were asked for, rows in the order of `classes`; None is the error rate.
    doubt : float or None
    n_rows : int
        Rows of the data with a target.
    n_studied : int
        Rows compared on; fewer than `n_rows` when the file is larger than memory or rows are held out.
    n_without_target : int
        Rows that were left out because their target is missing.
    n_missing : int
        Missing cells in the columns studied.
    candidates : tuple of Candidate
    suspects : tuple of Suspect
    failures : tuple of Failure
    skipped : tuple of str
        Candidates that the budget did not reach.
    problems : tuple of str
        Sentences on the figures, statements and tables that could not be made.
    comparison : Comparison
    examples : tuple of Example
    versions : dict of str to str
    seconds : float
        All tasks, over all sessions.
    finished : bool
        Whether every planned fold was run.
    """

    folder: Path
    recipe: Recipe
    task: Task
    schema: Schema
    classes: tuple[Any, ...] | None
    loss: LossMatrix | None
    doubt: float | None
    n_rows: int
    n_studied: int
    n_without_target: int
    n_missing: int
    candidates: tuple[Candidate, ...]
    suspects: tuple[Suspect, ...]
    failures: tuple[Failure, ...]
    skipped: tuple[str, ...]
    comparison: Comparison
    examples: tuple[Example, ...]
    versions: Mapping[str, str]
    seconds: float
    finished: bool
    problems: tuple[str, ...] = ()

    @classmethod
    def open(cls, folder: Any) -> Study:
        """The study in a folder that `lyceum.study` or `lyceum study` wrote."""
        from lyceum.studies._study import reopened

        return reopened(folder)

    # -- what came out ---------------------------------------------------------------------------------------

    @property
    def best(self) -> Standing:
        """The learner with the least loss."""
        return self.comparison[self.comparison.best]

    @property
    def choice(self) -> Standing:
        """The learner that was fitted on all rows: the simplest within one standard error of the best."""
        return self.comparison[self.comparison.choice]

    @property
    def actions(self) -> tuple[Any, ...]:
        """What may be decided, in the order of the columns of `Standing.confusion`; doubt comes last."""
        if self.classes is None:
            return ()
        named = self.classes if self.loss is None else tuple(self.loss.actions or self.classes)
        return named if self.doubt is None else (*named, "reject")

    @property
    def model(self) -> Any:
        """The choice, fitted on all rows, from its model file."""
        from lyceum.persist import load

        return load(self.model_path)

    def learned(self) -> Summary:
        """What the choice learned, in its own quantities."""
        from lyceum.studies._pipeline import last_step

        return last_step(self.model).summary()

    @property
    def ranking(self) -> Table:
        """The learners, best first."""
        return _ranking(self.comparison)

    @property
    def results(self) -> dict[str, Any]:
        """Everything machine-readable, as in results.json."""
        from lyceum.studies._json import as_results

        return as_results(self)

    def out_of_sample(self, name: str) -> OutOfSample:
        """The out-of-sample predictions of one learner, on the folds that were compared."""
        from lyceum.studies._compare import pooled
        from lyceum.studies._store import Store

        with Store.read(self.folder) as store:
            return pooled(store, name, self.comparison.n_folds)

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def report_path(self) -> Path:
        return self.folder / "report.html"

    @property
    def results_path(self) -> Path:
        return self.folder / "results.json"

    @property
    def model_path(self) -> Path:
        return self.folder / "model.lyceum"

    # -- shown -----------------------------------------------------------------------------------------------

    @property
    def answer(self) -> str:
        """The answer in two sentences."""
        from lyceum.studies._words import answer

        return answer(self)

    def summary(self) -> Summary:
        """The answer, the ranking and what to know about it."""
        facts = {
            "target": self.recipe.target,
            "rows": self.n_studied,
            "choice": f"{self.choice.label}: {self.comparison.choice_reason}",
            "folder": str(self.folder),
        }
        notes = Table(
            "what to know", ("",), [(text,) for text in (*self.comparison.statements, *self.problems)]
        )
        return Summary(self.answer, facts, (self.ranking, notes))

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _ranking(comparison: Comparison) -> Table:
    rows = [
        (s.label, s.loss, _between(s.interval), _chance(s.p_corrected_t_holm), s.seconds)
        for s in comparison.standings
    ]
    columns = ("learner", comparison.criterion, "95 % interval", "p against the best", "seconds")
    return Table(f"ranking by {comparison.criterion}", columns, rows)


def _between(span: Span) -> str:
    return f"{span[0]:.4g} – {span[1]:.4g}"


def _chance(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
