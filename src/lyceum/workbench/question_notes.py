"""What so few rows can and cannot answer, in sentences; each is a formula of counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from lyceum.decision import LossMatrix, theoretical_threshold
from lyceum.evaluate import error_interval

_ERROR = 0.1  # the error rate that examples are made with
_DISAGREE = 0.1  # the share of rows in which two learners disagree, in examples
_Z = 1.96
_FEW = 30  # rows of a class below which its rates are vague


def class_notes(counts: Mapping[str, int]) -> Iterator[str]:
    """Sentences on the rows of a classification.

    >>> list(class_notes({"bad": 20, "good": 130}))[2]
    'Only 20 rows are `bad`: if 70 % of them were recognized, the truth could be 48 % to 85 %.'
    """
    n_rows = sum(counts.values())
    n_wrong = round(_ERROR * n_rows)
    interval = error_interval(n_wrong, n_rows)
    yield (
        f"{n_rows:,} rows: an error rate of {_percent(_ERROR)} would be known as"
        f" {_percent(interval.low)} to {_percent(interval.high)} (95 %)."
    )
    # the difference of two learners has the variance of their disagreements
    least = _Z * math.sqrt(_DISAGREE / n_rows)
    yield (
        "Two learners that disagree in one row of ten are told apart only if their error rates"
        f" differ by {_percent(least)} or more."
    )
    for name, count in counts.items():
        if count < _FEW:
            recall = error_interval(round(0.7 * count), count)
            noun = "row is" if count == 1 else "rows are"
            yield (
                f"Only {count} {noun} `{name}`: if 70 % of them were recognized, the truth could"
                f" be {_percent(recall.low)} to {_percent(recall.high)}."
            )


def number_notes(n_rows: int) -> Iterator[str]:
    """Sentences on the rows of a regression.

    >>> list(number_notes(200))
    ['200 rows: a typical error (RMSE) would be known to within about ±9.8 % (95 %).']
    """
    # of normal errors, RMSE has the relative standard error 1 / sqrt(2 n)
    reach = _Z / math.sqrt(2.0 * max(1, n_rows))
    yield (
        f"{n_rows:,} rows: a typical error (RMSE) would be known to within about"
        f" ±{100 * reach:.2g} % (95 %)."
    )


def group_notes(name: str, n_groups: int) -> Iterator[str]:
    yield (
        f"The rows of one `{name}` are never trained and tested with at once: intervals count the"
        f" {n_groups:,} groups, not the rows."
    )


def time_notes(name: str) -> Iterator[str]:
    yield f"Every fold learns from earlier rows by `{name}` and is tested on later ones."


def cost_sentences(loss: LossMatrix, doubt: float | None) -> Iterator[str]:
    """The costs as people say them.

    >>> loss = LossMatrix([[0, 5], [1, 0]], classes=["bad", "good"])
    >>> for sentence in cost_sentences(loss, 0.5):
    ...     print(sentence)
    A `bad` taken for `good` costs 5.
    A `good` taken for `bad` costs 1.
    So `bad` is the answer from a posterior of 16.7 % on.
    Rejecting a row costs 0.5, whatever it is.
    """
    classes = list(loss.classes or range(len(loss.values)))
    actions = list(loss.actions or classes)
    for true, costs in zip(classes, loss.values.tolist()):
        for action, cost in zip(actions, costs):
            if str(true) != str(action):
                yield f"A `{true}` taken for `{action}` costs {cost:g}."
    if loss.values.shape == (2, 2) and len(classes) == 2:
        (right_first, miss), (alarm, right_second) = loss.values.tolist()
        threshold = theoretical_threshold(
            alarm, miss, cost_tp=right_first, cost_tn=right_second
        )
        yield f"So `{classes[0]}` is the answer from a posterior of {threshold:.1%} on.".replace(
            "%", " %"
        )
    if doubt is not None:
        yield f"Rejecting a row costs {doubt:g}, whatever it is."


def _percent(share: Any) -> str:
    return f"{100 * share:.2g} %"
