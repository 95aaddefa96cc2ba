"""Is one learner better than another? Permutation tests over rows, for one pair and for many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import special

from lyceum._core.statistics import weighted_mean
from lyceum.evaluate import corrected_t, holm, mcnemar
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.trials import Trial, by_row, sum_by_group

LEVEL = 0.5  # standard errors of the difference, within which two learners are level
MARGIN = 0.01  # of the loss: a difference that nobody would notice
UNSEEN = 1e-6  # of the constant guess's loss: a difference that no table resolves
_ALPHA = 0.05
_FEWEST_ROWS = 6  # below, even differences of one sign have p > 0.03
_FEW = 12  # up to so many differences all patterns of signs are tried
_FLIPS = 4_999
_CELLS = 1 << 15  # signs drawn at once, that stay in the cache
_MANY_ROWS = 2_000  # from here on the sum of random signs is normal
# of the larger loss, as a share: below, the loss of a fold counts as this
_SMALLEST = 1e-12


def is_shown(p: float | None) -> bool:
    """Whether a difference is more than chance would make."""
    return p is not None and p < _ALPHA


def sign_flip(differences: np.ndarray, seed: int = 0) -> float:
    """The two-sided p-value of a mean difference of pairs, by flipping the signs of the pairs at
    random.

    If neither of two learners is better, every difference is as likely to have the other sign
    (Fisher's randomisation test). Up to 12 differences all signs are tried, up to 2,000 a random
    4,999 of them; for more, the sum is normal with variance Σ d².

    >>> sign_flip(np.array([3.0, 1.0, 2.0, 5.0, 1.0, 1.0]))
    0.03125
    """
    d = differences[differences != 0.0]
    n = len(d)
    if n == 0:
        return 1.0
    total = abs(float(d.sum()))
    spread = float(np.sqrt(d @ d))
    if n > _MANY_ROWS:
        return float(2.0 * special.ndtr(-total / spread))
    # sums that are equal but for rounding count as equal
    extreme = total - 1e-9 * float(np.abs(d).sum())
    if n <= _FEW:
        return float(np.mean(np.abs(_all_signs(n) @ d) >= extreme))
    # Σ ± d = 2 Σ (d with a plus) − Σ d
    sums = 2.0 * _random_sums(d, seed) - d.sum()
    n_extreme = int(np.count_nonzero(np.abs(sums) >= extreme))
    # the differences as they are count as one of the patterns, so that p is never 0
    return (1.0 + n_extreme) / (_FLIPS + 1.0)


def _all_signs(n: int) -> np.ndarray:
    """All patterns of n signs: the bits of 0, …, 2ⁿ − 1."""
    return 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def _random_sums(d: np.ndarray, seed: int) -> np.ndarray:
    """The sums of random halves of the differences (of every column); a difference is in if a
    random byte has its top bit."""
    raw = np.random.PCG64(seed).random_raw
    n = len(d)
    sums = np.empty((_FLIPS, *d.shape[1:]))
    most = 8 * max(1, _CELLS // (8 * n))  # rows of whole 64-bit words
    for start in range(0, _FLIPS, most):
        rows = min(most, _FLIPS - start)
        # eight bytes per word, in the same order on machines of either byte order
        words = raw(-(-rows * n // 8)).astype("<u8", copy=False)
        bits = words.view(np.uint8)[: rows * n] >> 7
        sums[start : start + rows] = bits.reshape(rows, n).astype(np.float64) @ d
    return sums


def max_t(differences: np.ndarray, seed: int = 0) -> list[float]:
    """The p-values of the mean of every column of differences, corrected for looking at all of
    them.

    A pattern of signs is drawn for all columns at once, so that learners that err on the same rows
    count as the few questions that they are; the largest |Σ d| / √(Σ d²) of a pattern is what
    chance makes, and the columns are taken in steps, the largest first (Westfall and Young's
    step-down max-T). Holm's correction assumes the worst of sixteen learners, this does not. For
    more than 2,000 rows the sums are drawn as normal numbers with the correlations of the columns.

    >>> d = np.array([3.0, 1.0, 2.0, 5.0, 1.0, 1.0])
    >>> max_t(np.column_stack([d, d]))
    [0.03125, 0.03125]
    """
    spread = np.sqrt((differences**2).sum(axis=0))
    d = differences / np.where(spread > 0.0, spread, 1.0)
    observed = np.abs(d.sum(axis=0))
    chance = np.abs(_flipped_sums(d, seed))
    # the floor of a random sample of patterns: the observed one counts as one of them
    is_sample = len(d) > _FEW
    order = np.argsort(-observed, kind="stable")
    p_values = np.ones(len(observed))
    largest = np.zeros(len(chance))
    # from the smallest on, the largest of a pattern among the columns that are not yet decided
    for j in order[::-1]:
        largest = np.maximum(largest, chance[:, j])
        n_extreme = np.count_nonzero(largest >= observed[j] * (1.0 - 1e-9))
        p_values[j] = (n_extreme + is_sample) / (len(chance) + is_sample)
    p_values[observed == 0.0] = 1.0
    # a smaller difference never has the smaller p
    p_values[order] = np.maximum.accumulate(p_values[order])
    return p_values.tolist()


def _flipped_sums(d: np.ndarray, seed: int) -> np.ndarray:
    """The sums of the columns under patterns of signs: (patterns, columns)."""
    n, n_columns = d.shape
    if n <= _FEW:
        return _all_signs(n) @ d
    if n <= _MANY_ROWS:
        return 2.0 * _random_sums(d, seed) - d.sum(axis=0)
    # Σ ± d is normal with covariance dᵀd; its root by eigenvalues, as columns may be equal
    values, vectors = np.linalg.eigh(d.T @ d)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.random.default_rng(seed).normal(size=(_FLIPS, n_columns)) @ root.T


def smallest_p(n: int) -> float:
    """The smallest p-value that a permutation test on n differences can have."""
    return 2.0 / 2**n if n <= _FEW else 1.0 / (_FLIPS + 1)


def name_of_test(sample: OutOfSample, rule: LossRule) -> str:
    """The test of learners on these rows, in words; empty where there are too few for one."""
    n = n_units(sample)
    if n < _FEWEST_ROWS:
        return ""
    what = "rows" if sample.groups is None else "groups of rows"
    losses = "absolute and squared errors" if rule.is_root else "losses"
    return f"permutation test on the {losses} of {n:,} {what}"


def n_units(sample: OutOfSample) -> int:
    """How many rows, or groups of rows, are independent of each other."""
    units = sample.rows if sample.groups is None else sample.groups
    return len(np.unique(units))


def fold_loss_p(rule: LossRule, one: Trial, best: Trial) -> float | None:
    """The corrected resampled t test; squared errors by their logarithms, so that no outlier
    decides alone.

    Where the logarithms point the other way than the losses themselves, nothing is shown.
    """
    first = one.fold_losses[best.known]
    second = best.fold_losses[best.known]
    if len(first) < 2:
        return None
    if rule.n_classes is None:
        # a loss of 0 has no logarithm
        least = np.maximum(
            _SMALLEST * np.maximum(first, second), np.finfo(np.float64).tiny
        )
        first = np.log(np.maximum(first, least))
        second = np.log(np.maximum(second, least))
    # training sets of folds overlap: the variance has n_test / n_train besides 1 / n_folds
    test = corrected_t(first, second, test_to_train=best.test_to_train)
    is_opposite = test.mean * (one.losses.mean() - best.losses.mean()) < 0
    return 1.0 if is_opposite else test.p_value


def _row_differences(one: Trial, other: Trial, rule: LossRule) -> np.ndarray:
    """The weighted differences of the losses of the same rows, each the mean over repeats; of whole
    groups: (units, tests).

    Squared errors are compared as they are and by their roots: squares miss a difference that all
    rows but an outlier show, roots one that lies in the large errors. If neither learner is better,
    both are as likely to have the other sign. Where roots point the other way than the squares, by
    which learners are ranked, they show nothing.
    """
    first, w = by_row(one.sample, one.losses)
    second, _ = by_row(other.sample, other.losses)
    losses = sum_by_group(one.sample, (first - second) * w)
    if not rule.is_root:
        return losses[:, None]
    roots = sum_by_group(one.sample, (np.sqrt(first) - np.sqrt(second)) * w)
    if losses.sum() * roots.sum() < 0.0:
        roots = np.zeros(len(roots))
    return np.column_stack([losses, roots])


def row_loss_p(rule: LossRule, one: Trial, other: Trial) -> float | None:
    """The permutation test on the losses of the same rows, or of whole groups."""
    return row_losses_p([one], other, rule)[0]


def row_losses_p(
    trials: Sequence[Trial], other: Trial, rule: LossRule
) -> list[float | None]:
    """The permutation test of several learners against the same other one, corrected for their
    number (and for two tests of each) by `max_t`."""
    if not trials or n_units(other.sample) < _FEWEST_ROWS:
        return [None] * len(trials)
    differences = [_row_differences(trial, other, rule) for trial in trials]
    p_values = np.array(max_t(np.column_stack(differences)))
    return list(p_values.reshape(len(trials), -1).min(axis=1).tolist())


def difference_error(one: Trial, best: Trial, rule: LossRule) -> float:
    """The standard error of the difference of two losses as they are ranked by, row by row (over
    groups).

    RMSE is the root of a mean m, and changes by l / 2 √m for a change l of a row's loss.
    """
    first, w = by_row(one.sample, one.losses)
    second, _ = by_row(best.sample, best.losses)
    if rule.is_root:
        least = np.finfo(np.float64).tiny
        roots = [np.sqrt(np.average(losses, weights=w)) for losses in (first, second)]
        first = first / max(2.0 * roots[0], least)
        second = second / max(2.0 * roots[1], least)
    return _mean_error(one.sample, first - second, w)[1]


def standard_errors_behind(
    sample: OutOfSample, losses: np.ndarray, best: np.ndarray
) -> float:
    """How far the mean loss is above that of the best, in standard errors of the difference.

    The difference is taken row by row (over groups): learners err on the same rows, so that it is
    known far better than the losses themselves, and a learner that is clearly worse is far behind.
    """
    first, w = by_row(sample, losses)
    second, _ = by_row(sample, best)
    mean, spread = _mean_error(sample, first - second, w)
    if mean <= 0.0:
        return 0.0
    # every row is worse by the same
    if spread <= _SMALLEST * mean:
        return np.inf
    return mean / spread


def _mean_error(
    sample: OutOfSample, differences: np.ndarray, w: np.ndarray
) -> tuple[float, float]:
    """The mean of differences of rows, and its standard error over rows or groups."""
    # s² = n / (n − 1) Σ d² / (Σ w)², with d = w (difference − mean) of a row or summed over a group
    mean = float(np.average(differences, weights=w))
    d = sum_by_group(sample, (differences - mean) * w)
    n = len(d)
    return mean, float(np.sqrt(d @ d * n / max(1, n - 1))) / float(w.sum())


def is_level(one: Trial, best: Trial, rule: LossRule, guess: float = 0.0) -> bool:
    """Whether a learner is behind the best by at most half a standard error, or by too little to
    matter: 1 % of the loss, a millionth of the constant guess's loss, or one row of errors."""
    first = float(weighted_mean(one.losses, one.sample.weight))
    second = float(weighted_mean(best.losses, best.sample.weight))
    margin = MARGIN * abs(second)
    if rule.is_root:
        first = float(np.sqrt(first))
        second = float(np.sqrt(second))
        margin = MARGIN * second
    elif rule.is_rate:
        margin = max(margin, 1.0 / n_units(one.sample))
    margin = max(margin, UNSEEN * guess)
    if first - second <= margin * (1.0 + 1e-9):
        return True
    return standard_errors_behind(one.sample, one.losses, best.losses) <= LEVEL


def mcnemar_p(one: Trial, best: Trial, rule: LossRule) -> float | None:
    """McNemar's test on the first repeat: right is an action that names the true class.

    None with groups, whose rows are not independent of each other.
    """
    if rule.n_classes is None or one.sample.groups is not None:
        return None
    right = _are_right(one, rule)
    best_right = _are_right(best, rule)
    test = mcnemar(
        only_first_wrong=int((~right & best_right).sum()),
        only_second_wrong=int((right & ~best_right).sum()),
    )
    return test.p_value


def _are_right(trial: Trial, rule: LossRule) -> np.ndarray:
    first = trial.sample.repeats == 0
    assert trial.decided is not None
    return rule.named_class(trial.decided[first]) == trial.sample.y[first]


def holm_of_known(p: Sequence[float | None]) -> list[float | None]:
    """Holm's p-values of those that are known."""
    corrected = iter(holm([value for value in p if value is not None]))
    return [None if value is None else next(corrected) for value in p]


def against_baseline(
    trials: Mapping[str, Trial], rule: LossRule
) -> dict[str, float | None]:
    """For every learner the p-value of its difference from the constant guess, corrected for
    their number.

    By rows, or by whole groups of rows: a constant guess has no luck in its training rows that
    folds would have to show.
    """
    baseline = next(
        (trial for trial in trials.values() if trial.candidate.is_baseline), None
    )
    names = [name for name, trial in trials.items() if not trial.candidate.is_baseline]
    if baseline is None:
        return dict.fromkeys(names)
    p_values = row_losses_p([trials[name] for name in names], baseline, rule)
    return dict(zip(names, p_values))
