"""The pictures of a report, as SVG that stands in the page itself."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum import plot
from lyceum.decision import LossMatrix, error_reject_curve
from lyceum.plot.style import COLOURS, GREY, downsample, finish, legend, line_style, reference_line
from lyceum.studies._problems import Problems

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lyceum.studies._comparison import RankedLearner
    from lyceum.studies._study_result import Study

__all__ = ["Figure", "figure_of", "figures_of", "positive_class"]

Draw = Callable[[], "Iterator[Figure]"]

_CURVES = 4  # learners in one picture: more cannot be told apart
_POINTS = 1500  # of a scatter
_MANY_CLASSES = 7  # a cobweb of more has too many spokes


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its name and a sentence that says how to read it."""

    name: str
    title: str
    text: str
    svg: str


def figures_of(study: Study, problems: Problems | None = None) -> list[Figure]:
    """The pictures that the study has evidence for, in the order of the report; `problems` names failures."""
    problems = Problems() if problems is None else problems
    makers = _of_values if study.classes is None else _of_classes
    named = problems.attempt("figures", lambda: makers(study), {})
    drawn = [problems.attempt(f"{name} figure", partial(_drawn, draw), []) for name, draw in named.items()]
    return [figure for figures in drawn for figure in figures]


def _drawn(draw: Draw) -> list[Figure]:
    return list(draw())


def positive_class(study: Study) -> int:
    """The class that two-class curves are about: the one that is dearest to miss, or else the rarer."""
    confusion = np.asarray(study.choice.confusion, dtype=np.float64)
    rarer = int(confusion.sum(axis=1).argmin())
    if study.loss is None:
        return rarer
    dearest = study.loss.values.max(axis=1)
    return rarer if dearest[0] == dearest[1] else int(dearest.argmax())


# -- classification ------------------------------------------------------------------------------------------


def _of_classes(study: Study) -> dict[str, Draw]:
    shown = _shown(study)
    posteriors = {learner.label: study.out_of_sample(learner.name) for learner in shown}
    first = posteriors[study.choice.label]
    labels = np.array([str(label) for label in study.classes or ()])
    same = {name: found.predicted for name, found in posteriors.items() if len(found.y) == len(first.y)}
    curves = _Curves(study, labels, labels[first.y], same)
    return {
        "confusion": curves.confusion,
        "cobweb": curves.cobweb,
        "ROC": curves.roc,
        "cost": curves.cost_curve,
        "rejection": curves.error_reject,
        "calibration": curves.calibration,
        "learning curve": partial(_learning, study),
    }


def _shown(study: Study) -> list[RankedLearner]:
    """The choice, and the best of the others; the baseline only if it is the choice."""
    others = [s for s in study.comparison.learners if not s.is_baseline and s.name != study.choice.name]
    return [study.choice, *others][:_CURVES]


@dataclass(frozen=True)
class _Curves:
    """Truth and posteriors of the learners shown, on the same rows."""

    study: Study
    labels: np.ndarray
    y: np.ndarray
    posteriors: dict[str, np.ndarray]

    @property
    def _positive(self) -> str | None:
        return str(self.labels[positive_class(self.study)]) if len(self.labels) == 2 else None

    @property
    def _which(self) -> dict[str, Any]:
        return {"classes": list(self.labels), "pos_label": self._positive}

    def confusion(self) -> Iterator[Figure]:
        study = self.study
        actions = [str(action) for action in study.actions]
        matrix = np.asarray(study.choice.confusion)
        how = "of least expected cost" if study.loss is not None else "likeliest class"
        text = (
            f"Rows are the truth, columns what was decided ({how}) for rows that the model had not seen. "
            "Shades and percentages are shares of the true class."
        )
        size = (min(2.4 + 1.0 * len(actions), 8.0), min(1.6 + 0.85 * len(self.labels), 7.0))
        draw = partial(plot.confusion, matrix, list(self.labels), actions=actions)
        yield figure_of("confusion", f"What was decided: {study.choice.label}", text, draw, size)

    def cobweb(self) -> Iterator[Figure]:
        K = len(self.labels)
        if not 2 < K <= _MANY_CLASSES:
            return
        matrices = {
            name: _counts(self.y, proba.argmax(axis=1), self.labels)
            for name, proba in self.posteriors.items()
        }
        text = (
            "One spoke for every way to be wrong; the smaller the polygon, the better. The grey ring is "
            "guessing."
        )
        draw = partial(plot.cobweb, matrices, list(self.labels))
        yield figure_of("cobweb", "Which classes are taken for which", text, draw, (5.4, 5.0))

    def roc(self) -> Iterator[Figure]:
        if self._positive is None:
            about = "averaged over every class against the rest"
        else:
            about = f"for finding “{self._positive}”"
        text = (
            f"The share found against false alarms at every threshold, {about}. The nearer the corner on the "
            "top left, the better."
        )
        draw = partial(plot.roc, self.y, self.posteriors, **self._which)
        yield figure_of("roc", "ROC curves", text, draw)

    def cost_curve(self) -> Iterator[Figure]:
        if self._positive is None:
            return
        costs = _two_costs(self.study.loss, positive_class(self.study))
        text = (
            "The least expected cost at every mixture of class shares and costs. Where a curve reaches the "
            "grey line, the model is no better than always saying the same."
        )
        if costs:
            text += " The dotted line marks the costs of this study."
        draw = partial(plot.cost_curve, self.y, self.posteriors, **self._which, **costs)
        yield figure_of("cost", "Cost curves", text, draw)

    def error_reject(self) -> Iterator[Figure]:
        loss = None if self.study.loss is None else _by_text(self.study.loss)
        curves = {
            name: error_reject_curve(self.y, proba, loss, classes=list(self.labels))
            for name, proba in self.posteriors.items()
        }
        what = "cost" if loss is not None else "error"
        text = f"How the {what} among decided rows falls when the least sure ones are handed to a person."
        draw = partial(plot.error_reject, curves, doubt=self.study.doubt)
        yield figure_of("reject", "What rejecting the doubtful rows would gain", text, draw)

    def calibration(self) -> Iterator[Figure]:
        text = (
            "Whether what is said to be 30 % likely happens 30 % of the time. On the diagonal posteriors can "
            "be taken at their word; bars are 95 % intervals."
        )
        draw = partial(plot.calibration, self.y, self.posteriors, **self._which)
        yield figure_of("calibration", "Calibration", text, draw)


def _counts(y: np.ndarray, said: np.ndarray, labels: np.ndarray) -> np.ndarray:
    truth = np.searchsorted(np.sort(labels), y)
    truth = np.argsort(labels)[truth]
    return np.bincount(truth * len(labels) + said, minlength=len(labels) ** 2).reshape(len(labels), -1)


def _two_costs(loss: LossMatrix | None, positive: int) -> dict[str, Any]:
    """Costs of false alarms and misses, where the matrix is about nothing else."""
    if loss is None or loss.values.shape != (2, 2) or np.diag(loss.values).any():
        return {}
    negative = 1 - positive
    cost_fp, cost_fn = loss.values[negative, positive], loss.values[positive, negative]
    return {"cost_fp": float(cost_fp), "cost_fn": float(cost_fn)} if min(cost_fp, cost_fn) >= 0 else {}


def _by_text(loss: LossMatrix) -> LossMatrix:
    return LossMatrix(loss.values, [str(c) for c in loss.classes or ()], [str(a) for a in loss.actions or ()])


# -- regression ----------------------------------------------------------------------------------------------


def _of_values(study: Study) -> dict[str, Draw]:
    y, predicted = study.out_of_sample(study.choice.name)
    places = np.unique(np.linspace(0, len(y) - 1, min(len(y), _POINTS)).round().astype(np.intp))
    points = (y[places], predicted[places])
    return {
        "predicted against true": partial(_truth_figure, study, *points),
        "residual": partial(_residual_figure, study, *points),
        "error size": partial(_error_figure, study),
        "learning curve": partial(_learning, study),
    }


def _truth_figure(study: Study, y: np.ndarray, predicted: np.ndarray) -> Iterator[Figure]:
    text = "Every point is a row that the model had not seen; on the diagonal it is right."
    draw = partial(_against_truth, y, predicted, str(study.recipe.target))
    yield figure_of("truth", f"Predicted against true: {study.choice.label}", text, draw)


def _residual_figure(study: Study, y: np.ndarray, predicted: np.ndarray) -> Iterator[Figure]:
    text = "What is left over the prediction. A bend or a funnel would show what the model has not learned."
    draw = partial(_residuals, y, predicted, str(study.recipe.target))
    yield figure_of("residuals", "Residuals", text, draw)


def _error_figure(study: Study) -> Iterator[Figure]:
    text = "How large errors are: the share of rows whose error is at most that on the axis."
    errors = {s.label: np.abs(np.subtract(*study.out_of_sample(s.name))) for s in _shown(study)}
    baseline = study.comparison.baseline
    if baseline is not None and baseline.label not in errors:
        errors[baseline.label] = np.abs(np.subtract(*study.out_of_sample(baseline.name)))
    yield figure_of("errors", "How large the errors are", text, partial(_error_shares, errors))


def _against_truth(y: np.ndarray, predicted: np.ndarray, target: str, ax: Axes) -> Axes:
    low, high = float(min(y.min(), predicted.min())), float(max(y.max(), predicted.max()))
    ax.scatter(predicted, y, s=14, color=COLOURS[0], alpha=0.55, linewidths=0)
    reference_line(ax, [low, high], [low, high], "right")
    finish(ax, f"predicted {target}", f"true {target}", None)
    legend(ax, "upper left")
    return ax


def _residuals(y: np.ndarray, predicted: np.ndarray, target: str, ax: Axes) -> Axes:
    ax.scatter(predicted, y - predicted, s=14, color=COLOURS[0], alpha=0.55, linewidths=0)
    ax.axhline(0.0, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)))
    finish(ax, f"predicted {target}", "true - predicted", None)
    return ax


def _error_shares(errors: dict[str, np.ndarray], ax: Axes) -> Axes:
    for name, error in errors.items():
        shares = np.arange(1, len(error) + 1) / len(error)
        ax.plot(*downsample(np.sort(error), shares), label=name, drawstyle="steps-post", **line_style(ax))
    ax.set_xlim(0.0, float(np.quantile(np.concatenate(list(errors.values())), 0.95)))
    ax.set_ylim(0.0, 1.0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    finish(ax, "absolute error", "rows with at most that", None)
    legend(ax, "lower right")
    return ax


# -- both ----------------------------------------------------------------------------------------------------


def _learning(study: Study) -> Iterator[Figure]:
    curve = study.comparison.learning_curve
    if curve is None:
        return
    criterion = study.comparison.criterion if study.classes is not None else "squared error"
    more = (
        "More rows should still help."
        if curve.more_rows_help
        else "More rows of this kind would gain little."
    )
    text = f"On the rows learned from and on unseen rows. A gap between the two is overfitting. {more}"

    def draw(ax: Axes) -> Axes:
        plot.learning_curve(curve.sizes, curve.train_losses, curve.test_losses, score=criterion, ax=ax)
        reference_line(ax, [curve.sizes[0], curve.sizes[-1]], [curve.baseline] * 2, "always the same answer")
        legend(ax)
        ax.set_ylim(bottom=0.0)
        return ax

    yield figure_of("learning", f"Learning curve: {study.choice.label}", text, draw)


def figure_of(
    name: str, title: str, text: str, draw: Callable[..., Any], size: tuple[float, float] = (5.2, 4.2)
) -> Figure:
    """Draw on a figure of its own, apart from those that the user may have open."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": f"lyceum {name}", "font.size": 10}):
        canvas = Canvas(figsize=size, layout="constrained")
        draw(ax=canvas.add_subplot())
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return Figure(name, title, text, _inline(out.getvalue(), title, name))


_REFERENCE = re.compile(r'(?:url\(#|href="#)([^")]+)')


def _inline(svg: str, title: str, name: str) -> str:
    """The SVG element alone: scalable, named for screen readers, no id but those referred to."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(_REFERENCE.findall(svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    width = re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    wide = 1.25 * float(width[1]) if width else 480.0
    named = f'<svg role="img" aria-label="{html.escape(title)}" style="max-width:{wide:.0f}px"'
    svg = svg.replace("<svg", named, 1)
    # Verdana has the widths of DejaVu Sans, for which the picture was laid out
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana")
    return re.sub(r"\s*\n\s*", "\n", svg).strip()
