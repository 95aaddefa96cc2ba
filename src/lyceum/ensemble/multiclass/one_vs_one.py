"""One machine per pair of classes."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import normalize_posteriors
from lyceum._core.constraints import StrOptions
from lyceum._core.members import MemberData
from lyceum._core.types import Categories, Data, Operation
from lyceum.ensemble.multiclass.binary_members import (
    BINARY_CONSTRAINTS,
    has_posteriors,
    log_answers,
    posterior_operations_of,
    with_ties_broken,
    yes_posterior,
)
from lyceum.ensemble.multiclass.binary_parts import BinaryParts
from lyceum.errors import DataError

_BOTH: dict[str, Any] = {"coef": [[-1.0], [1.0]], "intercept": [0.0, 0.0]}
_CERTAIN = 1e-7  # pairwise posteriors keep this distance from 0 and 1
_SLICE = 4096  # rows whose systems of equations are held at once


class OneVsOneClassifier(BinaryParts):
    """One binary classifier per pair of classes, on the rows of these two; most votes decide.

    There are K(K - 1)/2 members on few rows each, which is less work than one against all others
    where the cost of a fit grows faster than its rows. Of classes with as many votes, that of the
    larger sum of scores wins. Posteriors are those that agree best with the pairwise ones r_ij =
    P(i | i or j, x), by Wu, Lin and Weng:

    .. math:: \\min_p \\sum_i \\sum_{j \\ne i} (r_{ji} p_i - r_{ij} p_j)^2, \\qquad \\sum_i p_i = 1

    which is the truth wherever r_ij = p_i / (p_i + p_j). Scores are those of the members'
    `decision_function`; without one, the difference of their two posteriors; without posteriors, 1
    and -1.

    Parameters
    ----------
    decision : {"votes", "scores", "posteriors"}, default="votes"
        What decides: votes of the pairs, the sum of a class's scores in its pairs, or the coupled
        posteriors, which minimize the risk and need members with posteriors.

    Attributes
    ----------
    estimators_ : list of K(K - 1)/2 classifiers
        The members in the order of the pairs (0, 1), (0, 2), ..., (1, 2), ... Their labels are 1
        for the second class of the pair and 0 for the first.
    code_ : array of shape (K, L)
        The pairs: -1 for the first class of a member, 1 for the second, 0 for those that it has not
        seen.

    See Also
    --------
    OneVsRestClassifier : One member per class.
    OutputCodeClassifier : Any code of the classes.

    References
    ----------
    Hastie and Tibshirani (1998), Classification by pairwise coupling, Annals of Statistics 26.
    Wu, Lin and Weng (2004), Probability estimates for multi-class classification by pairwise
    coupling, JMLR 5.

    Examples
    --------
    >>> from lyceum.bayes import LinearDiscriminantAnalysis
    >>> from lyceum.ensemble import OneVsOneClassifier
    >>> X = [[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [5.0, 1.0], [0.0, 5.0], [1.0, 4.0]]
    >>> y = ["a", "a", "b", "b", "c", "c"]
    >>> model = OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    >>> model.votes([[0.5, 0.5]]).tolist(), model.predict([[0.5, 0.5]]).tolist()
    ([[2.0, 1.0, 0.0]], ['a'])
    """

    _parameter_constraints: ClassVar[dict] = {
        **BINARY_CONSTRAINTS,
        "decision": [StrOptions({"votes", "scores", "posteriors"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        decision: str = "votes",
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.decision = decision
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _make_code(self, n_classes: int) -> np.ndarray:
        pairs = list(combinations(range(n_classes), 2))
        code = np.zeros((n_classes, len(pairs)), dtype=np.int8)
        for column, (first, second) in enumerate(pairs):
            code[first, column] = -1
            code[second, column] = 1
        return code

    def _problem_name(self, column: np.ndarray) -> str:
        second = self.classes_[np.argmax(column)]
        first = self.classes_[np.argmin(column)]
        return f"{second} or {first}"

    def _decision_scores(self, data: MemberData) -> np.ndarray:
        if self.decision == "posteriors" and len(self.classes_) > 2:
            return self._posterior(data)
        return super()._decision_scores(data)

    def _class_scores(self, scores: np.ndarray) -> np.ndarray:
        sums = scores @ self._weights().T
        if self.decision == "scores":
            return sums
        return with_ties_broken(self._votes(scores), sums)

    @property
    def _sums_scores(self) -> bool:
        return self.decision == "scores"

    def _weights(self) -> np.ndarray:
        return self.code_.astype(np.float64)

    @property
    def _score_unit(self) -> str:
        if self.decision == "posteriors":
            return "posterior"
        return "score"

    def decision_function(self, X: Data) -> Any:
        """Votes plus less than half a vote by the sum of scores; that sum; or posteriors, (n, K).

        With two classes it is the score of the one member, (n,).
        """
        return super().decision_function(X)

    @property
    def _decides_apart(self) -> bool:
        return has_posteriors(self)

    def _operations(self) -> list[Operation]:
        K = len(self.classes_)
        scores = self._score_branches()
        pairs = [list(pair) for pair in combinations(range(K), 2)]
        if K == 2:
            decided = [scores, ("linear", _BOTH)]
        elif self.decision == "votes":
            votes = {"machines": pairs, "size": K, "strict": True, "breaks_ties": True}
            decided = [scores, ("pairs", votes)]
        else:
            sums = {"coef": self._weights().tolist(), "intercept": [0.0] * K}
            decided = [scores, ("linear", sums)]
        if not self._decides_apart:
            return decided
        branches = [
            posterior_operations_of(member, self.schema_) for member in self.estimators_
        ]
        posteriors: list[Operation] = [("branches", {"branches": branches})]
        if K == 2:
            posteriors.append(("linear", {**_BOTH, "intercept": [1.0, 0.0]}))
        else:
            coupled = {"pairs": pairs, "size": K, "least": _CERTAIN, "floor": 0.0}
            posteriors.append(("couple", coupled))
        if self.decision == "posteriors" and K > 2:
            decided = posteriors
        return [("branches", {"branches": [posteriors, decided]})]

    def votes(self, X: Data) -> Any:
        """The number of pairs that every class wins, (n, K)."""
        return self._apply_to_members(self._member_votes, X)

    def _member_votes(self, data: MemberData) -> np.ndarray:
        if len(self.classes_) > 1:
            return self._votes(self._scores(data))
        return self._decision_scores(data)

    def _votes(self, scores: np.ndarray) -> np.ndarray:
        """A positive score is a vote for the class of 1 in the member's column, else for that of
        -1."""
        for_second = (self.code_.T > 0).astype(np.float64)
        for_first = (self.code_.T < 0).astype(np.float64)
        return (scores > 0) @ for_second + (scores <= 0) @ for_first

    @available_if(has_posteriors)
    def predict_proba(self, X: Data) -> Any:
        """The posteriors that agree best with those of the pairs."""
        return self._apply_to_members(self._posterior, X)

    @available_if(has_posteriors)
    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of `predict_proba`."""
        return self._apply_to_members(partial(log_answers, of=self._posterior), X)

    def _posterior(self, data: MemberData) -> np.ndarray:
        K = len(self.classes_)
        if K == 1:
            return super()._decision_scores(data) + 1.0
        members = self._member_answers(yes_posterior, data)
        if K == 2:
            second = members[0]
            return np.column_stack([1.0 - second, second])
        # members are in the order of the upper triangle, and say P(second | first or second)
        second = np.column_stack(members)
        r = np.zeros((len(second), K, K))
        first_of, second_of = np.triu_indices(K, 1)
        r[:, first_of, second_of] = 1.0 - second
        r[:, second_of, first_of] = second
        p = couple_posteriors(r)
        p[:, self.class_weight_ == 0] = 0.0
        return normalize_posteriors(p)


def couple_posteriors(pairwise: Any) -> np.ndarray:
    """Posteriors of K classes from those of all pairs.

    p minimizes Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² with Σ p = 1 (Wu, Lin and Weng 2004, their second
    method), which is a linear system: Q p + b 1 = 0, 1ᵀp = 1, with Q_ii = Σ_{j≠i} r_ji² and Q_ij =
    −r_ji r_ij.

    Parameters
    ----------
    pairwise : array of shape (n, K, K) or (K, K)
        r_ij = P(i | i or j, x), so that r_ij + r_ji = 1; the diagonal is not looked at.

    Returns
    -------
    array of shape (n, K) or (K,)

    Examples
    --------
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> couple_posteriors(p[:, None] / (p[:, None] + p)).round(12).tolist()
    [0.5, 0.3, 0.2]
    """
    r = np.asarray(pairwise, dtype=np.float64)
    if r.ndim == 2:
        return couple_posteriors(r[None])[0]
    if r.ndim != 3 or r.shape[1] != r.shape[2]:
        raise DataError(
            f"pairwise posteriors have the shape (n, K, K), but these have {r.shape}"
        )
    off = ~np.eye(r.shape[1], dtype=bool)
    if not (np.abs(r + r.transpose(0, 2, 1) - 1.0)[:, off] <= 1e-6).all():
        raise DataError(
            "pairwise posteriors of i and j must sum to 1: r[i, j] + r[j, i] = 1"
        )
    starts = range(0, max(1, len(r)), _SLICE)
    return np.concatenate([_couple(r[i : i + _SLICE]) for i in starts])


def _couple(r: np.ndarray) -> np.ndarray:
    n, K, _ = r.shape
    r = np.clip(r, _CERTAIN, 1.0 - _CERTAIN)
    diagonal = np.arange(K)
    r[:, diagonal, diagonal] = 0.0
    Q = -r * r.transpose(0, 2, 1)
    Q[:, diagonal, diagonal] = (r**2).sum(axis=1)  # Σ_j r_ji²
    # [Q 1; 1ᵀ 0] [p; b] = [0; 1]: the last row and column are those of Σ p = 1 and its multiplier
    system = np.ones((n, K + 1, K + 1))
    system[:, :K, :K] = Q
    system[:, K, K] = 0.0
    right = np.zeros((n, K + 1, 1))
    right[:, K] = 1.0
    p = np.linalg.solve(system, right)[:, :K, 0]
    return normalize_posteriors(np.maximum(p, 0.0))
