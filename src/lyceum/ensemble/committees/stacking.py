"""Stacking: a final learner that is fitted on the out-of-fold predictions of other learners."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import Classifier, Regressor
from lyceum._core.constraints import HasMethods, StrOptions
from lyceum.ensemble.committees.base import COMMITTEE_CONSTRAINTS, CommitteeData
from lyceum.ensemble.committees.committee import usual_classifiers, usual_regressors
from lyceum.ensemble.committees.stacking_base import StackingBase
from lyceum.linear import LogisticRegression, Ridge
from lyceum.prepare import SimpleImputer, StandardScaler

_CONSTRAINTS: dict[str, Any] = {
    **COMMITTEE_CONSTRAINTS,
    "final": [HasMethods(["fit", "predict"]), None],
    "cv": ["cv_object", StrOptions({"leave_one_out"})],
    "passthrough": ["boolean"],
}


class StackingClassifier(Classifier, StackingBase):
    """Stacked generalization: a final classifier learns from the posteriors that members give out
    of fold.

    The final learner is fitted on the out-of-fold predictions of the members, so that no row's own
    label is in its level-0 answers. Afterwards every member is fitted again on all rows.

    Parameters
    ----------
    members : list of learners, (name, learner) or (name, learner, columns), default=None
        The classifiers of level 0, of any library; `columns` are names or numbers. None is naive
        Bayes, logistic regression and a decision tree.
    final : classifier, default=None
        The learner of level 1; None is `LogisticRegression` (with `passthrough`, after filling
        missing cells and standardizing).
    cv : int, "leave_one_out" or splitter, default=5
        How rows are left out; folds and members run in parallel. Rows that a splitter never tests
        are not learned from at level 1.
    passthrough : bool, default=False
        Whether the final learner also sees the columns of the table.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of every `random_state` in the learners.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, sorted.
    estimators_ : list of classifiers
        The members, fitted on all rows.
    final_ : classifier
        The fitted final learner.
    level0_names_ : list of str
        The level-0 columns that it sees: a member and a class each (of two classes the second).
    typical_answers_ : array of shape (level-0 columns,)
        Their means over the rows of `fit`; where explanations by members start.
    names_ : list of str
        The names of the members.
    columns_ : list of arrays
        The places of their columns, None for all.
    seed_ : int
        The seed that was used.
    framed_ : bool
        Whether learners of another library were given a frame.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded; where explanations start.

    See Also
    --------
    Committee : Fixed rules instead of a final learner.

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5.
    Ting and Witten (1999), Issues in stacked generalization, JAIR 10.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> penguins = load("penguins")
    >>> model = StackingClassifier(random_state=0).fit(penguins)
    >>> model.score(penguins) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    def __init__(
        self,
        members: Any = None,
        final: Any = None,
        *,
        cv: Any = 5,
        passthrough: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.members = members
        self.final = final
        self.cv = cv
        self.passthrough = passthrough
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default_members(self) -> list[Any]:
        return usual_classifiers()

    def _default_final(self) -> Any:
        from sklearn.pipeline import make_pipeline  # takes long to import

        last = LogisticRegression()
        if self.passthrough:
            return make_pipeline(SimpleImputer(), StandardScaler(), last)
        return last

    def predict(self, X: Any) -> Any:
        """The class of the largest posterior of the final learner."""
        return self._apply_to_members(partial(_classes, self), X)

    def predict_proba(self, X: Any) -> Any:
        """The posteriors of the final learner; its votes if it has none."""
        return self._apply_to_members(self._fused_answer, X)


class StackingRegressor(Regressor, StackingBase):
    """Stacked generalization: a final regressor learns from the predictions of members out of fold.

    The final learner is trained on what each member predicts for rows that it was not fitted on;
    afterwards every member is fitted again on all rows.

    Parameters
    ----------
    members : list of learners, (name, learner) or (name, learner, columns), default=None
        The regressors of level 0, of any library; `columns` are names or numbers. None is ridge
        regression and a regression tree.
    final : regressor, default=None
        The learner of level 1; None is `Ridge` (with `passthrough`, after filling missing cells and
        standardizing).
    cv : int, "leave_one_out" or splitter, default=5
        How rows are left out; folds and members run in parallel. Rows that a splitter never tests
        are not learned from at level 1.
    passthrough : bool, default=False
        Whether the final learner also sees the columns of the table.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of every `random_state` in the learners.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    estimators_ : list of regressors
        The members, fitted on all rows.
    final_ : regressor
        The fitted final learner.
    level0_names_ : list of str
        The level-0 columns that it sees, one per member.
    typical_answers_ : array of shape (level-0 columns,)
        Their means over the rows of `fit`; where explanations by members start.
    names_ : list of str
        The names of the members.
    columns_ : list of arrays
        The places of their columns, None for all.
    seed_ : int
        The seed that was used.
    framed_ : bool
        Whether learners of another library were given a frame.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded; where explanations start.

    See Also
    --------
    Committee : Fixed rules instead of a final learner.

    References
    ----------
    Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> cpu = load("cpu")
    >>> StackingRegressor(random_state=0).fit(cpu).score(cpu) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    def __init__(
        self,
        members: Any = None,
        final: Any = None,
        *,
        cv: Any = 5,
        passthrough: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.members = members
        self.final = final
        self.cv = cv
        self.passthrough = passthrough
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default_members(self) -> list[Any]:
        return usual_regressors()

    def _default_final(self) -> Any:
        from sklearn.pipeline import make_pipeline  # takes long to import

        last = Ridge(alpha=1e-3, standardize=True)  # in any unit of the target
        if self.passthrough:
            return make_pipeline(SimpleImputer(), StandardScaler(), last)
        return last

    def predict(self, X: Any) -> Any:
        """What the final learner predicts."""
        return self._apply_to_members(self._fused_answer, X)


def _classes(model: StackingClassifier, data: CommitteeData) -> np.ndarray:
    return model.classes_[model._fused_answer(data).argmax(axis=1)]
