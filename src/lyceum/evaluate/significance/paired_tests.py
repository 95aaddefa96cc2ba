"""Is one model better than another? The 5×2 t and F tests, the corrected resampled t test, and the
plain paired one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import special

from lyceum.errors import DataError, SettingError
from lyceum.evaluate.label_codes import number_array, number_column, same_length
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.resampling.experiment import Experiment, run_all
from lyceum.evaluate.resampling.splits import FiveByTwo, Split
from lyceum.report import Summary

Test = TypeVar("Test", bound="CorrectedT")


def significance(p: float) -> str:
    """The verdict of a test at the level of 5 %, in words."""
    if p < 0.05:
        return "differ"
    return "no difference shown"


def are_results(first: Any, second: Any) -> bool:
    """Whether both are results of `cross_validate`; refuses those of different splits."""
    n_results = sum(
        hasattr(model, "test_rows") and hasattr(model, "losses")
        for model in (first, second)
    )
    if n_results == 0:
        return False
    if n_results == 1:
        raise SettingError("give two results of cross_validate, or two arrays")
    # paired by the rows that were tested; their order within a split does not matter
    same = len(first.test_rows) == len(second.test_rows) and all(
        np.array_equal(np.sort(a), np.sort(b))
        for a, b in zip(first.test_rows, second.test_rows)
    )
    if not same:
        raise DataError(
            "the two results have different splits, so that their losses cannot be paired:"
            " cross_validate both with the same cv, e.g. cv=10, and a random_state other than None"
        )
    if first.loss_name != second.loss_name:
        raise DataError(
            f"the two results have different losses: {first.loss_name}, {second.loss_name}"
        )
    return True


@dataclass(frozen=True, slots=True, eq=False)
class FiveByTwoTest(Printable):
    """The 5×2 tests of a difference in loss, first minus second.

    Attributes
    ----------
    differences : ndarray of shape (5, 2)
        Loss of the first minus loss of the second, for every halving and fold.
    t, t_p_value : float
        Dietterich's t: the first difference over √(mean variance), 5 degrees of freedom, two-sided.
    f, f_p_value : float
        Alpaydin's F: all ten squared differences over twice the variances, 10 and 5 degrees of
        freedom.
    mean : float
        Mean difference: negative when the first is better.

    See Also
    --------
    five_by_two : Makes it from losses, results of `cross_validate`, or two estimators.
    FiveByTwo : The splits.
    CorrectedT : A test over any splits.
    lyceum.plot.comparison : The differences as a picture.

    References
    ----------
    Dietterich, Approximate statistical tests for comparing supervised classification learning
    algorithms, Neural Computation 10, 1998. Alpaydin, Combined 5×2 cv F test for comparing
    supervised classification learning algorithms, Neural Computation 11, 1999.

    Examples
    --------
    >>> from lyceum.evaluate import five_by_two
    >>> result = five_by_two([[0.10, 0.10]] * 5, [[0.12, 0.13]] * 5)
    >>> round(result.t, 3), round(result.f, 3)  # -0.02 / √0.00005 and 0.0065 / 0.0005
    (-2.828, 13.0)
    >>> round(result.mean, 3), round(result.t_p_value, 4), round(result.f_p_value, 4)
    (-0.025, 0.0367, 0.0056)
    """

    _derived = ("mean",)

    differences: np.ndarray
    t: float
    t_p_value: float
    f: float
    f_p_value: float

    @property
    def mean(self) -> float:
        """Mean difference: negative when the first is better."""
        return float(self.differences.mean())

    def summary(self) -> Summary:
        """The statistics and their p-values."""
        facts = {
            "mean difference": self.mean,
            "t (5 df)": self.t,
            "p of t": self.t_p_value,
            "F (10 and 5 df)": self.f,
            "p of F": self.f_p_value,
            "at 5 % by F": significance(self.f_p_value),
        }
        return Summary("5×2 cross-validation tests, first minus second", facts)


def five_by_two(
    first: Any,
    second: Any,
    X: Any = None,
    y: Any = None,
    *,
    loss: Any = "auto",
    random_state: Any = 0,
) -> FiveByTwoTest:
    """Dietterich's 5×2 t and Alpaydin's 5×2 F test of two models.

    With p_ij the difference of fold j in halving i and s_i² = (p_i1 - p̄_i)² + (p_i2 - p̄_i)²:
    t = p_11 / √(Σ s_i² / 5) and F = Σ p_ij² / (2 Σ s_i²).

    Parameters
    ----------
    first, second : array-like of shape (5, 2), CrossValidation, or estimators
        Losses of the two models in the same folds; two results of `cross_validate` with the same
        ten folds, halving by halving; or two estimators, run on X and y in five stratified
        halvings.
    X : array-like or frame of n rows, or scanned rows, optional
        The table, for estimators; rows from `lyceum.scan` may be in a file larger than memory.
    y : array-like of shape (n,), optional
        The target, for estimators; scanned rows carry their own.
    loss : {"auto", "error", "squared", "absolute"} or callable, default="auto"
        "auto" is the error rate for classifiers, squared error otherwise; a function (y, predicted)
        gives the loss of every row.
    random_state : int, RandomState or None, default=0
        Seed of the halvings.

    Returns
    -------
    FiveByTwoTest
        Without any variance the statistics are 0 (p = 1) for equal losses, infinite (p = 0)
        otherwise.

    See Also
    --------
    corrected_t : A test over any splits.
    lyceum.plot.comparison : The differences as a picture.

    References
    ----------
    Dietterich, Approximate statistical tests for comparing supervised classification learning
    algorithms, Neural Computation 10, 1998. Alpaydin, Combined 5×2 cv F test for comparing
    supervised classification learning algorithms, Neural Computation 11, 1999.

    Examples
    --------
    >>> a = [[0.10, 0.12], [0.11, 0.10], [0.12, 0.10], [0.09, 0.12], [0.11, 0.11]]
    >>> result = five_by_two(a, np.add(a, [[0.02, 0.03]] * 5))
    >>> round(result.t, 3), round(result.f, 3)
    (-2.828, 13.0)
    """
    if hasattr(first, "fit"):
        experiment = Experiment.of(first, X, y, loss)
        rival = Experiment.of(second, X, y, loss)
        scheme = FiveByTwo(random_state=random_state)
        splits = list(scheme.split(experiment.splitter_input, experiment.y))
        first = _losses(experiment, splits)
        second = _losses(rival, splits)
    if are_results(first, second):
        if len(first.losses) != 10:
            raise DataError(
                f"results of {len(first.losses)} folds: cross_validate by five halvings,"
                " FiveByTwo()"
            )
        first = first.losses.reshape(5, 2)
        second = second.losses.reshape(5, 2)
    first = number_array(first, "first")
    second = number_array(second, "second")
    shapes_fit = first.shape == second.shape == (5, 2)
    if not shapes_fit or not np.isfinite([first, second]).all():
        raise DataError(
            f"losses of shapes {first.shape} and {second.shape}: give finite losses of 5 halvings"
            " by 2 folds"
        )
    # With d_ij the difference in fold j of halving i and s_i² = Σ_j (d_ij - mean of i)²:
    # t = d_11 / √(Σ s_i² / 5) with 5, F = Σ d_ij² / (2 Σ s_i²) with 10 and 5 degrees of freedom.
    d = first - second
    from_mean = d - d.mean(axis=1, keepdims=True)
    variances = (from_mean**2).sum(axis=1)
    t = statistic(float(d[0, 0]), math.sqrt(variances.mean()))
    f = statistic(float((d**2).sum()), 2.0 * float(variances.sum()))
    return FiveByTwoTest(d, t, _two_sided_p(t, 5), f, float(special.fdtrc(10, 5, f)))


def _losses(experiment: Experiment, splits: list[Split]) -> np.ndarray:
    """The losses of five halvings by two folds."""
    results = run_all(experiment.run, splits, None, "folds")
    return np.reshape([result.loss for result in results], (5, 2))


def statistic(above: float, below: float) -> float:
    """A ratio as a test statistic: 0 for 0/0, infinite when only the denominator is 0."""
    if below > 0.0:
        return above / below
    if above:
        return math.copysign(math.inf, above)
    return 0.0


def _two_sided_p(t: float, df: float) -> float:
    return float(2.0 * special.stdtr(df, -abs(t)))


@dataclass(frozen=True, slots=True)
class CorrectedT(Printable):
    """Nadeau and Bengio's corrected resampled t test of a difference in loss, first minus second.

    Attributes
    ----------
    mean : float
        Mean difference: negative when the first is better.
    standard_error : float
        √((1/J + n_test/n_train) s²).
    t, p_value : float
        Two-sided, J-1 degrees of freedom.
    df : int
        J-1.
    low, high : float
        95 % interval of the difference.

    See Also
    --------
    corrected_t : Makes it from two results of `cross_validate`, or from losses.
    FiveByTwoTest : Tests over five halvings.
    McNemar : A test on the rows of one division.
    lyceum.plot.comparison : The interval as a picture.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> from lyceum.evaluate import corrected_t
    >>> result = corrected_t([0.10, 0.12, 0.11], [0.13, 0.14, 0.12], test_to_train=1 / 2)
    >>> round(result.mean, 3), round(result.standard_error, 5)    # √((1/3 + 1/2) · 0.01²)
    (-0.02, 0.00913)
    >>> round(result.p_value, 3), round(result.low, 3), round(result.high, 3)
    (0.16, -0.059, 0.019)
    """

    _title: ClassVar[str] = "corrected resampled t"

    mean: float
    standard_error: float
    t: float
    p_value: float
    df: int
    low: float
    high: float

    def summary(self) -> Summary:
        """The difference, its interval and its p-value."""
        facts = {
            "mean difference": self.mean,
            "standard error": self.standard_error,
            "t": self.t,
            "df": self.df,
            "p": self.p_value,
            "95 % interval": (self.low, self.high),
            "at 5 %": significance(self.p_value),
        }
        return Summary(f"{self._title}, first minus second", facts)


def corrected_t(
    first: Any, second: Any, *, test_to_train: float | None = None
) -> CorrectedT:
    """The t test for losses of the same splits of (repeated) k-fold or random subsampling.

    Training sets overlap, so the plain variance s²/J is too small: Nadeau and Bengio (2003) use
    (1/J + n_test/n_train) s².

    Parameters
    ----------
    first, second : CrossValidation, or array-like of shape (J,)
        The results of `cross_validate` for the two models, which must have the same splits; or
        their losses in the same J splits.
    test_to_train : float, optional
        n_test / n_train, with losses: 1/(k-1) for k-fold. Results have it.

    Returns
    -------
    CorrectedT
        Without any variance t is 0 (p = 1) for equal losses and infinite (p = 0) otherwise.

    See Also
    --------
    cross_validate : The losses.
    lyceum.plot.comparison : The interval as a picture.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> result = corrected_t([0.10, 0.12, 0.11], [0.13, 0.14, 0.12], test_to_train=1 / 2)
    >>> round(result.t, 3), result.df
    (-2.191, 2)
    """
    if are_results(first, second):
        if test_to_train is not None:
            raise SettingError(
                "the results of cross_validate have test_to_train: leave it out"
            )
        test_to_train = first.test_to_train
        first = first.losses
        second = second.losses
    if test_to_train is None:
        raise SettingError(
            "give test_to_train with losses: test rows over training rows, 1/(k-1) for k-fold"
        )
    d = _differences(first, second)
    if not test_to_train > 0.0:
        raise SettingError(
            f"test_to_train={test_to_train} must be above 0: test rows over training rows"
        )
    return _t_test(CorrectedT, d, 1.0 / len(d) + test_to_train)


@dataclass(frozen=True, slots=True)
class PairedT(CorrectedT):
    """The plain paired t test of differences, first minus second: Student's, for independent pairs.

    Attributes
    ----------
    mean : float
        Mean difference: negative when the first is less.
    standard_error : float
        √(s² / J).
    t, p_value : float
        Two-sided, J-1 degrees of freedom.
    df : int
        J-1.
    low, high : float
        95 % interval of the difference.

    See Also
    --------
    paired_t : Makes it.
    CorrectedT : For losses of splits whose training rows overlap.

    References
    ----------
    Student, The probable error of a mean, Biometrika 6, 1908.

    Examples
    --------
    >>> from lyceum.evaluate import paired_t
    >>> result = paired_t([0.10, 0.12, 0.11], [0.13, 0.14, 0.12])
    >>> round(result.standard_error, 5), round(result.p_value, 3)  # 0.01 / √3
    (0.00577, 0.074)
    """

    _title: ClassVar[str] = "paired t"


def paired_t(first: Any, second: Any) -> PairedT:
    """Student's t test of paired numbers, e.g. losses on separate data sets or by rows.

    The pairs must be independent of each other. Losses of the folds of one cross-validation are
    not, as their training rows overlap: the test then finds differences too often, and
    `corrected_t` is the one to use.

    Parameters
    ----------
    first, second : CrossValidation, or array-like of shape (J,)
        Results of `cross_validate` with the same splits, or numbers in pairs.

    Returns
    -------
    PairedT
        Without any variance t is 0 (p = 1) for equal numbers and infinite (p = 0) otherwise.

    See Also
    --------
    corrected_t : For losses of one cross-validation.
    five_by_two : Tests over five halvings.

    References
    ----------
    Student, The probable error of a mean, Biometrika 6, 1908. Dietterich, Approximate statistical
    tests for comparing supervised classification learning algorithms, Neural Computation 10, 1998.

    Examples
    --------
    >>> result = paired_t([0.10, 0.12, 0.11], [0.13, 0.14, 0.12])
    >>> round(result.t, 3), result.df
    (-3.464, 2)
    """
    if are_results(first, second):
        first = first.losses
        second = second.losses
    d = _differences(first, second)
    return _t_test(PairedT, d, 1.0 / len(d))


def _differences(first: Any, second: Any) -> np.ndarray:
    """First minus second, of at least two pairs."""
    first = number_column(first, "first")
    second = number_column(second, "second")
    same_length(first, second, "first and second")
    d = first - second
    if len(d) < 2 or not np.isfinite(d).all():
        raise DataError(f"{len(d)} splits: give finite losses of at least two")
    return d


def _t_test(kind: type[Test], d: np.ndarray, share: float) -> Test:
    """The mean of differences over √(share · s²), with J - 1 degrees of freedom."""
    mean = float(d.mean())
    # the mean of equal differences may be off by rounding, which is no spread
    variance = float(d.var(ddof=1)) if d.min() < d.max() else 0.0
    error = math.sqrt(share * variance)
    t = statistic(mean, error)
    df = len(d) - 1
    # half of the 95 % interval
    reach = -float(special.stdtrit(df, 0.025)) * error
    return kind(
        mean=mean,
        standard_error=error,
        t=t,
        p_value=_two_sided_p(t, df),
        df=df,
        low=mean - reach,
        high=mean + reach,
    )
