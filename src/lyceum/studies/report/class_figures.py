"""Pictures of decisions and posteriors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum import evaluate, plot
from lyceum.decision import LossMatrix, error_reject_curve
from lyceum.plot.style import legend
from lyceum.report import Table
from lyceum.studies.report.format import score_text
from lyceum.studies.report.svg import Figure, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lyceum.studies.compare.comparison import RankedLearner
    from lyceum.studies.result import Study


_CURVES = 4  # learners in one picture: more cannot be told apart
_MANY_CLASSES = 7  # a cobweb of more has too many spokes
_MOST_ROWS = 30  # classes in one table of decisions: of more those with most mistakes
_GRID = np.array([0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])


def shown_learners(study: Study) -> list[RankedLearner]:
    """The choice, and the best of the others; the baseline only if it is the choice."""
    others = [
        s
        for s in study.comparison.learners
        if not s.is_baseline and s.name != study.choice.name
    ]
    return [study.choice, *others][:_CURVES]


def positive_class(study: Study) -> int:
    """The class that two-class curves are about: the one that is dearest to miss, or else the
    rarer."""
    confusion = np.asarray(study.choice.confusion, dtype=np.float64)
    rarer = int(confusion.sum(axis=1).argmin())
    if study.loss is None:
        return rarer
    dearest = study.loss.values.max(axis=1)
    if dearest[0] == dearest[1]:
        return rarer
    return int(dearest.argmax())


@dataclass(frozen=True)
class ClassFigures:
    """Truth and posteriors of the learners shown, on the same rows."""

    study: Study
    labels: np.ndarray
    codes: np.ndarray
    posteriors: dict[str, np.ndarray]
    learners: dict[str, RankedLearner]

    @classmethod
    def of(cls, study: Study) -> ClassFigures:
        """The figures of a study of classes."""
        shown = shown_learners(study)
        samples = {
            learner.label: study.out_of_sample(learner.name) for learner in shown
        }
        first = samples[study.choice.label]
        labels = np.array([str(label) for label in study.classes or ()])
        # curves of other rows could not be compared
        posteriors = {
            name: sample.predicted
            for name, sample in samples.items()
            if len(sample.y) == len(first.y)
        }
        learners = {learner.label: learner for learner in shown}
        return cls(study, labels, first.y, posteriors, learners)

    @property
    def y(self) -> np.ndarray:
        return self.labels[self.codes]

    @property
    def _positive(self) -> str | None:
        if len(self.labels) == 2:
            return str(self.labels[positive_class(self.study)])
        return None

    @property
    def _class_options(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "pos_label": self._positive}

    def _tasks(self, proba: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Truth and score of the positive class, or of every class that occurs against the rest."""
        classes = list(range(len(self.labels)))
        if len(classes) == 2:
            classes = [positive_class(self.study)]
        for k in classes:
            truth = self.codes == k
            if truth.any() and not truth.all():
                yield truth, proba[:, k]

    def _curve_table(
        self,
        head: str,
        points: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    ) -> Table:
        """The mean curve of every learner at a few places, from the `points` of truth and score."""
        columns = []
        for proba in self.posteriors.values():
            curves = [np.interp(_GRID, *points(*task)) for task in self._tasks(proba)]
            columns.append(np.mean(curves, axis=0))
        rows = np.column_stack([_GRID, *columns]).tolist()
        return Table("", (head, *self.posteriors), [tuple(row) for row in rows])

    # -- decisions ---------------------------------------------------------------------

    def confusion(self) -> Iterator[Figure]:
        study = self.study
        actions = [str(action) for action in study.actions]
        labels = self.labels
        matrix = np.asarray(study.choice.confusion)
        how = "likeliest class" if study.loss is None else "least expected cost"
        text = (
            f"Rows are the truth, columns what was decided ({how}) for rows that the model had not"
            " seen. Shades and percentages are shares of the true class."
        )
        if study.repeats > 1:
            text += f" Folds were drawn {study.repeats} times, and a row counts once for each."
        has_classes = study.loss is None or not study.loss.actions
        if len(labels) > _MOST_ROWS and has_classes:
            text += (
                f" Shown are the {_MOST_ROWS} of {len(labels):,} classes with the most mistakes;"
                " other decisions are counted together."
            )
            indices, matrix = most_mistaken(matrix)
            labels = labels[indices]
            actions = [*(actions[k] for k in indices), "all others"]
        width = min(2.4 + 1.0 * len(actions), 8.0)
        height = min(1.6 + 0.85 * len(labels), 7.0)
        draw = partial(plot.confusion, matrix, list(labels), actions=actions)
        rows = [
            (label, *counts) for label, counts in zip(labels.tolist(), matrix.tolist())
        ]
        table = Table("", ("truth \\ decided", *actions), rows)
        title = f"What was decided: {study.choice.label}"
        yield figure_of("confusion", title, text, draw, (width, height), table)

    def cobweb(self) -> Iterator[Figure]:
        K = len(self.labels)
        if not 2 < K <= _MANY_CLASSES:
            return
        text = (
            "One spoke for every way to be wrong; the smaller the polygon, the better. The gray"
            " ring is guessing."
        )
        matrices = {}
        shares = {}
        for name, proba in self.posteriors.items():
            # rows are the truth, columns the likeliest class
            cells = self.codes * K + proba.argmax(axis=1)
            counts = np.bincount(cells, minlength=K * K).reshape(K, K)
            matrices[name] = counts
            shares[name] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        rows = []
        for i, j in itertools.permutations(range(K), 2):
            mistake = f"{self.labels[i]} taken for {self.labels[j]}"
            rows.append((mistake, *(float(share[i, j]) for share in shares.values())))
        draw = partial(plot.cobweb, matrices, list(self.labels))
        table = Table("", ("share of the true class", *shares), rows)
        title = "Which classes are taken for which"
        yield figure_of("cobweb", title, text, draw, (5.4, 5.0), table)

    # -- thresholds --------------------------------------------------------------------

    @property
    def _purpose(self) -> str:
        if self._positive is None:
            return "averaged over every class against the rest"
        return f"for finding “{self._positive}”"

    def roc(self) -> Iterator[Figure]:
        text = (
            f"The share found against false alarms at every threshold, {self._purpose}, folds"
            " pooled. The nearer the corner on the top left, the better. AUC is the mean over"
            " folds, as in the ranking."
        )

        def points(
            truth: np.ndarray, score: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            curve = evaluate.roc_curve(truth, score)
            return curve.fpr, curve.tpr

        table = self._curve_table("false positive rate", points)
        yield figure_of("roc", "ROC curves", text, self._draw_roc, table=table)

    def _draw_roc(self, ax: Axes) -> Axes:
        plot.roc(self.y, self.posteriors, **self._class_options, ax=ax)
        # the AUC of the pooled curve would be another than that of the ranking
        for line, learner in zip(ax.lines, self.learners.values()):
            area = "" if learner.auc is None else f"  AUC {score_text(learner.auc)}"
            line.set_label(f"{learner.label}{area}")
        legend(ax, "lower right")
        return ax

    def precision_recall(self) -> Iterator[Figure]:
        text = (
            "How many of the rows named are right (precision) against how many of the class are"
            f" found (recall), {self._purpose}. Where a class is rare this shows more than the ROC"
            " curve."
        )
        draw = partial(
            plot.precision_recall, self.y, self.posteriors, **self._class_options
        )

        def points(
            truth: np.ndarray, score: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            precision, recall, _ = evaluate.precision_recall_curve(truth, score)
            return recall[::-1], precision[::-1]  # np.interp wants rising abscissas

        table = self._curve_table("recall", points)
        yield figure_of("precision", "Precision and recall", text, draw, table=table)

    def cost_curve(self) -> Iterator[Figure]:
        if self._positive is None:
            return
        costs = _two_costs(self.study.loss, positive_class(self.study))
        text = (
            "The least expected cost at every mixture of class shares and costs. Where a curve"
            " reaches the gray line, the model is no better than always saying the same."
        )
        if costs:
            text += " The dotted line marks the costs of this study."
        draw = partial(
            plot.cost_curve, self.y, self.posteriors, **self._class_options, **costs
        )

        def points(
            truth: np.ndarray, score: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            curve = evaluate.cost_curve(truth, score, n_points=101)
            return curve.probability_cost, curve.cost

        table = self._curve_table("share of the cost from positives", points)
        yield figure_of("cost", "Cost curves", text, draw, table=table)

    def error_reject(self) -> Iterator[Figure]:
        loss = self.study.loss
        if loss is not None:
            # labels as texts, as those of `y` are
            classes = [str(label) for label in loss.classes or ()]
            actions = [str(action) for action in loss.actions or ()]
            loss = LossMatrix(loss.values, classes, actions)
        curves = {
            name: error_reject_curve(self.y, proba, loss, classes=list(self.labels))
            for name, proba in self.posteriors.items()
        }
        what = "error rate" if loss is None else "mean cost"
        text = (
            f"The {what} among the rows that are decided, when those with the highest expected cost"
            " are left to a person. Where a curve does not fall to the right, rejecting gains"
            " nothing."
        )
        draw = partial(plot.error_reject, curves, doubt=self.study.doubt)
        # rising shares, without the point at which every row is rejected and none has a cost
        grid = _GRID[:-1]
        columns = [
            np.interp(grid, curve.reject_rate[:0:-1], curve.cost[:0:-1])
            for curve in curves.values()
        ]
        rows = [tuple(row) for row in np.column_stack([grid, *columns]).tolist()]
        table = Table("", ("share rejected", *curves), rows)
        title = "Leaving doubtful rows to a person"
        yield figure_of("reject", title, text, draw, table=table)

    def calibration(self) -> Iterator[Figure]:
        K = len(self.labels)
        event = f"“{self.labels[1]}”" if K == 2 else "the likeliest class"
        text = (
            f"Whether events of predicted probability 30 % happen 30 % of the time, for {event}. On"
            " the diagonal posteriors can be taken at their word; bars are 95 % intervals."
        )
        weight = self.study.out_of_sample(self.study.choice.name).weight
        results = {
            name: evaluate.calibration_curve(
                self.codes, proba, n_bins=10, labels=np.arange(K), sample_weight=weight
            )
            for name, proba in self.posteriors.items()
        }
        rows = []
        for name, c in results.items():
            for bin_ in zip(c.low, c.high, c.weight, c.predicted, c.observed):
                rows.append((name, *map(float, bin_)))
        heads = ("learner", "from", "to", "rows", "mean posterior", "observed share")
        draw = partial(plot.calibration, results)
        table = Table("", heads, rows)
        yield figure_of("calibration", "Calibration", text, draw, table=table)


def _two_costs(loss: LossMatrix | None, positive: int) -> dict[str, Any]:
    """Costs of false alarms and misses, where the matrix is about nothing else."""
    # rows are the truth: [negative, positive] is a false alarm, [positive, negative] a miss
    if loss is None or loss.values.shape != (2, 2) or np.diag(loss.values).any():
        return {}
    negative = 1 - positive
    cost_fp = loss.values[negative, positive]
    cost_fn = loss.values[positive, negative]
    if min(cost_fp, cost_fn) >= 0:
        return {"cost_fp": float(cost_fp), "cost_fn": float(cost_fn)}
    return {}


def most_mistaken(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes with the most rows that were decided otherwise, in their order, and how these
    rows were decided: for each of the classes, and for all else."""
    K = len(matrix)
    mistakes = matrix.sum(axis=1) - np.diag(matrix[:, :K])
    indices = np.sort(np.argsort(-mistakes, kind="stable")[:_MOST_ROWS])
    rows = matrix[indices]
    own = rows[:, indices]
    rest = rows.sum(axis=1) - own.sum(axis=1)
    return indices, np.column_stack([own, rest])
