"""Bounds without assumptions on how far a measured error, or any mean, is from the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.errors import SettingError
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.significance.intervals import round_up, share_in_range
from lyceum.report import Summary


@dataclass(frozen=True, slots=True)
class Bound(Printable):
    """With n test rows a measured mean is off by `within` or more with probability at most `alpha`.

    `float(bound)` is the one of the three that was solved for.

    Attributes
    ----------
    name : {"Hoeffding", "Chebyshev"}
        Whose bound it is.
    n : int
        Test rows.
    within : float
        The difference ε between measured and true error, or mean.
    alpha : float
        The probability.
    n_models : int
        Models measured on the same rows.
    solved_for : {"n", "within", "alpha"}
        Which of the three was not given.
    sides : {1, 2}
        2: off in either direction; 1: off in the one direction that matters.
    width : float
        The range of a row's value, high - low; 1 for errors. Where every row has its own range, the
        root mean square of the ranges.

    See Also
    --------
    hoeffding_bound, chebyshev_bound : Make it.
    markov_bound : A bound by the mean alone.
    Interval : An interval for the error rate of one model.

    References
    ----------
    Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58, 1963.

    Examples
    --------
    >>> from lyceum.evaluate import hoeffding_bound
    >>> bound = hoeffding_bound(within=0.05, alpha=0.05)  # n = ln(2/0.05) / (2 · 0.05²), rounded up
    >>> bound.n, bound.solved_for, float(bound)
    (738, 'n', 738.0)
    >>> print(bound)
    Hoeffding: on 738 rows a measured error is off by 0.05 or more with probability at most 0.05
    """

    name: str
    n: int
    within: float
    alpha: float
    n_models: int
    solved_for: str
    sides: int = 2
    width: float = 1.0

    def __float__(self) -> float:
        return float(getattr(self, self.solved_for))

    def summary(self) -> Summary:
        """The bound as a sentence."""
        if self.width == 1.0:
            what = "error"
        else:
            what = "mean"
        subject = f"a measured {what}"
        if self.n_models > 1:
            subject = f"the measured {what} of any of {self.n_models:,} models"
        if self.sides == 2:
            off = "off"
        else:
            off = "off in one given direction"
        return Summary(
            f"{self.name}: on {self.n:,} rows {subject} is {off} by {self.within:.4g} or more "
            f"with probability at most {self.alpha:.4g}"
        )


def _unknown_name(
    n: int | None,
    within: float | None,
    alpha: float | None,
    n_models: int,
) -> str:
    """Which of the three is not given."""
    sizes = {"n": n, "within": within, "alpha": alpha}
    missing = [name for name, value in sizes.items() if value is None]
    if len(missing) != 1:
        raise SettingError(
            f"give two of n, within and alpha; {3 - len(missing)} were given"
        )
    if n is not None and n < 1:
        raise SettingError(f"n={n}: at least one test row is needed")
    if within is not None and within <= 0.0:
        raise SettingError(f"within={within} must be above 0")
    if alpha is not None:
        share_in_range("alpha", alpha, open_ends=True)
    if n_models < 1:
        raise SettingError(f"n_models={n_models}: at least one model is needed")
    return missing[0]


def hoeffding_bound(
    n: int | None = None,
    within: float | None = None,
    *,
    alpha: float | None = None,
    n_models: int = 1,
    sides: int = 2,
    value_range: Any = (0.0, 1.0),
) -> Bound:
    """Hoeffding's bound over C models, P(some |measured - true error| >= ε) <= 2 C exp(-2 n ε²).

    Give two of `n`, `within` and `alpha`: it is solved for the third. For the mean of values in [a,
    b] the exponent is -2 n ε² / (b - a)²; where every value has its own range it is -2 n² ε² / Σ
    (b_i - a_i)². One-sided, P(some true error >= measured + ε) <= C exp(...), without the factor 2.

    Parameters
    ----------
    n : int, optional
        Test (or validation) rows |V|. Also left out where every row has its own range.
    within : float, optional
        ε. Left out, it is √(ln(2C/α) / (2|V|)) for errors.
    alpha : float, optional
        The probability; left out, it is the bound (at most 1).
    n_models : int, default=1
        C: how many models are measured on the same rows, so that the best of them may be chosen.
    sides : {1, 2}, default=2
        1 bounds a deviation in one direction, as that of a true error above the measured one.
    value_range : pair of floats, or array-like of shape (n, 2), default=(0, 1)
        The least and the largest value a row can have, for all rows or for each row.

    Returns
    -------
    Bound

    See Also
    --------
    chebyshev_bound : A bound by the variance.
    markov_bound : A bound by the mean alone.
    error_interval : An interval for one model.

    References
    ----------
    Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58, 1963.

    Examples
    --------
    >>> round(hoeffding_bound(n=1000, alpha=0.05, n_models=10).within, 4)
    0.0547
    >>> hoeffding_bound(within=0.01, alpha=0.05).n
    18445
    >>> round(hoeffding_bound(n=1000, alpha=0.05, sides=1, value_range=(-1, 1)).within, 4)
    0.0774
    """
    if sides not in (1, 2):
        raise SettingError(f"sides={sides}: give 1 or 2")
    width, rows = _width(value_range)
    if rows is not None:
        if n is not None and n != rows:
            raise SettingError(f"value_range has {rows} rows, but n={n}: leave n out")
        n = rows
    unknown = _unknown_name(n, within, alpha, n_models)
    # alpha = count exp(-2 n (ε / width)²), solved for the one that is not given
    count = float(sides * n_models)
    if unknown == "n":
        n = max(1, round_up(math.log(count / alpha) * width**2 / (2.0 * within**2)))  # type: ignore[operator]
    elif unknown == "within":
        within = width * math.sqrt(math.log(count / alpha) / (2.0 * n))  # type: ignore[operator]
    else:
        alpha = min(1.0, count * math.exp(-2.0 * n * (within / width) ** 2))  # type: ignore[operator]
    return Bound("Hoeffding", n, within, alpha, n_models, unknown, sides, width)  # type: ignore[arg-type]


def _width(value_range: Any) -> tuple[float, int | None]:
    """The width of the range; of one range per row the root mean square of the widths, and their
    number."""
    ends = np.asarray(value_range, dtype=np.float64)
    if (
        ends.ndim not in (1, 2)
        or ends.shape[-1] != 2
        or not ends.size
        or not np.isfinite(ends).all()
    ):
        raise SettingError(
            f"value_range has the shape {ends.shape}: give (low, high), or one pair for each row"
        )
    # Hoeffding's exponent holds Σ (b_i - a_i)², which n times the mean square width is
    widths = ends[..., 1] - ends[..., 0]
    if (widths < 0.0).any() or not widths.any():
        raise SettingError("value_range must go from low to a higher end")
    if ends.ndim == 1:
        return float(widths), None
    return math.sqrt(float((widths**2).mean())), len(widths)


def chebyshev_bound(
    n: int | None = None,
    within: float | None = None,
    *,
    alpha: float | None = None,
    error: float = 0.5,
    n_models: int = 1,
) -> Bound:
    """Chebyshev's bound, P(|measured - true error| >= ε) <= e (1-e) / (n ε²).

    Give two of `n`, `within` and `alpha`: it is solved for the third.

    Parameters
    ----------
    n : int, optional
        Test (or validation) rows.
    within : float, optional
        ε, the difference between measured and true error.
    alpha : float, optional
        The probability; left out, it is the bound (at most 1).
    n_models : int, default=1
        C models measured on the same rows: the probability is C times as large.
    error : float, default=0.5
        The true error rate e; one half is the worst case.

    Returns
    -------
    Bound

    See Also
    --------
    hoeffding_bound : A bound that falls exponentially with n.

    Examples
    --------
    >>> round(chebyshev_bound(1000, 0.05).alpha, 6)
    0.1
    """
    unknown = _unknown_name(n, within, alpha, n_models)
    # alpha = C e (1-e) / (n ε²), solved for the one that is not given
    variance = share_in_range("error", error) * (1.0 - error) * n_models
    if unknown == "n":
        n = max(1, round_up(variance / (alpha * within**2)))  # type: ignore[operator]
    elif unknown == "within":
        within = math.sqrt(variance / (n * alpha))  # type: ignore[operator]
    else:
        alpha = min(1.0, variance / (n * within**2))  # type: ignore[operator]
    return Bound("Chebyshev", n, within, alpha, n_models, unknown)  # type: ignore[arg-type]


def markov_bound(mean: float, at_least: float) -> float:
    """Markov's bound for a value that is never negative, P(X >= a) <= E[X] / a.

    Parameters
    ----------
    mean : float
        E[X], at least 0.
    at_least : float
        a, above 0.

    Returns
    -------
    float
        At most 1.

    See Also
    --------
    chebyshev_bound : Markov's bound for the squared deviation.
    hoeffding_bound : A bound that falls exponentially with n.

    Examples
    --------
    >>> markov_bound(mean=0.1, at_least=0.5)
    0.2
    """
    if not mean >= 0.0 or not at_least > 0.0:
        raise SettingError(
            f"mean={mean} and at_least={at_least}: give a mean of at least 0 and a above 0"
        )
    return min(1.0, mean / at_least)
