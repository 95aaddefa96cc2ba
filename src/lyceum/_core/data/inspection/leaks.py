"""Leaks: columns that give the target away, judged on a sample of the rows."""

from __future__ import annotations

import numpy as np

from lyceum._core.data.inspection.quality import Flag, SampledColumn

_FEW = 64  # distinct numbers up to which each is a group of rows
_GROUP = 5  # rows that a group needs before its purity says anything
_ENOUGH = 30  # rows that a verdict on a leak needs
# from which a column alone tells the target nearly, and from which almost perfectly
_AUC = (0.985, 0.995)
_CHANGES = (0.95, 0.98)
_ENTROPY = (0.95, 0.98)
_VARIANCE = (0.96, 0.99)
_LINEAR = (0.98, 0.995)
_MONOTONE = (0.985, 0.998)


def leak(column: SampledColumn, target: SampledColumn, is_class: bool) -> Flag | None:
    """A flag if the column alone tells the target almost perfectly."""
    labeled = target.codes >= 0
    has_missing = column.sampled_present < len(column)
    if np.count_nonzero(labeled) < _ENOUGH or column.sampled_distinct + has_missing < 2:
        return None
    if is_class:
        how = _class_leak(column, target.codes, labeled)
    else:
        assert target.values is not None
        how = _number_leak(column, target.values, labeled)
    if how is None:
        return None
    share, (_, perfect), text = how
    degree = "almost perfectly" if share >= perfect else "nearly"
    return Flag(
        "leak",
        f"alone tells the target {degree} ({text}): is it known before the target is?",
    )


# how much of the target a column tells, the limits of that measure, and in words
_Told = tuple[float, tuple[float, float], str]


def _class_leak(
    column: SampledColumn, target: np.ndarray, labeled: np.ndarray
) -> _Told | None:
    values = column.values
    if values is not None and target.max() == 1:
        area = _auc(values[labeled], target[labeled])
        if area is not None and max(area, 1 - area) >= _AUC[0]:
            area = max(area, 1 - area)
            return area, _AUC, f"AUC {area:.4f}"
    if values is not None and column.sampled_distinct > _FEW:
        saved = _changes_saved(values[labeled], target[labeled])
        if saved is not None and saved >= _CHANGES[0]:
            text = f"sorted by it, {saved:.1%} of the changes of class are gone"
            return saved, _CHANGES, text
        return None
    # missing cells, of code -1, are a group of their own
    explained = _entropy_explained(column.codes[labeled] + 1, target[labeled])
    if explained is not None and explained >= _ENTROPY[0]:
        return explained, _ENTROPY, f"{explained:.1%} of its entropy"
    return None


def _number_leak(
    column: SampledColumn, target: np.ndarray, labeled: np.ndarray
) -> _Told | None:
    if column.values is None:
        explained = _variance_explained(column.codes[labeled] + 1, target[labeled])
        if explained is not None and explained >= _VARIANCE[0]:
            return explained, _VARIANCE, f"{explained:.1%} of its variance"
        return None
    both = labeled & np.isfinite(column.values) & np.isfinite(target)
    if both.sum() < _ENOUGH:
        return None
    x = column.values[both]
    y = target[both]
    linear = _correlation(x, y)
    if abs(linear) >= _LINEAR[0]:
        return abs(linear), _LINEAR, f"correlation {linear:.4f}"
    # Spearman's, for a target that is a curve of the column
    monotone = _correlation(_ranks(x), _ranks(y))
    if abs(monotone) >= _MONOTONE[0]:
        return abs(monotone), _MONOTONE, f"rank correlation {monotone:.4f}"
    return None


def _changes_saved(values: np.ndarray, target: np.ndarray) -> float | None:
    """How many fewer changes of class there are from row to row in the order of the numbers than by
    chance.

    By chance a neighbor is of another class with probability 1 - sum p_k^2. Equal numbers stand in
    random order among themselves, and so do missing values, which come last.
    """
    shares = np.bincount(target) / len(target)
    expected = (len(target) - 1) * (1 - float(shares @ shares))
    if expected < 15:
        return None
    # a random order first, then a stable sort: ties keep the random order
    mixed = np.random.default_rng(0).permutation(len(target))
    order = mixed[np.argsort(values[mixed], kind="stable")]
    n_changes = np.count_nonzero(np.diff(target[order]))
    return 1 - n_changes / expected


def _entropy_explained(groups: np.ndarray, target: np.ndarray) -> float | None:
    """1 - H(T|G)/H(T) over groups with enough rows, if those hold most rows."""
    # counts of rows by group and class; H(T|G) sums the entropies of its rows
    n_groups = groups.max() + 1
    n_classes = target.max() + 1
    table = np.zeros((n_groups, n_classes))
    np.add.at(table, (groups, target), 1.0)
    table = table[table.sum(axis=1) >= _GROUP]
    if table.sum() < 0.5 * len(groups):
        return None
    before = _entropy(table.sum(axis=0))
    if before == 0:
        return None
    return 1 - sum(map(_entropy, table)) / before


def _entropy(counts: np.ndarray) -> float:
    """n times the entropy of the counts, in nats."""
    counts = counts[counts > 0]
    if len(counts) < 2:
        return 0.0
    # n H = n log n - sum n_k log n_k
    n = counts.sum()
    inside = (counts * np.log(counts)).sum()
    return float(n * np.log(n) - inside)


def _variance_explained(groups: np.ndarray, target: np.ndarray) -> float | None:
    """The correlation ratio eta² over groups with enough rows, if those hold most rows."""
    size = np.bincount(groups)
    keep = (size[groups] >= _GROUP) & np.isfinite(target)
    if keep.sum() < max(_ENOUGH, 0.5 * len(groups)):
        return None
    groups = groups[keep]
    target = target[keep]
    # eta² = 1 - (squares around the group means) / (squares around the mean)
    deviations = target - target.mean()
    total_squares = float((deviations**2).sum())
    if total_squares == 0:
        return None
    size = np.bincount(groups)
    mean = np.bincount(groups, target) / np.maximum(size, 1)
    residuals = target - mean[groups]
    within_squares = float((residuals**2).sum())
    return 1 - within_squares / total_squares


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties at their mean."""
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    # a value with c ties whose last has rank r: the mean of r - c + 1 to r is r - (c - 1) / 2
    return (np.cumsum(count) - (count - 1) / 2)[inverse]


def _auc(values: np.ndarray, target: np.ndarray) -> float | None:
    """The chance that a row of class 1 has the larger value: the rank-sum statistic over n0·n1."""
    present = ~np.isnan(values)
    values = values[present]
    positive = target[present] == 1
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    mostly_missing = len(values) < 0.5 * len(present)
    if min(n0, n1) < _GROUP or mostly_missing:
        return None
    # U = (ranks of class 1) - n1 (n1 + 1) / 2, the pairs that are in order
    pairs_in_order = _ranks(values)[positive].sum() - n1 * (n1 + 1) / 2
    return float(pairs_in_order / (n0 * n1))


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    x = _unit(x)
    y = _unit(y)
    norm = float(np.sqrt(x @ x) * np.sqrt(y @ y))
    if norm > 0:
        return float(x @ y) / norm
    return 0.0


def _unit(x: np.ndarray) -> np.ndarray:
    """Centered and at most 1 in size, so that squares are numbers whatever the scale."""
    x = x / (np.abs(x).max(initial=0.0) or 1.0)
    x = x - x.mean()
    return x / (np.abs(x).max(initial=0.0) or 1.0)
