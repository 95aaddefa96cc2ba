"""Notes on the table itself: rows and columns that were left out, kept or changed, and why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from lyceum._core.data import ColumnInspection, Inspection
from lyceum.studies.plan.candidate import ColumnWarning
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.report.format import by_count, percent_text

_COMBINATIONS = 20  # of values per row, from which equal rows are a surprise


def table_notes(inspection: Inspection, recipe: Recipe) -> tuple[str, ...]:
    notes = [f"{note[:1].upper()}{note[1:]}." for note in inspection.notes]
    target = inspection[recipe.target]
    for n, what in (
        (target.n_missing, "without a target"),
        (target.n_infinite, "with an infinite target"),
    ):
        if n:
            rows = by_count(n, "row", "rows")
            were = by_count(n, "was", "were")
            them = by_count(n, "it", "them")
            notes.append(
                f"{n:,} {rows} {what} {were} left out: nothing can be learned from {them}."
            )
    # three columns of a few categories repeat in any table that is long enough
    distinct = [max(1, column.n_distinct or 1) for column in inspection.columns]
    combinations = math.fsum(map(math.log, distinct))
    is_surprise = combinations > math.log(_COMBINATIONS * inspection.n_rows)
    if inspection.n_repeated and is_surprise:
        repeat = by_count(inspection.n_repeated, "row repeats", "rows repeat")
        notes.append(
            f"{inspection.n_repeated:,} {repeat} an earlier row; where they are the same case, the"
            " errors here are too small."
        )
    return (*notes, *survival_notes(inspection, recipe))


# how people call times until an event, and whether it came
_DURATION = re.compile(
    r"(?i)(^|[\W_])(f?u?time|stime|surv\w*|days?|months?|weeks?|years?|duration|tenure|follow\w*)$"
)
_STATUS = re.compile(
    r"(?i)^(status|fustat|event|events|cens|censor\w*|delta|died|dead|death|failed|failure|churn\w*)$"
)


def survival_notes(inspection: Inspection, recipe: Recipe) -> Iterator[str]:
    """On a time beside a column that tells whether its event came: survival data."""
    target = recipe.target
    used = {column.name: column for column in inspection.columns}
    for name in recipe.ignore:
        used.pop(name, None)
    times = [
        name
        for name, column in used.items()
        if _DURATION.search(name)
        and column.kind == "continuous"
        and (column.low or 0) >= 0
    ]
    events = [
        name
        for name, column in used.items()
        if _STATUS.match(name) and column.n_distinct in (2, 3)
    ]
    if target in times and events:
        yield (
            f"The target {target!r} beside {events[0]!r} looks like survival data, in which some"
            " times end before the event came (censored). That is not handled here: every time is"
            " taken as it stands, so that what is predicted is the time observed, not the time to"
            " the event."
        )
    elif target in events and times:
        yield (
            f"The target {target!r} beside {times[0]!r} looks like survival data: how long a case"
            " was followed is known only afterwards, and cases that were followed for a short time"
            f" may still have the event. That is not handled here; consider --ignore {times[0]!r}."
        )


def count_note(target: str, y: np.ndarray) -> Iterator[str]:
    """On a target that counts something: whole numbers from 0 on, most of them small."""
    n_zero = int(np.count_nonzero(y == 0.0))
    is_whole = bool((y == np.floor(y)).all()) and y.min() == 0.0
    is_skewed = float(y.mean()) > float(np.median(y))
    is_crowded = len(np.unique(y)) <= max(10, len(y) // 3)
    if is_whole and is_skewed and is_crowded and n_zero >= 0.02 * len(y):
        yield (
            f"The target {target!r} looks like a count (whole numbers from 0 to {y.max():,.0f},"
            f" {percent_text(n_zero / len(y))} of them 0). It is predicted as any other number, by"
            " squared errors: there is no model of counts, such as Poisson regression, among the"
            " learners, and predictions need not be whole, or above 0."
        )


def kept_notes(suspects: tuple[ColumnWarning, ...], recipe: Recipe) -> Iterator[str]:
    """On columns that would have been left out if there were others."""
    requested = {*recipe.keep, *recipe.kinds, recipe.target}
    codes = ["identifier"]
    if not recipe.text:  # else the words of free text are counted
        codes.append("free_text")
    for suspect in suspects:
        if suspect.left_out or suspect.column in requested or suspect.code not in codes:
            continue
        yield (
            f"Column {suspect.column!r} {suspect.text.rstrip('.?')}. It was kept because no other"
            " column is left to learn from: ask whether new rows will have such values."
        )


def infinite_note(column: ColumnInspection) -> str:
    cells = by_count(column.n_infinite, "cell was", "cells were")
    return f"{column.n_infinite:,} infinite {cells} taken as missing in column {column.name!r}."


def zero_weight_note(n: int) -> str:
    return (
        f"{n:,} {by_count(n, 'row of weight 0 was', 'rows of weight 0 were')} left out."
    )


def only_classes_text(key: str, target: str) -> str:
    return (
        f"{key}: the target {target!r} holds numbers, and {key} is for classes: leave it out, or"
        f" say kinds = {{{target} = 'categorical'}}"
    )


def one_value_text(target: str) -> str:
    return (
        f"the target {target!r} is the same in every row: there is nothing to predict; choose"
        " another column"
    )


def single_rows_text(target: str, counts: np.ndarray) -> str:
    """Why there are no two classes to tell apart."""
    if counts.max() == 1:
        return (
            f"every class of the target {target!r} has a single row: it names the rows; choose"
            " another column, or group its values"
        )
    return (
        f"only one class of the target {target!r} has more than one row, and a single row cannot be"
        " both learned and tested: group its values, or choose another column"
    )


def rare_note(labels: np.ndarray, n_rows: int) -> str:
    """What was left out, and what that does to an error rate."""
    n = len(labels)
    listed = ", ".join(repr(label) for label in labels[:5].tolist())
    if n > 5:
        listed += ", ..."
    classes = by_count(n, "The class", f"{n:,} classes")
    were = by_count(n, "was", "were")
    them = by_count(n, "it", "them")
    return (
        f"{classes} with a single row ({listed}) {were} left out: a single row can be learned or"
        f" tested, not both. The model never predicts {them}: such rows,"
        f" {percent_text(n / (n_rows + n))} of all, are not counted as errors."
    )
