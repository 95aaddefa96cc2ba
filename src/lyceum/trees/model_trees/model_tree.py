"""ModelTreeRegressor: a tree with a linear model at every leaf (M5 and M5')."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    Regressor,
    affine_operation,
    complexity,
    typical_row,
)
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.trees import (
    LEAF,
    Router,
    Tree,
    TreeLabels,
    TreeModel,
    TreePath,
    as_dot,
    cached_router,
    coded_row,
    float_cells,
    tree_path,
)
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import ModelFileError, cannot_export
from lyceum.report import Explanation, Summary, Table
from lyceum.trees.model_trees.m5_columns import StepColumns
from lyceum.trees.model_trees.m5_models import (
    GrownRanks,
    NodeModels,
    choose_leaves,
    columns_below,
    fit_models,
    smooth_models,
    target_limits,
    target_moments,
)
from lyceum.trees.model_trees.m5_text import ModelRule, ModelText
from lyceum.trees.model_trees.node_learners import (
    NodeLearners,
    check_learner,
    fit_learners,
    linear_parts,
    node_predictions,
    path_values,
    replacement_parts,
)
from lyceum.trees.pruning.bottom_up import compact, reachable_nodes

_SHOWN = 60  # lines of a tree and equations in a summary


class ModelTreeRegressor(Regressor, TreeModel, Learner):
    """A regression tree with a linear model at every leaf: M5 and M5'.

    The tree is grown by the reduction of the standard deviation,

        SDR = sd(T) − Σ_i |T_i| / |T| · sd(T_i),

    until a node has fewer than `min_samples_split` rows or varies by no more than `sd_fraction` of
    the standard deviation of all targets. Every node then gets a least-squares model on the columns
    that are tested below it. Columns are dropped from it one by one while its estimated error does
    not rise, and from the bottom up a node becomes a leaf where its model is estimated to err no
    more than its subtree. The error on new rows is estimated by that on the n rows of the node,
    times a factor of n and the number v of parameters; a model has fewer parameters than rows. At
    last predictions are smoothed along the path to the root: from below, where n rows were, p and
    the node's own q become (n p + k q) / (n + k). As M5' does, this is folded into the models once,
    so that a prediction is one linear model.

    A categorical column of c categories stands for c − 1 columns of zeros and ones: its categories
    are ordered by mean target, and each column cuts the order at one place. Where a split met
    missing cells in `fit` they go to the side that was better for the standard deviation, else to
    the side with more weight; linear models see the mean of the column. A category that `fit` did
    not see stays at the node that asks for it, whose own smoothed model predicts, and has the mean
    of its columns.

    `fit` keeps all rows in memory, also those of files and Dask collections. Weights count rows: a
    row of weight 2 is two rows, and `min_samples_split` counts weight. Least squares at a node
    costs n v²: a column of very many categories is better grouped first.

    Parameters
    ----------
    error : {"squared", "absolute"}, default="squared"
        The estimated error. "squared", as M5' in WEKA: (n + 2v) / (n − v) · √(mean residual²),
        where v of a subtree counts the parameters of all its models and its splits; a column goes
        by Akaike's criterion, those of standardized coefficient above 1.5 at once. "absolute", as
        Quinlan's M5: (n + v) / (n − v) · mean |residual|, by which columns go too, a subtree's
        being the mean of its leaves'. Its trees are far larger, as leaves of few rows look good to
        it.
    model : {"linear", "constant"}, default="linear"
        "constant" is M5's regression tree: every model is the mean.
    estimator : regressor or None, default=None
        Any regressor, of any library, in place of the linear models: a copy is fitted at every
        node, on the columns that its linear model would have, as numbers about their means.
        Subtrees are then pruned by the error of rows left out in five folds. A node of few rows has
        their mean.
    attributes : {"tested", "all"}, default="tested"
        The columns that the model of a node may have: those tested at it or below, or all.
    min_samples_split : int, default=4
    sd_fraction : float, default=0.05
    pruning : {"estimated_error"} or None, default="estimated_error"
        Whether subtrees become leaves that estimate no larger an error (`error`); None: as grown.
    smoothing : float, default=15.0
        k; 0 for no smoothing.
    extrapolation : float or None, default=0.0
        Predictions are kept within the targets of the training rows, from least to largest, widened
        on either side by this share of their range; 0.1 is that of Cubist, M5's successor. None
        sets no limit, as M5 and WEKA.

    Attributes
    ----------
    tree_ : Tree
        After pruning.
    coef_ : ndarray of shape (n_nodes, n_model_columns)
        The models that predict, smoothed.
    intercept_ : ndarray of shape (n_nodes,)
        Their values where every column is at its mean, `columns_.center`.
    node_coef_, node_intercept_ : ndarrays of the same shapes
        The models as fitted, before smoothing.
    node_parameters_ : ndarray of shape (n_nodes,)
        How many parameters they have, the intercept among them.
    node_error_ : ndarray of shape (n_nodes,)
        The root mean squared residuals of their rows, in units of `sd_`.
    sd_ : float
        The standard deviation of the target.
    columns_ : StepColumns
        How cells become the columns of the models.
    limits_ : ndarray of shape (2,)
        The least and the largest prediction.
    estimators_ : list of regressors
        With an `estimator`, that of every node, None where it is the mean; `coef_` is then 0.
    node_columns_ : ndarray of bool of shape (n_nodes, n_model_columns)
        The columns that each of them sees.
    typical_ : ndarray of shape (n_features,)
        With an `estimator`, the mean or commonest cell of every column, where explanations start.
    n_rules_ : int
        The number of leaves.
    record_ : list of dict
        With `record=True`, as that of a `DecisionTreeRegressor`.

    See Also
    --------
    DecisionTreeRegressor : A constant in every leaf.
    lyceum.linear.LinearRegression : One linear model for all rows.

    References
    ----------
    Quinlan, Learning with continuous classes, AI '92. Wang and Witten, Induction of model trees for
    predicting continuous classes, ECML 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.trees import ModelTreeRegressor
    >>> x = np.arange(40.0)
    >>> y = np.where(x < 20, 2 * x, 100 - x)
    >>> model = ModelTreeRegressor(smoothing=0).fit(x[:, None], y)
    >>> model.predict([[5.0], [30.0]]).round(6).tolist(), model.n_rules_
    ([10.0, 70.0], 2)
    """

    _step_kind = StepKind(
        "node",
        (
            StepColumn("node", "number", "the number of the node in the tree"),
            StepColumn(
                "objective",
                "sd",
                "the standard deviation of the targets of the node",
                unit="the unit of the target",
            ),
            StepColumn("column", "column", "the column of the largest score"),
            StepColumn(
                "candidates", "candidates", "gain = sd − Σ n_i / n · sd of branch i"
            ),
        ),
    )
    _coding = "codes"
    _reads_rows = "in memory"
    _takes_missing: ClassVar[bool] = True

    _takes_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict] = {
        "error": [StrOptions({"squared", "absolute"})],
        "model": [StrOptions({"linear", "constant"})],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "attributes": [StrOptions({"tested", "all"})],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
        "sd_fraction": [Interval(Real, 0, 1, closed="both")],
        "pruning": [None, StrOptions({"estimated_error"})],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "extrapolation": [Interval(Real, 0, None, closed="left"), None],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        error: str = "squared",
        model: str = "linear",
        estimator: Any = None,
        attributes: str = "tested",
        min_samples_split: int = 4,
        sd_fraction: float = 0.05,
        pruning: str | None = "estimated_error",
        smoothing: float = 15.0,
        extrapolation: float | None = 0.0,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.error = error
        self.model = model
        self.estimator = estimator
        self.attributes = attributes
        self.min_samples_split = min_samples_split
        self.sd_fraction = sd_fraction
        self.pruning = pruning
        self.smoothing = smoothing
        self.extrapolation = extrapolation
        self.record = record
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from all rows of X, kept in memory.

        Parameters
        ----------
        X : array, frame or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block(
            "ModelTreeRegressor", "DecisionTreeRegressor with max_bins"
        )
        if block.w is not None and not block.w.all():
            block = block.take(block.w > 0)
        self._learn(block)
        return self

    def _learn(self, block: Block) -> None:
        assert block.y is not None
        X = float_cells(block.X)
        y = block.y
        w = block.w
        self._forget_fit(block)
        middle, self.sd_ = target_moments(y, w)
        self.columns_ = StepColumns.of(X, y, w, self.schema_)
        grown = GrownRanks.of(self, self.columns_, X, y, w)
        tree = self.columns_.to_groups(grown.tree)
        # a model at every node, on the columns that it may have; the others are not even made
        may_have = self._may_have(grown.tree)
        used = np.flatnonzero(may_have.any(axis=0))
        Z = self.columns_.center_cells(X, used)
        leaf = _leaves(tree, X)
        models, learners = self._fit_nodes(
            tree, leaf, Z, block, may_have[:, used], middle
        )
        cut = None
        if self.pruning is not None:
            cut = choose_leaves(tree, models, self.error, self.sd_)
            nodes = reachable_nodes(tree, np.where(cut, LEAF, tree.kind))
            tree = compact(tree, cut)
            models = models.take(nodes)
            if learners is not None:
                learners = learners.take(nodes)
        if self.record:
            self.record_ = grown.record(cut)
        self._set_models(tree, models, learners, used)
        self.limits_ = target_limits(y, self.extrapolation)

    def _fit_nodes(
        self,
        tree: Tree,
        leaf: np.ndarray,
        Z: np.ndarray,
        block: Block,
        columns: np.ndarray,
        middle: float,
    ) -> tuple[NodeModels, NodeLearners | None]:
        """The models of all nodes, and the copies of `estimator` if it takes their place.

        Linear models are fitted to y less `middle`, which their intercepts get back.
        """
        assert block.y is not None
        if self.estimator is not None:
            learners = fit_learners(
                tree, leaf, Z, block.y, block.w, columns, self.estimator
            )
            return learners.models, learners
        rule = {"absolute": "m5", "squared": "m5p"}[self.error]
        models = fit_models(tree, leaf, Z, block.y - middle, block.w, columns, rule)
        return replace(models, intercept=models.intercept + middle), None

    def _forget_fit(self, block: Block) -> None:
        """Drop what another fit may have left, and check the estimator."""
        for name in ("estimators_", "node_columns_", "typical_", "record_"):
            self.__dict__.pop(name, None)
        if self.estimator is not None:
            check_learner(self.estimator, self.model, block.w is not None)
            self.typical_ = typical_row(block)

    def _set_models(
        self,
        tree: Tree,
        models: NodeModels,
        learners: NodeLearners | None,
        used: np.ndarray,
    ) -> None:
        """Set the tree, the model of every node, and those of the leaves, smoothed."""
        self.tree_ = tree
        self.n_rules_ = tree.n_leaves
        self.node_coef_ = np.zeros((tree.n_nodes, len(self.columns_.center)))
        self.node_coef_[:, used] = models.coef.toarray()
        self.node_intercept_ = models.intercept
        self.node_parameters_ = models.parameters.astype(np.int64)
        self.node_error_ = np.sqrt(models.squared) / (self.sd_ or 1.0)
        self.coef_, self.intercept_ = smooth_models(
            tree,
            self.node_coef_,
            self.node_intercept_,
            models.weight,
            float(self.smoothing),
        )
        if learners is not None:
            self.estimators_ = learners.estimators
            self.node_columns_ = np.zeros(self.coef_.shape, dtype=bool)
            self.node_columns_[:, used] = learners.columns

    def _may_have(self, tree: Tree) -> np.ndarray:
        """The columns that the models of the nodes may have."""
        p = len(self.columns_.center)
        if self.model == "constant":
            return np.zeros((tree.n_nodes, p), dtype=bool)
        if self.attributes == "all":
            return np.ones((tree.n_nodes, p), dtype=bool)
        return columns_below(tree, self.columns_.tested_columns(tree), p)

    # -- predictions -------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The value of the smoothed model of the leaf that a row comes to."""
        check_is_fitted(self)
        return self._apply(partial(node_predictions, self), X)

    def _operations(self) -> list[Operation]:
        if hasattr(self, "estimators_"):
            raise cannot_export(self, "its leaves hold learners")
        p = self.coef_.shape[1]
        if not p:
            raise cannot_export(self, "it has no columns")
        # the coefficients of the leaf, times the centered cells and 1
        models = np.column_stack([self.coef_, self.intercept_])
        router = Router([self.tree_], self.n_features_in_, values=[models])
        cells = [*self.columns_.operations(), ("before", {"values": [1.0]})]
        order = {"columns": [*range(1, p + 1), 0]}
        branches = [router.operations([0.0] * (p + 1)), [*cells, ("pick", order)]]
        low, high = self.limits_.tolist()
        within = {**affine_operation(np.zeros(1), np.ones(1))[1]}
        within |= {"low": [low], "high": [high]}
        return [
            ("branches", {"branches": branches}),
            ("mix", {"n": p + 1, "width": 1}),
            ("affine", within),
        ]

    def apply(self, X: Data) -> Any:
        """The node of `tree_` where every row ends."""
        check_is_fitted(self)
        return self._apply(self._nodes, X)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the prediction of the leaf's smoothed model, b (x − mean).

        The base is the model's value where all columns are at their means. Where `limits_`
        apply, they apply to the base too, and what columns add is shrunk in proportion. With
        an `estimator` the base is the prediction for a row of typical cells, which are replaced by
        the row's own, one after the other, from both ends.
        """
        check_is_fitted(self)
        has_learners = hasattr(self, "estimators_")
        parts = replacement_parts if has_learners else linear_parts
        return self._explain(X, partial(parts, self), self.schema_.target_name)

    def path(self, X: Data, row: int = 0) -> TreePath:
        """The steps of one row down the tree: question, cell, share, value and change of value at
        each.

        The value at a node is that of its smoothed model for this row.

        Parameters
        ----------
        X : array, frame or `scan(...)`, or one row as a dict or Series of named cells
        row : int, default=0
            The number of the row in X.

        Returns
        -------
        TreePath
            Prints as a table; `steps`, `prediction` and `as_dict()` are for programs.
        """
        cells = coded_row(self, X, row)
        Z = self.columns_.center_cells(cells[None, :])
        if hasattr(self, "estimators_"):
            nodes = np.arange(self.tree_.n_nodes)
            values = path_values(self, nodes, np.repeat(Z, len(nodes), axis=0))
        else:
            values = np.clip(self.intercept_ + self.coef_ @ Z[0], *self.limits_)
        labels = TreeLabels(self.tree_, self.schema_)
        return tree_path(labels, cells, values=values[:, None])

    def _nodes(self, block: Block) -> np.ndarray:
        make = partial(Router, [self.tree_], self.n_features_in_)
        return cached_router(self, [self.tree_], make).leaves(block.X)[:, 0]

    # -- what was learned --------------------------------------------------------------

    def text(self) -> str:
        """The tree, one line per branch with weight and error in % of the target's sd, and its
        models."""
        check_is_fitted(self)
        return self._text().text()

    def dot(self) -> str:
        """The tree in the language of Graphviz, with the models as equations in its leaves."""
        check_is_fitted(self)
        equations = {rule.node: rule.equation for rule in self.rules()}
        return as_dot(TreeLabels(self.tree_, self.schema_), answers=equations)

    def rules(self) -> list[ModelRule]:
        """The tree as rules, one per leaf: if the conditions hold, the target is the linear
        model."""
        check_is_fitted(self)
        return self._text().rules()

    def summary(self) -> Summary:
        """The tree with the numbers of its models, the models as equations, weights and errors of
        nodes.

        The error is the root mean squared residual of the node's own model before smoothing.
        """
        check_is_fitted(self)
        text = self._text()
        facts = {
            "leaves": self.n_rules_,
            "nodes, depth": (self.tree_.n_nodes, self.tree_.depth),
            "rows, weight": (int(self.tree_.n_rows[0]), float(self.tree_.weight[0])),
            "standard deviation of the target": self.sd_,
            "smoothing constant": float(self.smoothing),
            "extrapolation": "not limited",
        }
        if self.extrapolation is not None:
            facts["extrapolation"] = float(self.extrapolation)
        lines = list(islice(text.lines(), _SHOWN))
        models = [(f"LM{rule.number}", rule.equation) for rule in text.rules()[:_SHOWN]]
        if self.tree_.n_nodes - 1 > _SHOWN:
            facts["shown"] = f"the first {_SHOWN} branches and models; text() has all"
        tables = [
            Table("Tree", ("split", "model", "weight", "error, % of sd"), lines),
            Table("Models at the leaves", ("model", "equation"), models),
        ]
        return Summary(self._title(), facts, tables)

    def _text(self) -> ModelText:
        # Models are about the means of columns, equations about zero: what is left of an
        # intercept by rounding alone is shown as 0.
        away = self.coef_ * self.columns_.center
        at_zero = self.intercept_ - away.sum(axis=1)
        rounding = 1e-14 * (np.abs(self.intercept_) + np.abs(away).sum(axis=1))
        at_zero = np.where(np.abs(at_zero) <= rounding, 0.0, at_zero)
        learners = [
            "" if learner is None else type(learner).__name__
            for learner in getattr(self, "estimators_", [])
        ]
        return ModelText(
            labels=TreeLabels(self.tree_, self.schema_),
            names=self.columns_.names(self.schema_),
            coef=self.coef_,
            intercept=at_zero,
            error=self.node_error_,
            learners=learners,
            seen=getattr(self, "node_columns_", None),
        )

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), StepColumns)

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the tree and the coefficients of its
        models."""
        count = super().complexity()
        count += int(np.count_nonzero(self.coef_)) + self.intercept_.size
        for learner in getattr(self, "estimators_", []):
            if learner is not None:
                count += complexity(learner)
        return count

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        self.columns_.check_for(self.schema_)
        n = self.tree_.n_nodes
        p = int(self.columns_.start[-1])
        models = {
            "coef_": (n, p),
            "intercept_": (n,),
            "node_coef_": (n, p),
            "node_intercept_": (n,),
        }
        if hasattr(self, "estimators_"):
            models |= {"node_columns_": (n, p), "typical_": (self.n_features_in_,)}
            if len(self.estimators_) != n:
                raise ModelFileError(
                    f"has {n} nodes but {len(self.estimators_)} estimators"
                )
        return models | {
            "node_parameters_": (n,),
            "node_error_": (n,),
            "limits_": (2,),
        }


def _leaves(tree: Tree, X: np.ndarray) -> np.ndarray:
    """The leaf of every row."""
    return Router([tree], X.shape[1]).leaves(X)[:, 0]
