"""Naive Bayes over mixed columns: tables for categories; Gaussians, histograms or kernels for
numbers."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.base import CATEGORICAL_FEATURES, finite_sums
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.probability import (
    AGAINST_RUNNER_UP,
    PRIOR_CONSTRAINTS,
    log_probability,
)
from lyceum._core.types import Categories, Data, Operation, Priors, Target, Weights
from lyceum.bayes.conditionals import (
    CONDITIONALS,
    BinColumns,
    MixedMoments,
    bin_edges,
    column_densities,
    estimate_table,
    kernel_bandwidths,
    keys_by_name,
    table_priors,
)
from lyceum.bayes.generative import GenerativeClassifier
from lyceum.bayes.kernel_columns import ClassValues, KernelLog, kernel_logs
from lyceum.bayes.naive_bayes_report import (
    ProductExplanation,
    column_odds_and_factors,
    factor_tables,
    factors_and_cells,
    summary_tables,
)
from lyceum.errors import SettingError, SourceError, cannot_export
from lyceum.evaluate import degrees_of_freedom
from lyceum.report import Explanation, Summary


class NaiveBayes(GenerativeClassifier):
    """Naive Bayes: the columns are independent given the class.

    P(k | x) ∝ P(k) Π_j p(x_j | k), where p(x_j | k) is a table for a categorical column, and for a
    continuous one, as chosen, the Gaussian N(x_j; μ_jk, σ²_jk), a histogram, or a kernel density. A
    model may have all kinds. A missing cell is left out, at fit and at predict: its factor is 1. A
    category that was unknown at fit adds nothing either.

    A histogram is a table over bins that all classes share; the first and the last bin are open, so
    that they also hold what lies beyond the edges. A kernel density, (1/n_k) Σ_i N(x_j; x_ij,
    h²_jk) over the rows of the class, keeps all cells of its column in memory; its logarithm is
    accurate to 1e-3.

    Where a class has no cell in a column, it gets the column's distribution over all classes. A
    column that is constant over all rows has no effect. A row that is impossible in every class,
    which can happen with `estimate="raw"`, gets equal posteriors and the first class.

    Parameters
    ----------
    continuous : {"gaussian", "kernel", "histogram"} or dict, default="gaussian"
        The density of continuous columns: one for all, or by column name or place (Gaussian for
        those that are not named). Gaussians take one pass, histograms one more for the range of a
        column whose edges are not given, kernels one; kernels cannot run on Dask.
    n_bins : "sturges", int, array of edges, or dict by column name or place, default="sturges"
        The bins of a histogram: edges, or a number of bins of equal width between the smallest and
        the largest cell of the column, ⌈log2 n⌉ + 1 for "sturges". `partial_fit` needs edges.
    bandwidth : "reference", float, or dict by column name or place, default="reference"
        h of a kernel density; "reference" takes 1.06 σ n^(-1/5) for every column and class, as for
        columns that a dict does not name.
    estimate : {"laplace", "raw", "m"}, default="laplace"
        How a table is estimated from the weight n_jvk of category or bin v and the weight n_jk of
        all cells of column j in class k. "raw": n_jvk / n_jk. "laplace": (n_jvk + 1) / (n_jk +
        number of categories). "m": (n_jvk + m p_jv) / (n_jk + m). The categories are those of the
        schema, even if only zero-weight rows have them.
    m : float, default=1.0
        The weight of p in the m-estimate.
    m_prior : {"uniform", "marginal"} or dict of column to p, default="uniform"
        p in the m-estimate: 1 / number of categories, the frequency of the category over all
        classes, or by column the user's own, as dict of category to p or in the order of
        `categories_`; columns that are not named have "uniform". Where p does not sum to 1, tables
        are divided by their sum.
    unbiased : bool, default=False
        Divide by n_jk - 1 instead of n_jk for the variances of Gaussian columns; a class with one
        cell in a column then has the variance of the column over all classes.
    var_smoothing : float, default=1e-9
        The part of the largest variance of a column over all rows that is added to every variance.

    Attributes
    ----------
    class_prior_, class_log_prior_ : array of shape (K,)
        The class priors as used, and their logarithms.
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
        h in every class for every kernel column, by name.
    kernels_ : dict
        The log densities (`KernelLog`) of every class for every kernel column, by name.
    epsilon_ : float
        The amount added to the variances.
    statistic_ : MixedMoments
        The merged statistic of all rows seen.

    See Also
    --------
    MultinomialNB : For counts, as of words.
    BernoulliNB : For presence and absence of many columns.
    lyceum.density.ParzenClassifier : Kernel densities of all columns jointly.

    References
    ----------
    G. H. John and P. Langley, "Estimating continuous distributions in Bayesian classifiers",
    Uncertainty in Artificial Intelligence, 1995.

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
    >>> model = NaiveBayes(continuous={"heat": "histogram"}, n_bins=[0.0, 19.0, 25.0, 40.0])
    >>> model.fit(days, ["no", "no", "yes", "yes", "yes"]).histograms_["heat"]
    array([[0.2, 0.2, 0.6],
           [0.4, 0.4, 0.2]])
    """

    _coding = "codes"
    _takes_missing = True
    _parameter_constraints: ClassVar[dict] = {
        "continuous": [StrOptions(set(CONDITIONALS)), dict],
        "n_bins": [
            StrOptions({"sturges"}),
            Interval(Integral, 1, None, closed="left"),
            "array-like",
            dict,
        ],
        "bandwidth": [
            StrOptions({"reference"}),
            Interval(Real, 0, None, closed="neither"),
            dict,
        ],
        "unbiased": ["boolean"],
        "estimate": [StrOptions({"laplace", "raw", "m"})],
        "m": [Interval(Real, 0, None, closed="left")],
        "m_prior": [StrOptions({"uniform", "marginal"}), dict],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
        **PRIOR_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        continuous: Any = "gaussian",
        n_bins: Any = "sturges",
        bandwidth: Any = "reference",
        estimate: str = "laplace",
        m: float = 1.0,
        m_prior: Any = "uniform",
        unbiased: bool = False,
        var_smoothing: float = 1e-9,
        priors: Priors = None,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.continuous = continuous
        self.n_bins = n_bins
        self.bandwidth = bandwidth
        self.estimate = estimate
        self.m = m
        self.m_prior = m_prior
        self.unbiased = unbiased
        self.var_smoothing = var_smoothing
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from all rows of X, in one pass, or two if the ranges of histogram columns are to
        be found.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        return self._learn(rows, None)

    def _continue_fit(self, rows: Rows):
        return self._learn(rows, getattr(self, "statistic_", None), may_scan=False)

    def _learn(self, rows: Rows, before: MixedMoments | None, may_scan: bool = True):
        chosen = column_densities(self.schema_, self.continuous)
        kernel = tuple(j for j, kind in chosen.items() if kind == "kernel")
        if kernel and rows.on_dask:
            raise SourceError(
                f"column {self.schema_[kernel[0]].name!r} has a kernel density, which keeps all"
                " cells in memory and cannot be learned on Dask: choose continuous='histogram' or"
                " 'gaussian'"
            )
        binned = [
            self.schema_[j].name for j, kind in chosen.items() if kind == "histogram"
        ]
        bins = keys_by_name(self.schema_, self.n_bins, "n_bins")
        self.edges_ = bin_edges(rows, binned, bins, may_scan)
        # numbers in bins are categories from here on: one statistic counts both
        statistic_of = partial(MixedMoments.of, kernel=kernel)
        statistic = finite_sums(rows.then(self._bins).reduce(statistic_of))
        if before is not None:
            statistic = before.merge(statistic)
        self.statistic_ = statistic
        self._finish(statistic)
        return self

    @property
    def _bins(self) -> BinColumns:
        return BinColumns(self.edges_)

    def _finish(self, statistic: MixedMoments) -> None:
        self._set_priors(statistic)
        self._finish_tables(statistic)
        self._finish_gaussians(statistic)
        self._finish_kernels(statistic)

    def _finish_tables(self, statistic: MixedMoments) -> None:
        # counts in the order of the codes: the statistic has categories as they came
        schema = self._bins.schema(self.schema_)
        columns = schema.categorical
        categories = [np.asarray(schema[j].categories) for j in columns]
        counts = statistic.counts.arrange(categories)
        p = table_priors(self.schema_, self.m_prior)
        tables = {
            name: estimate_table(table, self.estimate, self.m, p.get(name, "uniform")).T
            for name, table in counts.tables().items()
        }
        self.categories_ = [
            np.asarray(self.schema_[j].categories) for j in self.schema_.categorical
        ]
        self.tables_ = [tables[self.schema_[j].name] for j in self.schema_.categorical]
        self.histograms_ = {name: tables[name] for name in self.edges_}
        # for the kernel: the logs of all tables below each other, (categories, K), with offsets
        self._table_columns = columns.astype(np.int32)
        self._offsets = counts.offsets
        every = [np.empty((len(self.classes_), 0)), *tables.values()]
        self._log_table = log_probability(np.concatenate(every, axis=1).T.copy())

    def _finish_gaussians(self, statistic: MixedMoments) -> None:
        # σ²_jk, or the variance `spread` of the column over all classes where a class has too few
        # cells; likewise the means
        moments = statistic.moments
        weight, mean, scatter = moments.over_classes()
        spread = np.divide(scatter, weight, out=np.zeros_like(weight), where=weight > 0)
        self.epsilon_ = float(self.var_smoothing * spread.max(initial=0.0))
        has_cells = moments.weight > 0
        left = moments.weight - int(self.unbiased)
        everywhere = np.tile(spread, (len(has_cells), 1))
        variance = np.divide(moments.scatter, left, out=everywhere, where=left > 0)
        self.means_ = np.where(has_cells, moments.mean, mean)
        # without smoothing a class may have no spread: its variance is then the smallest that
        # doubles allow
        self.variances_ = np.maximum(
            variance + self.epsilon_, np.finfo(np.float64).eps * spread
        )
        # For the kernel: ln N(x; μ, σ²) = peak - half_precision (x - μ)², one row per column. A
        # column that is constant over all rows has zeros in both, and so no effect.
        varies = spread > 0
        safe = np.where(varies, self.variances_, 1.0)
        self._gaussian_columns = self._columns_of_kind("gaussian")
        self._mean = self.means_.T.copy()
        half_precision = np.where(varies, 0.5 / safe, 0.0)
        peak = np.where(varies, -0.5 * np.log(2 * np.pi * safe), 0.0)
        self._half_precision = half_precision.T.copy()
        self._peak = peak.T.copy()

    def _finish_kernels(self, statistic: MixedMoments) -> None:
        self._kernel_columns = self._columns_of_kind("kernel")
        names = [self.schema_[j].name for j in self._kernel_columns]
        widths = kernel_bandwidths(self.schema_, names, self.bandwidth)
        densities = [
            kernel_logs(statistic.values, i, self.classes_, h)  # type: ignore[arg-type]
            for i, h in enumerate(widths)
        ]
        self.kernels_ = {
            name: logs for name, logs in zip(names, densities) if logs is not None
        }
        self.bandwidths_ = {
            name: np.array([log.h for log in logs])
            for name, logs in self.kernels_.items()
        }

    def _columns_of_kind(self, kind: str) -> np.ndarray:
        chosen = column_densities(self.schema_, self.continuous)
        return np.array(
            [j for j, other in chosen.items() if other == kind], dtype=np.int32
        )

    # -- predict -----------------------------------------------------------------------

    def _log_joint(self, block: Block) -> np.ndarray:
        joint = np.empty((len(block), len(self.classes_)))
        joint[:] = self.class_log_prior_
        if len(self._gaussian_columns):
            native.gaussian_log_joint(
                block.X,
                self._gaussian_columns,
                self._mean,
                self._half_precision,
                self._peak,
                joint,
            )
        if len(self._table_columns):
            X = self._bins(block).X
            if not (X.dtype.kind == "f" or X.dtype.str[1:] in _INTEGERS):
                X = X.astype(np.int64)
            native.table_log_joint(
                X, self._table_columns, self._offsets, self._log_table, joint
            )
        # a column that is constant over all rows has no kernels, and a missing cell adds 0
        for name, logs in self.kernels_.items():
            x = block.X[:, self.schema_.names.index(name)].astype(np.float64)
            for k, log in enumerate(logs):
                joint[:, k] += log(x)
        return joint

    def _operations(self) -> list[Operation]:
        if self.kernels_ or len(self._columns_of_kind("histogram")):
            raise cannot_export(
                self, "it has densities of numbers other than Gaussians"
            )
        gaussians = zip(
            self._gaussian_columns.tolist(),
            self._mean.tolist(),
            self._half_precision.tolist(),
            self._peak.tolist(),
        )
        starts = self._offsets.tolist()
        tables = [
            [j, self._log_table[start:stop].tolist()]
            for j, start, stop in zip(self._table_columns.tolist(), starts, starts[1:])
        ]
        constants = {
            "log_prior": self.class_log_prior_.tolist(),
            "gaussians": [list(column) for column in gaussians],
            "tables": tables,
        }
        return [("column_densities", constants), ("softmax", {})]

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The log-odds that every column adds for the predicted class against the runner-up.

        The base is the log-odds of the priors; base and contributions sum to the log of the ratio
        of the two posteriors. A missing or unknown cell adds nothing. With two classes the
        runner-up is the other one. Below it stands the product P(k) Π_j p(x_j | k) of the classes,
        factor by factor, as in `factors`.
        """
        explanation, factors = self._explain_with_more(
            X, partial(column_odds_and_factors, self), AGAINST_RUNNER_UP
        )
        return ProductExplanation.of(explanation, self, factors)

    def factors(self, X: Data) -> Summary:
        """The product P(k) Π_j p(x_j | k) of every row, factor by factor, as it is done by hand.

        One table per row, one line per class: the prior, one factor per column (1 for a missing
        cell), their product, and the posterior, which is the product over the sum of all products.

        Parameters
        ----------
        X : array, frame or `scan(...)` of a few rows

        Returns
        -------
        Summary
        """
        products = np.asarray(self._apply(partial(factors_and_cells, self), X))
        return Summary(
            f"{self._title()}: the products",
            {"rows": len(products)},
            factor_tables(self, products),
        )

    def summary(self) -> Summary:
        """Class priors, tables of the categorical columns, means and deviations of the others."""
        head = super().summary()
        tables = self.estimate
        if self.estimate == "m":
            p = self.m_prior if isinstance(self.m_prior, str) else "own p"
            tables = f"m-estimate, m = {self.m}, {p}"
        divisor = "n (maximum likelihood)"
        if self.unbiased:
            divisor = "n - 1 (unbiased)"
        facts = {
            "rows": self.n_rows_,
            "Gaussian columns": len(self._gaussian_columns),
            "histogram columns": len(self.edges_),
            "kernel columns": len(self._kernel_columns),
            "categorical columns": len(self.categories_),
            "tables": tables,
            "variances divided by": divisor,
            "added to variances": self.epsilon_,
        }
        return Summary(head.title, {**head.facts, **facts}, summary_tables(self))

    def _n_parameters(self) -> int:
        if len(self._kernel_columns):
            raise SettingError(
                "a kernel density has no fixed number of parameters: leave such columns out"
            )
        levels = np.diff(self._offsets).tolist()
        varies = (self._half_precision > 0.0).any(axis=1)
        return self._n_shares() + degrees_of_freedom(
            "naive_bayes",
            K=self._n_classes_used(),
            numeric=int(varies.sum()),
            levels=[n for n in levels if n],
            shares=False,
        )

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), ClassValues, KernelLog, MixedMoments)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        gaussians = len(self._columns_of_kind("gaussian"))
        schema = self._bins.schema(self.schema_)
        levels = [len(np.asarray(schema[j].categories)) for j in schema.categorical]
        return {
            "class_log_prior_": (K,),
            "_table_columns": (len(levels),),
            "_offsets": (len(levels) + 1,),
            "_log_table": (sum(levels), K),
            "_gaussian_columns": (gaussians,),
            "_mean": (gaussians, K),
            "_half_precision": (gaussians, K),
            "_peak": (gaussians, K),
        }


_INTEGERS = ("i1", "u1", "i2", "i4", "i8")  # the kernel reads them without a copy
