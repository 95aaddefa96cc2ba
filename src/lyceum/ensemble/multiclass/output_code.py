"""Error-correcting output codes."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log2
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.members import MemberData
from lyceum._core.statistics import seed_from
from lyceum._core.types import Categories, Data, Operation
from lyceum.ensemble.multiclass.binary_members import BINARY_CONSTRAINTS, BinaryMembers
from lyceum.ensemble.multiclass.codes import (
    bch_code,
    exhaustive_code,
    minimum_distance,
    random_code,
)
from lyceum.errors import DataError, number_setting
from lyceum.report import Summary, Table

_FEW = 6  # classes up to which a code is exhaustive: 31 columns

# of the margin m = code × score
_LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": np.negative,
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "logistic": lambda m: np.logaddexp(0.0, -m),
    "exponential": lambda m: np.exp(np.minimum(-m, 700.0)),
}
# the same for exported models: factor · function(start + sign · m) is minus the loss
_LOSS_PARTS: dict[str, tuple[float, float, str, float]] = {
    "hinge": (-1.0, 1.0, "relu", -1.0),
    "logistic": (1.0, 0.0, "log_sigmoid", 1.0),
    "exponential": (-1.0, 0.0, "exp", -1.0),
}


class OutputCodeClassifier(BinaryMembers):
    """Error-correcting output codes: every class is a word of ±1, every column a binary problem.

    The predicted class is the one whose word M_k is nearest to what the members say, by the number
    of places or by a loss of the margins:

    .. math:: \\arg\\min_k \\sum_l \\tfrac12 (1 - M_{kl} \\, \\mathrm{sign} f_l(x)), \\qquad
        \\arg\\min_k \\sum_l L(M_{kl} f_l(x))

    If any two words differ in d places, ⌊(d - 1)/2⌋ members may err on a row without changing its
    class, as far as they err independently: this is why no two columns are alike. Codes are
    *exhaustive*: all 2^(K-1) - 1 divisions of the classes, d = 2^(K-2); *random*: the best of many
    random codes; *BCH*: words of a binary Bose-Chaudhuri-Hocquenghem code, whose distance is
    designed.

    Parameters
    ----------
    code : {"auto", "exhaustive", "random", "bch"} or array of shape (K, L), default="auto"
        "auto" is exhaustive up to 6 classes, then random. An array has the entries -1 and 1, and 0
        for classes that a column leaves out; its rows are in the order of the sorted labels.
    code_size : float or None, default=None
        How many columns a random code has, or a BCH code at most, for every class: ⌊`code_size` K⌋
        of K classes, as in scikit-learn, where it is 1.5. None is ⌈10 log2 K⌉ columns for random
        codes, and for BCH codes a length of at least 4 log2 K.
    decoding : {"loss", "hamming"}, default="loss"
        Whether the nearest word is found by the loss of the scores or by the number of places.
    loss : {"linear", "hinge", "logistic", "exponential"}, default="hinge"
        L for `decoding="loss"`. Choose that which the members minimize.

    Attributes
    ----------
    code_ : array of shape (K, L)
        The word of every class.
    min_distance_ : float
        The least number of places in which two words differ.
    correctable_ : int
        How many members may err: ⌊(d - 1)/2⌋.
    estimators_ : list of L classifiers
        The members. Their labels are 1 for the classes of 1 in their column and 0 for those of -1.

    See Also
    --------
    OneVsRestClassifier : The code 2I - 1.
    OneVsOneClassifier : The code of pairs.

    References
    ----------
    Dietterich and Bakiri (1995), Solving multiclass learning problems via error-correcting output
    codes, JAIR
    2. Allwein, Schapire and Singer (2000), Reducing multiclass to binary, JMLR 1.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import OutputCodeClassifier
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> penguins = load("penguins")
    >>> model = OutputCodeClassifier(DecisionTreeClassifier(max_depth=2)).fit(penguins)
    >>> model.code_.shape, model.min_distance_, model.score(penguins) > 0.9
    ((3, 3), 2.0, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **BINARY_CONSTRAINTS,
        "code": [StrOptions({"auto", "exhaustive", "random", "bch"}), "array-like"],
        "code_size": [Interval(Real, 0.0, None, closed="neither"), None],
        "decoding": [StrOptions({"loss", "hamming"})],
        "loss": [StrOptions(set(_LOSSES))],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: Any = "auto",
        code_size: float | None = None,
        decoding: str = "loss",
        loss: str = "hinge",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.code = code
        self.code_size = code_size
        self.decoding = decoding
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    # -- the code ----------------------------------------------------------------------

    def _make_code(self, n_classes: int) -> np.ndarray:
        code = self._chosen_code(n_classes)
        self.min_distance_ = minimum_distance(code)
        self.correctable_ = max(0, floor((self.min_distance_ - 1) / 2))
        return code

    def _chosen_code(self, n_classes: int) -> np.ndarray:
        if not isinstance(self.code, str):
            return _own_code(self.code, n_classes)
        if n_classes == 1:
            return np.ones((1, 0), dtype=np.int8)
        if n_classes == 2:
            return np.array([[-1], [1]], dtype=np.int8)
        automatic = self.code == "auto" and n_classes <= _FEW
        if automatic or self.code == "exhaustive":
            return exhaustive_code(n_classes)
        chance = np.random.default_rng(seed_from(self.random_state))
        n_columns = None
        if self.code_size is not None:
            n_columns = max(1, int(n_classes * self.code_size))
        if self.code == "bch":
            return bch_code(n_classes, n_columns, chance)
        return random_code(n_classes, n_columns or ceil(10 * log2(n_classes)), chance)

    # -- decoding ----------------------------------------------------------------------

    def _class_scores(self, scores: np.ndarray) -> np.ndarray:
        code = self.code_.astype(np.float64)
        L = max(1, code.shape[1])
        # words of ±1 differ in (L − their product) / 2 places
        if self.decoding == "hamming":
            return np.where(scores > 0, 1.0, -1.0) @ code.T / 2.0 - L / 2.0
        if self.loss == "linear":
            return scores @ self._weights().T
        # column by column: the margins of all at once would be (n, K, L)
        summed = np.zeros((len(scores), len(code)))
        for column, score in zip(code.T, scores.T):
            summed -= _LOSSES[self.loss](column * score[:, None])
        return summed / L

    def _operations(self) -> list[Operation]:
        code = self.code_.astype(np.float64)
        K, L = code.shape
        scores = self._score_branches()
        if (K, L) == (2, 1):
            return [
                scores,
                ("linear", {"coef": [[-1.0], [1.0]], "intercept": [0.0] * 2}),
            ]
        if self.decoding == "hamming":
            halves = {"coef": (code / 2.0).tolist(), "intercept": [-L / 2.0] * K}
            return [scores, ("activate", {"function": "sign"}), ("linear", halves)]
        if self.loss == "linear":
            sums = {"coef": self._weights().tolist(), "intercept": [0.0] * K}
            return [scores, ("linear", sums)]
        # the margins code_kl f_l of all classes and members, then minus the mean of their losses
        margins = np.zeros((K * L, L))
        margins[np.arange(K * L), np.tile(np.arange(L), K)] = code.ravel()
        sign, start, function, factor = _LOSS_PARTS[self.loss]
        spread = {"coef": (sign * margins).tolist(), "intercept": [start] * (K * L)}
        means = np.kron(np.eye(K), np.full((1, L), factor / L))
        return [
            scores,
            ("linear", spread),
            ("activate", {"function": function}),
            ("linear", {"coef": means.tolist(), "intercept": [0.0] * K}),
        ]

    @property
    def _sums_scores(self) -> bool:
        return self.decoding == "loss" and self.loss == "linear"

    def _weights(self) -> np.ndarray:
        return self.code_.astype(np.float64) / max(1, self.code_.shape[1])

    def decision_function(self, X: Data) -> Any:
        """Minus the distance to every word, places or mean loss, (n, K); with two classes the
        score, (n,)."""
        return super().decision_function(X)

    def words(self, X: Data) -> Any:
        """The answers of the members, 1 or -1, (n, L): words to compare with those of the
        classes."""
        return self._apply_to_members(self._words, X)

    def _words(self, data: MemberData) -> np.ndarray:
        return np.where(self._scores(data) > 0, 1, -1)

    # -- what was learned --------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        return {
            **super()._facts(),
            "code": self.code if isinstance(self.code, str) else "given",
            "minimum distance": self.min_distance_,
            "members that may err": self.correctable_,
            "decoding": "places" if self.decoding == "hamming" else f"{self.loss} loss",
        }

    def summary(self) -> Summary:
        """The word of every class, the least distance between two, and the binary problems."""
        summary = super().summary()
        signs = np.array(["-", "0", "+"])
        rows = zip(self.classes_, self.code_, self.class_weight_.tolist())
        words = [
            (str(label), "".join(signs[word + 1]), weight)
            for label, word, weight in rows
        ]
        table = Table("Words", ("class", "word", "weight"), words)
        return Summary(summary.title, summary.facts, [table, *summary.tables])


def _own_code(code: Any, n_classes: int) -> np.ndarray:
    """A code of the user's own; refuses one that cannot tell the classes apart."""
    code = number_setting("code", code)
    if code.ndim != 2 or len(code) != n_classes:
        raise DataError(
            f"the code has the shape {code.shape}, but {n_classes} classes need as many rows"
        )
    if not np.isin(code, (-1.0, 0.0, 1.0)).all():
        raise DataError(
            "a code has the entries -1 and 1, and 0 for classes that a column leaves out"
        )
    has_both_sides = (code == 1).any(axis=0) & (code == -1).any(axis=0)
    bare = np.flatnonzero(~has_both_sides)
    if len(bare):
        raise DataError(
            f"column {bare[0]} of the code has no class of 1, or none of -1: leave it out"
        )
    if len(np.unique(code, axis=0)) < n_classes:
        raise DataError(
            "two classes have the same word in the code: change a column, or add one"
        )
    return code.astype(np.int8)
