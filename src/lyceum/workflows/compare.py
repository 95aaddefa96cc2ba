"""Two models on the same rows: which is better, and how sure is that?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from lyceum._core.data import FileFormat
from lyceum._core.files import spool
from lyceum._core.report import Shown
from lyceum._core.statistics import log_losses
from lyceum._core.text import plain, show_count
from lyceum._core.types import Data, Loss
from lyceum.decision import minimum_risk
from lyceum.errors import DataError
from lyceum.evaluate import mcnemar
from lyceum.report import Summary, Table
from lyceum.workflows.evaluate import decision_costs, mean_interval
from lyceum.workflows.fitted_model import FittedModel
from lyceum.workflows.outcomes import Outcomes

_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class PairedTest(Shown):
    """A measure of both models on the same rows; less is better.

    Attributes
    ----------
    measure : str
        What is compared.
    first : float
        Its value for the first model.
    second : float
        Its value for the second model.
    difference : float
        The first minus the second.
    low : float
        The lower end of the 95 % interval of the difference.
    high : float
        The upper end of that interval.
    p_value : float
        The probability of such a difference between equal models, two-sided.
    test : str
        The name of the test.
    differ : bool
        Whether the difference is significant at 5 %.

    See Also
    --------
    ModelComparison : All tests of a pair of models.
    lyceum.evaluate.mcnemar : The test of errors.

    Examples
    --------
    The second model alone is wrong on 6 of 12 rows, so that McNemar's exact p is 2 / 2⁶:

    >>> import pandas as pd
    >>> from lyceum import scan
    >>> from lyceum.workflows import compare_models
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> fit = lambda size, kind: DecisionTreeClassifier().fit(
    ...     scan(pd.DataFrame({"size": size, "kind": kind}), target="kind"))
    >>> good, bad = fit([1.0, 9.0], ["a", "b"]), fit([9.0, 19.0], ["a", "b"])
    >>> rows = pd.DataFrame({"size": [1.0] * 6 + [9.0] * 6, "kind": ["a"] * 6 + ["b"] * 6})
    >>> test = compare_models(good, bad, rows).tests[0]
    >>> test.measure, test.first, test.second, test.p_value, test.differ
    ('error', 0.0, 0.5, 0.03125, True)
    """

    measure: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float
    test: str

    @property
    def differ(self) -> bool:
        """Whether the difference is significant at 5 %."""
        return self.p_value < _ALPHA

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        return plain({**asdict(self), "differ": self.differ})


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Two models on one set of rows; the first of `tests` decides the verdict.

    Attributes
    ----------
    names : tuple[str, str]
        The two models.
    target : str
        The column that is predicted.
    n_rows : int
        The number of rows compared on.
    tests : tuple of PairedTest
        One test per measure.
    better : str or None
        The name of the better model, None if the first test shows no difference.
    verdict : str
        The result in a sentence.

    See Also
    --------
    compare_models : Computes it.
    Evaluation : One model on some rows.
    lyceum.studies.Comparison : Many learners, by cross-validation.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum import scan
    >>> from lyceum.workflows import compare_models
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> fit = lambda size, kind: DecisionTreeClassifier().fit(
    ...     scan(pd.DataFrame({"size": size, "kind": kind}), target="kind"))
    >>> good, bad = fit([1.0, 9.0], ["a", "b"]), fit([9.0, 19.0], ["a", "b"])
    >>> rows = pd.DataFrame({"size": [1.0] * 6 + [9.0] * 6, "kind": ["a"] * 6 + ["b"] * 6})
    >>> comparison = compare_models(good, bad, rows, names=("new", "old"))
    >>> comparison.better, comparison.n_rows
    ('new', 12)
    >>> comparison.verdict
    'new is better: error 0 against 0.5 (p = 0.031 by McNemar (exact) on 12 rows).'
    """

    names: tuple[str, str]
    target: str
    n_rows: int
    tests: tuple[PairedTest, ...]

    @property
    def better(self) -> str | None:
        """The name of the better model, or None if no difference is shown."""
        test = self.tests[0]
        if not test.differ:
            return None
        return self.names[int(test.difference > 0)]

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        test = self.tests[0]
        best, other = sorted((test.first, test.second))
        # the first test decides, the others are only shown
        sure = f"p = {test.p_value:.2g} by {test.test} on {self.n_rows:,} rows"
        if self.better is not None:
            losses = f"{test.measure} {best:.4g} against {other:.4g}"
            return f"{self.better} is better: {losses} ({sure})."
        if test.low == test.high == 0.0:
            both = f"{test.measure} {test.first:.4g} for both"
            return (
                f"No difference is shown: {both}, the same in each of"
                f" {show_count(self.n_rows, 'row')}."
            )
        if self.n_rows < 2:
            return (
                f"One row cannot show a difference: {test.measure} {test.first:.4g} and"
                f" {test.second:.4g}."
            )
        return (
            f"No difference is shown: {test.measure} {test.first:.4g} and {test.second:.4g}"
            f" ({sure}). The true difference may lie anywhere from {test.low:.3g} to"
            f" {test.high:.3g}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        return plain(
            {
                "models": self.names,
                "target": self.target,
                "rows": self.n_rows,
                "tests": self.tests,
                "better": self.better,
                "verdict": self.verdict,
            }
        )

    def summary(self) -> Summary:
        rows = [
            (
                t.measure,
                t.first,
                t.second,
                t.difference,
                f"{t.low:.3g} to {t.high:.3g}",
                t.p_value,
                t.test,
            )
            for t in self.tests
        ]
        columns = ("measure", *self.names, "difference", "95 % interval", "p", "test")
        return Summary(self.verdict, {}, (Table("", columns, rows),))

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def compare_models(
    first: object,
    second: object,
    data: Data,
    target: str | None = None,
    *,
    loss: Loss = None,
    doubt: float | None = None,
    names: tuple[str, str] = ("first", "second"),
    file_format: FileFormat | None = None,
) -> ModelComparison:
    """Compare two fitted models on the same rows, which neither has seen.

    Classifiers: McNemar's test of their errors; with a loss matrix first the paired t test of what
    their decisions cost; and the paired t test of their log losses. Regressors: paired t tests of
    their squared and absolute errors.

    Parameters
    ----------
    first, second : fitted learners or pipelines for the same target
    data : path, glob, frame, or "-" for CSV from standard input
    target : str, optional
        The column with the truth; by default named as when the first model was fitted.
    loss : LossMatrix or dict of (true class, action) to cost, optional
        Rows = true class, columns = action; without loss and doubt, those that the first model was
        fitted with, or else the second.
    doubt : float, optional
        The cost of rejecting a row.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> from lyceum.workflows import compare_models
    >>> penguins = datasets.load("penguins")
    >>> models = NaiveBayes().fit(penguins), DecisionTreeClassifier(max_depth=1).fit(penguins)
    >>> comparison = compare_models(*models, datasets.path("penguins"))
    >>> comparison.n_rows, comparison.tests[0].difference < 0
    (344, True)
    """
    pair = FittedModel(first), FittedModel(second)
    if names[0] == names[1]:
        names = (f"{names[0]} (first)", f"{names[1]} (second)")
    if (pair[0].classes is None) != (pair[1].classes is None):
        raise DataError(
            "one model predicts classes, the other numbers: compare models for the same target"
        )
    # costs that are not given are those the first model decides by, then the second
    loss, doubt = pair[1].costs(*pair[0].costs(loss, doubt))
    name = target or pair[0].target.name
    with spool(data) as source:
        both = [
            Outcomes.of(fitted, source, name, file_format=file_format)
            for fitted in pair
        ]
    tests: tuple[PairedTest, ...]
    if pair[0].classes is None:
        errors = [outcomes.output - outcomes.truth for outcomes in both]
        tests = (
            _test_pair("mean squared error", *map(np.square, errors)),
            _test_pair("mean absolute error", *map(np.abs, errors)),
        )
    else:
        tests = tuple(_class_tests(pair, both, loss, doubt))
    return ModelComparison(names, name, len(both[0].truth), tests)


def _class_tests(
    pair: tuple[FittedModel, FittedModel],
    both: list[Outcomes],
    loss: Loss,
    doubt: float | None,
) -> Iterator[PairedTest]:
    # only rows whose class both models know have a cost and a log loss for both
    known = (both[0].truth >= 0) & (both[1].truth >= 0)
    if (loss is not None or doubt is not None) and known.any():
        costs = [
            decision_costs(outcomes, fitted, loss, doubt)[known[outcomes.truth >= 0]]
            for fitted, outcomes in zip(pair, both)
        ]
        yield _test_pair("cost per row", *costs)
    yield _error_test(*both)
    if all(hasattr(fitted.model, "predict_proba") for fitted in pair) and known.any():
        rows = np.flatnonzero(known)
        losses = [
            log_losses(outcomes.truth[rows], outcomes.output[rows]) for outcomes in both
        ]
        yield _test_pair("log loss", *losses)


def _error_test(one: Outcomes, two: Outcomes) -> PairedTest:
    """McNemar's test on the rows that one of the models decides wrong, and the other does not."""
    # the most probable class, without costs; unknown classes, -1, are wrong
    first = one.truth != minimum_risk(one.output).index
    second = two.truth != minimum_risk(two.output).index
    test = mcnemar(
        only_first_wrong=int((first & ~second).sum()),
        only_second_wrong=int((second & ~first).sum()),
    )
    mean, low, high = mean_interval(first.astype(float) - second)
    return PairedTest(
        measure="error",
        first=float(first.mean()),
        second=float(second.mean()),
        difference=mean,
        low=low,
        high=high,
        p_value=test.p_value,
        test=f"McNemar ({test.method})",
    )


def _test_pair(measure: str, one: np.ndarray, two: np.ndarray) -> PairedTest:
    difference = one - two
    mean, low, high = mean_interval(difference)
    n = len(difference)
    error = 0.0
    if n > 1:
        error = float(difference.std(ddof=1)) / math.sqrt(n)
    # rows that all differ by the same amount leave no doubt, rows that never differ nothing but
    # doubt
    if error:
        p = 2.0 * float(stats.t.sf(abs(mean) / error, n - 1))
    else:
        p = float(mean == 0.0 or n < 2)
    return PairedTest(
        measure=measure,
        first=float(one.mean()),
        second=float(two.mean()),
        difference=mean,
        low=low,
        high=high,
        p_value=p,
        test="paired t",
    )
