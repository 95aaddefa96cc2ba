"""Notes on the table itself: rows and columns that were left out, kept or changed, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lyceum._core.data import ColumnInspection, Inspection
from lyceum.studies.plan.candidate import ColumnWarning
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.report.format import percent_text


def table_notes(inspection: Inspection, recipe: Recipe) -> tuple[str, ...]:
    notes = [f"{note[:1].upper()}{note[1:]}." for note in inspection.notes]
    target = inspection[recipe.target]
    for n, what in (
        (target.n_missing, "without a target"),
        (target.n_infinite, "with an infinite target"),
    ):
        if n:
            if n == 1:
                left = "row"
                were = "was"
                them = "it"
            else:
                left = "rows"
                were = "were"
                them = "them"
            notes.append(
                f"{n:,} {left} {what} {were} left out: nothing can be learned from {them}."
            )
    if inspection.n_repeated:
        if inspection.n_repeated == 1:
            repeat = "row repeats"
        else:
            repeat = "rows repeat"
        notes.append(
            f"{inspection.n_repeated:,} {repeat} an earlier row; where they are the same case, the"
            " errors here are too small."
        )
    return tuple(notes)


def kept_notes(suspects: tuple[ColumnWarning, ...], recipe: Recipe) -> Iterator[str]:
    """On columns that would have been left out if there were others."""
    for one in suspects:
        requested = (
            one.column in recipe.keep
            or one.column in recipe.kinds
            or one.column == recipe.target
        )
        has_words = one.code == "free_text" and recipe.text  # its words are counted
        if one.code in ("identifier", "free_text") and not (
            one.left_out or requested or has_words
        ):
            yield (
                f"Column {one.column!r} {one.text.rstrip('.?')}. It was kept because no other"
                " column is left to learn from: ask whether new rows will have such values."
            )


def infinite_note(column: ColumnInspection) -> str:
    if column.n_infinite == 1:
        cells = "cell was"
    else:
        cells = "cells were"
    return f"{column.n_infinite:,} infinite {cells} taken as missing in column {column.name!r}."


def zero_weight_note(n: int) -> str:
    return f"{n:,} {'row of weight 0 was' if n == 1 else 'rows of weight 0 were'} left out."


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
    listed = ", ".join(repr(label) for label in labels[:5].tolist()) + ", ..." * (
        len(labels) > 5
    )
    share = len(labels) / (n_rows + len(labels))
    one = len(labels) == 1
    return (
        f"{'The class' if one else f'{len(labels):,} classes'} with a single row ({listed})"
        f" {'was' if one else 'were'} left out: a single row can be learned or tested, not both."
        f" The model never predicts {'it' if one else 'them'}: such rows, {percent_text(share)} of"
        " all, are not counted as errors."
    )
