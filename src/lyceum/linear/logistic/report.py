"""The reports of a logistic regression: intervals, odds, tables, contributions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Learner
from lyceum._core.data import Block
from lyceum._core.probability import runner_up
from lyceum._core.text import undetermined_fact
from lyceum.errors import SettingError
from lyceum.report import Explanation, Summary, Table


class LogisticReport(Learner):
    """The reports of a classifier that is linear in the log-odds."""

    C: float
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    mean_: np.ndarray
    covariance_: np.ndarray
    standard_errors_: np.ndarray
    intercept_standard_error_: np.ndarray
    n_iter_: int
    converged_: bool
    separated_: bool
    n_undetermined_: int
    log_likelihood_: float
    null_log_likelihood_: float
    reference: Any
    bound_: float
    bound_scale_: float

    def confidence_interval(self, level: float = 0.95) -> np.ndarray:
        """Wald intervals of the coefficients, of the shape of `coef_` with two ends last."""
        self._need_standard_errors()
        if not 0.0 < level < 1.0:
            raise SettingError(f"level={level!r}: give a probability between 0 and 1")
        reach = ndtri(0.5 + level / 2) * self.standard_errors_
        return np.stack([self.coef_ - reach, self.coef_ + reach], axis=-1)

    def _need_standard_errors(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "standard_errors_"):
            raise AttributeError("there are no standard errors: fit with standard_errors=True")

    def log_odds(self, reference: Any = None) -> Table:
        """The log-odds of every class against a reference class (default: the first), with standard
        errors.

        One row per class and column: what a unit of the column adds to log P(class | x) /
        P(reference | x).
        """
        check_is_fitted(self)
        labels = self.classes_.tolist()
        if reference is None:
            reference = labels[0]
        if reference not in labels:
            raise SettingError(f"reference={reference!r} is not a class; the classes are {labels}")
        base = labels.index(reference)
        names = [*self.design_names, "(intercept)"]
        theta = np.column_stack([self.coef_, self.intercept_])
        if len(theta) == 1 < len(labels):
            theta = np.vstack([np.zeros_like(theta), theta])
        rows: list[tuple] = []
        for k in [k for k in range(len(labels)) if k != base]:
            values = theta[k] - theta[base]
            errors = self._contrast_errors(k, base)
            z = ratio(values, errors)
            parts = zip(names, values, errors, z, 2 * ndtr(-np.abs(z)))
            rows += [(str(labels[k]), name, *map(float, numbers)) for name, *numbers in parts]
        columns = ("class", "column", "log-odds", "std. error", "z", "p")
        return Table(f"Log-odds against {reference}", columns, rows)

    def _contrast_errors(self, k: int, base: int) -> np.ndarray:
        size = self.coef_.shape[1] + 1
        if not hasattr(self, "covariance_"):
            return np.full(size, np.nan)
        if len(self.classes_) == 2:
            return np.sqrt(np.maximum(np.diagonal(self.covariance_), 0.0))
        blocks = self.covariance_.reshape(len(self.classes_), size, len(self.classes_), size)
        variance = sum(
            sign * np.diagonal(blocks[a, :, b])
            for a, b, sign in ((k, k, 1), (base, base, 1), (k, base, -2))
        )
        return np.sqrt(np.maximum(variance, 0.0))

    def _n_parameters(self) -> int | float:
        """Free parameters; with a penalty on squares the effective ones, tr[H₀ (H₀ + I/C)⁻¹]."""
        free = (len(self.classes_) - 1) * (
            self.coef_.shape[1] + bool(getattr(self, "fit_intercept", True))
        )
        if np.isinf(self.C):
            return free
        if not hasattr(self, "covariance_"):
            raise SettingError(
                f"C={self.C:g}: the effective parameters need the Hessian: fit with"
                " standard_errors=True and a penalty on squares alone, or with C=inf"
            )
        variances = np.diagonal(self.covariance_).reshape(-1, self.coef_.shape[1] + 1)[:, :-1]
        return float(free - variances.sum() / self.C)

    def summary(self) -> Summary:
        """Coefficients with standard errors, z, p and odds ratios, and the quality of the fit."""
        check_is_fitted(self)
        with np.errstate(divide="ignore", invalid="ignore"):
            pseudo = 1.0 - np.float64(self.log_likelihood_) / self.null_log_likelihood_
        facts: dict[str, Any] = {
            "rows": self.n_rows_,
            "classes": self.classes_.tolist(),
            "penalty": "none" if np.isinf(self.C) else f"{_penalty(self)}, C = {self.C:g}",
            "log-likelihood": self.log_likelihood_,
            "of class shares alone": self.null_log_likelihood_,
            "pseudo R² (McFadden)": float(pseudo),
            "iterations": f"{self.n_iter_}{'' if self.converged_ else ', not converged'}",
        }
        if np.isinf(self.C):
            facts |= self._likelihood_ratio_facts()
        if self.separated_:
            facts["warning"] = (
                "classes are separated: no maximum, coefficients and errors mean nothing"
            )
        facts |= undetermined_fact(self.n_undetermined_, self.coef_.shape[1], "coefficient")
        facts |= self._training_facts()
        if not hasattr(self, "standard_errors_"):
            facts["standard errors"] = self._why_no_errors()
        return Summary(self._title(), facts, self._tables())

    def _training_facts(self) -> dict[str, Any]:
        """What is particular to the way it was trained."""
        facts: dict[str, Any] = {}
        if getattr(self, "reference", None) is not None and len(self.classes_) > 2:
            facts["reference class"] = self.reference
        if hasattr(self, "bound_"):
            facts["separable bound"] = (
                f"{self.bound_:.4g} at its least, then scores × {self.bound_scale_:.3g}"
            )
        if hasattr(self, "recursion_"):
            facts["trained"] = "one row at a time; the log-likelihood is of rows not yet seen"
        return facts

    def _why_no_errors(self) -> str:
        if getattr(self, "l1_ratio", 0) > 0:
            return "none under an L1 penalty"
        if hasattr(self, "bound_"):
            return "none at the least bound: fit with solver='lbfgs'"
        return "not computed: fit with standard_errors=True"

    def _likelihood_ratio_facts(self) -> dict[str, str]:
        degrees = max(1, len(self.classes_) - 1) * self.coef_.shape[1]
        ratio = max(0.0, 2 * (self.log_likelihood_ - self.null_log_likelihood_))
        return {"likelihood ratio": f"{ratio:.4g} on {degrees}, p = {chdtrc(degrees, ratio):.3g}"}

    def _tables(self) -> list[Table]:
        names = [*self.design_names, "(intercept)"]
        columns = ("column", "coefficient", "std. error", "z", "p", "odds ratio")
        if len(self.coef_) == 1:
            titles = [f"log-odds of {self.classes_[-1]}"]
        else:
            titles = [str(k) for k in self.classes_]
        known = hasattr(self, "standard_errors_")
        tables = []
        for k, title in enumerate(titles):
            values = np.append(self.coef_[k], self.intercept_[k])
            errors = np.full(len(values), np.nan)
            if known:
                errors = np.append(self.standard_errors_[k], self.intercept_standard_error_[k])
            z = ratio(values, errors)
            with np.errstate(over="ignore"):
                parts = zip(names, values, errors, z, 2 * ndtr(-np.abs(z)), np.exp(values))
            rows = [(name, *map(float, numbers)) for name, *numbers in parts]
            tables.append(Table(title, columns, rows))
        return tables

    def explain(self, X: Any) -> Explanation:
        """What every column adds to the log-odds, coef · (x - mean), from the log-odds at the mean.

        For two classes these are the log-odds of the second; for more, of the predicted class
        against the next best.
        """
        check_is_fitted(self)
        if len(self.coef_) == 1:
            unit = f"log-odds of {self.classes_[-1]}"
        else:
            unit = "log-odds against the next class"
        return self._explain(X, partial(contributions, self), unit)


def _penalty(learner: Any) -> str:
    share = getattr(learner, "l1_ratio", 0.0)
    if share == 0:
        return "L2"
    if share == 1:
        return "L1"
    return f"elastic net with l1 ratio {share:g}"


def ratio(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """values / errors, NaN where there is no error to divide by."""
    return np.divide(values, errors, out=np.full_like(values, np.nan), where=errors > 0)


def contributions(learner: Any, block: Block) -> np.ndarray:
    """The code of the class, the base, and what every column adds to the score, (n, 2 + d)."""
    X = block.dense - learner.mean_
    coef = learner.coef_
    at_mean = learner.intercept_ + learner.coef_ @ learner.mean_
    if len(coef) == 1:
        first = np.broadcast_to(coef, X.shape)
        base = np.full(len(X), at_mean[0])
        best = ((X @ coef[0] + at_mean[0] > 0) & (len(learner.classes_) > 1)).astype(np.intp)
    else:
        best, second = runner_up(X @ coef.T + at_mean)
        first = coef[best] - coef[second]
        base = at_mean[best] - at_mean[second]
    return np.column_stack([best, base, X * first])
