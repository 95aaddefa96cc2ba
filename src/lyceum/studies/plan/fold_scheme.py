"""How rows are divided into training and test rows: at random, by groups, or in the order of time;
how many folds there are, and what to know about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.data import Rows
from lyceum._core.text import show_count
from lyceum.errors import StudyError
from lyceum.evaluate import Holdout, StratifiedFolds, error_interval
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report.format import by_count

_FEWEST = 5  # rows to learn from
_FEW_ROWS = 2_000  # below, ten folds are cheap and leave more rows to learn from
# with less than these minutes, of so many rows, more learners on all of five folds tell more than
# few learners on some of ten
_HASTE = 1.0
_ENOUGH_ROWS = 200
_TINY = 20  # rows below which folds are drawn several times
_TINY_REPEATS = 3
Parts = tuple[np.ndarray, np.ndarray]  # indices of training and of test rows


@dataclass(frozen=True, eq=False)
class FoldScheme:
    """The rule by which rows are divided, for outer folds, inner folds and the holdout alike.

    Without groups and times, folds are random and, with `stratify`, have the shares of the classes.
    Rows of one group are never in training and test both. With times, a fold learns from the rows
    before a moment and is tested on those that follow until the next; rows of equal time stay
    together. With both, a fold tests only so many of the groups that began before its moment that
    half of the earlier rows are left to learn from; which ones changes from fold to fold. Folds
    with too little to learn from are left out.

    Parameters
    ----------
    inner_folds : int
    stratify : bool
    groups : array of shape (n,) of codes, or None
    times : array of shape (n,) of numbers, or None
    """

    inner_folds: int
    stratify: bool
    groups: np.ndarray | None = None
    times: np.ndarray | None = None

    def take(self, indices: np.ndarray) -> FoldScheme:
        """The scheme of some of the rows."""
        groups = take_rows(self.groups, indices)
        return replace(self, groups=groups, times=take_rows(self.times, indices))

    def most_folds(self) -> int | None:
        """How many folds groups and times allow; None for any number."""
        limits = []
        if self.groups is not None:
            limits.append(len(np.unique(self.groups)))
        if self.times is not None:
            limits.append(len(np.unique(self.times)) - 1)
        return min(limits, default=None)

    def splits(self, y: np.ndarray, n_folds: int, seed: int) -> Iterator[Parts]:
        """Training and test rows of every fold."""
        if self.times is not None:
            for train, test in self._by_time(n_folds):
                if len(test) and self._is_enough(y[train]):
                    yield train, test
        elif self.groups is not None:
            classes = y if self.stratify else np.zeros(len(y), np.int64)
            fold = _group_folds(self.groups, classes, n_folds, seed)
            for number in range(n_folds):
                yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        else:
            folds = StratifiedFolds(n_folds, stratify=self.stratify, random_state=seed)
            yield from folds.split(y, y)

    def inner(self, rows: Rows, seed: int, most: int) -> list[tuple[Rows, Rows]]:
        """The inner folds of training rows, of at most `most` rows; with times the latest of them.

        There are none where one group, or too few times, leave nothing to learn from.
        """
        y = rows.coded_y
        assert y is not None
        indices = np.arange(len(y))
        scheme = self
        if len(y) > most:
            indices = self._sample(y, most, seed)
            scheme = self.take(indices)
        n_folds = min(self.inner_folds, len(indices))
        most_folds = scheme.most_folds()
        if most_folds is not None:
            n_folds = min(n_folds, most_folds or 1)
        if n_folds < 2 and scheme.times is None:
            return []
        return [
            (rows.take(indices[train]), rows.take(indices[test]))
            for train, test in scheme.splits(y[indices], max(1, n_folds), seed)
        ]

    def held_out(self, y: np.ndarray, share: float, seed: int) -> Parts:
        """The rows to compare on and those that are held out, a share of them: the last, or whole
        groups, or at random."""
        if not share:
            rows = np.arange(len(y))
            return rows, rows[:0]
        if self.times is not None:
            limit = np.quantile(self.times, 1.0 - share, method="higher")
            later = self.times >= limit
            # so many rows are of the earliest time that nothing would be left to compare on
            if later.all():
                later = self.times > limit
            train = np.flatnonzero(~later)
            return self._without_shared_groups(train, np.flatnonzero(later), 0)
        if self.groups is not None:
            n_parts = max(2, round(1.0 / share))
            same_class = np.zeros(len(y), np.int64)
            fold = _group_folds(self.groups, same_class, n_parts, seed)
            return np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
        scheme = Holdout(test_size=share, stratify=self.stratify, random_state=seed)
        [(rest, held_out)] = scheme.split(y, y)
        return rest, held_out

    def _by_time(self, n_folds: int) -> Iterator[Parts]:
        """n + 1 stretches of about equal size; every one but the first is tested once."""
        assert self.times is not None
        order = np.argsort(self.times, kind="stable")
        sorted_times = self.times[order]
        ends = np.round(np.linspace(0, len(order), n_folds + 2)[1:-1]).astype(int)
        # a stretch begins with the first row of its time, so that equal times stay together
        starts = np.searchsorted(sorted_times, sorted_times[ends], side="left")
        starts = np.unique(starts)
        starts = starts[starts > 0]
        for number, (begin, end) in enumerate(zip(starts, [*starts[1:], len(order)])):
            train = np.sort(order[:begin])
            test = np.sort(order[begin:end])
            yield self._without_shared_groups(train, test, number)

    def _is_enough(self, y: np.ndarray) -> bool:
        """Whether there are rows of two classes, or a few numbers, to learn from."""
        return len(y) >= _FEWEST and (not self.stratify or len(np.unique(y)) > 1)

    def _without_shared_groups(
        self, train: np.ndarray, test: np.ndarray, number: int
    ) -> Parts:
        """Without the training rows whose group is tested; not all are where too few rows would
        stay."""
        if self.groups is None:
            return train, test
        earlier = np.isin(self.groups[test], self.groups[train])
        codes, counts = np.unique(self.groups[train], return_counts=True)
        rows_of = dict(zip(codes.tolist(), counts.tolist()))
        shared = np.unique(self.groups[test][earlier])
        # every fold begins a third further on, so that the folds test different groups
        shared = np.roll(shared, -(number * len(shared)) // 3)
        # groups are tested while at most half of the training rows is lost by it, one at least
        lost = np.cumsum([rows_of[code] for code in shared.tolist()])
        tested = shared[lost <= max(len(train) // 2, int(lost.min(initial=0)))]
        test = test[~earlier | np.isin(self.groups[test], tested)]
        return train[~np.isin(self.groups[train], tested)], test

    def _sample(self, y: np.ndarray, most: int, seed: int) -> np.ndarray:
        """About `most` rows: the latest, or whole groups, or at random."""
        if self.times is not None:
            return np.sort(np.argsort(self.times, kind="stable")[-most:])
        rng = np.random.default_rng(seed)
        if self.groups is None:
            return np.sort(rng.permutation(len(y))[:most])
        codes, counts = np.unique(self.groups, return_counts=True)
        drawn = rng.permutation(len(codes))
        # whole groups while their rows fit
        n = max(2, int(np.searchsorted(np.cumsum(counts[drawn]), most)))
        return np.flatnonzero(np.isin(self.groups, codes[drawn[:n]]))


def _group_folds(
    groups: np.ndarray, y: np.ndarray, n_folds: int, seed: int
) -> np.ndarray:
    """The fold of every row: the groups, largest first, each to where the classes become most
    even."""
    codes, group = np.unique(groups, return_inverse=True)
    # numbers, which have no classes, are all of one
    if y.dtype.kind != "i":
        y = np.zeros(len(y), dtype=np.int64)
    n_classes = int(y.max(initial=0)) + 1
    counts = np.zeros((len(codes), n_classes))  # rows of every class in every group
    np.add.at(counts, (group, y), 1.0)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]
    n_rows = np.maximum(counts.sum(axis=0), 1.0)
    filled = np.zeros((n_folds, n_classes))
    fold_of = np.zeros(len(codes), dtype=np.int64)
    for code in order:
        # a group goes where Σ over folds and classes of (share of the class in the fold)² grows
        # least, which is smallest where all shares are equal
        before = (filled / n_rows) ** 2
        growth = (((filled + counts[code]) / n_rows) ** 2 - before).sum(axis=1)
        fold_of[code] = int(growth.argmin())
        filled[fold_of[code]] += counts[code]
    return fold_of[group]


def take_rows(values: np.ndarray | None, indices: np.ndarray) -> np.ndarray | None:
    """The values of some of the rows; None without values."""
    if values is None:
        return None
    return values[indices]


# -- how many folds --------------------------------------------------------------------


def fold_counts(recipe: Recipe, n: int, is_hasty: bool = False) -> tuple[int, int]:
    """The number of folds of n rows, and how often they are drawn; groups and times may allow
    fewer. In haste, as with little time, there are five."""
    is_free = recipe.group is None and recipe.time is None
    is_hasty = is_hasty or (recipe.budget_minutes or _HASTE) < _HASTE
    many = n >= _FEW_ROWS or (is_free and is_hasty and n >= _ENOUGH_ROWS)
    wanted = recipe.folds or (5 if many else 10)
    if recipe.folds and wanted > n:
        raise StudyError(f"folds = {wanted}: there are {n} rows; give fewer folds")
    if n >= _TINY:
        return wanted, recipe.repeats
    # few rows: fewer folds, drawn several times
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
        begin = f"There are only {n} rows"
        still = ""
        if repeats > 1:
            still = "still "
            begin += f": {folds} folds were drawn {repeats} times, so that less hangs on one draw"
        if data.task == "regression":
            notes.append(f"{begin}; the order of the learners may {still}be chance.")
        else:
            half = error_interval(n // 2, n)
            notes.append(
                f"{begin}. An error rate measured on {n} rows is known to about ±"
                f" {50 * (half.high - half.low):.0f} percentage points only, and the order of the"
                " learners may be chance."
            )
    if data.task == "classification":
        counts = np.bincount(data.y[compared])
        smallest = int(counts[counts > 0].min())
        if smallest < folds:
            tests = ""
            # folds by groups or times are not stratified exactly
            if not (recipe.group or recipe.time):
                left = folds - smallest
                test = by_count(left, "tests", "test")
                tests = f"of {folds} folds, {left} {test} no row of it, and "
            notes.append(
                f"The smallest class has {show_count(smallest, 'row')}: {tests}its errors say"
                " little."
            )
    return notes


def limited_folds(
    recipe: Recipe, folds: int, scheme: FoldScheme, y: np.ndarray
) -> tuple[int, int, tuple[str, ...]]:
    """The number of folds that groups and times allow, how many are drawn, and what to know about
    them."""
    notes = []
    most = scheme.most_folds()
    if most is not None and most < folds:
        what = "times" if recipe.group is None else "groups"
        wanted = folds
        folds = max(1, most)
        there = by_count(folds, "There is 1 fold", f"There are {folds} folds")
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
        notes += _time_notes(recipe, folds, parts, scheme, y)
        return len(parts), folds, tuple(notes)
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
        what = "two classes"
        if recipe.group is not None:
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
            f"{left} of the {wanted} folds {by_count(left, 'was', 'were')} left out, because too"
            " few rows came before to learn from."
        )
    # the same folds without groups test every row but the earliest
    by_time = replace(scheme, groups=None).splits(y, wanted, 0)
    tested = sum(len(test) for _, test in parts)
    if recipe.group is not None and tested < sum(len(test) for _, test in by_time):
        notes.append(
            f"Groups of {recipe.group!r} go on over time: a fold tests some of them and learns from"
            f" the earlier rows of the others, so that {tested:,} of the {len(y):,} rows are"
            " tested."
        )
    return notes
