"""Fewer members that are as good together, chosen on validation rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.probability import check_shares
from lyceum._core.report import Shown
from lyceum._core.text import plain, show_count
from lyceum._core.types import Target
from lyceum.ensemble.committees.fusion import (
    TAKES_WEIGHTS,
    answers_of_members,
    check_class_codes,
    fuse,
)
from lyceum.errors import DataError, SettingError
from lyceum.report import Table

_METHODS = ("accuracy", "greedy", "reduce_error", "plus_minus")
_MOST_PASSES = 100


@dataclass(frozen=True, slots=True)
class Pruning(Shown):
    """The members of a committee that stay, and how they were chosen.

    Attributes
    ----------
    selected : tuple of int
        The members that stay, ascending.
    error : float
        The error of the selected members together on the validation rows.
    error_of_all : float
        The error of all members together.
    steps : list of dict
        `step`, `added`, `removed` (member numbers), `members` and `error` of every step.

    See Also
    --------
    prune_ensemble : Computes it.
    VotingClassifier.prune : A fitted committee of the members that stay.

    Examples
    --------
    >>> from lyceum.ensemble import prune_ensemble
    >>> first = [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]]
    >>> second = [[0.3, 0.7], [0.9, 0.1], [0.1, 0.9]]
    >>> pruning = prune_ensemble([0, 0, 1], [first, second, [[0.0, 1.0]] * 3])
    >>> pruning.selected, pruning.error, round(pruning.error_of_all, 4)
    ((0, 1), 0.0, 0.3333)
    >>> print(pruning)
    Pruning
    step  added  removed  members   error
    ────  ─────  ───────  ───────  ──────
       1      0                 1  0.3333
       2      1                 2       0
       3      2                 3  0.3333
    """

    selected: tuple[int, ...]
    error: float
    error_of_all: float
    steps: list[dict[str, Any]]

    def __str__(self) -> str:
        heads = ("step", "added", "removed", "members", "error")
        rows = []
        for step in self.steps:
            cells = step | {"members": len(step["members"])}
            rows.append(["" if cells[head] is None else cells[head] for head in heads])
        return str(Table("Pruning", heads, rows))

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        return plain({name: getattr(self, name) for name in self.__slots__})


def prune_ensemble(
    y: Target,
    outputs: Any,
    *,
    method: str = "reduce_error",
    n_members: int | None = None,
    accuracy: float | None = None,
    rule: str = "sum",
    weights: ArrayLike | None = None,
    plus: int = 2,
    minus: int = 1,
) -> Pruning:
    """Choose members of a committee by their error together on validation rows.

    Parameters
    ----------
    y : array of shape (n,)
        Class codes 0 ... K-1, or numbers.
    outputs : array of shape (L, n, K) or (L, n)
        Posteriors of every member, or its numbers.
    method : {"accuracy", "greedy", "reduce_error", "plus_minus"}, default="reduce_error"
        "accuracy" keeps members that are right at least as often as `accuracy` (the mean accuracy
        by default), or the best `n_members`. "greedy" adds the member that lowers the error most,
        one after the other. "reduce_error" does so and then exchanges each member for a better one
        while this helps. "plus_minus" adds the best `plus` members and takes away the worst
        `minus`, which may come back.
    n_members : int, optional
        How many stay; by default the number with the least error, the smallest of equal ones.
    accuracy : float, optional
        The cut-off of "accuracy"; for numbers the largest mean squared error.
    rule : str, default="sum"
        How answers are fused.
    weights : array of shape (L,), optional
        What members weigh.
    plus, minus : int, default=2, 1
        The l and r of plus-l minus-r; l > r.

    Returns
    -------
    Pruning

    References
    ----------
    Margineantu and Dietterich (1997), Pruning adaptive boosting, ICML.

    Examples
    --------
    Two members that are right on two of three rows each, and one that always names class 1:

    >>> good = [[[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]], [[0.3, 0.7], [0.9, 0.1], [0.1, 0.9]]]
    >>> outputs = [*good, [[0.0, 1.0]] * 3]
    >>> prune_ensemble([0, 0, 1], outputs).selected
    (0, 1)
    """
    search = _PruningSearch(np.asarray(y), answers_of_members(outputs), rule, weights)
    if method not in _METHODS:
        raise SettingError(
            f"method must be one of {', '.join(_METHODS)}, not {method!r}"
        )
    if n_members is not None and not 1 <= n_members <= search.L:
        raise SettingError(
            f"n_members={n_members} of {search.L} members: give 1 to {search.L}"
        )
    if not 0 <= minus < plus:
        raise SettingError(
            f"plus={plus} and minus={minus}: plus must be larger than minus"
        )
    if method == "accuracy":
        return search.by_accuracy(accuracy, n_members)
    if method == "plus_minus":
        return search.floating(n_members, plus, minus)
    return search.greedy(n_members, exchange=method == "reduce_error")


class _PruningSearch:
    """Errors of sets of members, and the ways from set to set."""

    def __init__(
        self,
        y: np.ndarray,
        outputs: np.ndarray,
        rule: str,
        weights: ArrayLike | None,
    ) -> None:
        if outputs.ndim not in (2, 3) or outputs.shape[1:2] != y.shape or not len(y):
            raise DataError(
                f"outputs of shape {outputs.shape} for {show_count(y.size, 'row')}: give (members,"
                " rows, K)"
            )
        if outputs.ndim == 3:
            check_class_codes(y, outputs.shape[2], "y")
        self.y = y
        self.rule = rule
        self.L = len(outputs)
        self.classes = outputs.ndim == 3
        self.outputs = outputs if self.classes else outputs[:, :, None]
        self.weights = None
        if weights is not None:
            shares = check_shares(weights, self.L, "weights", "member")
            if rule in TAKES_WEIGHTS:
                self.weights = shares
        # errors of sets of members, which searches come to again and again
        self.errors: dict[frozenset[int], float] = {}
        self.steps: list[dict[str, Any]] = []

    def error(self, members: Any) -> float:
        key = frozenset(members)
        if key not in self.errors:
            chosen = sorted(key)
            w = None
            if self.weights is not None and self.weights[chosen].any():
                w = self.weights[chosen]
            answers = fuse(self.outputs[chosen], self.rule, w)
            if self.classes:
                losses = answers.argmax(axis=1) != self.y
            else:
                losses = (answers[:, 0] - self.y) ** 2
            self.errors[key] = float(losses.mean())
        return self.errors[key]

    def step(
        self,
        members: list[int],
        added: int | None = None,
        removed: int | None = None,
    ) -> None:
        self.steps.append(
            {
                "step": len(self.steps) + 1,
                "added": added,
                "removed": removed,
                "members": tuple(sorted(members)),
                "error": self.error(members),
            }
        )

    def result(self, members: Any) -> Pruning:
        selected = tuple(sorted(members))
        return Pruning(
            selected, self.error(selected), self.error(range(self.L)), self.steps
        )

    def by_accuracy(self, cut: float | None, n_members: int | None) -> Pruning:
        errors = np.array([self.error([i]) for i in range(self.L)])
        order = np.argsort(errors, kind="stable")
        if n_members is None:
            if cut is None:
                most = float(errors.mean())
            elif self.classes:
                most = 1.0 - cut
            else:
                most = cut
            order = order[errors[order] <= most + 1e-12]
        members: list[int] = []
        for i in order[: n_members or self.L].tolist():
            members.append(i)
            self.step(members, added=i)
        if not members:
            raise SettingError(
                f"no member reaches accuracy={cut}: the best has an error of {errors.min():.4g}"
            )
        return self.result(members)

    def _best_to_add(self, members: list[int]) -> int:
        rest = [i for i in range(self.L) if i not in members]
        return min(rest, key=lambda i: (self.error([*members, i]), i))

    def _best_to_remove(self, members: list[int]) -> int:
        return min(
            members, key=lambda i: (self.error([k for k in members if k != i]), -i)
        )

    def greedy(self, n_members: int | None, exchange: bool) -> Pruning:
        members: list[int] = []
        best: list[int] = []
        for _ in range(n_members or self.L):
            i = self._best_to_add(members)
            members = [*members, i]
            self.step(members, added=i)
            if not best or self.error(members) < self.error(best):
                best = members
        if n_members is None:
            members = best
        return self.result(self._exchange(members) if exchange else members)

    def _exchange(self, members: list[int]) -> list[int]:
        """Every member in turn for the best one instead of it, until nothing changes."""
        for _ in range(_MOST_PASSES):
            before = self.error(members)
            for old in list(members):
                others = [k for k in members if k != old]
                new = self._best_to_add(others)
                if self.error([*others, new]) < self.error(members):
                    members = [*others, new]
                    self.step(members, added=new, removed=old)
            if not self.error(members) < before:
                break
        return members

    def floating(
        self,
        n_members: int | None,
        plus: int,
        minus: int,
    ) -> Pruning:
        # plus-l minus-r: l members are added and r removed until all are in, and the best set of
        # every size is kept
        members: list[int] = []
        best: dict[int, list[int]] = {}
        while len(members) < self.L:
            for _ in range(min(plus, self.L - len(members))):
                i = self._best_to_add(members)
                members = [*members, i]
                self.step(members, added=i)
                self._note(best, members)
            if len(members) == self.L:
                break
            for _ in range(minus):
                i = self._best_to_remove(members)
                members = [k for k in members if k != i]
                self.step(members, removed=i)
                self._note(best, members)
        if n_members is not None:
            return self.result(best[n_members])
        smallest = min(
            best.values(), key=lambda chosen: (self.error(chosen), len(chosen))
        )
        return self.result(smallest)

    def _note(self, best: dict[int, list[int]], members: list[int]) -> None:
        """Keep the best set of every size."""
        size = len(members)
        if size and (size not in best or self.error(members) < self.error(best[size])):
            best[size] = list(members)
