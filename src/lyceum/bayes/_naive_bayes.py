"""Naive Bayes over mixed columns: tables for categories; Gaussians, histograms or kernels for numbers."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lyceum._native import native
from lyceum.base import CATEGORICAL_FEATURES, OnePassClassifier
from lyceum.bayes._binned import Binned, edges_of
from lyceum.bayes._kernel_columns import kernel_logs
from lyceum.bayes._mixed import MixedMoments
from lyceum.bayes._tables import CONDITIONALS, by_name, conditionals, estimated
from lyceum.data import Block, Rows
from lyceum.errors import SourceError
from lyceum.probability import (
    AGAINST_RUNNER_UP,
    PRIOR_CONSTRAINTS,
    class_priors,
    log_probability,
    runner_up_odds,
)
from lyceum.report import Explanation, Summary, Table

__all__ = ["NaiveBayes"]


class NaiveBayes(OnePassClassifier):
    """Naive Bayes: the columns are independent given the class.

    P(k | x) ∝ P(k) Π_j p(x_j | k), where p(x_j | k) is a table for a categorical column, and for a continuous
    one, as chosen, the Gaussian N(x_j; θ_jk, σ²_jk), a histogram, or a kernel density. All kinds may stand in
    one model. A missing cell is left out, at fit and at predict: its factor is not there. A category that was
    not there at fit adds nothing either.

    A histogram is a table over bins that all classes share; the first and the last bin are open, so that
    they hold what lies beyond. A kernel density, (1/n_k) Σ_i N(x_j; x_ij, h²_jk) over the rows of the class,
    keeps all cells of its column in memory; log densities are good to 1e-3 (see `KernelLog`).

    Where a class has no cell in a column, the column's distribution over all classes stands in. A column that
    is constant over all rows says nothing about the class. A row that is impossible in every class, which can
    be with `estimate="raw"`, gets equal posteriors and the first class.

    Parameters
    ----------
    continuous : {"gaussian", "kernel", "histogram"} or dict, default="gaussian"
        The density of continuous columns: one for all, or by column name or place (Gaussian for those that
        are not named). Gaussians take one pass, histograms one more for the range of a column whose edges
        are not given, kernels one; kernels cannot run on Dask.
    bins : "sturges", int, array of edges, or dict by column name or place, default="sturges"
        The bins of a histogram: edges, or a number of bins of equal width between the smallest and the
        largest cell of the column, ⌈log2 n⌉ + 1 for "sturges". `partial_fit` needs edges.
    bandwidth : "reference" or float, default="reference"
        h of a kernel density; "reference" takes 1.06 σ n^(-1/5) for every column and class.
    estimate : {"laplace", "raw", "m"}, default="laplace"
        How a table is estimated from the weight n_jvk of category or bin v and the weight n_jk of all cells
        of column j in class k. "raw": n_jvk / n_jk. "laplace": (n_jvk + 1) / (n_jk + number of categories).
        "m": (n_jvk + m p_jv) / (n_jk + m). The categories are those of the schema: one that only rows of
        weight 0 have is among them.
    m : float, default=1.0
        The weight of p in the m-estimate.
    m_prior : {"uniform", "marginal"}, default="uniform"
        p in the m-estimate: 1 / number of categories, or the frequency of the category over all classes.
    var_smoothing : float, default=1e-9
        The part of the largest variance of a column over all rows that is added to every variance.
    priors : {"laplace", "uniform", "dirichlet_map", "dirichlet_mean"} or array of shape (K,), default=None
        The class priors; None takes n_k / N. See `lyceum.probability.class_priors`.
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
    means_, variances_ : array of shape (K, number of Gaussian columns)
        Means and variances, smoothing included.
    edges_ : dict
        The edges of the bins of every histogram column, by name.
    histograms_ : dict
        P(bin | class) for every histogram column, by name, an array of shape (K, number of bins).
    bandwidths_ : dict
        h in every class for every kernel column, by name; the classes' densities themselves in `kernels_`.
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
    >>> model = NaiveBayes(continuous={"heat": "histogram"}, bins=[0.0, 19.0, 25.0, 40.0])
    >>> model.fit(days, ["no", "no", "yes", "yes", "yes"]).histograms_["heat"]
    array([[0.2, 0.2, 0.6],
           [0.4, 0.4, 0.2]])
    """

    _coding = "codes"
    _takes_missing = True
    _parameter_constraints: ClassVar[dict] = {
        "continuous": [StrOptions(set(CONDITIONALS)), dict],
        "bins": [StrOptions({"sturges"}), Interval(Integral, 1, None, closed="left"), "array-like", dict],
        "bandwidth": [StrOptions({"reference"}), Interval(Real, 0, None, closed="neither")],
        "estimate": [StrOptions({"laplace", "raw", "m"})],
        "m": [Interval(Real, 0, None, closed="left")],
        "m_prior": [StrOptions({"uniform", "marginal"})],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
        **PRIOR_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        continuous="gaussian",
        bins="sturges",
        bandwidth="reference",
        estimate="laplace",
        m=1.0,
        m_prior="uniform",
        var_smoothing=1e-9,
        priors=None,
        prior_alpha=1.0,
        categorical_features="from_dtype",
    ):
        self.continuous = continuous
        self.bins = bins
        self.bandwidth = bandwidth
        self.estimate = estimate
        self.m = m
        self.m_prior = m_prior
        self.var_smoothing = var_smoothing
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    # -- fit -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn from all rows of X, in one pass, or two if the ranges of histogram columns are to be found.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        return self._learn(rows, None)

    def _go_on(self, rows: Rows):
        return self._learn(rows, self.statistic_ if hasattr(self, "statistic_") else None, look=False)

    def _learn(self, rows: Rows, before: MixedMoments | None, look: bool = True):
        chosen = conditionals(self.schema_, self.continuous)
        kernel = tuple(j for j, kind in chosen.items() if kind == "kernel")
        if kernel and rows.on_dask:
            raise SourceError(
                f"column {self.schema_[kernel[0]].name!r} has a kernel density, which keeps all cells in "
                "memory and cannot be learned on Dask: choose continuous='histogram' or 'gaussian'"
            )
        binned = [self.schema_[j].name for j, kind in chosen.items() if kind == "histogram"]
        self.edges_ = edges_of(rows, binned, by_name(self.schema_, self.bins), look)
        more = rows.then(self._bins).reduce(partial(MixedMoments.of, kernel=kernel))
        self.statistic_ = more if before is None else before.merge(more)
        self._finish(self.statistic_)
        return self

    @property
    def _bins(self) -> Binned:
        return Binned(self.edges_)

    def _finish(self, statistic: MixedMoments) -> None:
        self.n_rows_, self.class_count_ = statistic.n_rows, statistic.class_weight
        self.class_prior_ = class_priors(statistic.class_weight, self.priors, self.prior_alpha)
        self.class_log_prior_ = log_probability(self.class_prior_)
        self._finish_tables(statistic)
        self._finish_gaussians(statistic)
        self._finish_kernels(statistic)

    def _finish_tables(self, statistic: MixedMoments) -> None:
        schema = self._bins.schema(self.schema_)
        columns = schema.categorical
        # in the order of the codes
        counts = statistic.counts.arrange([np.asarray(schema[j].categories) for j in columns])
        estimate = partial(estimated, estimate=self.estimate, m=self.m, m_prior=self.m_prior)
        tables = {name: estimate(counts.table(name)).T for name in counts.names}
        self.categories_ = [np.asarray(self.schema_[j].categories) for j in self.schema_.categorical]
        self.tables_ = [tables[self.schema_[j].name] for j in self.schema_.categorical]
        self.histograms_ = {name: tables[name] for name in self.edges_}
        self._counted = columns.astype(np.int32)
        self._offsets = counts.offsets
        every = [np.empty((len(self.classes_), 0)), *tables.values()]
        self._log_table = log_probability(np.concatenate(every, axis=1).T.copy())

    def _finish_gaussians(self, statistic: MixedMoments) -> None:
        moments = statistic.moments
        weight, mean, scatter = moments.over_classes()
        spread = np.divide(scatter, weight, out=np.zeros_like(weight), where=weight > 0)
        self.epsilon_ = float(self.var_smoothing * spread.max(initial=0.0))
        known = moments.weight > 0
        variance = np.divide(
            moments.scatter, moments.weight, out=np.tile(spread, (len(known), 1)), where=known
        )
        self.means_ = np.where(known, moments.mean, mean)
        # without smoothing a class may have no spread: the density then stands as high as doubles let it
        self.variances_ = np.maximum(variance + self.epsilon_, np.finfo(np.float64).eps * spread)
        speaks = spread > 0
        self._measured = self._places("gaussian")
        self._mean = self.means_.T.copy()
        self._half_precision = np.where(speaks, 0.5 / np.where(speaks, self.variances_, 1.0), 0.0).T.copy()
        self._peak = np.where(
            speaks, -0.5 * np.log(2 * np.pi * np.where(speaks, self.variances_, 1.0)), 0.0
        ).T.copy()

    def _finish_kernels(self, statistic: MixedMoments) -> None:
        self._summed = self._places("kernel")
        found = [
            kernel_logs(statistic.values, i, self.classes_, self.bandwidth)  # type: ignore[arg-type]
            for i in range(len(self._summed))
        ]
        names = [self.schema_[j].name for j in self._summed]
        self.kernels_ = {name: logs for name, logs in zip(names, found) if logs is not None}
        self.bandwidths_ = {name: np.array([log.h for log in logs]) for name, logs in self.kernels_.items()}

    def _places(self, kind: str) -> np.ndarray:
        chosen = conditionals(self.schema_, self.continuous)
        return np.array([j for j, other in chosen.items() if other == kind], dtype=np.int32)

    # -- predict ---------------------------------------------------------------------------------------------

    def _log_joint(self, block: Block) -> np.ndarray:
        joint = np.empty((len(block), len(self.classes_)))
        joint[:] = self.class_log_prior_
        if len(self._measured):
            native.gaussian_log_joint(
                block.X, self._measured, self._mean, self._half_precision, self._peak, joint
            )
        if len(self._counted):
            X = self._bins(block).X
            X = X if X.dtype.kind == "f" or X.dtype.str[1:] in _WHOLE else X.astype(np.int64)
            native.table_log_joint(X, self._counted, self._offsets, self._log_table, joint)
        for name, logs in self.kernels_.items():
            x = block.X[:, self.schema_.names.index(name)].astype(np.float64)
            for k, log in enumerate(logs):
                joint[:, k] += log(x)
        return joint

    # -- what was learned ------------------------------------------------------------------------------------

    def explain(self, X: Any) -> Explanation:
        """The log-odds that every column adds for the predicted class against the runner-up.

        The base is the log-odds of the priors; base and contributions sum to the log of the ratio of the two
        posteriors. A missing or unknown cell adds nothing. With two classes the runner-up is the other one.
        """
        return self._explain(X, partial(_column_odds, self), AGAINST_RUNNER_UP)

    def summary(self) -> Summary:
        """The priors, the tables of the categorical columns and the means and deviations of the others."""
        head = super().summary()
        facts = {
            "rows": self.n_rows_,
            "Gaussian columns": len(self._measured),
            "histogram columns": len(self.edges_),
            "kernel columns": len(self._summed),
            "categorical columns": len(self.categories_),
            "tables": f"m-estimate, m = {self.m}, {self.m_prior}" if self.estimate == "m" else self.estimate,
            "added to variances": self.epsilon_,
        }
        return Summary(
            head.title,
            {**head.facts, **facts},
            [
                self._prior_table(),
                *self._gaussian_table(),
                *self._kernel_table(),
                *self._count_tables(),
                *self._histogram_tables(),
            ],
        )

    def _prior_table(self) -> Table:
        rows = list(zip(self.classes_, self.class_count_, self.class_prior_))
        return Table("Classes", ("class", "weight", "prior"), rows)

    def _gaussian_table(self) -> list[Table]:
        if not len(self._measured):
            return []
        heads = [f"{what} | {label}" for label in self.classes_ for what in ("mean", "sd")]
        values = np.stack([self.means_, np.sqrt(self.variances_)], axis=1).reshape(-1, len(self._measured))
        rows = [(self.schema_[j].name, *column) for j, column in zip(self._measured, values.T)]
        return [Table("Gaussian columns", ("column", *heads), rows)]

    def _kernel_table(self) -> list[Table]:
        heads = ("column", *(f"bandwidth | {label}" for label in self.classes_))
        rows = [(name, *widths) for name, widths in self.bandwidths_.items()]
        return [Table("Kernel columns", heads, rows)] if rows else []

    def _histogram_tables(self) -> list[Table]:
        heads = ("from", "to", *(f"P( | {label})" for label in self.classes_))
        return [
            Table(name, heads, list(zip(edges, edges[1:], *self.histograms_[name])))
            for name, edges in self.edges_.items()
        ]

    def _count_tables(self) -> list[Table]:
        heads = [f"P( | {label})" for label in self.classes_]
        return [
            Table(
                self.schema_[j].name,
                ("value", *heads),
                [(value, *row) for value, row in zip(values, table.T)],
            )
            for j, values, table in zip(self.schema_.categorical, self.categories_, self.tables_)
        ]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K, gaussians = len(self.classes_), len(self._places("gaussian"))
        schema = self._bins.schema(self.schema_)
        levels = [len(np.asarray(schema[j].categories)) for j in schema.categorical]
        return {
            "class_log_prior_": (K,),
            "_counted": (len(levels),),
            "_offsets": (len(levels) + 1,),
            "_log_table": (sum(levels), K),
            "_measured": (gaussians,),
            "_mean": (gaussians, K),
            "_half_precision": (gaussians, K),
            "_peak": (gaussians, K),
        }


_WHOLE = ("i1", "u1", "i2", "i4", "i8")  # what the kernel reads without a copy


def _column_odds(model: NaiveBayes, block: Block) -> np.ndarray:
    """The log conditional of every column in every class, as odds."""
    n, K = len(block), len(model.classes_)
    terms = np.zeros((n, K, len(model.schema_)))
    for i, j in enumerate(model._measured):
        x = block.X[:, j, None].astype(np.float64)
        known = model._peak[i] - model._half_precision[i] * (x - model._mean[i]) ** 2
        terms[:, :, j] = np.where(np.isnan(x), 0.0, known)
    for name, logs in model.kernels_.items():
        j = model.schema_.names.index(name)
        x = block.X[:, j].astype(np.float64)
        terms[:, :, j] = np.stack([log(x) for log in logs], axis=1)
    binned = model._bins(block).X
    for i, j in enumerate(model._counted):
        column = np.ascontiguousarray(binned[:, j, None].astype(np.float64))
        out, place = np.zeros((n, K)), model._offsets[i : i + 2]
        native.table_log_joint(
            column, np.zeros(1, np.int32), place - place[0], model._log_table[place[0] : place[1]], out
        )
        terms[:, :, j] = out
    return runner_up_odds(terms, model.class_log_prior_)
