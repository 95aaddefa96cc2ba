"""Whole regularization paths of the lasso and the elastic net."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.report import Shown
from lyceum._core.solvers import ElasticNetProblem, Solution
from lyceum._core.text import plain
from lyceum._core.threads import single_threaded_blas
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.linear.penalized.elastic_net import ElasticNet
from lyceum.linear.penalized.nonnegative import NonNegativeElasticNet


@dataclass(frozen=True)
class RegularizationPath(Shown):
    """The coefficients at every penalty, the largest first.

    Attributes
    ----------
    names : tuple of str
        The columns.
    alphas : array of shape (k,)
        The penalties, from the largest to the smallest.
    coefs : array of shape (k, d)
        The coefficients at every penalty.
    intercepts : array of shape (k,)
        The intercepts.
    dual_gaps : array of shape (k,)
        The dual gap: an upper bound of how far the objective is above its minimum.
    n_iters : array of shape (k,)
        Rounds of coordinate descent.
    n_nonzero : array of shape (k,)
        The number of nonzero coefficients at every penalty.

    See Also
    --------
    lasso_path, elastic_net_path : Compute it.
    ElasticNetCV : Chooses the penalty by cross-validation.
    lyceum.plot.regularization_path : Draws the coefficients over the penalties.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 4.0])
    >>> path = lasso_path(X, y, alphas=[1.0, 0.5])
    >>> path.coefs.round(6).tolist(), path.intercepts.round(6).tolist()
    ([[0.5], [1.25]], [1.5, 0.75])
    """

    names: tuple[str, ...]
    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    dual_gaps: np.ndarray
    n_iters: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """The penalties and what was found at each, in JSON's own types."""
        return plain({**asdict(self), "n_nonzero": self.n_nonzero})

    @property
    def n_nonzero(self) -> np.ndarray:
        """How many coefficients are not zero at every penalty."""
        return np.count_nonzero(self.coefs, axis=1)


def lasso_path(
    X: Data,
    y: Target = None,
    sample_weight: Weights = None,
    **settings: Any,
) -> RegularizationPath:
    """The lasso at many penalties, each begun where the last ended: `elastic_net_path` with
    l1_ratio=1.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.linear import lasso_path
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> path = lasso_path(X, X @ [2.0, 0.0, -1.0], alphas=20)
    >>> int((path.coefs[-1] != 0).sum())
    2
    """
    return elastic_net_path(X, y, sample_weight, l1_ratio=1.0, **settings)


def elastic_net_path(
    X: Data,
    y: Target = None,
    sample_weight: Weights = None,
    *,
    l1_ratio: float = 0.5,
    alphas: int | Sequence[float] = 100,
    eps: float = 1e-3,
    fit_intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-5,
    max_iter: int = 10_000,
    categorical_features: Categories = "from_dtype",
) -> RegularizationPath:
    """The elastic net at many penalties, each begun where the last ended.

    The objective and the parameters are those of `ElasticNet`. `alphas` are the penalties, or how
    many there are between the least at which every coefficient is zero and `eps` times that.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.linear import elastic_net_path
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> path = elastic_net_path(X, X @ [2.0, 0.0, -1.0], alphas=5)
    >>> path.coefs.shape, (path.coefs[0] == 0).all().item()
    ((5, 3), True)
    """
    if not l1_ratio > 0:
        raise SettingError(
            "a path needs l1_ratio > 0: without it no penalty makes every coefficient zero"
        )
    learner = ElasticNet(
        l1_ratio=l1_ratio, fit_intercept=fit_intercept, solver=solver, tol=tol, max_iter=max_iter,
        categorical_features=categorical_features,
    )  # fmt: skip
    rows = learner._rows(X, y, sample_weight)
    with single_threaded_blas():
        centered = learner._centered_problem(rows)
        values = grid(centered.problem, l1_ratio, alphas, eps)
        solutions = follow(centered.problem, values, l1_ratio, tol, max_iter)
    short = [
        alpha for alpha, solution in zip(values, solutions) if not solution.converged
    ]
    if short:
        warnings.warn(
            f"the path stopped short of its tolerance after max_iter={max_iter} epochs at"
            f" {len(short)} of {len(values)} alphas, first at {short[0]:.3g}: raise max_iter, eps"
            " or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    coefs = np.array([solution.coef for solution in solutions])
    intercepts = [centered.intercept(coef) if fit_intercept else 0.0 for coef in coefs]
    return RegularizationPath(
        rows.schema.names,
        alphas=values,
        coefs=coefs,
        intercepts=np.array(intercepts),
        dual_gaps=np.array([solution.gap for solution in solutions]),
        n_iters=np.array([solution.n_iter for solution in solutions]),
    )


def grid(
    problem: ElasticNetProblem,
    l1_ratio: float,
    alphas: ArrayLike,
    eps: float,
) -> np.ndarray:
    """The penalties, falling; a number of them is spread geometrically."""
    if isinstance(alphas, (int, np.integer)):
        # from max |Xᵀy| / l1_ratio on all coefficients are zero
        is_bounded = isinstance(problem, NonNegativeElasticNet)
        steps = problem.xy if is_bounded else np.abs(problem.xy)
        steepest = float(steps.max(initial=0.0))
        if not l1_ratio:
            raise SettingError(
                "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a"
                " grid by providing your estimator with the appropriate `alphas=` argument."
            )
        if (
            not steepest
        ):  # of a constant target every coefficient is zero at any penalty
            return np.full(int(alphas), np.finfo(np.float64).resolution)
        most = steepest / l1_ratio
        if alphas < 1 or not 0 < eps <= 1:
            raise SettingError(
                f"alphas={alphas}, eps={eps}: give at least one alpha and eps above 0, up to 1"
            )
        return falling_penalties(most, eps, int(alphas))
    return given_penalties(alphas, takes_zero=True)


def falling_penalties(most: float, eps: float, count: int) -> np.ndarray:
    """Penalties from `most` down to `eps` of it, spread geometrically."""
    least = most * eps
    if not np.isfinite(most) or least < np.finfo(np.float64).tiny:
        raise DataError(
            f"no range of penalties can be chosen, as the first is {most:g}: columns or target are"
            " too small or too large; rescale them"
        )
    if count == 1:
        return np.array([most])
    return np.geomspace(most, least, count)


def given_penalties(alphas: Any, takes_zero: bool = False) -> np.ndarray:
    """The penalties that were given, falling."""
    numbers = number_setting("alphas", alphas).ravel()
    values = np.sort(numbers)[::-1]
    is_positive = (values >= 0 if takes_zero else values > 0).all()
    if not len(values) or not np.isfinite(values).all() or not is_positive:
        bad = "alphas"
        for k, alpha in enumerate(np.ravel(alphas)):
            if not (alpha > 0 or (takes_zero and alpha == 0)):
                bad = f"alphas[{k}] == {alpha}"
                break
        limit = ">= 0.0" if takes_zero else "> 0.0"
        raise SettingError(f"{bad}, must be {limit}: alphas must be positive numbers")
    return values


def follow(
    problem: ElasticNetProblem,
    alphas: np.ndarray,
    l1_ratio: float,
    tol: float,
    max_iter: int,
) -> list[Solution]:
    """The solutions at falling penalties, each begun at the one before."""
    solutions: list[Solution] = []
    start = np.zeros(len(problem.xy))
    for alpha in alphas:
        l1 = alpha * l1_ratio
        l2 = alpha * (1 - l1_ratio)
        # neighboring penalties have neighboring solutions: few epochs lead from one to the next
        solution = problem.solve(l1, l2, start, tol * problem.yy, max_iter)
        solutions.append(solution)
        start = solution.coef
    return solutions
