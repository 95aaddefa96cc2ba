"""Naive Bayes for counts, as of words in text: multinomial and Bernoulli."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, dense_cells
from lyceum._core.probability import AGAINST_RUNNER_UP, PRIOR_CONSTRAINTS, runner_up
from lyceum._core.statistics import ClassSums, indicators
from lyceum._core.types import Categories, Data, Operation
from lyceum.bayes.generative import GenerativeClassifier
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.report import Explanation, Summary, Table

_N_COLUMNS = 10  # columns per class in a summary
_LEAST_ALPHA = 1e-10  # what logarithms can take

_COUNT_CONSTRAINTS: dict[str, list] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "force_alpha": ["boolean"],
    "fit_prior": ["boolean"],
    "class_prior": PRIOR_CONSTRAINTS["priors"],
    "prior_alpha": PRIOR_CONSTRAINTS["prior_alpha"],
    "categorical_features": CATEGORICAL_FEATURES,
}


class CountBayes(GenerativeClassifier):
    """log P(k | x) is log π_k + Σ_j x_j present_kj + (1 - x_j) absent_kj, up to a constant of the
    row."""

    _parameter_docs: ClassVar[str] = """
    force_alpha : bool
        Whether an alpha below 1e-10 is taken as it is.
    alpha : float or array of shape (n_features,)
        Added to every count; 1 is Laplace's estimate.
    fit_prior : bool
        Whether the class priors are learned; if not, and none are given, they are equal.
    class_prior : {"laplace", "uniform", "dirichlet_map", "dirichlet_mean"} or array
        The class priors, from the weights n_k of the classes and their sum N. None: n_k / N.
        "laplace": (n_k + 1) / (N + K). "uniform": 1 / K. "dirichlet_map" and "dirichlet_mean": the
        mode and the mean under a Dirichlet prior with the parameters `prior_alpha`. An array of
        shape (K,): the priors themselves.
    categorical_features : "from_dtype", True, mask, indices, names or None
        Which columns hold categories: those of a category or text type, all, or the ones given.
        Each category counts as a column of 0 and 1.
    """
    _attribute_docs: ClassVar[str] = """
    class_prior_, class_log_prior_ : array of shape (K,)
        The class priors as used, and their logarithms.
    feature_count_ : array of shape (K, d)
        n_kj, the weighted sum of column j in class k.
    feature_log_prob_ : array of shape (K, d)
        log p_kj, the smoothed probabilities of the columns.
    statistic_ : ClassSums
        The merged statistic of all rows seen.
    """

    _coding = "one_hot"
    _takes_sparse = True

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    _present: np.ndarray  # (K, d)
    _absent: np.ndarray | None  # (K, d)

    @property
    def _prior_rule(self) -> Any:
        if self.class_prior is None and not self.fit_prior:
            return "uniform"
        return self.class_prior

    @property
    def _smoothing(self) -> Any:
        """α of every column, at least 1e-10 unless `force_alpha`."""
        alpha = number_setting("alpha", self.alpha)
        n_columns = len(self.design_names)
        if alpha.ndim and alpha.shape != (n_columns,):
            raise SettingError(
                f"When alpha is an array, it should contains `n_features`: {alpha.shape[0]} numbers"
                f" came for {n_columns} columns"
            )
        if alpha.min() < 0:
            raise SettingError("All values in alpha must be greater than 0.")
        if alpha.min() < _LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha ="
                f" {_LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
                stacklevel=2,
            )
            return np.maximum(alpha, _LEAST_ALPHA)
        return alpha

    def _finish_classes(self, statistic: ClassSums) -> None:
        self._set_priors(statistic)
        self.feature_count_ = statistic.sums

    def _cells(self, block: Block) -> Any:
        """The numbers x_j of a block."""
        return block.X

    def _finish_scores(
        self, present: np.ndarray, absent: np.ndarray | None = None
    ) -> None:
        """As a product of cells and weights, which leaves sparse rows sparse:
        Σ_j x_j present + (1 - x_j) absent = Σ_j x_j (present - absent) + Σ_j absent."""
        self._present = present
        self._absent = absent
        weights = present
        self._constant = self.class_log_prior_.copy()
        if absent is not None:
            weights = present - absent
            self._constant = self.class_log_prior_ + absent.sum(axis=1)
        self._weights = np.ascontiguousarray(weights.T)

    def _log_joint(self, block: Block) -> np.ndarray:
        products = self._cells(block) @ self._weights
        return np.asarray(products, dtype=np.float64) + self._constant

    def _operations(self) -> list[Operation]:
        sums = {"coef": self._weights.T.tolist(), "intercept": self._constant.tolist()}
        return [("linear", sums), ("softmax", {})]

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The log-odds that every column adds for the predicted class against the runner-up.

        The base is the log-odds of the priors; base and contributions sum to the log of the ratio
        of the two posteriors. With two classes the runner-up is the other one.
        """
        return self._explain(X, self._column_odds, AGAINST_RUNNER_UP)

    def _column_odds(self, block: Block) -> np.ndarray:
        """Rows of (predicted class, base, what every column adds), without a table of terms for
        every class."""
        joint = self._log_joint(block)
        x = dense_cells(self._cells(block))
        best, second = runner_up(joint)
        log = self.class_log_prior_
        # with one class there is no runner-up, and -inf - -inf would be NaN
        base = np.subtract(
            log[best], log[second], out=np.zeros(len(x)), where=best != second
        )
        contributions = x * (self._present[best] - self._present[second])
        if self._absent is not None:
            contributions += (1.0 - x) * (self._absent[best] - self._absent[second])
        return np.column_stack([best, base, contributions])

    def summary(self) -> Summary:
        """The class priors, and for every class the columns that are most typical of it."""
        head = super().summary()
        facts = {"rows": self.n_rows_, "alpha": self.alpha}
        heads = ("class", "weight", "prior")
        classes = Table(
            "Classes",
            heads,
            list(zip(self.classes_, self.class_count_, self.class_prior_)),
        )
        tables = [classes, *map(self._class_table, range(len(self.classes_)))]
        return Summary(head.title, {**head.facts, **facts}, tables)

    def _class_table(self, k: int) -> Table:
        """The columns whose log probability is farthest above the mean of all classes."""
        lead = self.feature_log_prob_[k] - self.feature_log_prob_.mean(axis=0)
        order = np.argsort(-lead, kind="stable")[:_N_COLUMNS]
        names = [self.design_names[j] for j in order]
        numbers = (self.feature_count_[k], np.exp(self.feature_log_prob_[k]), lead)
        rows = list(zip(names, *(column[order].tolist() for column in numbers)))
        heads = ("column", "count", "probability", "log above the mean class")
        return Table(f"Columns typical of {self.classes_[k]}", heads, rows)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on measurements, not on counts
        return tags

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shape = (len(self.classes_), len(self.design_names))
        shapes: dict[str, tuple[int, ...]] = {
            "_constant": shape[:1],
            "_weights": shape[::-1],
            "_present": shape,
        }
        if self._absent is not None:
            shapes["_absent"] = shape
        return shapes


class MultinomialNB(CountBayes):
    """Multinomial naive Bayes: the counts of a row are draws from the distribution of its class.

    P(k | x) ∝ π_k Π_j p_kj^x_j, with p_kj = (n_kj + α) / (n_k + α d), n_kj the sum of column j over
    the rows of class k and n_k the sum of all columns. Takes sparse rows as they are, in one pass.

    See Also
    --------
    BernoulliNB : Presence or absence instead of counts.
    NaiveBayes : For mixed columns.

    References
    ----------
    A. McCallum and K. Nigam, "A comparison of event models for naive Bayes text classification",
    AAAI workshop on learning for text categorization, 1998.

    Examples
    --------
    >>> from scipy import sparse
    >>> from lyceum.bayes import MultinomialNB
    >>> words = sparse.csr_array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> model = MultinomialNB().fit(words, ["spam", "ham"])
    >>> model.predict(sparse.csr_array([[1.0, 0.0, 2.0]])).tolist()
    ['spam']
    """

    _parameter_constraints: ClassVar[dict] = _COUNT_CONSTRAINTS

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    def _statistic(self) -> Callable[[Block], ClassSums]:
        return _sums_of_counts

    def _finish(self, statistic: ClassSums) -> None:
        self._finish_classes(statistic)
        smoothed = self.feature_count_ + self._smoothing
        class_sums = smoothed.sum(axis=1, keepdims=True)
        self.feature_log_prob_ = np.log(smoothed) - np.log(class_sums)
        self._finish_scores(self.feature_log_prob_)

    def _n_parameters(self) -> int:
        d = self.feature_count_.shape[1]
        return self._n_shares() + self._n_classes_used() * (d - 1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class BernoulliNB(CountBayes):
    """Bernoulli naive Bayes: which columns are present in a row; their counts do not matter.

    P(k | x) ∝ π_k Π_j p_kj^x_j (1 - p_kj)^(1 - x_j) with x_j 0 or 1, and p_kj = (n_kj + α) / (n_k +
    2 α), n_kj the weight of the rows of class k that have column j and n_k that of all its rows. An
    absent column is evidence too. Takes sparse rows as they are, in one pass.

    Parameters
    ----------
    binarize : float, default=0.0
        x_j is 1 for a cell above this number. For sparse rows it must be at least 0.

    See Also
    --------
    MultinomialNB : Counts instead of presence.
    NaiveBayes : For mixed columns.

    References
    ----------
    A. McCallum and K. Nigam, "A comparison of event models for naive Bayes text classification",
    AAAI workshop on learning for text categorization, 1998.

    Examples
    --------
    >>> from scipy import sparse
    >>> from lyceum.bayes import BernoulliNB
    >>> words = sparse.csr_array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> model = BernoulliNB().fit(words, ["spam", "ham"])
    >>> model.predict_proba(sparse.csr_array([[1.0, 0.0, 2.0]])).round(2)
    array([[0.2, 0.8]])
    """

    _parameter_constraints: ClassVar[dict] = {
        "binarize": [Interval(Real, None, None, closed="neither")],
        **_COUNT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    def _statistic(self) -> Callable[[Block], ClassSums]:
        return partial(_sums_of_indicators, above=self.binarize)

    def _finish(self, statistic: ClassSums) -> None:
        self._finish_classes(statistic)
        # log p and log (1 - p) with p = (n_kj + α) / (n_k + 2 α); 1 - p from the counts of absent
        # cells, as it would lose digits near p = 1
        alpha = self._smoothing
        log_divisor = np.log(self.class_count_[:, None] + 2.0 * alpha)
        absent = np.maximum(self.class_count_[:, None] - self.feature_count_, 0.0)
        self.feature_log_prob_ = np.log(self.feature_count_ + alpha) - log_divisor
        log_absent = np.log(absent + alpha) - log_divisor
        self._finish_scores(self.feature_log_prob_, log_absent)

    def _cells(self, block: Block) -> Any:
        _check_threshold(block, self.binarize)
        return indicators(block.X, self.binarize)

    def _operations(self) -> list[Operation]:
        cuts = [[float(self.binarize)]] * len(self._weights)
        return [("cut", {"cuts": cuts}), *super()._operations()]

    def _n_parameters(self) -> int:
        return self._n_shares() + self._n_classes_used() * self.feature_count_.shape[1]


def _sums_of_counts(block: Block) -> ClassSums:
    cells = block.X.data if sparse.issparse(block.X) else block.X
    if cells.size and cells.min() < 0:
        if sparse.issparse(block.X):
            entries = block.X.tocoo()
            column = entries.col[np.argmin(entries.data)]
        else:
            column = np.argmin(cells) % block.X.shape[1]
        raise DataError(
            "Negative values in data passed to MultinomialNB: column"
            f" {block.schema[int(column)].name!r} has {cells.min():g}, but it takes counts; use"
            " NaiveBayes or BernoulliNB for other numbers"
        )
    return ClassSums.of(block)


def _sums_of_indicators(block: Block, above: float) -> ClassSums:
    _check_threshold(block, above)
    return ClassSums.of(block, above=above)


def _check_threshold(block: Block, above: float) -> None:
    if above < 0 and sparse.issparse(block.X):
        raise SettingError(
            f"binarize is {above:g}, above which lie the cells that sparse rows do not store: give"
            " a number of at least 0, or dense rows"
        )
