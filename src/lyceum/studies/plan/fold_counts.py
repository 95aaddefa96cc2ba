"""How many folds a study has, how often they are drawn, and what to know about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lyceum._core.text import show_count
from lyceum.errors import StudyError
from lyceum.evaluate import error_interval
from lyceum.studies.plan.fold_scheme import FoldScheme
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.plan.study_data import StudyData

_FEW_ROWS = 2_000  # below, ten folds are cheap and leave more rows to learn from
_TINY = 20  # rows below which folds are drawn several times
_TINY_REPEATS = 3


def fold_counts(
    recipe: Recipe, data: StudyData, compared: np.ndarray
) -> tuple[int, int]:
    """The number of folds, and how often they are drawn; groups and times may allow fewer."""
    n = len(compared)
    wanted = recipe.folds or (10 if n < _FEW_ROWS else 5)
    if recipe.folds and wanted > n:
        raise StudyError(f"folds = {wanted}: there are {n} rows; give fewer folds")
    if n >= _TINY:
        return wanted, recipe.repeats
    wanted = recipe.folds or (5 if n >= 10 else 3)
    # folds by time, and one fold per row, are the same in every draw
    if recipe.time is not None or wanted == n:
        return wanted, recipe.repeats
    return wanted, max(recipe.repeats, _TINY_REPEATS)


def fold_notes(
    recipe: Recipe, data: StudyData, compared: np.ndarray, folds: int, repeats: int
) -> list[str]:
    """About a number of folds: how little few rows support, and which classes are not tested."""
    n = len(compared)
    notes = []
    if n < _TINY:
        notes.append(_tiny_note(n, folds, repeats, data.task))
    if data.task == "classification":
        counts = np.bincount(data.y[compared])
        smallest = int(counts[counts > 0].min())
        if smallest < folds:
            if recipe.group or recipe.time:  # their folds are not stratified exactly
                tests = ""
            else:
                left = folds - smallest
                verb = "tests" if left == 1 else "test"
                tests = f"of {folds} folds, {left} {verb} no row of it, and "
            notes.append(
                f"The smallest class has {show_count(smallest, 'row')}: {tests}its errors say"
                " little."
            )
    return notes


def _tiny_note(n: int, folds: int, repeats: int, task: str) -> str:
    """How little so few rows support."""
    begin = f"There are only {n} rows"
    if repeats > 1:
        begin += f": {folds} folds were drawn {repeats} times, so that less hangs on one draw"
    if task == "regression":
        return f"{begin}; the order of the learners may {'still ' if repeats > 1 else ''}be chance."
    half = error_interval(n // 2, n)
    return (
        f"{begin}. An error rate measured on {n} rows is known to about ±"
        f" {50 * (half.high - half.low):.0f} percentage points only, and the order of the learners"
        " may be chance."
    )


def limited_folds(
    recipe: Recipe, folds: int, scheme: FoldScheme, y: np.ndarray
) -> tuple[int, int, tuple[str, ...]]:
    """The number of folds that groups and times allow, how many are drawn, and what to know about
    them."""
    notes = []
    most = scheme.most_folds()
    if most is not None and most < folds:
        if recipe.group is None:
            what = "times"
        else:
            what = "groups"
        wanted = folds
        folds = max(1, most)
        if folds == 1:
            there = "There is 1 fold"
        else:
            there = f"There are {folds} folds"
        notes.append(f"{there} and not {wanted}, because there are so few {what}.")
    if recipe.group is not None:
        notes.append(
            f"Rows with the same {recipe.group!r} are never both learned from and tested on in a"
            " fold."
        )
    if recipe.time is not None:
        if recipe.repeats > 1:
            raise StudyError(
                "repeats: folds in the order of time can be drawn only once; give repeats=1"
            )
        parts = list(scheme.splits(y, folds, 0))
        return (
            len(parts),
            folds,
            (*notes, *_time_notes(recipe, folds, parts, scheme, y)),
        )
    return folds, folds, tuple(notes)


def _time_notes(
    recipe: Recipe,
    wanted: int,
    parts: list[tuple[np.ndarray, np.ndarray]],
    scheme: FoldScheme,
    y: np.ndarray,
) -> list[str]:
    """How folds in the order of time were made; raises where there are none."""
    if not parts:
        if recipe.group is None:
            what = "two classes"
        else:
            what = "other groups and of two classes"
        raise StudyError(
            f"time = {recipe.time!r}: before no moment are there enough rows of {what} to learn"
            " from; leave out time, or give other columns"
        )
    notes = [
        f"Every fold learns from the rows before a moment of {recipe.time!r} and is tested on the"
        " rows that follow; the earliest rows are only learned from."
    ]
    if len(parts) < wanted:
        left = wanted - len(parts)
        notes.append(
            f"{left} of the {wanted} folds {'was' if left == 1 else 'were'} left out, because too"
            " few rows came before to learn from."
        )
    together = replace(scheme, groups=None).splits(y, wanted, 0)
    tested = sum(len(test) for _, test in parts)
    if recipe.group is not None and tested < sum(len(test) for _, test in together):
        notes.append(
            f"Groups of {recipe.group!r} go on over time: a fold tests some of them and learns from"
            f" the earlier rows of the others, so that {tested:,} of the {len(y):,} rows are"
            " tested."
        )
    return notes
