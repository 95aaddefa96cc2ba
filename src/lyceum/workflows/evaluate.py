"""How good a model is on rows that it has not seen: metrics with intervals."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from lyceum._core.data import FileFormat
from lyceum._core.files import spool
from lyceum._core.report import Shown
from lyceum._core.statistics import log_losses
from lyceum._core.text import plain, show_count
from lyceum._core.types import Data, Estimator, Loss
from lyceum.decision import Decisions, LossMatrix, minimum_risk
from lyceum.errors import DataError
from lyceum.evaluate import (
    Confusion,
    auc_hand_till,
    calibration_curve,
    class_report,
    error_interval,
    regression_report,
    roc_auc_score,
)
from lyceum.report import Summary, Table
from lyceum.workflows.fitted_model import FittedModel
from lyceum.workflows.outcomes import Outcomes


@dataclass(frozen=True, slots=True)
class MetricValue(Shown):
    """A measured number with a 95 % interval, where there is one.

    Attributes
    ----------
    name : str
        The name of the metric.
    value : float
        Its value on these rows.
    low : float or None, default=None
        The lower end of its interval.
    high : float or None, default=None
        The upper end.
    interval : str
        The interval as text, empty if there is none.

    See Also
    --------
    Evaluation : All metrics of a model on some rows.

    Examples
    --------
    One of five rows is wrong; the interval is Wilson's:

    >>> import pandas as pd
    >>> from lyceum import scan
    >>> from lyceum.workflows import evaluate_model
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"size": [1.0, 2.0, 3.0, 6.0, 7.0, 8.0], "kind": list("aaabbb")})
    >>> model = DecisionTreeClassifier().fit(scan(rows, target="kind"))
    >>> new = pd.DataFrame({"size": [0.0, 2.0, 5.0, 7.0, 9.0], "kind": list("aaabb")})
    >>> error = evaluate_model(model, new)["error"]
    >>> error.value, error.interval
    (0.2, '0.03622 to 0.6245')
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> str:
        """The interval as text, empty if there is none."""
        if self.low is None:
            return ""
        return f"{self.low:.4g} to {self.high:.4g}"

    def as_dict(self) -> dict[str, Any]:
        """The value, and the ends of its interval where there is one, in JSON's own types."""
        if self.low is None:
            ends = {}
        else:
            ends = {"low": self.low, "high": self.high}
        return plain({"value": self.value, **ends})


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """A model measured on one set of rows.

    Attributes
    ----------
    learner, target : str
        The class of the learner, and the column that it predicts.
    n_rows : int
        Rows with a known truth.
    metrics : tuple of MetricValue
        The metrics; `evaluation["error"]` is one of them by name.
    confusion : Confusion or None
        The true classes against the decisions, which have the smallest expected cost if there is a
        loss; None for regressors.
    notes : tuple of str
        Sentences on rows that were left out, and why.

    See Also
    --------
    evaluate_model : Computes it.
    ModelComparison : Two models on the same rows.
    lyceum.evaluate.Confusion : The matrix, with what is computed from it.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum import scan
    >>> from lyceum.workflows import evaluate_model
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"size": [1.0, 2.0, 3.0, 6.0, 7.0, 8.0], "kind": list("aaabbb")})
    >>> model = DecisionTreeClassifier().fit(scan(rows, target="kind"))
    >>> new = pd.DataFrame({"size": [0.0, 2.0, 5.0, 7.0, 9.0], "kind": list("aaabb")})
    >>> evaluation = evaluate_model(model, new)
    >>> evaluation.n_rows, evaluation["accuracy"].value, round(evaluation["kappa"].value, 4)
    (5, 0.8, 0.6154)
    >>> evaluation.confusion.counts.tolist()
    [[2.0, 1.0], [0.0, 2.0]]
    """

    learner: str
    target: str
    n_rows: int
    metrics: tuple[MetricValue, ...]
    confusion: Confusion | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> MetricValue:
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(
            f"no metric {name!r}: there are {', '.join(metric.name for metric in self.metrics)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        fields: dict[str, Any] = {
            "learner": self.learner,
            "target": self.target,
            "rows": self.n_rows,
        }
        fields["metrics"] = {metric.name: metric.as_dict() for metric in self.metrics}
        if self.confusion is not None:
            names = ("classes", "counts", "rejected", "foreign")
            fields["confusion"] = {
                name: getattr(self.confusion, name) for name in names
            }
        return plain({**fields, "notes": self.notes})

    def summary(self) -> Summary:
        rows = [(metric.name, metric.value, metric.interval) for metric in self.metrics]
        tables = [Table("", ("measure", "value", "95 % interval"), rows)]
        if self.confusion is not None:
            # rates that follow from the matrix, not measured again
            by_class = class_report(self.confusion).per_class
            rates = [
                (str(of.positive), of.precision, of.recall, of.f1) for of in by_class
            ]
            heads = ("class", "precision", "recall", "F1")
            tables += [self.confusion.table(), Table("By class", heads, rates)]
        n = show_count(self.n_rows, "row")
        title = f"{self.learner} on {n}, predicting {self.target}"
        return Summary(title, {}, tables)

    def __str__(self) -> str:
        return "\n\n".join([str(self.summary()), *self.notes])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return self.summary()._repr_html_() + notes


def evaluate_model(
    model: Estimator,
    data: Data,
    target: str | None = None,
    *,
    loss: Any = None,
    doubt: float | None = None,
    file_format: FileFormat | None = None,
) -> Evaluation:
    """Measure a fitted model on rows that it has not seen.

    Error and accuracy have Wilson's interval, AUC DeLong's, means over rows (cost, log loss, Brier
    score, squared and absolute error) that of a mean.

    Parameters
    ----------
    model : fitted learner or pipeline
    data : path, glob, frame, or "-" for CSV from standard input
    target : str, optional
        The column with the truth; by default named as when the model was fitted. Rows without it
        are left out.
    loss : LossMatrix or dict of (true class, action) to cost, optional
        Rows = true class, columns = action: decisions are those of least expected cost. Without
        loss and doubt, those count that the model was fitted with.
    doubt : float, optional
        The cost of rejecting a row.

    Examples
    --------
    >>> import lyceum
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> model = NaiveBayes().fit(lyceum.scan(datasets.path("penguins"), target="species"))
    >>> evaluation = evaluate_model(model, datasets.path("penguins"))
    >>> error = evaluation["error"]
    >>> evaluation.n_rows, error.low <= error.value <= error.high
    (344, True)
    """
    fitted = FittedModel(model)
    if fitted.classes is None and (loss is not None or doubt is not None):
        raise DataError(
            f"{fitted.name} predicts numbers, so that a loss matrix or doubt has no meaning here"
        )
    loss, doubt = fitted.costs(loss, doubt)
    with spool(data) as source:
        outcomes = Outcomes.of(fitted, source, target, file_format=file_format)
    if fitted.classes is None:
        matrix = None
        metrics = tuple(_number_metrics(outcomes))
    else:
        losses = LossMatrix.of(loss, fitted.classes)
        decided = minimum_risk(outcomes.output, losses, doubt)
        matrix = _confusion(outcomes, decided, losses)
        metrics = (
            *_decision_metrics(matrix),
            *_cost_metrics(outcomes, fitted, loss, doubt),
            *_posterior_metrics(outcomes, fitted),
        )
    return Evaluation(
        learner=fitted.name,
        target=target or fitted.target.name,
        n_rows=len(outcomes.truth),
        metrics=metrics,
        confusion=matrix,
        notes=tuple(_notes(outcomes)),
    )


def _notes(outcomes: Outcomes) -> Iterator[str]:
    """What was left out, or counts otherwise than one would think."""
    if outcomes.training_note:
        yield outcomes.training_note
    if outcomes.n_missing:
        yield f"Left out: {show_count(outcomes.n_missing, 'row')} without a truth."
    if outcomes.unknown_classes:
        n = int((outcomes.truth < 0).sum())
        names = ", ".join(map(repr, outcomes.unknown_classes[:3]))
        yield (
            f"The model does not know the class of {show_count(n, 'row')}, such as {names}: this"
            " counts as wrong, and is left out of costs, log loss and AUC."
        )


def mean_interval(values: np.ndarray) -> tuple[float, float, float]:
    """The mean with its 95 % interval by Student's t; without width for fewer than two rows."""
    n = len(values)
    mean = float(values.mean())
    if n < 2:
        return mean, mean, mean
    # t · s / √n
    reach = float(stats.t.isf(0.025, n - 1)) * float(values.std(ddof=1)) / math.sqrt(n)
    return mean, mean - reach, mean + reach


def _mean_metric(
    name: str, values: np.ndarray, least: float = -math.inf
) -> MetricValue:
    """The mean of values that are never below `least`, with an interval that is not either; none of
    a row."""
    mean, low, high = mean_interval(values)
    if len(values) < 2:
        return MetricValue(name, mean)
    return MetricValue(name, mean, max(least, low), high)


def _confusion(outcomes: Outcomes, decided: Decisions, loss: LossMatrix) -> Confusion:
    """By true class and class named; actions that name none are rejections."""
    named = np.append(loss.names_class, -1)[decided.index]
    K = len(loss.values)
    # unknown classes and rejections have the code -1: row 0 and column 0 of (K + 1)² cells
    codes = (outcomes.truth + 1) * (K + 1) + named + 1
    cells = np.bincount(codes, minlength=(K + 1) ** 2)
    cells = cells.reshape(K + 1, K + 1).astype(np.float64)
    assert loss.classes is not None
    return Confusion(
        np.asarray(loss.classes),
        cells[1:, 1:],
        cells[1:, 0],
        np.append(cells[0, 1:], cells[0, 0]),
    )


def _decision_metrics(matrix: Confusion) -> Iterator[MetricValue]:
    # rows of unknown classes count as wrong, the rejected ones among them (the last) do not
    decided = round(float(matrix.counts.sum() + matrix.foreign[:-1].sum()))
    if decided:
        right = round(float(np.trace(matrix.counts)))
        error = error_interval(decided - right, decided)
        yield MetricValue("error", error.rate, error.low, error.high)
        yield MetricValue("accuracy", 1 - error.rate, 1 - error.high, 1 - error.low)
    yield MetricValue("kappa", matrix.kappa)
    if matrix.reject_rate:
        rejects = error_interval(round(matrix.n) - decided, round(matrix.n))
        yield MetricValue("reject rate", rejects.rate, rejects.low, rejects.high)


def decision_costs(
    outcomes: Outcomes, fitted: FittedModel, loss: Any, doubt: float | None
) -> np.ndarray:
    """The cost of what is decided in every row whose class the model knows."""
    known = outcomes.truth >= 0
    matrix = LossMatrix.of(loss, fitted.classes)  # type: ignore[arg-type]
    # an index below 0 is doubt, which has its own price
    index = minimum_risk(outcomes.output[known], matrix, doubt).index
    return np.where(
        index < 0, doubt or 0.0, matrix.values[outcomes.truth[known], index]
    )


def _cost_metrics(
    outcomes: Outcomes, fitted: FittedModel, loss: Loss, doubt: float | None
) -> Iterator[MetricValue]:
    """What decisions cost, beside the likeliest class and beside the best single action."""
    if loss is None and doubt is None:
        return
    known = outcomes.truth >= 0
    truth = outcomes.truth[known]
    if not len(truth):
        return
    matrix = LossMatrix.of(loss, fitted.classes)  # type: ignore[arg-type]
    yield _mean_metric("cost per row", decision_costs(outcomes, fitted, loss, doubt))
    # what would be paid without decision theory: the most probable class, named
    plain = matrix.without_reject()
    actions = np.argsort(plain.names_class)  # the action that names every class
    if len(actions) == len(fitted.classes):  # type: ignore[arg-type]
        likeliest = actions[outcomes.output[known].argmax(axis=1)]
        yield _mean_metric(
            "cost of the likeliest class", plain.values[truth, likeliest]
        )
    best = int(matrix.values[truth].mean(axis=0).argmin())
    assert matrix.actions is not None
    action = matrix.actions[best]
    yield _mean_metric(f"cost of always {action}", matrix.values[truth, best])


def _posterior_metrics(
    outcomes: Outcomes, fitted: FittedModel
) -> Iterator[MetricValue]:
    known = outcomes.truth >= 0
    truth = outcomes.truth[known]
    proba = outcomes.output[known]
    if not len(truth) or not hasattr(fitted.model, "predict_proba"):
        return
    K = proba.shape[1]
    # with rows of one class there is nothing to rank
    several = (truth != truth[0]).any()
    if K == 2 and several:
        positive = truth == 1
        area = roc_auc_score(positive, proba[:, 1])
        yield MetricValue("AUC", area, *_de_long(positive, proba[:, 1]))
    elif several:
        area = auc_hand_till(truth, proba, labels=np.arange(K))
        yield MetricValue("AUC (Hand and Till)", area)
    yield _mean_metric("log loss", log_losses(truth, proba), 0.0)
    # p - e_k, k the true class; of two classes one column says all
    errors = proba.copy()
    errors[np.arange(len(truth)), truth] -= 1.0
    squares = errors[:, 1] ** 2 if K == 2 else (errors**2).sum(axis=1)
    yield _mean_metric("Brier score", squares, 0.0)
    if K >= 2:
        curve = calibration_curve(truth, proba, labels=np.arange(K), n_bins=10)
        yield MetricValue("calibration error", curve.expected_error)


def _de_long(
    positive: np.ndarray, score: np.ndarray
) -> tuple[float | None, float | None]:
    """95 % interval of the AUC (DeLong, DeLong and Clarke-Pearson 1988), from the ranks of the
    scores.

    The share of negatives below each positive, and of positives above each negative, has the AUC as
    its mean; the variance of the AUC is the sum of the variances of the two means.
    """
    # the variance of the area is var(V₁₀)/m + var(V₀₁)/n over m positive and n negative rows
    m = int(positive.sum())
    n = int((~positive).sum())
    if m < 2 or n < 2:
        return None, None
    # ranks among all rows less ranks in the own class: the rows of the other class below each
    ranks = stats.rankdata(score)
    below = (ranks[positive] - stats.rankdata(score[positive])) / n
    above = 1.0 - (ranks[~positive] - stats.rankdata(score[~positive])) / m
    reach = 1.959964 * math.sqrt(below.var(ddof=1) / m + above.var(ddof=1) / n)
    return max(0.0, below.mean() - reach), min(1.0, below.mean() + reach)


def _number_metrics(outcomes: Outcomes) -> Iterator[MetricValue]:
    report = regression_report(outcomes.truth, outcomes.output)
    errors = outcomes.output - outcomes.truth
    # the interval is that of the mean square, and its roots
    squares = _mean_metric("RMSE", errors**2, 0.0)
    ends = (squares.value, squares.low, squares.high)
    yield MetricValue("RMSE", *(end if end is None else math.sqrt(end) for end in ends))  # type: ignore[arg-type]
    yield _mean_metric("MAE", np.abs(errors), 0.0)
    yield _mean_metric("bias", errors)
    yield MetricValue("R²", report.r2)
    yield MetricValue("relative squared error", report.relative_squared_error)
