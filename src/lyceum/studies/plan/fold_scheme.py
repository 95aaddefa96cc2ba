"""How rows are divided into training and test rows: at random, by groups, or in the order of
time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.data import Rows
from lyceum.evaluate import Holdout, StratifiedFolds

_FEWEST = 5  # rows to learn from
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
        if self.groups is None:
            groups = None
        else:
            groups = self.groups[indices]
        if self.times is None:
            times = None
        else:
            times = self.times[indices]
        return replace(self, groups=groups, times=times)

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
            fold = _group_folds(
                self.groups,
                y if self.stratify else np.zeros(len(y), np.int64),
                n_folds,
                seed,
            )
            for number in range(n_folds):
                yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        else:
            yield from StratifiedFolds(
                n_folds, stratify=self.stratify, random_state=seed
            ).split(y, y)

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
        n_folds = min(
            self.inner_folds,
            len(indices),
            *([scheme.most_folds() or 1] * scheme._is_limited),
        )
        if n_folds < 2 and scheme.times is None:
            return []
        return [
            (rows.take(indices[train]), rows.take(indices[test]))
            for train, test in scheme.splits(y[indices], max(1, n_folds), seed)
        ]

    def held_out(self, y: np.ndarray, share: float, seed: int) -> Parts:
        """The rows to compare on and those that are held out: the last, or whole groups, or at
        random."""
        if self.times is not None:
            limit = np.quantile(self.times, 1.0 - share, method="higher")
            if (self.times < limit).any():
                later = self.times >= limit
            else:
                later = self.times > limit
            return self._without_shared_groups(
                np.flatnonzero(~later), np.flatnonzero(later), 0
            )
        if self.groups is not None:
            fold = _group_folds(
                self.groups,
                np.zeros(len(y), np.int64),
                max(2, round(1.0 / share)),
                seed,
            )
            return np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
        scheme = Holdout(test_size=share, stratify=self.stratify, random_state=seed)
        [(rest, held_out)] = scheme.split(y, y)
        return rest, held_out

    @property
    def _is_limited(self) -> bool:
        return self.groups is not None or self.times is not None

    def _by_time(self, n_folds: int) -> Iterator[Parts]:
        """n + 1 stretches of about equal size; every one but the first is tested once."""
        assert self.times is not None
        order = np.argsort(self.times, kind="stable")
        sorted_times = self.times[order]
        ends = np.round(np.linspace(0, len(order), n_folds + 2)[1:-1]).astype(int)
        starts = np.unique(
            np.searchsorted(sorted_times, sorted_times[ends], side="left")
        )
        starts = starts[starts > 0]
        for number, (begin, end) in enumerate(zip(starts, [*starts[1:], len(order)])):
            yield self._without_shared_groups(
                np.sort(order[:begin]), np.sort(order[begin:end]), number
            )

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
        shared = np.roll(shared, -(number * len(shared)) // 3)
        lost = np.cumsum([rows_of[code] for code in shared.tolist()])
        tested = shared[lost <= max(len(train) // 2, int(lost.min(initial=0)))]
        test = test[~earlier | np.isin(self.groups[test], tested)]
        return train[~np.isin(self.groups[train], tested)], test

    def _sample(self, y: np.ndarray, most: int, seed: int) -> np.ndarray:
        if self.times is not None:
            return np.sort(np.argsort(self.times, kind="stable")[-most:])
        rng = np.random.default_rng(seed)
        if self.groups is None:
            return np.sort(rng.permutation(len(y))[:most])
        codes, counts = np.unique(self.groups, return_counts=True)
        drawn = rng.permutation(len(codes))
        n = max(2, int(np.searchsorted(np.cumsum(counts[drawn]), most)))
        return np.flatnonzero(np.isin(self.groups, codes[drawn[:n]]))


def _group_folds(
    groups: np.ndarray, y: np.ndarray, n_folds: int, seed: int
) -> np.ndarray:
    """The fold of every row: the groups, largest first, each to where the classes become most
    even."""
    codes, group = np.unique(groups, return_inverse=True)
    if y.dtype.kind == "i" and len(y):
        n_classes = int(y.max()) + 1
    else:
        n_classes = 1
    counts = np.zeros((len(codes), n_classes))
    np.add.at(
        counts, (group, y if n_classes > 1 else np.zeros(len(y), dtype=np.int64)), 1.0
    )
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]
    total = np.maximum(counts.sum(axis=0), 1.0)
    filled = np.zeros((n_folds, n_classes))
    fold_of = np.zeros(len(codes), dtype=np.int64)
    for one in order:
        # filling the emptiest fold least: Σ over classes of the squared share that it would have
        after = (((filled + counts[one]) / total) ** 2 - (filled / total) ** 2).sum(
            axis=1
        )
        fold_of[one] = int(after.argmin())
        filled[fold_of[one]] += counts[one]
    return fold_of[group]
