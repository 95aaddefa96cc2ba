"""The residual checks of a regression: normality, equal variance, independence, leverage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import chdtrc

from lyceum._core.text import plain, show_count
from lyceum.report import Table

_MOST = 5000  # rows up to which Shapiro and Wilk's p-value is accurate


@dataclass(frozen=True)
class ResidualChecks:
    """Whether residuals agree with the assumptions of least squares.

    Attributes
    ----------
    shapiro_wilk, shapiro_wilk_p : float
        Shapiro and Wilk's W of normality, and its p-value; NaN with fewer than 3 rows or more than
        5000.
    jarque_bera, jarque_bera_p : float
        n/6 (skewness² + (kurtosis - 3)²/4), chi-square with 2 degrees of freedom if they are
        normal.
    breusch_pagan, breusch_pagan_p : float
        n R² of the squared residuals on the fitted values (Koenker's form), chi-square with 1
        degree of freedom if all rows have the same variance.
    durbin_watson : float
        Σ (r_i - r_(i-1))² / Σ r_i²: near 2 if neighboring rows are independent.
    largest_leverage : float
        The largest leverage of a row; the mean is p / n.
    high_leverage : array of int
        The numbers of the rows whose leverage is above 2p / n, for n rows and p coefficients.
    cook : array of shape (n,)
        Cook's distance of every row; 0 for zero-weight rows, which the tests ignore.
    influential : array of int
        The numbers of the rows whose Cook's distance is above 4 / n.

    See Also
    --------
    LinearRegression.residual_checks : Computes them.
    lyceum.plot.residuals : Draws residuals over fitted values.

    References
    ----------
    S. S. Shapiro and M. B. Wilk, "An analysis of variance test for normality (complete samples)",
    Biometrika 52, 1965. C. M. Jarque and A. K. Bera, "Efficient tests for normality,
    homoscedasticity and serial independence of regression residuals", Economics Letters 6, 1980. R.
    Koenker, "A note on studentizing a test for heteroscedasticity", Journal of Econometrics 17,
    1981. J. Durbin and G. S. Watson, "Testing for serial correlation in least squares regression
    I", Biometrika 37, 1950. R. D. Cook, "Detection of influential observation in linear
    regression", Technometrics 19, 1977.

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [2.0, 4.0, 5.0, 8.0]
    >>> checks = LinearRegression().fit(X, y).residual_checks(X, y)
    >>> round(checks.durbin_watson, 3), round(checks.largest_leverage, 3)
    (2.9, 0.7)
    >>> checks.cook.round(3).tolist(), checks.influential.tolist()
    ([0.111, 0.035, 0.429, 1.778], [3])
    """

    shapiro_wilk: float
    shapiro_wilk_p: float
    jarque_bera: float
    jarque_bera_p: float
    breusch_pagan: float
    breusch_pagan_p: float
    durbin_watson: float
    largest_leverage: float
    high_leverage: np.ndarray
    cook: np.ndarray
    influential: np.ndarray

    @classmethod
    def of(
        cls,
        r: np.ndarray,
        fitted: np.ndarray,
        leverage: np.ndarray,
        p: int,
        used: np.ndarray | None = None,
    ) -> ResidualChecks:
        """The checks of residuals times √w, fitted values and leverages of a model of p
        coefficients.

        `used` tells which rows have a positive weight; by default all have.
        """
        rows = np.arange(len(r)) if used is None else np.flatnonzero(used)
        distances = np.zeros(len(r))
        r = r[rows]
        leverage = leverage[rows]
        n = len(r)
        W = W_p = np.nan
        if 3 <= n <= _MOST and np.ptp(r) > 0:
            W, W_p = stats.shapiro(r)
        with np.errstate(divide="ignore", invalid="ignore"):
            bera = _jarque_bera(r)
            pagan = _breusch_pagan(r, fitted[rows])
            # Σ (r_i - r_{i-1})² / Σ r²: about 2 where neighboring rows are independent
            changes = np.sum(np.diff(r) ** 2)
            durbin_watson = float(changes / (r @ r))
            cook = _cook_distances(r, leverage, p)
        distances[rows] = cook
        # The leverages sum to p, so that 2p/n is twice the mean one. 4/n is the usual bound of
        # Cook's distance.
        return cls(
            shapiro_wilk=float(W),
            shapiro_wilk_p=float(W_p),
            jarque_bera=float(bera),
            jarque_bera_p=float(chdtrc(2, bera)),
            breusch_pagan=float(pagan),
            breusch_pagan_p=float(chdtrc(1, pagan)),
            durbin_watson=durbin_watson,
            largest_leverage=float(leverage.max(initial=0.0)),
            high_leverage=rows[leverage > 2 * p / n],
            cook=distances,
            influential=rows[cook > 4 / n],
        )

    def table(self) -> Table:
        """One line per check."""
        far = show_count(len(self.high_leverage), "row")
        strong = show_count(len(self.influential), "row")
        rows = [
            ("normality", "Shapiro-Wilk W", self.shapiro_wilk, self.shapiro_wilk_p),
            ("normality", "Jarque-Bera", self.jarque_bera, self.jarque_bera_p),
            (
                "equal variance",
                "Breusch-Pagan",
                self.breusch_pagan,
                self.breusch_pagan_p,
            ),
            ("independence", "Durbin-Watson", self.durbin_watson, ""),
            ("leverage", f"largest; {far} above 2p/n", self.largest_leverage, ""),
            (
                "influence",
                f"largest Cook's D; {strong} above 4/n",
                float(self.cook.max()),
                "",
            ),
        ]
        return Table("Residual checks", ("assumption", "statistic", "value", "p"), rows)

    def as_dict(self) -> dict[str, Any]:
        """The checks in JSON's own types."""
        return plain(asdict(self))

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _cook_distances(r: np.ndarray, leverage: np.ndarray, p: int) -> np.ndarray:
    """r² h / (p σ² (1 - h)²): how far a row moves all fitted values."""
    variance = r @ r / max(len(r) - p, 1)
    free = np.maximum(1.0 - leverage, 0.0)
    return r**2 * leverage / (p * variance * free**2)


def _jarque_bera(r: np.ndarray) -> float:
    """n/6 (skewness² + (kurtosis - 3)² / 4), χ² of 2 degrees for normal residuals."""
    z = (r - r.mean()) / r.std()
    skewness = np.mean(z**3)
    excess = np.mean(z**4) - 3
    return len(r) / 6 * (skewness**2 + excess**2 / 4)


def _breusch_pagan(r: np.ndarray, fitted: np.ndarray) -> float:
    """n R² of the squared residuals on the fitted values, χ² of 1 degree for equal variances."""
    squares = r**2 - np.mean(r**2)
    spread = fitted - fitted.mean()
    lengths = (spread @ spread) * (squares @ squares)
    return len(r) * float(spread @ squares) ** 2 / lengths
