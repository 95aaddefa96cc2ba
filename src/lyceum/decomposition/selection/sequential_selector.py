"""Sets of columns that do well together, by stepwise search."""

from __future__ import annotations

from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, process_routing
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, library_of
from lyceum._core.constraints import HasMethods, Interval, RealNotInt, StrOptions
from lyceum._core.data import CheckCells, Design, Rows, Schema, Step, target_task
from lyceum._core.routing import Route, router_of
from lyceum._core.statistics import folds_of, seed_from
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.text import show_count, undetermined_fact
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.decomposition.selection.keep_columns import ColumnSelector
from lyceum.decomposition.selection.subset_losses import (
    CRITERIA,
    GramLosses,
    LearnerLosses,
    TargetColumns,
    digest_of_rows,
)
from lyceum.decomposition.selection.subset_search import (
    StopRule,
    SubsetLosses,
    SubsetSearch,
)
from lyceum.errors import SettingError
from lyceum.report import Summary, Table

_LOSSES = ("error", "squared", "absolute")


class SequentialFeatureSelector(ColumnSelector):
    """Stepwise selection of columns: forward, backward, plus-l minus-r or floating; any learner and
    score.

    Without a learner, sets are compared by least squares on the target (on one column of 0 and 1
    per class, for classes) from Gram statistics: one pass over the rows for any number of sets, and
    no row is read again. With a learner every set is cross-validated, once, several at a time, and
    with `cache` results are kept in a file, so that a search that was interrupted goes on where it
    was.

    - "forward": add the column that lowers the loss most.
    - "backward": start with all columns and remove the one that raises it least.
    - "plus_minus": add `plus` columns one after another, then remove `minus` of them.
    - "floating": after every addition remove columns as long as that gives the best set of its size
      so far.

    With a number of columns the best set of that size is kept. Otherwise the search stops when a
    step does not lower the loss by more than `tol`, or at `max_features`, and the set of the
    smallest loss on the way is kept.

    Parameters
    ----------
    estimator : classifier, regressor or None, default=None
        The learner; None for least squares.
    n_features_to_select : "auto", int, float or None, default="auto"
        How many columns to keep: a number, or a share of all. "auto" keeps half of them, or with
        `tol` as many as the search comes to, but not all. None keeps as many as have the smallest
        loss.
    tol : float or None, default=None
        How much a step must lower the loss for the search to go on, if no number of columns is
        given; None with n_features_to_select=None is 1e-4 of the loss.
    direction : {"forward", "backward", "plus_minus", "floating"}, default="forward"
        The search.
    max_features : int or None, default=None
        The largest set to try; None has no limit.
    criterion : {"cv", "aic", "bic"}, default="cv"
        Without a learner: the cross-validated squared error, or a criterion on all rows.
    scoring : str, callable or None, default=None
        With a learner: the name of one of scikit-learn's scorers or a scorer of (learner, X, y),
        larger being better; None is the learner's own `score`. "error", "squared" and "absolute",
        or a function of (y, predictions), are losses as in `lyceum.evaluate.cross_validate`; None
        is one of these where the rows are weighted, or no array or frame.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, with a scorer those of scikit-learn; without a learner, a number divides rows of any
        source in one pass.
    plus : int, default=2
        l of "plus_minus".
    minus : int, default=1
        r of "plus_minus".
    n_jobs : int or None, default=None
        With a learner: sets measured at the same time.
    cache : path or None, default=None
        With a learner: a file of results, to go on from; those of other rows or settings are left
        alone.
    random_state : int, RandomState or None, default=None
        The seed of the folds of losses; None is 0 with `cache`, so that its results are those of
        the same folds.

    Attributes
    ----------
    support_ : array of bool of shape (n_features_in_,)
        Which columns are kept.
    n_features_to_select_ : int
        How many these are.
    loss_ : float
        The loss of the set that is kept; minus the mean score, if there is a scorer.
    history_ : list of float
        The loss after every step.
    record_ : list of dict
        Every step: `step`, `columns` (indices), `added` or `removed` (an index, or None),
        `objective`.
    best_ : dict
        For every size the smallest loss found and its columns.
    n_evaluated_ : int
        How many sets were measured.
    n_undetermined_ : int
        Without a learner: how many coefficients of the largest set that the search came to are not
        determined, as its columns depend on each other; a small ridge is added there.
    task_ : str or None
        "classes" or "numbers", the kind of the target; None without one.
    classes_ : array of shape (K,)
        The classes, if the target has them.

    See Also
    --------
    SelectKBest : every column by itself.
    lyceum.linear.Lasso : selection by a penalty.

    References
    ----------
    Pudil, P., Novovičová, J. and Kittler, J. (1994). Floating search methods in feature selection.
    Pattern Recognition Letters 15.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.decomposition import SequentialFeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> y = X[:, 1] - 2 * X[:, 4] + 0.1 * rng.normal(size=200)
    >>> selector = SequentialFeatureSelector(n_features_to_select=2).fit(X, y)
    >>> selector.get_support(indices=True).tolist()
    [1, 4]
    """

    _step_kind = StepKind(
        "step",
        (
            StepColumn(
                "columns", "columns", "the columns of the set", unit="column numbers"
            ),
            StepColumn("added", "added", "the column that came in"),
            StepColumn("removed", "removed", "the column that went out"),
            StepColumn("objective", "loss", "the loss of the set by the criterion"),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit"]), None],
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "tol": [Interval(Real, None, None, closed="neither"), None],
        "direction": [StrOptions({"forward", "backward", "plus_minus", "floating"})],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "criterion": [StrOptions(set(CRITERIA))],
        "scoring": [StrOptions(set(_LOSSES)), str, callable, None],
        "cv": ["cv_object"],
        "plus": [Interval(Integral, 1, None, closed="left")],
        "minus": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "cache": [str, Path, None],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes = ("step", "loss")
    _takes_missing = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = "auto",
        tol: float | None = None,
        direction: str = "forward",
        max_features: int | None = None,
        criterion: str = "cv",
        scoring: Any = None,
        cv: Any = 5,
        plus: int = 2,
        minus: int = 1,
        n_jobs: int | None = None,
        cache: str | Path | None = None,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.max_features = max_features
        self.criterion = criterion
        self.scoring = scoring
        self.cv = cv
        self.plus = plus
        self.minus = minus
        self.n_jobs = n_jobs
        self.cache = cache
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _target_task(self) -> Any:
        return self.__dict__.get("task_")

    @property
    def _learner_takes_missing(self) -> bool:
        if self.estimator is None:
            return False
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        if self.estimator is None:
            return False
        return bool(get_tags(self.estimator).input_tags.sparse)

    def _steps(self) -> list[Step]:
        return [CheckCells(type(self).__name__, self._learner_takes_missing)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._learner_takes_missing
        if self.estimator is not None:
            tags.target_tags.required = get_tags(self.estimator).target_tags.required
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Who asks for which metadata: the learner, the folds and the scorer.

        Returns
        -------
        MetadataRouter
        """
        from sklearn.metrics import check_scoring  # takes long to import
        from sklearn.model_selection import check_cv

        routes = []
        if self.estimator is not None:
            # numbers and given splits ask for nothing, and looking would use up a generator
            splitter = check_cv(self.cv if hasattr(self.cv, "split") else None)
            scorer = check_scoring(self.estimator, scoring=self._scoring)
            routes = [
                Route("estimator", self.estimator, (("fit", "fit"),)),
                Route("splitter", splitter, (("fit", "split"),)),
                Route("scorer", scorer, (("fit", "score"),)),
            ]
        return router_of(self, routes, own_weights=False)

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        **metadata: Any,
    ):
        """Search for the columns.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            Without a learner in any form; with one, what it takes.
        y : array of shape (n_samples,), if the target is not in the scan
            Classes or numbers.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        **metadata
            What the learner, the folds and the scorer ask for, with `enable_metadata_routing`.
        """
        self._check_scoring()
        if get_config()["enable_metadata_routing"] and self.estimator is not None:
            if sample_weight is not None:
                metadata = {**metadata, "sample_weight": sample_weight}
            sample_weight = None
            process_routing(self, "fit", **metadata)  # refuses what nobody asks for
        elif metadata:
            names = ", ".join(sorted(metadata))
            raise SettingError(
                f"SequentialFeatureSelector.fit was given {names}, which is only supported if"
                " enable_metadata_routing=True, and with a learner"
            )
        if self.estimator is None:
            self.task_: Literal["classes", "numbers"] | None = target_task(
                X, y, type(self).__name__
            )
        else:
            self.task_ = "classes" if is_classifier(self.estimator) else "numbers"
            needs_y = get_tags(self.estimator).target_tags.required
            if y is None and not needs_y and not isinstance(X, Rows):
                self.task_ = None
        rows = self._rows(X, y, sample_weight)
        if self.estimator is None:
            losses = self._losses(rows)
        else:
            losses = self._learner_losses(rows, X, y, sample_weight, metadata)
        search = self._search(losses)
        self._finish(search)
        return self

    def _losses(self, rows: Rows) -> SubsetLosses:
        if self.task_ == "classes":
            classes = len(self.classes_)
        else:
            classes = 0
        seed = seed_from(self.random_state)
        design = Design(Schema(self.schema_.columns), True)
        targets = TargetColumns(classes)
        return GramLosses.of_rows(
            rows=rows.then(design).then(targets),
            groups=[
                np.flatnonzero(design.source == j) for j in range(len(self.schema_))
            ],
            n_targets=targets.width,
            criterion=self.criterion,
            splits=folds_of(self.cv, rows, seed, classes > 0),
        )

    @property
    def _scoring(self) -> Any:
        """scikit-learn's scorer, or its name; None is the learner's own, also beside a loss."""
        is_scorer = (
            callable(self.scoring) and len(signature(self.scoring).parameters) > 2
        )
        is_name = isinstance(self.scoring, str) and self.scoring not in _LOSSES
        return self.scoring if is_name or is_scorer else None

    def _check_scoring(self) -> None:
        """Refuse a name that is neither a loss nor a score, also where no learner is scored."""
        if isinstance(self.scoring, str) and self.scoring not in _LOSSES:
            from sklearn.metrics import get_scorer_names  # takes long to import

            if self.scoring not in get_scorer_names():
                raise SettingError(
                    f"scoring={self.scoring!r} is no loss and no score of scikit-learn: choose"
                    " 'error', 'squared', 'absolute' or one of sklearn.metrics.get_scorer_names(),"
                    " such as 'r2', or give a function"
                )

    def _scorer(self, X: Data, w: Weights) -> Any:
        """What scores sets of columns; None where a loss does."""
        is_beyond = isinstance(X, Rows) or library_of(X) == "arrow"
        if self._scoring is None and (self.scoring is not None or is_beyond):
            return None
        if w is not None:
            if self._scoring is not None:
                raise SettingError(
                    f"scoring={self.scoring!r} is a score, to which weights go with"
                    " enable_metadata_routing=True alone: set it, or take a loss, e.g. 'error'"
                )
            return None
        from sklearn.metrics import check_scoring  # takes long to import

        return check_scoring(self.estimator, self._scoring)

    def _learner_losses(
        self, rows: Rows, X: Data, y: Target, w: Weights, metadata: dict[str, Any]
    ) -> LearnerLosses:
        # learners of any library need the rows here
        if rows.on_dask:
            rows.in_one_block(type(self).__name__, "estimator=None")  # refuses
        if self.cache is None:
            path = None
        else:
            path = Path(self.cache)
        # results of other folds cannot be compared: with a cache they are the same every time
        if path is not None and self.random_state is None:
            seed = 0
        else:
            seed = seed_from(self.random_state)
        scorer = self._scorer(X, w)
        if metadata and scorer is None:
            raise SettingError(
                f"scoring={self.scoring!r} is a loss, to which no metadata go: give a scorer"
            )
        if isinstance(X, list):
            X = np.asarray(X)
        elif sparse.issparse(X):
            X = cast(Any, X).tocsr()
        cv = self._repeatable_cv()
        key = ""
        if path is not None:
            key = f"{self._key_of(cv, scorer)} {digest_of_rows(rows)}"
        return LearnerLosses(
            learner=self.estimator,
            X=X,
            y=y,
            w=w,
            cv=cv,
            loss=self.scoring or "auto",
            seed=seed,
            n_jobs=self.n_jobs,
            path=path,
            key=key,
            scorer=scorer,
            metadata=metadata,
        )

    def _repeatable_cv(self) -> Any:
        """`cv` for several uses: splits as a list, which a generator gives once."""
        if self.cv is None:
            return 5
        if isinstance(self.cv, Integral) or hasattr(self.cv, "split"):
            return self.cv
        splits = list(self.cv)
        if not splits:
            raise SettingError(
                "cv has no splits: a generator is empty after its first use, give a list"
            )
        return splits

    def _key_of(self, cv: Any, scorer: Any) -> str:
        """What results in a cache depend on beside the rows."""
        cv_text = repr(cv)
        if isinstance(cv, list):
            cv_text = repr(
                [[np.asarray(side).tolist() for side in split] for split in cv]
            )
        settings = (
            repr(self.estimator),
            repr(self.scoring),
            "loss" if scorer is None else "score",
            cv_text,
            str(self.random_state),
            str(self.schema_.names),
        )
        return " ".join(settings)

    def _search(self, losses: SubsetLosses) -> SubsetSearch:
        d = len(self.schema_)
        if self.max_features is not None and self.max_features > d:
            raise SettingError(
                f"max_features={self.max_features}, but the table has {show_count(d, 'column')}"
            )
        if self.direction == "plus_minus" and self.plus == self.minus:
            raise SettingError(
                f"plus={self.plus} and minus={self.minus} come back to where they were"
            )
        if self.direction == "forward" and self.tol is not None and self.tol < 0:
            raise SettingError(
                "tol must be strictly positive when doing forward selection"
            )
        wanted = self._wanted_columns(d)
        if wanted is not None:  # reached even if the loss grows
            search = SubsetSearch(losses, d, wanted, wanted, StopRule(never=True))
        else:
            most = int(self.max_features or d)
            if self.n_features_to_select == "auto":  # at least one column goes
                most = max(1, min(most, d - 1))
            search = SubsetSearch(losses, d, 1, most, StopRule(self.tol))
        # plus-l minus-r goes up where it adds more than it removes, else down from all columns
        if self.direction == "floating":
            search.floating()
        elif self.direction == "forward":
            search.forward()
        elif self.direction == "backward":
            search.backward()
        elif self.plus > self.minus:
            search.forward(int(self.plus), int(self.minus))
        else:
            search.backward(int(self.plus), int(self.minus))
        return search

    def _wanted_columns(self, d: int) -> int | None:
        """How many of d columns to keep; None for as many as the search finds best."""
        wanted = self.n_features_to_select
        if wanted is None or (wanted == "auto" and self.tol is not None):
            return None
        if wanted == "auto":
            return max(1, d // 2)
        if isinstance(wanted, Integral):
            if wanted > d:
                raise SettingError(
                    f"n_features_to_select={wanted}, but the table has {show_count(d, 'column')}"
                )
            return int(wanted)
        return max(1, int(d * float(wanted)))

    def _finish(self, search: SubsetSearch) -> None:
        self.loss_, chosen = search.choice()
        self.support_ = np.zeros(search.n_columns, dtype=bool)
        self.support_[list(chosen)] = True
        self.n_features_to_select_ = len(chosen)
        self.history_ = [step.loss for step in search.steps]
        self.record_: list[dict[str, Any]] = [
            {
                "step": number,
                "columns": list(step.subset),
                "added": step.column if step.added and step.column >= 0 else None,
                "removed": None if step.added else step.column,
                "objective": step.loss,
            }
            for number, step in enumerate(search.steps)
        ]
        self.best_ = {
            size: (loss, list(subset))
            for size, (loss, subset) in sorted(search.best.items())
        }
        self.n_evaluated_ = int(getattr(search.losses, "n_evaluated", 0))
        self.__dict__.pop("n_undetermined_", None)
        if isinstance(search.losses, GramLosses):
            largest = max((step.subset for step in search.steps), key=len)
            self.n_undetermined_ = search.losses.n_undetermined(largest)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The columns that are kept, and every step of the search."""
        check_is_fitted(self)
        names = self.schema_.names
        facts: dict[str, Any] = {
            "columns": len(names),
            "kept": int(self.support_.sum()),
            "loss": self.loss_,
            "sets measured": self.n_evaluated_,
            "target": self.task_,
        }
        most = max(len(step["columns"]) for step in self.record_)
        n_undetermined = getattr(self, "n_undetermined_", 0)
        remedy = "a small ridge was added in the largest set of the search"
        facts |= undetermined_fact(n_undetermined, most, "column", remedy)
        columns = [(names[j],) for j in np.flatnonzero(self.support_)]
        steps = [
            (
                step["step"],
                "" if step["added"] is None else names[step["added"]],
                "" if step["removed"] is None else names[step["removed"]],
                len(step["columns"]),
                step["objective"],
            )
            for step in self.record_
        ]
        head = ("step", "added", "removed", "columns", "loss")
        tables = [
            Table("Kept", ("column",), columns),
            Table("Steps", head, steps),
        ]
        return Summary(self._title(), facts, tables)
