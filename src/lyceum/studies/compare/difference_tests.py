"""Is one learner better than another? A test that fits the number of folds and rows, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from lyceum.evaluate import corrected_t, mcnemar
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.trials import Trial, by_row, sum_by_group

LEVEL = 0.5  # standard errors of the difference, within which two learners are level
_ALPHA = 0.05
# with fewer, a t test over folds sees no difference at all (2 folds: t must exceed 12.7)
_FEWEST_FOLDS = 5
_FEWEST_FOLD_ROWS = 5  # a fold of fewer rows has no loss to speak of
_FEWEST_ROWS = 6  # below, even differences of one sign have p > 0.03
_FLIPS = 4_999
_CELLS = 1 << 15  # signs drawn at once, that stay in the cache
_MANY_ROWS = 2_000  # from here on the sum of random signs is normal
# of the larger loss, as a share: below, the loss of a fold counts as this
_SMALLEST = 1e-12


def is_shown(p: float | None) -> bool:
    """Whether a difference is more than chance would make."""
    return p is not None and p < _ALPHA


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down p-values: the i-th smallest of m times m - i + 1, never below a smaller
    one's.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    # the i-th smallest of m p-values (i from 0) counts m − i times
    for i, index in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - i) * p[index]))
        adjusted[index] = largest
    return adjusted


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
        return float(2.0 * stats.norm.sf(total / spread))
    # sums that are equal but for rounding count as equal
    extreme = total - 1e-9 * float(np.abs(d).sum())
    if n <= 12:
        # the bits of 0, …, 2ⁿ − 1 are all patterns of signs
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float(np.mean(np.abs(signs @ d) >= extreme))
    # Σ ± d = 2 Σ (d with a plus) − Σ d
    sums = 2.0 * _random_sums(d, seed) - d.sum()
    n_extreme = int(np.count_nonzero(np.abs(sums) >= extreme))
    # the differences as they are count as one of the patterns, so that p is never 0
    return (1.0 + n_extreme) / (_FLIPS + 1.0)


def _random_sums(d: np.ndarray, seed: int) -> np.ndarray:
    """The sums of random halves of the differences; a difference is in if a random byte has its top
    bit."""
    raw = np.random.PCG64(seed).random_raw
    n = len(d)
    sums = np.empty(_FLIPS)
    most = 8 * max(1, _CELLS // (8 * n))  # rows of whole 64-bit words
    for start in range(0, _FLIPS, most):
        rows = min(most, _FLIPS - start)
        # eight bytes per word, in the same order on machines of either byte order
        words = raw(-(-rows * n // 8)).astype("<u8", copy=False)
        bits = words.view(np.uint8)[: rows * n] >> 7
        sums[start : start + rows] = bits.reshape(rows, n).astype(np.float64) @ d
    return sums


@dataclass(frozen=True, slots=True)
class DifferenceTest:
    """How learners are tested against the best: the name of the test, and its p-value for a
    pair."""

    name: str
    p_value: Callable[[Trial, Trial], float | None]

    @classmethod
    def choose(cls, trial: Trial, rule: LossRule) -> DifferenceTest:
        """The test that fits the folds of a study."""
        n_folds = len(trial.fold_losses)
        groups = trial.sample.groups
        n_units = len(np.unique(trial.sample.rows if groups is None else groups))
        rows_per_fold = len(trial.sample.rows) / n_folds
        if n_folds >= _FEWEST_FOLDS and rows_per_fold >= _FEWEST_FOLD_ROWS:
            is_number = rule.n_classes is None
            what = "logarithms of the losses" if is_number else "losses"
            return cls(
                f"corrected resampled t test on the {what} of {n_folds} folds",
                partial(fold_loss_p, rule),
            )
        if n_units >= _FEWEST_ROWS:
            what = "rows" if groups is None else "groups of rows"
            return cls(
                f"permutation test on the losses of {n_units:,} {what}", row_loss_p
            )
        return cls("", lambda learner, best: None)


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


def row_loss_p(one: Trial, other: Trial) -> float | None:
    """The permutation test on the losses of the same rows, each the mean over repeats; of whole
    groups."""
    first, w = by_row(one.sample, one.losses)
    second, _ = by_row(other.sample, other.losses)
    differences = sum_by_group(one.sample, (first - second) * w)
    if len(differences) < _FEWEST_ROWS:
        return None
    return sign_flip(differences)


def standard_errors_behind(
    sample: OutOfSample, losses: np.ndarray, best: np.ndarray
) -> float:
    """How far the mean loss is above that of the best, in standard errors of the difference.

    The difference is taken row by row (over groups): learners err on the same rows, so that it is
    known far better than the losses themselves, and a learner that is clearly worse is far behind.
    """
    first, w = by_row(sample, losses)
    second, _ = by_row(sample, best)
    # s² = n / (n − 1) Σ d² / (Σ w)², with d = w (difference − mean) of a row or summed over a group
    mean = float(np.average(first - second, weights=w))
    d = sum_by_group(sample, (first - second - mean) * w)
    spread = float(np.sqrt(d @ d * len(d) / max(1, len(d) - 1))) / float(w.sum())
    if mean <= 0.0:
        return 0.0
    # every row is worse by the same
    if spread <= _SMALLEST * mean:
        return np.inf
    return mean / spread


def is_level(one: Trial, best: Trial) -> bool:
    """Whether a learner is behind the best by at most half a standard error."""
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


def against_baseline(trials: Mapping[str, Trial]) -> dict[str, float | None]:
    """For every learner the p-value of its difference from the constant guess, by Holm over the
    learners.

    By rows, or by whole groups of rows: a constant guess has no luck in its training rows that
    folds would have to show.
    """
    baseline = next(
        (trial for trial in trials.values() if trial.candidate.is_baseline), None
    )
    names = [name for name, trial in trials.items() if not trial.candidate.is_baseline]
    if baseline is None:
        return dict.fromkeys(names)
    p_values = [row_loss_p(trials[name], baseline) for name in names]
    return dict(zip(names, holm_of_known(p_values)))
