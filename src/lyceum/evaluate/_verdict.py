"""Underfitting, overfitting, or neither: training and test loss read against a constant guess."""

from __future__ import annotations

from dataclasses import dataclass

from lyceum.evaluate._shown import Shown
from lyceum.report import Summary

__all__ = ["FitVerdict", "fit_verdict"]

_LOST = (
    1.0 / 3.0
)  # share of the gain on training rows that new rows do not see, above which it is overfitting
_GAINED = 1.0 / 4.0  # share of the baseline's loss removed on training rows, below which it is underfitting


@dataclass(frozen=True, slots=True)
class FitVerdict(Shown):
    """Underfitting, overfitting, or neither, and why."""

    word: str  # "underfitting", "overfitting" or "balanced"
    reason: str
    gap: float

    def summary(self) -> Summary:
        return Summary(f"{self.word}: {self.reason}")


def fit_verdict(
    train_loss: float, test_loss: float, baseline: float, standard_error: float = 0.0
) -> FitVerdict:
    """Read training and test loss against the loss of a constant guess.

    With gap = test - train, and gain = baseline - train what the model removes on the rows it learned from:
    overfitting when the gap is above two standard errors and above a third of the gain; else underfitting
    when the gain is below a quarter of the baseline, or the test loss is not below the baseline; else
    balanced.

    Parameters
    ----------
    train_loss, test_loss : float
    baseline : float
        Loss of the best constant: the majority class or the mean.
    standard_error : float, default=0.0
        Of the test loss.

    Examples
    --------
    >>> fit_verdict(0.0, 0.3, baseline=0.5).word
    'overfitting'
    >>> fit_verdict(0.45, 0.46, baseline=0.5).word
    'underfitting'
    >>> fit_verdict(0.1, 0.12, baseline=0.5).word
    'balanced'
    """
    gap, gain = test_loss - train_loss, baseline - train_loss
    numbers = f"loss {train_loss:.3g} on training rows, {test_loss:.3g} on new, {baseline:.3g} by a constant"
    if gap > 2.0 * standard_error and gap > _LOST * max(gain, 0.0) and gap > 0.0 and gain > 0.0:
        return FitVerdict("overfitting", f"{numbers}; simplify, regularise, or find more rows", gap)
    if gain <= 0.0 or gain < _GAINED * baseline or test_loss >= baseline:
        if baseline == 0.0 and test_loss == 0.0:
            return FitVerdict("balanced", f"{numbers}; a constant is enough", gap)
        return FitVerdict("underfitting", f"{numbers}; a richer model or better columns are needed", gap)
    return FitVerdict("balanced", numbers, gap)
