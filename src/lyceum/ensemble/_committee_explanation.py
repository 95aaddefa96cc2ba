"""Why a committee decided: what its columns add, and what every member said and counted for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.report import Explanation, Table, plain

__all__ = ["CommitteeExplanation", "member_shares"]

_LEAST = 1e-12  # posteriors below it are taken as this where their logarithms are compared


@dataclass(frozen=True)
class CommitteeExplanation(Explanation):
    """What every column adds to a prediction, and what every member said and counted for.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    members : sequence of str
        The names of the members or stages; of a stack also "(base)", what typical answers would give, and
        "(columns)" if the final learner sees the table.
    said : array of shape (n, members)
        The class, or the number, that each gives to the row; None for one that was not asked.
    supports : array of shape (n, members) or None
        The posterior, or the vote, that each gives to the class which was predicted; NaN where it was not
        asked. None for numbers.
    shares : array of shape (n, members)
        What each counted for in the decision, in `share_unit`.
    share_unit : str
        What shares are measured in.
    settings : (str, array of shape (members,)) or None
        A number of each member beside its name: its weight, or the threshold of a stage.
    """

    members: Sequence[str] = ()
    said: np.ndarray = None  # type: ignore[assignment]
    supports: np.ndarray | None = None
    shares: np.ndarray = None  # type: ignore[assignment]
    share_unit: str = ""
    settings: tuple[str, np.ndarray] | None = None

    @classmethod
    def of(
        cls,
        found: Explanation,
        parts: np.ndarray,
        classes: np.ndarray | None,
        members: Sequence[str],
        share_unit: str,
        settings: tuple[str, np.ndarray] | None = None,
    ) -> CommitteeExplanation:
        """From an explanation by columns and, for every row and member, what it said (a class code or number,
        NaN if it was not asked), its support of the prediction, and its share, (n, 3 * members)."""
        said, supports, shares = np.moveaxis(parts.reshape(len(parts), len(members), 3), 2, 0)
        labels: np.ndarray = np.full(said.shape, None, dtype=object)
        asked = np.isfinite(said)
        labels[asked] = said[asked] if classes is None else classes[said[asked].astype(int)]
        return found.extend(
            cls,
            members=members,
            said=labels,
            supports=None if classes is None else supports,
            shares=shares,
            share_unit=share_unit,
            settings=settings,
        )

    def detail(self, i: int) -> Table:
        """What every member said of row i, and what it counted for."""
        heads, columns = ["member", "says"], [list(self.members), [plain(one) for one in self.said[i]]]
        if self.supports is not None:
            heads.append(f"for {plain(self.predicted[i])}")
            columns.append(self.supports[i].tolist())
        if self.settings is not None:
            heads.append(self.settings[0])
            columns.append(self.settings[1].tolist())
        heads.append(self.share_unit)
        columns.append(self.shares[i].tolist())
        rows = [[_cell(value) for value in row] for row in zip(*columns)]
        return Table(f"Members on row {i}", heads, rows)

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"members": self.detail(i).as_dict()}


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and np.isnan(value)) else value


def member_shares(said: np.ndarray, fused: np.ndarray, rule: str, w: np.ndarray) -> np.ndarray:
    """What every member counts for in the fused answer of the class with the largest one, (L, n).

    For sums and votes w_l p_l(k), which add up to the fused answer; for median, minimum and maximum the fused
    answer, in equal parts, of the members that set it; for products L w_l log(p_l(k) / p_l(j)), where j is
    the class with the second largest answer.

    Parameters
    ----------
    said : array of shape (L, n, K)
        The answers; K is 1 for numbers.
    fused : array of shape (n, K)
        What the rule makes of them.
    rule : str
        See `fuse`.
    w : array of shape (L,)
        The weights of the members; the sum is 1.
    """
    rows, k = np.arange(len(fused)), fused.argmax(axis=1)
    own = said[:, rows, k]
    if rule == "product":
        if fused.shape[1] == 1:
            return np.zeros(own.shape)
        second = fused.copy()
        second[rows, k] = -np.inf
        other = said[:, rows, second.argmax(axis=1)]
        return len(w) * w[:, None] * np.log(np.maximum(own, _LEAST) / np.maximum(other, _LEAST))
    if rule in ("median", "minimum", "maximum"):
        answer = fused[rows, k]
        away = np.abs(own - answer)
        sets = away <= away.min(axis=0) + 1e-12 * np.maximum(np.abs(answer), 1.0)
        return sets / sets.sum(axis=0) * answer
    return w[:, None] * own
