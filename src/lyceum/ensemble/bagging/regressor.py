"""Bagging and random subspaces of regressors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Regressor
from lyceum._core.members import MemberData, MemberImportances, explains_rows
from lyceum._core.statistics import weighted_mean
from lyceum._core.trees import Tree
from lyceum._core.types import Categories, Data, Estimator, Operation
from lyceum.ensemble.bagging.base import BAG_CONSTRAINTS, BaggingBase
from lyceum.ensemble.bagging.draws import r_squared
from lyceum.ensemble.tree_members import are_trees
from lyceum.report import Explanation
from lyceum.trees import DecisionTreeRegressor


class BaggingRegressor(Regressor, MemberImportances, BaggingBase):
    """Bagging: copies of any regressor, each on N' rows drawn from the N, whose predictions are
    averaged.

    .. math:: \\hat y(x) = \\frac{1}{L} \\sum_{l=1}^{L} h_l(x)

    Rows and columns are drawn, weights taken and members made as in `BaggingClassifier`.

    Parameters
    ----------
    estimator : regressor, default=None
        What to copy; None is a fully grown `DecisionTreeRegressor`. Every `random_state` in it is
        set.

    Attributes
    ----------
    estimators_ : list of regressors
        The fitted members.
    oob_score_ : float
        R² of the predictions by members that have not seen the row.
    oob_prediction_ : array of shape (n,)
        These predictions; NaN for rows that are never out of bag.
    oob_mse_ : float
        The mean squared error of these predictions.
    oob_errors_ : array of shape (n_estimators,)
        The mean squared error of every member alone on the rows that it has not seen.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded, for explanations, if members have none.

    See Also
    --------
    BaggingClassifier : The same for classes.
    RandomForestRegressor : Trees that also draw columns at every node.

    References
    ----------
    Breiman (1996), Bagging predictors, Machine Learning 24.

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

    _parameter_constraints: ClassVar[dict] = BAG_CONSTRAINTS
    _alternative: ClassVar[str] = "lyceum.linear.Ridge"
    _loss_name: ClassVar[str] = "mean squared error"

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        bootstrap: bool = True,
        max_features: int | float = 1.0,
        bootstrap_features: bool = False,
        bags: Any = None,
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.bootstrap_features = bootstrap_features
        self.bags = bags
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The mean prediction of the members."""
        return self._apply_to_members(self._value, X)

    def staged_predict(self, X: Data) -> Iterator[Any]:
        """`predict` of the first member, the first two, ..."""
        for mean in self._stages(X):
            yield mean[:, 0]

    # -- answers -----------------------------------------------------------------------

    def _value(self, data: MemberData) -> np.ndarray:
        return self._mean(data)[:, 0]

    def _operations(self) -> list[Operation]:
        return self._mean_operations()

    @property
    def _width(self) -> int:
        return 1

    def _answer(
        self,
        member: Estimator,
        data: MemberData,
        columns: object,
        rows: Any = None,
    ) -> np.ndarray:
        return data.numbers(member, rows, columns)[:, None]

    @property
    def _node_values(self) -> Callable[[Tree], np.ndarray]:
        return attrgetter("node_values")

    def _losses(self, target: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return (target - answers[:, 0]) ** 2

    def _score(
        self,
        target: np.ndarray,
        answers: np.ndarray,
        w: np.ndarray | None,
    ) -> float:
        self.oob_mse_ = weighted_mean(self._losses(target, answers), w)
        return r_squared(self.oob_mse_, target, w)

    def _set_answers(self, answers: np.ndarray) -> None:
        self.oob_prediction_ = answers[:, 0]

    @property
    def _oob_error(self) -> float:
        return self.oob_mse_

    # -- what was learned --------------------------------------------------------------

    @property
    def _explains_by_replacement(self) -> bool:  # type: ignore[override]
        return not explains_rows(self._base())

    def explain(self, X: Data) -> Explanation:
        """The mean of what the members' columns add: base and contributions sum to the prediction.

        A column that some members do not have adds nothing there. If the members explain nothing
        themselves, the base is the prediction for rows drawn in `fit` (`background_`) in the mean,
        whose columns are replaced by the row's own in random orders (Shapley's values, sampled).
        """
        check_is_fitted(self)
        unit = self.schema_.target_name
        if self._explains_by_replacement:
            return self._explain_by_replacement(self._value, X, unit)
        if are_trees(self.estimators_, one_leaf=False):
            return self._explain_members(self._tree_parts, X, unit)
        return self._explain_members(self._mean_parts, X, unit)

    def _mean_parts(self, data: MemberData) -> np.ndarray:
        """The mean of the members' predictions, bases and contributions, by the columns of the
        ensemble."""
        # columns 0 and 1 are prediction and base; a column that a member has not adds 0 there
        names = self.schema_.names
        mean: Any = 0.0
        for member, columns in zip(self.estimators_, self._columns):
            explanation = member.explain(data.inputs(member, columns=columns))
            parts = np.zeros((len(explanation), 2 + len(names)))
            parts[:, 0] = explanation.predicted
            parts[:, 1] = explanation.base
            for name, contribution in zip(
                explanation.names, explanation.contributions.T
            ):
                # a column that was drawn again has a quote after its name
                column = name if name in names else name.rstrip("'")
                parts[:, 2 + names.index(column)] += contribution
            mean = mean + parts / len(self.estimators_)
        return mean
