"""Underfitting, overfitting, or neither: training and test loss compared with the best constant."""

from __future__ import annotations

from dataclasses import dataclass

from lyceum.evaluate.printable import Printable
from lyceum.report import Summary

_SLIGHT = 0.1  # share of the baseline below which a gap does not matter
# share of the baseline removed on training rows, below which it is underfitting
_GAINED = 0.25


@dataclass(frozen=True, slots=True)
class FitVerdict(Printable):
    """Underfitting, overfitting, or neither, and why.

    Attributes
    ----------
    word : {"underfitting", "overfitting", "balanced"}
        The verdict.
    reason : str
        The losses behind it, and what to do.
    gap : float
        Test loss minus training loss.

    See Also
    --------
    fit_verdict : Makes it from losses.
    LearningCurve, ValidationCurve : Curves with such verdicts.

    Examples
    --------
    >>> from lyceum.evaluate import fit_verdict
    >>> verdict = fit_verdict(0.0, 0.3, baseline=0.5)
    >>> verdict.word, verdict.gap
    ('overfitting', 0.3)
    >>> verdict.reason.split("; ")[0]
    'loss 0 on training rows, 0.3 on test rows, 0.5 by a constant'
    """

    word: str
    reason: str
    gap: float

    def summary(self) -> Summary:
        """The verdict and its reason."""
        return Summary(f"{self.word}: {self.reason}")


def fit_verdict(
    train_loss: float,
    test_loss: float,
    baseline: float,
    standard_error: float = 0.0,
    attainable: float | None = None,
) -> FitVerdict:
    """Compare training and test loss with the loss of the best constant, by a fixed rule.

    With gap = test - train and gain = baseline - train:

    - overfitting when the gap is above two standard errors and a tenth of the baseline, and is
      above a third of the gain or half of the test loss;
    - else underfitting when the gain is below a quarter of the baseline, when the test loss is not
      below the baseline, or when even the training loss is above what is attainable on new rows by
      two standard errors;
    - else balanced.

    Parameters
    ----------
    train_loss, test_loss : float
        Mean loss on training and on test rows.
    baseline : float
        Loss of the best constant: the majority class or the mean.
    standard_error : float, default=0.0
        Of the test loss.
    attainable : float, optional
        A loss that some model is known to reach on new rows.

    Returns
    -------
    FitVerdict

    See Also
    --------
    learning_curve, validation_curve : Curves with such verdicts.

    Examples
    --------
    >>> fit_verdict(0.0, 0.3, baseline=0.5).word
    'overfitting'
    >>> fit_verdict(0.45, 0.46, baseline=0.5).word
    'underfitting'
    >>> fit_verdict(0.1, 0.12, baseline=0.5).word
    'balanced'
    """
    gap = test_loss - train_loss
    gain = baseline - train_loss
    losses = f"loss {train_loss:.3g} on training rows, {test_loss:.3g} on test rows"
    numbers = f"{losses}, {baseline:.3g} by a constant"
    # a gap counts where it exceeds both chance (two standard errors) and a tenth of the baseline
    matters = gap > max(2.0 * standard_error, _SLIGHT * baseline) and gain > 0.0
    if matters and (gap > gain / 3.0 or gap > test_loss / 2.0):
        return FitVerdict(
            "overfitting", f"{numbers}; simplify, regularize, or find more rows", gap
        )
    # nothing is left to learn
    if baseline == 0.0 and test_loss == 0.0:
        return FitVerdict("balanced", f"{numbers}; a constant is enough", gap)
    # beaten: another model does better on new rows than this one does on the rows it learned
    beaten = attainable is not None and train_loss > attainable + 2.0 * standard_error
    if beaten or gain < _GAINED * baseline or gain <= 0.0 or test_loss >= baseline:
        return FitVerdict(
            "underfitting",
            f"{numbers}; a richer model or better columns are needed",
            gap,
        )
    return FitVerdict("balanced", numbers, gap)
