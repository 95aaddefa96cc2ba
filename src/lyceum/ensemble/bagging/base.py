"""A bag: members on samples of the rows and columns, whatever they predict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    check_same_columns,
    once_per_record,
    takes_rows,
    takes_weights,
    undefined,
)
from lyceum._core.constraints import Interval
from lyceum._core.members import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    MemberData,
    member_operations,
    set_seeds,
    weighted_sum_operations,
)
from lyceum._core.routing import Route
from lyceum._core.statistics import seed_from, weighted_mean
from lyceum._core.threads import ordered_map
from lyceum._core.trees import Router, Tree, contributions
from lyceum._core.types import Data, Estimator, Operation
from lyceum.ensemble.bagging.draws import Draws, OutOfBag, counts_in_bags, weights_of
from lyceum.ensemble.tree_members import (
    are_trees,
    cells_of_trees,
    forest,
    tree_operations,
    votes,
)
from lyceum.errors import SettingError
from lyceum.progress import report
from lyceum.report import Summary, Table

_MOST_DRAWS = 1 << 31
BAG_CONSTRAINTS: dict[str, Any] = {
    **MEMBER_CONSTRAINTS,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, None, closed="neither"),
        None,
    ],
    "bootstrap": ["boolean"],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
    ],
    "bootstrap_features": ["boolean"],
    "bags": ["array-like", None],
    "oob_score": ["boolean"],
}


class BaggingBase(Ensemble):
    """Members on samples, whatever they predict: a subclass says what an answer is and how good it
    is."""

    _parameter_docs: ClassVar[str] = """
    n_estimators : int
        The number of members.
    max_samples : int, float or None
        N', or N' / N, which may exceed 1 with `bootstrap`; with weights, their share of the total
        weight. None: as many as there are rows.
    bootstrap : bool
        Whether rows are drawn with replacement.
    max_features : int or float
        The columns of a member, or their share.
    bootstrap_features : bool
        Whether columns are drawn with replacement.
    bags : list of arrays of row numbers, or None
        The rows of every member, a row as often as it is named: given, not drawn. Their number
        takes the place of `n_estimators`; `max_samples` and `bootstrap` must be left as they are.
    oob_score : bool
        Whether every row is predicted by the members that have not seen it.
    warm_start : bool
        Whether `fit` keeps the members it has and adds up to `n_estimators`: the same as all at
        once.
    """
    _attribute_docs: ClassVar[str] = """
    estimator_ : estimator
        What the members are copies of, not fitted.
    estimators_samples_, estimators_features_ : lists of arrays
        The rows and columns of every member, computed on request; None for all columns.
    oob_unknown_ : int
        How many rows are never out of bag.
    draws_ : Draws
        How rows and columns are drawn.
    seed_ : int
        The seed that was used.
    """

    n_estimators: int
    max_samples: int | float | None
    bootstrap: bool
    max_features: int | float
    bootstrap_features: bool
    bags: Any
    oob_score: bool
    warm_start: bool
    random_state: int | np.random.RandomState | None
    draws_: Draws

    # -- fit ---------------------------------------------------------------------------

    def _routes(self) -> list[Route]:
        base = self._base()
        answer = "predict_proba" if hasattr(base, "predict_proba") else "predict"
        pairs = [("fit", "fit"), ("predict", answer)]
        for name in ("predict_proba", "predict_log_proba", "decision_function"):
            if hasattr(base, name):
                pairs.append((name, "predict_proba" if "proba" in name else name))
        return [Route("estimator", base, tuple(pairs))]

    def _fit(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
        before: dict[str, Any],
    ) -> None:
        warm = self.warm_start and "draws_" in before
        self.seed_ = before["seed_"] if warm else seed_from(self.random_state)
        self.draws_ = self._new_draws(len(target), w)
        earlier = []
        if warm:
            earlier = self._members_before(before)
        first = len(earlier)
        bag = None
        if self.oob_score:
            # members of an earlier fit answer again: their answers out of bag were not kept
            first = 0
            bag = OutOfBag.start(len(target), self._width)
        work = partial(self._member, data=data, w=w, earlier=earlier)
        numbers = range(first, self._n_members)
        self.estimators_ = list(earlier)
        for i, (member, left_out, answers) in zip(numbers, ordered_map(work, numbers)):
            if i >= len(earlier):
                self.estimators_.append(member)
                report("members", i + 1, self._n_members)
            if bag is not None:
                bag.add(left_out, answers)
                losses = self._losses(target[left_out], answers)
                bag.errors.append(weighted_mean(losses, weights_of(w, left_out)))
        self._set_out_of_bag(bag, target, w)

    def _member(
        self,
        i: int,
        data: MemberData,
        w: np.ndarray | None,
        earlier: list[Any],
    ) -> tuple[Any, Any, Any]:
        """Member i, the rows that it has not seen, and what it answers for them."""
        counts = self.draws_.counts(i)
        columns = self.draws_.columns(i)
        if i < len(earlier):
            member = earlier[i]
        else:
            member = self._fit_copy(i, counts, columns, data, w)
        if not self.oob_score:
            return member, None, None
        left_out = self.draws_.left_out_rows(counts)
        if not len(left_out):
            return member, left_out, np.empty((0, self._width))
        return member, left_out, self._answer(member, data, columns, left_out)

    def _fit_copy(
        self,
        i: int,
        counts: np.ndarray,
        columns: object,
        data: MemberData,
        w: np.ndarray | None,
    ) -> Any:
        member = set_seeds(self._copy(), self.seed_, i)
        # A row drawn m times weighs m; where the learner takes no weights, it is there m times.
        # None stands for all rows, each once.
        if not takes_weights(member):
            if (counts == 1).all():
                return data.fit(member, None, columns)
            return data.fit(member, np.repeat(np.arange(len(counts)), counts), columns)
        if not takes_rows(member):
            return data.fit(member, None, columns, counts.astype(np.float64))
        rows = np.flatnonzero(counts)
        weights = counts[rows].astype(np.float64)
        unequal = None if (weights == 1.0).all() else weights
        if len(rows) == len(counts):
            return data.fit(member, None, columns, unequal)
        return data.fit(member, rows, columns, unequal)

    @property
    def _n_members(self) -> int:
        return self.n_estimators if self.bags is None else len(self.bags)

    def _given_counts(self, n: int, weighted: np.ndarray | None) -> np.ndarray | None:
        """How often every row is in each of the given bags; zero-weight rows are in none."""
        if self.bags is None:
            return None
        if self.max_samples not in (None, 1.0) or not self.bootstrap:
            raise SettingError(
                "bags names the rows of every member: leave max_samples and bootstrap as they are"
            )
        counts = counts_in_bags(self.bags, n)
        if weighted is not None:
            is_weighted = np.zeros(n, dtype=bool)
            is_weighted[weighted] = True
            counts *= is_weighted
        if not counts.any(axis=1).all():
            bag = int(np.argmin(counts.any(axis=1)))
            raise SettingError(f"bags[{bag}] has no row with a positive weight")
        return counts

    def _new_draws(self, n: int, w: np.ndarray | None) -> Draws:
        weighted = None
        n_weighted = n
        if w is not None and not w.all():
            weighted = np.flatnonzero(w)
            n_weighted = len(weighted)
        odds = None
        total = float(n_weighted)
        if w is not None:
            odds = w if weighted is None else w[weighted]
            total = float(odds.sum())
            odds = None if np.ptp(odds) == 0.0 else odds / total
        d = self.n_features_in_
        n_drawn = n_weighted
        if self.max_samples is not None:
            n_drawn = _number(self.max_samples, total)
        self._check_drawn(n_drawn, n_weighted, w)
        n_columns = _number(self.max_features, d)
        if n_columns > d:
            raise SettingError(
                f"max_features={self.max_features} asks for {n_columns} of {d} columns"
            )
        return Draws(
            seed=self.seed_,
            n_rows=n,
            n_drawn=n_drawn,
            bootstrap=self.bootstrap,
            n_columns=d,
            n_columns_drawn=n_columns,
            bootstrap_columns=self.bootstrap_features,
            weighted=weighted,
            odds=odds,
            given=self._given_counts(n, weighted),
        )

    def _check_drawn(self, n_drawn: int, n_rows: int, w: np.ndarray | None) -> None:
        """Refuse too many rows, warn of few and of weights without effect."""
        if n_drawn > _MOST_DRAWS:
            raise SettingError(
                f"max_samples={self.max_samples} asks for {n_drawn:.3g} draws of {n_rows} rows"
                f" for every member: at most {_MOST_DRAWS:,}"
            )
        if not self.bootstrap and w is not None:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use"
                " bootstrap=True: of all rows, drawn once each, the weights say nothing.",
                UserWarning,
                stacklevel=6,
            )
        if not self.bootstrap and n_drawn > n_rows:
            raise SettingError(
                f"Effective max_samples={n_drawn} must be <= n_samples={n_rows} to be able to"
                " sample without replacement."
            )
        if (
            w is None
            or self.max_samples is None
            or isinstance(self.max_samples, Integral)
        ):
            return
        if n_drawn < max(10, n_rows ** (1 / 3)):
            warnings.warn(
                f"Using the fractional value max_samples={self.max_samples} when the total sum of"
                f" sample weights is {w.sum()} results in a low number ({n_drawn}) of bootstrap"
                " samples. We recommend passing `max_samples` as an integer.",
                UserWarning,
                stacklevel=6,
            )

    def _members_before(self, before: dict[str, Any]) -> list[Any]:
        """The members of the fit that a warm start goes on with."""
        check_same_columns(self, before["schema_"])
        if not before["draws_"].equals(self.draws_):
            raise SettingError(
                "warm_start adds members to those of the last fit, which had other rows or draws: "
                "fit on the same rows with the same settings, or with warm_start=False"
            )
        # the same draws make the same members, so that those there are need not be fitted again
        members = before["estimators_"]
        if len(members) > self._n_members:
            raise SettingError(
                f"n_estimators={self.n_estimators} is less than the {len(members)} members there"
                " are, and warm_start=True only adds some"
            )
        if len(members) == self._n_members:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members:"
                f" there are {len(members)} already",
                stacklevel=4,
            )
        return members

    def _set_out_of_bag(
        self,
        bag: OutOfBag | None,
        target: np.ndarray,
        w: np.ndarray | None,
    ) -> None:
        names = (
            "oob_score_",
            "oob_decision_function_",
            "oob_prediction_",
            "oob_unknown_",
            "oob_errors_",
        )
        for name in names:
            self.__dict__.pop(name, None)
        if bag is None:
            return
        rows = bag.rows
        if not len(rows):
            raise SettingError(
                "oob_score needs rows that some member has not seen, but every member was drawn all"
                " rows: use bootstrap=True, a smaller max_samples, or more members"
            )
        answers = bag.mean
        self.oob_unknown_ = self.draws_.n_weighted - len(rows)
        self.oob_errors_ = np.array(bag.errors)
        self.oob_score_ = self._score(target[rows], answers[rows], weights_of(w, rows))
        self._set_answers(answers)

    # -- what a subclass says ----------------------------------------------------------

    @property
    def _width(self) -> int:
        """Numbers in an answer."""
        raise undefined(self, "_width")

    def _answer(
        self,
        member: Estimator,
        data: MemberData,
        columns: object,
        rows: Any = None,
    ) -> np.ndarray:
        """The answers of a member for some rows, (n, width)."""
        raise undefined(self, "_answer")

    @property
    def _node_values(self) -> Callable[[Tree], np.ndarray]:
        """What the nodes of a member that is a tree answer, (n_nodes, width)."""
        raise undefined(self, "_node_values")

    def _losses(self, target: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The loss of every answer."""
        raise undefined(self, "_losses")

    def _score(
        self,
        target: np.ndarray,
        answers: np.ndarray,
        w: np.ndarray | None,
    ) -> float:
        raise undefined(self, "_score")

    def _set_answers(self, answers: np.ndarray) -> None:
        raise undefined(self, "_set_answers")

    # -- predict -----------------------------------------------------------------------

    def _forest(self, data: MemberData) -> Router | None:
        """One router for members that are trees."""
        values = self._node_values
        if data.source is None:
            return None
        if not are_trees(self.estimators_, one_leaf=values is votes):
            return None
        return forest(self, self._columns, values)

    def _mean(self, data: MemberData) -> np.ndarray:
        """The mean answer of all members, summed in their order."""
        mean = partial(self._new_mean, data)
        return once_per_record(self, "mean", data.source, mean)

    def _new_mean(self, data: MemberData) -> np.ndarray:
        L = len(self.estimators_)
        router = self._forest(data)
        if router is not None:
            return router.sums(cells_of_trees(data.source)) / L  # type: ignore[arg-type]
        # threads answer, the sum is in order: it does not depend on the number of threads
        answers: Any = ordered_map(partial(self._member_answer, data=data), range(L))
        return sum(answers) / L

    def _mean_operations(self) -> list[Operation]:
        """The mean answer of all members, for exported models."""
        L = len(self.estimators_)
        values = self._node_values
        if are_trees(self.estimators_, one_leaf=values is votes):
            router = forest(self, self._columns, values)
            sums = tree_operations(router, self.schema_, [0.0] * self._width)
            mean = {"rule": "sum", "weights": [1.0 / L], "width": self._width}
            return [*sums, ("fuse", mean)]
        branches = [
            self._answer_operations(member, columns)
            for member, columns in zip(self.estimators_, self._columns)
        ]
        return weighted_sum_operations(branches, 1.0 / L, self._width)

    def _answer_operations(self, member: Estimator, columns: Any) -> list[Operation]:
        """`_answer` for exported models."""
        return member_operations(member, self.schema_, columns)

    def _member_answer(self, i: int, data: MemberData) -> np.ndarray:
        return self._answer(self.estimators_[i], data, self.draws_.columns(i))

    def _stages(self, X: Data) -> Iterator[Any]:
        """The mean answer of the first member, the first two, ..."""
        check_is_fitted(self)
        answers: Any = 0.0
        for i in range(len(self.estimators_)):
            member_answer = partial(self._member_answer, i)
            answers = answers + self._apply_to_members(member_answer, X)
            yield answers / (i + 1)

    # -- what was learned --------------------------------------------------------------

    def _tree_parts(self, data: MemberData) -> np.ndarray:
        """The prediction, the base, and what every column adds to the largest mean answer of
        trees."""
        router = self._forest(data)
        assert router is not None
        assert data.source is not None
        X = cells_of_trees(data.source)
        L = len(self.estimators_)
        sums = router.sums(X)
        best = sums.argmax(axis=1)
        predicted = best if hasattr(self, "classes_") else sums[:, 0] / L
        return np.column_stack([predicted, contributions(router, X, best) / L])

    @property
    def estimator_(self) -> Any:
        """The estimator that members are copies of, not fitted."""
        return self._base()

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that every member was drawn, as often as it was; drawn anew from the seed."""
        check_is_fitted(self)
        return self.draws_.samples(len(self.estimators_))

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns of every member."""
        check_is_fitted(self)
        every = np.arange(self.n_features_in_)
        return [every if columns is None else columns for columns in self._columns]

    @property
    def _columns(self) -> list[np.ndarray | None]:
        """The columns of every member, None for all."""
        return [self.draws_.columns(i) for i in range(len(self.estimators_))]

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), Draws)

    def summary(self) -> Summary:
        """How the members were drawn and, if computed, their out-of-bag error and how far they
        differ."""
        check_is_fitted(self)
        draws = self.draws_
        way = "without"
        if draws.bootstrap:
            way = "with"
        rows = f"{draws.n_drawn:,} of {draws.n_weighted:,}, drawn {way} replacement"
        if draws.given is not None:
            sizes = draws.given.sum(axis=1)
            rows = f"given bags of {sizes.min():,} to {sizes.max():,} rows"
        facts: dict[str, Any] = {
            "members": f"{len(self.estimators_)} × {type(self.estimators_[0]).__name__}",
            "rows": rows,
            "columns": f"{draws.n_columns_drawn} of {draws.n_columns}",
        }
        if not hasattr(self, "oob_score_"):
            return Summary(self._title(), facts)
        facts["rows never out of bag"] = self.oob_unknown_
        facts["seed"] = self.seed_
        return Summary(self._title(), facts, [self._spread()])

    def _spread(self) -> Table:
        errors = self.oob_errors_[np.isfinite(self.oob_errors_)]
        rows = [
            ("all members together", self._oob_error),
            ("a member alone, mean", float(errors.mean())),
            ("standard deviation", float(errors.std())),
            ("least", float(errors.min())),
            ("largest", float(errors.max())),
        ]
        return Table(f"Out of bag: {self._loss_name}", ("", self._loss_name), rows)

    _loss_name: ClassVar[str]

    @property
    def _oob_error(self) -> float:
        raise undefined(self, "_oob_error")


def _number(limit: Any, n: float) -> int:
    """A number, or a share of n rounded down, at least 1."""
    if isinstance(limit, Integral):
        return int(limit)
    # 0.29 * 100 is 28.999999999999996
    return max(1, int(limit * n + 1e-9))
