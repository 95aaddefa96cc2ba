"""Bagging and random subspaces: copies of any learner on samples of the rows and columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._threads import ordered_map, single_threaded_blas
from lyceum.ensemble._draws import Draws, seed_from, seeded
from lyceum.ensemble._members import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    Material,
    one_of,
    posteriors,
    takes_weights,
    vote_codes,
)
from lyceum.ensemble._out_of_bag import OutOfBag, weighted_mean
from lyceum.errors import DataError
from lyceum.report import Explanation, Summary, Table

__all__ = ["BaggingClassifier", "BaggingRegressor"]

_CONSTRAINTS: dict[str, Any] = {
    **MEMBER_CONSTRAINTS,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, None, closed="neither"),
    ],
    "bootstrap": ["boolean"],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
    ],
    "bootstrap_features": ["boolean"],
    "oob_score": ["boolean"],
}


class _Bagging(Ensemble):
    """Members on samples, whatever they predict: a subclass says what an answer is and how good it is."""

    n_estimators: int
    max_samples: int | float
    bootstrap: bool
    max_features: int | float
    bootstrap_features: bool
    oob_score: bool
    warm_start: bool
    random_state: Any
    progress: Callable[[int, int], None] | None
    draws_: Draws

    # -- fit -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Draw samples of the rows and fit a copy of the estimator on each.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight, before)
        except BaseException:  # a warm start that fails leaves the members that there were
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any, before: dict[str, Any]):
        material, target, w = self._material(X, y, sample_weight)
        warm = self.warm_start and "draws_" in before
        self.seed_ = before["seed_"] if warm else seed_from(self.random_state)
        self.draws_ = self._new_draws(len(target), w)
        members = self._members_so_far(before) if warm else []
        bag = OutOfBag.start(len(target), self._width) if self.oob_score else None
        work = partial(self._member, material=material, target=target, w=w, known=tuple(members))
        numbers = range(0 if bag else len(members), self.n_estimators)
        self.estimators_ = list(members)
        with single_threaded_blas():
            for i, (member, left_out, answers) in zip(numbers, ordered_map(work, numbers)):
                if i >= len(members):
                    self.estimators_.append(member)
                    if self.progress is not None:
                        self.progress(i + 1, self.n_estimators)
                if bag is not None:
                    bag.add(left_out, answers)
                    bag.errors.append(self._error(target, answers, w, left_out))
        self._keep_out_of_bag(bag, target, w)
        return self

    def _member(
        self, i: int, material: Material, target: np.ndarray, w: np.ndarray | None, known: tuple[Any, ...]
    ) -> tuple[Any, Any, Any]:
        """Member i, the rows that it has not seen, and what it answers for them."""
        counts, columns = self.draws_.counts(i), self.draws_.columns(i)
        member = known[i] if i < len(known) else self._fitted(i, counts, columns, material, w)
        if not self.oob_score:
            return member, None, None
        left_out = self.draws_.left_out(counts)
        if not len(left_out):
            return member, left_out, np.empty((0, self._width))
        return member, left_out, self._answer(member, material, columns, left_out)

    def _fitted(
        self, i: int, counts: np.ndarray, columns: Any, material: Material, w: np.ndarray | None
    ) -> Any:
        member = seeded(self._copy(), self.seed_, i)
        if not takes_weights(member):
            rows = np.repeat(np.arange(len(counts)), counts)
            return material.fit(member, None if (counts == 1).all() else rows, columns)
        rows = np.flatnonzero(counts)
        weights = counts[rows].astype(np.float64)
        if w is not None:
            weights *= w[rows]
        every = len(rows) == len(counts)
        return material.fit(
            member, None if every else rows, columns, None if (weights == 1.0).all() else weights
        )

    def _new_draws(self, n: int, w: np.ndarray | None) -> Draws:
        there = None if w is None or w.all() else np.flatnonzero(w)
        odds = None
        if w is not None and not takes_weights(self._base()):
            odds = w if there is None else w[there]
            odds = odds / odds.sum()
        n_there, d = n if there is None else len(there), self.n_features_in_
        n_drawn = _number(self.max_samples, n_there)
        if not self.bootstrap and n_drawn > n_there:
            raise DataError(
                f"max_samples={self.max_samples} asks for {n_drawn} of {n_there} rows: with bootstrap=False "
                "no row comes twice"
            )
        n_columns = _number(self.max_features, d)
        if n_columns > d:
            raise DataError(f"max_features={self.max_features} asks for {n_columns} of {d} columns")
        return Draws(
            self.seed_, n, n_drawn, self.bootstrap, d, n_columns, self.bootstrap_features, there, odds
        )

    def _members_so_far(self, before: dict[str, Any]) -> list[Any]:
        """The members of the fit that a warm start goes on with."""
        if not _same(before["draws_"], self.draws_) or str(before["schema_"]) != str(self.schema_):
            raise DataError(
                "warm_start adds members to those of the last fit, which had other rows, columns or draws: "
                "fit on the same rows with the same settings, or with warm_start=False"
            )
        members = before["estimators_"]
        if len(members) > self.n_estimators:
            raise DataError(
                f"n_estimators={self.n_estimators} is less than the {len(members)} members there are, and "
                "warm_start=True only adds some"
            )
        if len(members) == self.n_estimators:
            warnings.warn(
                f"there are {len(members)} members already: raise n_estimators to add some", stacklevel=4
            )
        return members

    def _keep_out_of_bag(self, bag: OutOfBag | None, target: np.ndarray, w: np.ndarray | None) -> None:
        kept = ("oob_score_", "oob_decision_function_", "oob_prediction_", "oob_unknown_", "oob_errors_")
        for name in kept:
            self.__dict__.pop(name, None)
        if bag is None:
            return
        rows = bag.rows
        if not len(rows):
            raise DataError(
                "oob_score needs rows that some member has not seen, but all rows were drawn for every member: "
                "use bootstrap=True, a smaller max_samples, or more members"
            )
        self.oob_unknown_ = self.draws_.n_there - len(rows)
        self.oob_errors_ = np.array(bag.errors)
        self.oob_score_ = self._score(target[rows], bag.mean[rows], None if w is None else w[rows])
        self._keep_answers(bag.mean)

    # -- what a subclass says --------------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        """Numbers in an answer."""
        raise TypeError(f"{type(self).__name__} does not define _width")

    def _answer(self, member: Any, material: Material, columns: Any, rows: Any = None) -> np.ndarray:
        """What a member says of some rows, (n, width)."""
        raise TypeError(f"{type(self).__name__} does not define _answer")

    def _losses(self, target: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The loss of every answer."""
        raise TypeError(f"{type(self).__name__} does not define _losses")

    def _score(self, target: np.ndarray, answers: np.ndarray, w: np.ndarray | None) -> float:
        raise TypeError(f"{type(self).__name__} does not define _score")

    def _keep_answers(self, answers: np.ndarray) -> None:
        raise TypeError(f"{type(self).__name__} does not define _keep_answers")

    def _error(self, target: np.ndarray, answers: np.ndarray, w: Any, rows: np.ndarray) -> float:
        return weighted_mean(self._losses(target[rows], answers), None if w is None else w[rows])

    # -- predict ---------------------------------------------------------------------------------------------

    def _mean(self, material: Material) -> np.ndarray:
        """The mean answer of all members, summed in their order."""
        members = zip(self.estimators_, self.estimators_features_)
        total: Any = 0.0
        for answer in ordered_map(lambda pair: self._answer(pair[0], material, pair[1]), members):
            total = total + answer
        return total / len(self.estimators_)

    def _staged(self, X: Any) -> Iterator[Any]:
        """The mean answer of the first member, the first two, ..."""
        check_is_fitted(self)
        total: Any = 0.0
        for i in range(len(self.estimators_)):
            total = total + self._asked(partial(_one_answer, self, i), X)
            yield total / (i + 1)

    # -- what was learned ------------------------------------------------------------------------------------

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that every member was drawn, as often as it was; drawn anew from the seed."""
        check_is_fitted(self)
        every = np.arange(self.draws_.n_rows)
        return [np.repeat(every, self.draws_.counts(i)) for i in range(len(self.estimators_))]

    @property
    def estimators_features_(self) -> list[np.ndarray | None]:
        """The columns of every member, None for all."""
        check_is_fitted(self)
        return [self.draws_.columns(i) for i in range(len(self.estimators_))]

    def summary(self) -> Summary:
        """How the members were drawn and, if asked, what they say out of bag and how far they differ."""
        check_is_fitted(self)
        draws = self.draws_
        way = "with" if draws.bootstrap else "without"
        facts: dict[str, Any] = {
            "members": f"{len(self.estimators_)} × {type(self.estimators_[0]).__name__}",
            "rows": f"{draws.n_drawn:,} of {draws.n_there:,}, drawn {way} replacement",
            "columns": f"{draws.n_columns_drawn} of {draws.n_columns}",
        }
        if not hasattr(self, "oob_score_"):
            return Summary(repr(self), facts)
        facts["rows never out of bag"] = self.oob_unknown_
        facts["seed"] = self.seed_
        return Summary(repr(self), facts, [self._spread()])

    def _spread(self) -> Table:
        known = self.oob_errors_[np.isfinite(self.oob_errors_)]
        rows = [
            ("all members together", self._oob_error),
            ("a member alone, mean", float(known.mean())),
            ("standard deviation", float(known.std())),
            ("least", float(known.min())),
            ("largest", float(known.max())),
        ]
        return Table(f"Out of bag: {self._loss_name}", ("", self._loss_name), rows)

    _loss_name: ClassVar[str]

    @property
    def _oob_error(self) -> float:
        raise TypeError(f"{type(self).__name__} does not define _oob_error")


class BaggingClassifier(ClassifierMixin, _Bagging):
    """Bagging: copies of any classifier, each on N' rows drawn from the N, who vote or average posteriors.

    .. math:: P(k|x) = \\frac{1}{L} \\sum_{l=1}^{L} P_l(k|x), \\qquad
        \\text{or} \\quad \\frac{1}{L} \\sum_{l=1}^{L} [h_l(x) = k]

    What varies most from sample to sample gains most (Breiman 1996). With `max_features` below 1 every member
    also sees its own columns; `bootstrap=False, max_features=0.5` is the random subspace method (Ho 1998).

    Everything random follows from the seed and the number of the member, so that the result is the same for
    any number of threads. A row of weight w is drawn as often as any other and then weighs w times its draws;
    for an estimator whose `fit` does not take `sample_weight` rows are drawn with chances ∝ w instead. Rows of
    weight 0 are not there.

    Lyceum's learners (and pipelines of them) take mixed tables, gaps and scans as they do alone. An estimator
    from elsewhere is given what `fit` was given: an array, or the frame with its columns as they are.

    Parameters
    ----------
    estimator : classifier, default=None
        What to copy; None is a fully grown `DecisionTreeClassifier`. Every `random_state` in it is set.
    n_estimators : int, default=10
    max_samples : int or float, default=1.0
        N', or N' / N, which may exceed 1 with `bootstrap`.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    max_features : int or float, default=1.0
        The columns of a member, or their share.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    voting : {"soft", "hard"}, default="soft"
        Whether posteriors are averaged or votes counted; an estimator without posteriors votes. Of classes
        with equal votes the first is predicted.
    oob_score : bool, default=False
        Whether every row is judged by the members that have not seen it.
    warm_start : bool, default=False
        Whether `fit` keeps the members there are and adds up to `n_estimators`: the same as all at once.
    random_state : int, RandomState or None, default=None
    progress : callable, default=None
        Called with the members done and `n_estimators` after every member. A model that has one cannot be
        saved to a model file.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; "from_dtype" leaves it to the estimator's own setting.

    Attributes
    ----------
    classes_ : array of shape (K,)
    estimators_ : list of classifiers
    estimators_samples_, estimators_features_ : lists of arrays
        The rows and columns of every member, drawn anew when asked for; None for all columns.
    oob_score_ : float
        The share of rows, by weight, that the members which have not seen them get right.
    oob_decision_function_ : array of shape (n, K)
        Their mean posteriors or votes; NaN for rows that are never out of bag.
    oob_unknown_ : int
        How many those are.
    oob_errors_ : array of shape (n_estimators,)
        The error of every member alone on the rows that it has not seen.
    draws_ : Draws
        How rows and columns are drawn.
    seed_ : int

    Examples
    --------
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import BaggingClassifier
    >>> penguins = load("penguins")
    >>> model = BaggingClassifier(NaiveBayes(), oob_score=True, random_state=0).fit(penguins)
    >>> model.oob_score_ > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict] = {**_CONSTRAINTS, "voting": [StrOptions({"soft", "hard"})]}
    _alternative: ClassVar[str] = "lyceum.bayes.NaiveBayes or LogisticRegression"
    _loss_name: ClassVar[str] = "error"

    classes_: np.ndarray

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=1.0,
        bootstrap=True,
        max_features=1.0,
        bootstrap_features=False,
        voting="soft",
        oob_score=False,
        warm_start=False,
        random_state=None,
        progress=None,
        categorical_features="from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.bootstrap_features = bootstrap_features
        self.voting = voting
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.progress = progress
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        from lyceum.trees import DecisionTreeClassifier

        return DecisionTreeClassifier()

    # -- predict ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """The class of the largest mean posterior, or of most votes."""
        return self._asked(partial(_predicted, self), X)

    def predict_proba(self, X: Any) -> Any:
        """The mean posteriors of the members, or the shares of their votes."""
        return self._asked(self._mean, X)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`."""
        return self._asked(partial(_log_mean, self), X)

    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """`predict_proba` of the first member, the first two, ..."""
        yield from self._staged(X)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """`predict` of the first member, the first two, ..."""
        for proba in self._staged(X):
            yield self.classes_[np.asarray(proba).argmax(axis=1)]

    # -- answers ---------------------------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return len(self.classes_)

    def _answer(self, member: Any, material: Material, columns: Any, rows: Any = None) -> np.ndarray:
        ask = partial(material.ask, rows=rows, columns=columns)
        if self.voting == "hard":
            return one_of(vote_codes(member, self.classes_, ask), self._width)
        return posteriors(member, self.classes_, ask)

    def _losses(self, target: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return (answers.argmax(axis=1) != target).astype(np.float64)

    def _score(self, target: np.ndarray, answers: np.ndarray, w: np.ndarray | None) -> float:
        return 1.0 - weighted_mean(self._losses(target, answers), w)

    def _keep_answers(self, answers: np.ndarray) -> None:
        self.oob_decision_function_ = answers

    @property
    def _oob_error(self) -> float:
        return 1.0 - self.oob_score_


def _members_explain(self: Any) -> bool:
    return hasattr(self._base(), "explain")


class BaggingRegressor(RegressorMixin, _Bagging):
    """Bagging: copies of any regressor, each on N' rows drawn from the N, whose predictions are averaged.

    .. math:: \\hat y(x) = \\frac{1}{L} \\sum_{l=1}^{L} h_l(x)

    As `BaggingClassifier` in everything else.

    Parameters
    ----------
    estimator : regressor, default=None
        What to copy; None is a fully grown `DecisionTreeRegressor`. Every `random_state` in it is set.
    n_estimators, max_samples, bootstrap, max_features, bootstrap_features, oob_score, warm_start, random_state
        As for `BaggingClassifier`.
    progress, categorical_features
        As for `BaggingClassifier`.

    Attributes
    ----------
    estimators_ : list of regressors
    estimators_samples_, estimators_features_ : lists of arrays
        The rows and columns of every member, drawn anew when asked for; None for all columns.
    oob_score_ : float
        R² of the predictions by members that have not seen the row.
    oob_prediction_ : array of shape (n,)
        These predictions; NaN for rows that are never out of bag.
    oob_unknown_ : int
        How many those are.
    oob_mse_ : float
        The mean squared error of these predictions.
    oob_errors_ : array of shape (n_estimators,)
        The mean squared error of every member alone on the rows that it has not seen.
    draws_ : Draws
        How rows and columns are drawn.
    seed_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import BaggingRegressor
    >>> from lyceum.linear import LinearRegression
    >>> x = np.arange(20.0)[:, None]
    >>> model = BaggingRegressor(LinearRegression(), random_state=0).fit(x, 3.0 * x[:, 0] + 1.0)
    >>> model.predict([[2.0]]).round(6).tolist()
    [7.0]
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS
    _alternative: ClassVar[str] = "lyceum.linear.Ridge"
    _loss_name: ClassVar[str] = "mean squared error"

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=1.0,
        bootstrap=True,
        max_features=1.0,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        random_state=None,
        progress=None,
        categorical_features="from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.progress = progress
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        from lyceum.trees import DecisionTreeRegressor

        return DecisionTreeRegressor()

    # -- predict ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """The mean prediction of the members."""
        return self._asked(partial(_value, self), X)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """`predict` of the first member, the first two, ..."""
        for mean in self._staged(X):
            yield mean[:, 0]

    # -- answers ---------------------------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return 1

    def _answer(self, member: Any, material: Material, columns: Any, rows: Any = None) -> np.ndarray:
        return np.reshape(material.ask(member.predict, rows, columns), (-1, 1)).astype(np.float64)

    def _losses(self, target: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return (target - answers[:, 0]) ** 2

    def _score(self, target: np.ndarray, answers: np.ndarray, w: np.ndarray | None) -> float:
        self.oob_mse_ = weighted_mean(self._losses(target, answers), w)
        spread = weighted_mean((target - weighted_mean(target, w)) ** 2, w)
        return 1.0 - self.oob_mse_ / spread if spread > 0 else float(self.oob_mse_ == 0)

    def _keep_answers(self, answers: np.ndarray) -> None:
        self.oob_prediction_ = answers[:, 0]

    @property
    def _oob_error(self) -> float:
        return self.oob_mse_

    # -- what was learned ------------------------------------------------------------------------------------

    @available_if(_members_explain)
    def explain(self, X: Any) -> Explanation:
        """The mean of what the members' columns add: base and contributions sum to the prediction.

        A column that some members do not have adds nothing there.
        """
        check_is_fitted(self)
        material = self._whole(X)
        members = zip(self.estimators_, self.estimators_features_)
        parts = [member.explain(material.given(None, columns)) for member, columns in members]
        return _mean_explanation(parts, self.schema_.names)


def _number(asked: Any, n: int) -> int:
    """A number, or a share of n rounded down, at least 1."""
    return int(asked) if isinstance(asked, Integral) else max(1, int(asked * n + 1e-9))


def _same(one: Draws, two: Draws) -> bool:
    names = (
        "seed",
        "n_rows",
        "n_drawn",
        "bootstrap",
        "n_columns",
        "n_columns_drawn",
        "bootstrap_columns",
        "there",
        "odds",
    )
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


def _one_answer(model: _Bagging, i: int, material: Material) -> np.ndarray:
    return model._answer(model.estimators_[i], material, model.draws_.columns(i))


def _predicted(model: BaggingClassifier, material: Material) -> np.ndarray:
    return model.classes_[model._mean(material).argmax(axis=1)]


def _log_mean(model: BaggingClassifier, material: Material) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(model._mean(material))


def _value(model: BaggingRegressor, material: Material) -> np.ndarray:
    return model._mean(material)[:, 0]


def _mean_explanation(parts: list[Explanation], known: tuple[str, ...]) -> Explanation:
    """Contributions by the names of columns; one that was drawn again counts under its first name."""
    own = [[name if name in known else name.rstrip("'") for name in part.names] for part in parts]
    names = list(dict.fromkeys(name for names in own for name in names))
    total = np.zeros((len(parts[0]), len(names)))
    for part, of in zip(parts, own):
        for j, name in enumerate(of):
            total[:, names.index(name)] += part.contributions[:, j]
    base = np.mean([part.base for part in parts], axis=0)
    predicted = np.mean([part.predicted for part in parts], axis=0)
    return Explanation(names, total / len(parts), base, predicted, parts[0].unit)
