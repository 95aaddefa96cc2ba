"""Explanations by members: what every column adds, and the answer and share of every member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.text import plain
from lyceum.report import Explanation, Table

# posteriors below it are taken as this where their logarithms are compared
_LEAST = 1e-12


@dataclass(frozen=True)
class MemberExplanation(Explanation):
    """What every column adds to a prediction, and the answer and the share of every member.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    members : sequence of str
        The names of the members or stages; of a stack also "(base)", the part of typical answers,
        and "(columns)" if the final learner sees the table.
    answers : array of shape (n, members)
        The class, or the number, that each member predicts for the row; None for stages not
        reached.
    supports : array of shape (n, members) or None
        The posterior, or the vote, of each member for the class that the ensemble predicts; NaN
        for a stage that the row did not reach. None for numbers.
    shares : array of shape (n, members)
        The part of each member in the decision, in `share_unit`.
    share_unit : str
        The unit of the shares.
    settings : (str, array of shape (members,)) or None
        The name of a setting that members differ in, and its values: the weights of members, or the
        thresholds of stages.

    Attributes
    ----------
    scores : array of shape (n,)
        The explained scores: base plus contributions.

    See Also
    --------
    VotingClassifier.explain, CascadeClassifier.explain, StackingClassifier.explain : Return it.
    lyceum.report.Explanation : The contributions of the columns alone.

    Examples
    --------
    The tree is certain of class a; of the three nearest rows two have class a:

    >>> from lyceum.ensemble import VotingClassifier
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> estimators = [("tree", DecisionTreeClassifier()), ("neighbors", KNeighborsClassifier(3))]
    >>> X = [[0.0], [1.0], [4.0], [5.0]]
    >>> model = VotingClassifier(estimators, voting="soft").fit(X, ["a", "a", "b", "b"])
    >>> print(model.explain([[0.0]]).detail(0))
    Members on row 0
    member     says   for a  weight  share in the sum
    ─────────  ────  ──────  ──────  ────────────────
    tree       a          1     0.5               0.5
    neighbors  a     0.6667     0.5            0.3333
    """

    members: Sequence[str] = ()
    answers: np.ndarray = None  # type: ignore[assignment]
    supports: np.ndarray | None = None
    shares: np.ndarray = None  # type: ignore[assignment]
    share_unit: str = ""
    settings: tuple[str, np.ndarray] | None = None

    @classmethod
    def of(
        cls,
        explanation: Explanation,
        parts: np.ndarray,
        classes: np.ndarray | None,
        members: Sequence[str],
        share_unit: str,
        settings: tuple[str, np.ndarray] | None = None,
    ) -> MemberExplanation:
        """From an explanation by columns and, for every row and member, its answer (a class code or
        number, NaN if the row did not reach it), its support of the prediction, and its share, (n,
        3 * members)."""
        cube = parts.reshape(len(parts), len(members), 3)
        answers, supports, shares = np.moveaxis(cube, 2, 0)
        labels: np.ndarray = np.full(answers.shape, None, dtype=object)
        asked = np.isfinite(answers)
        if classes is None:
            labels[asked] = answers[asked]
        else:
            labels[asked] = classes[answers[asked].astype(int)]
        return explanation.extend(
            cls,
            members=members,
            answers=labels,
            supports=None if classes is None else supports,
            shares=shares,
            share_unit=share_unit,
            settings=settings,
        )

    def detail(self, i: int) -> Table:
        """The answer and the share of every member for row i."""
        heads = ["member", "says"]
        columns = [list(self.members), [plain(answer) for answer in self.answers[i]]]
        if self.supports is not None:
            heads.append(f"for {plain(self.predicted[i])}")
            columns.append(self.supports[i].tolist())
        if self.settings is not None:
            heads.append(self.settings[0])
            columns.append(self.settings[1].tolist())
        heads.append(self.share_unit)
        columns.append(self.shares[i].tolist())
        # a stage that the row did not reach has no answer, and NaN for its support
        rows = [
            ["" if value is None or value != value else value for value in row]
            for row in zip(*columns)
        ]
        return Table(f"Members on row {i}", heads, rows)

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"members": self.detail(i).as_dict()}


def member_shares(
    answers: np.ndarray,
    fused: np.ndarray,
    rule: str,
    w: np.ndarray,
) -> np.ndarray:
    """The share of every member in the fused answer of the class with the largest one, (L, n).

    For sums and votes w_l p_l(k), which add up to the fused answer; for median, minimum and maximum
    the fused answer, in equal parts, of the members that set it; for products L w_l log(p_l(k) /
    p_l(j)), where j is the class with the second largest answer.

    Parameters
    ----------
    answers : array of shape (L, n, K)
        The answers; K is 1 for numbers.
    fused : array of shape (n, K)
        The fused answers.
    rule : str
        See `fuse`.
    w : array of shape (L,)
        The weights of the members; the sum is 1.
    """
    # p_l(k) of every member for the class k that is predicted, (L, n)
    rows = np.arange(len(fused))
    k = fused.argmax(axis=1)
    support = answers[:, rows, k]
    if rule == "product":
        if fused.shape[1] == 1:
            return np.zeros(support.shape)
        others = fused.copy()
        others[rows, k] = -np.inf
        runner_up = answers[:, rows, others.argmax(axis=1)]
        ratio = np.maximum(support, _LEAST) / np.maximum(runner_up, _LEAST)
        return len(w) * w[:, None] * np.log(ratio)
    if rule in ("median", "minimum", "maximum"):
        # members that are nearest to the fused answer, but for rounding, set it
        answer = fused[rows, k]
        distance = np.abs(support - answer)
        rounding = 1e-12 * np.maximum(np.abs(answer), 1.0)
        sets = distance <= distance.min(axis=0) + rounding
        return sets / sets.sum(axis=0) * answer
    return w[:, None] * support
