"""Naive Bayes over mixed columns: a table for a categorical column, a Gaussian for a continuous one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lyceum._native import kernels
from lyceum.base import OnePassClassifier
from lyceum.bayes._mixed import MixedMoments
from lyceum.bayes._odds import log_odds, odds_explanation
from lyceum.bayes._priors import PRIOR_CONSTRAINTS, class_priors, log_of
from lyceum.data import Block
from lyceum.report import Explanation, Summary, Table

__all__ = ["NaiveBayes"]


class NaiveBayes(OnePassClassifier):
    """Naive Bayes: the columns are independent given the class.

    P(k | x) ∝ P(k) Π_j p(x_j | k), where p(x_j | k) is a table for a categorical column and the Gaussian
    N(x_j; θ_jk, σ²_jk) for a continuous one. Both kinds may stand in one model. A missing cell is left out,
    at fit and at predict: its factor is not there. A category that was not there at fit adds nothing either.

    Where a class has no cell in a column, the column's distribution over all classes stands in. A column that
    is constant over all rows says nothing about the class. A row that is impossible in every class, which can
    be with `estimate="raw"`, gets equal posteriors and the first class.

    Parameters
    ----------
    estimate : {"laplace", "raw", "m"}, default="laplace"
        How a table is estimated from the weight n_jvk of category v and the weight n_jk of all cells of
        column j in class k. "raw": n_jvk / n_jk. "laplace": (n_jvk + 1) / (n_jk + number of categories).
        "m": (n_jvk + m p_jv) / (n_jk + m). The categories are those of the schema: one that only rows of
        weight 0 have is among them.
    m : float, default=1.0
        The weight of p in the m-estimate.
    m_prior : {"uniform", "marginal"}, default="uniform"
        p in the m-estimate: 1 / number of categories, or the frequency of the category over all classes.
    var_smoothing : float, default=1e-9
        The part of the largest variance of a column over all rows that is added to every variance.
    priors : {"laplace", "uniform", "dirichlet_map", "dirichlet_mean"} or array of shape (K,), default=None
        The class priors; None takes n_k / N. See `lyceum.bayes.class_priors`.
    prior_alpha : float or array of shape (K,), default=1.0
        The parameters of the Dirichlet distribution in "dirichlet_map" and "dirichlet_mean".
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_ : array of shape (K,)
        The weight of the rows of every class.
    class_prior_, class_log_prior_ : array of shape (K,)
    categories_ : list of arrays
        The categories of every categorical column.
    tables_ : list of arrays of shape (K, number of categories)
        P(category | class) for every categorical column; the rows sum to 1.
    theta_, var_ : array of shape (K, number of continuous columns)
        Means and variances, smoothing included.
    epsilon_ : float
        What was added to the variances.
    schema_ : Schema
        The columns and their kinds; `schema_.categorical` and `schema_.continuous` are their places.
    statistic_ : MixedMoments
        The merged summary of all rows seen.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.bayes import NaiveBayes
    >>> days = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain", None],
    ...                      "heat": [29.0, 27.0, 18.0, None, 20.0]})
    >>> model = NaiveBayes().fit(days, ["no", "no", "yes", "yes", "yes"])
    >>> model.tables_[0]
    array([[0.25, 0.75],
           [0.75, 0.25]])
    >>> model.predict(days).tolist()
    ['no', 'no', 'yes', 'yes', 'yes']
    """

    _coding = "codes"
    _takes_missing = True
    _parameter_constraints: ClassVar[dict] = {
        "estimate": [StrOptions({"laplace", "raw", "m"})],
        "m": [Interval(Real, 0, None, closed="left")],
        "m_prior": [StrOptions({"uniform", "marginal"})],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), "boolean", None],
        **PRIOR_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        estimate="laplace",
        m=1.0,
        m_prior="uniform",
        var_smoothing=1e-9,
        priors=None,
        prior_alpha=1.0,
        categorical_features="from_dtype",
    ):
        self.estimate = estimate
        self.m = m
        self.m_prior = m_prior
        self.var_smoothing = var_smoothing
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    # -- fit -------------------------------------------------------------------------------------------------

    def _statistic(self) -> Callable[[Block], MixedMoments]:
        return MixedMoments.of

    def _finish(self, statistic: MixedMoments) -> None:
        self.class_count_ = statistic.class_weight
        self.class_prior_ = class_priors(statistic.class_weight, self.priors, self.prior_alpha)
        self.class_log_prior_ = log_of(self.class_prior_)
        self._finish_tables(statistic)
        self._finish_gaussians(statistic)

    def _finish_tables(self, statistic: MixedMoments) -> None:
        columns = self.schema_.categorical
        self.categories_ = [np.asarray(self.schema_[j].categories) for j in columns]
        counts = statistic.counts.arrange(self.categories_)  # in the order of the codes
        estimate = self._estimates()[self.estimate]
        self.tables_ = [_normalised(estimate, counts.table(name)).T for name in counts.names]
        self._counted = columns.astype(np.int32)
        self._offsets = counts.offsets
        self._log_table = log_of(
            np.concatenate([np.empty((len(self.classes_), 0)), *self.tables_], axis=1).T.copy()
        )

    def _estimates(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """Unnormalised tables (a row a category, a column a class) from counts."""
        return {
            "raw": lambda counts: counts,
            "laplace": lambda counts: counts + 1.0,
            "m": lambda counts: counts + self.m * self._m_shares(counts),
        }

    def _m_shares(self, counts: np.ndarray) -> np.ndarray:
        marginal = counts.sum(axis=1, keepdims=True)
        if self.m_prior == "uniform" or not marginal.any():
            marginal = np.ones_like(marginal)
        return marginal / max(marginal.sum(), 1.0)

    def _finish_gaussians(self, statistic: MixedMoments) -> None:
        moments = statistic.moments
        weight, mean, scatter = moments.over_classes()
        spread = np.divide(scatter, weight, out=np.zeros_like(weight), where=weight > 0)
        self.epsilon_ = float(self.var_smoothing * spread.max(initial=0.0))
        known = moments.weight > 0
        variance = np.divide(
            moments.scatter, moments.weight, out=np.tile(spread, (len(known), 1)), where=known
        )
        self.theta_ = np.where(known, moments.mean, mean)
        # without smoothing a class may have no spread: the density then stands as high as doubles let it
        self.var_ = np.maximum(variance + self.epsilon_, np.finfo(np.float64).eps * spread)
        speaks = spread > 0
        self._measured = self.schema_.continuous.astype(np.int32)
        self._mean = self.theta_.T.copy()
        self._half_precision = np.where(speaks, 0.5 / np.where(speaks, self.var_, 1.0), 0.0).T.copy()
        self._peak = np.where(
            speaks, -0.5 * np.log(2 * np.pi * np.where(speaks, self.var_, 1.0)), 0.0
        ).T.copy()

    # -- predict ---------------------------------------------------------------------------------------------

    def _log_joint(self, block: Block) -> np.ndarray:
        joint = np.empty((len(block), len(self.classes_)))
        joint[:] = self.class_log_prior_
        if len(self._measured):
            kernels.gaussian_log_joint(
                block.X, self._measured, self._mean, self._half_precision, self._peak, joint
            )
        if len(self._counted):
            X = (
                block.X
                if block.X.dtype.kind == "f" or block.X.dtype.str[1:] in _WHOLE
                else block.X.astype(np.int64)
            )
            kernels.table_log_joint(X, self._counted, self._offsets, self._log_table, joint)
        return joint

    # -- what was learned ------------------------------------------------------------------------------------

    def explain(self, X: Any) -> Explanation:
        """The log-odds that every column adds for the predicted class against the runner-up.

        The base is the log-odds of the priors; base and contributions sum to the log of the ratio of the two
        posteriors. A missing or unknown cell adds nothing. With two classes the runner-up is the other one.
        """
        odds = np.asarray(self._apply(partial(_column_odds, self), X))
        return odds_explanation(odds, self.schema_.names, self.classes_)

    def summary(self) -> Summary:
        """The priors, the tables of the categorical columns and the means and deviations of the others."""
        head = super().summary()
        facts = {
            "rows": self.statistic_.n_rows,
            "continuous columns": len(self._measured),
            "categorical columns": len(self._counted),
            "tables": f"m-estimate, m = {self.m}, {self.m_prior}" if self.estimate == "m" else self.estimate,
            "added to variances": self.epsilon_,
        }
        return Summary(
            head.title,
            {**head.facts, **facts},
            [self._prior_table(), *self._gaussian_table(), *self._count_tables()],
        )

    def _prior_table(self) -> Table:
        rows = list(zip(self.classes_, self.class_count_, self.class_prior_))
        return Table("classes", ("class", "weight", "prior"), rows)

    def _gaussian_table(self) -> list[Table]:
        if not len(self._measured):
            return []
        heads = [f"{what} | {label}" for label in self.classes_ for what in ("mean", "sd")]
        values = np.stack([self.theta_, np.sqrt(self.var_)], axis=1).reshape(-1, len(self._measured))
        rows = [(self.schema_[j].name, *column) for j, column in zip(self._measured, values.T)]
        return [Table("Gaussian columns", ("column", *heads), rows)]

    def _count_tables(self) -> list[Table]:
        heads = [f"P( | {label})" for label in self.classes_]
        return [
            Table(
                self.schema_[j].name,
                ("value", *heads),
                [(value, *row) for value, row in zip(values, table.T)],
            )
            for j, values, table in zip(self._counted, self.categories_, self.tables_)
        ]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K, gaussians = len(self.classes_), len(self.schema_.continuous)
        return {
            "class_log_prior_": (K,),
            "_counted": (len(self.categories_),),
            "_offsets": (len(self.categories_) + 1,),
            "_log_table": (sum(map(len, self.categories_)), K),
            "_measured": (gaussians,),
            "_mean": (gaussians, K),
            "_half_precision": (gaussians, K),
            "_peak": (gaussians, K),
        }


_WHOLE = ("i1", "u1", "i2", "i4", "i8")  # what the kernel reads without a copy


def _normalised(estimate: Callable[[np.ndarray], np.ndarray], counts: np.ndarray) -> np.ndarray:
    """The estimate with columns that sum to 1; a class without cells gets the table of all classes."""
    table = estimate(counts)
    total = table.sum(axis=0)
    if (total == 0).any():
        marginal = counts.sum(axis=1, keepdims=True)
        marginal = marginal if marginal.any() else np.ones_like(marginal)
        table = np.where(total > 0, table, marginal)
        total = table.sum(axis=0)
    return table / np.where(total > 0, total, 1.0)


def _column_odds(model: NaiveBayes, block: Block) -> np.ndarray:
    """The log conditional of every column in every class, as odds."""
    n, K = len(block), len(model.classes_)
    terms = np.zeros((n, K, len(model.schema_)))
    for i, j in enumerate(model._measured):
        x = block.X[:, j, None].astype(np.float64)
        known = model._peak[i] - model._half_precision[i] * (x - model._mean[i]) ** 2
        terms[:, :, j] = np.where(np.isnan(x), 0.0, known)
    for i, j in enumerate(model._counted):
        column = np.ascontiguousarray(block.X[:, j, None].astype(np.float64))
        out, place = np.zeros((n, K)), model._offsets[i : i + 2]
        kernels.table_log_joint(
            column, np.zeros(1, np.int32), place - place[0], model._log_table[place[0] : place[1]], out
        )
        terms[:, :, j] = out
    return log_odds(terms, model.class_log_prior_)
