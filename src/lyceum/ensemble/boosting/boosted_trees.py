"""BoostedTrees: sums of trees, whichever way they were grown: scores, stages, importances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Learner, PosteriorClassifier, Regressor, undefined
from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.trees import (
    Router,
    Tree,
    WithTrees,
    cached_router,
    explain_trees,
    impurity_importances,
)
from lyceum._core.types import Data, Operation
from lyceum.ensemble.boosting.losses import LOG_LINKS, Loss
from lyceum.ensemble.boosting.state import BOOSTING_STEPS
from lyceum.ensemble.tree_members import TreesOfRounds
from lyceum.errors import cannot_export
from lyceum.report import Explanation, Summary, Table


class BoostedTrees(TreesOfRounds, WithTrees, Learner):
    """Trees round by round, in a round one for every score, whose values are added to the
    scores."""

    _parameter_docs: ClassVar[str] = """
    learning_rate : float
        η: the share of every step that is taken.
    """
    _attribute_docs: ClassVar[str] = """
    estimators_ : ndarray of tree learners, of shape (rounds, n_scores)
        The trees as learners of their own, made on request: for text, rules, paths and drawings.
    baseline_ : ndarray of shape (n_scores,)
        The best constant scores, to which the trees add.
    history_, validation_history_ : lists of float
        The mean loss before the first round and after every round, of the rows learned from and
        judged by.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of the fall of the objective that is due to each column.
    n_trees_per_iteration_ : int
        The trees of a round: one per class of more than two, else one.
    record_ : list of dict
        With `record=True`: step (the round), objective (the mean loss), validation_loss, and of
        every tree of the round n_leaves, depth, gain and columns.
    seed_ : int
        The seed that was used.
    """

    _step_kind = BOOSTING_STEPS
    _coding = "codes"
    history_axes: ClassVar[tuple[str, str]] = ("round", "mean loss")
    _takes_missing: ClassVar[bool] = True
    _n_values: ClassVar[int] = 1  # trees of boosting give numbers, one tree per class

    record: bool
    learning_rate: float
    trees_: list[Tree]
    baseline_: np.ndarray
    history_: list[float]
    validation_history_: list[float]
    record_: list[dict[str, Any]]
    seed_: int

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        """The loss of some rows."""
        raise undefined(self, "_loss")

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Predictions from scores (n, K)."""
        raise undefined(self, "_decide")

    # -- predict -----------------------------------------------------------------------

    # what the values of the trees are multiplied by, where they lack the learning rate
    _scale: ClassVar[float] = 1.0

    @property
    def _router(self) -> Router:
        return cached_router(self, self.trees_, self._new_router)

    def _new_router(self) -> Router:
        # trees are round by round, in a round one for every output
        outputs = np.arange(len(self.trees_)) % len(self.baseline_)
        return Router(
            self.trees_, len(self.schema_), columns=outputs, scale=self._scale
        )

    def _score_operations(self) -> list[Operation]:
        """The scores of a row, for exported models."""
        if not self.trees_:
            no_columns: list[list[float]] = [[]] * len(self.baseline_)
            baseline = self.baseline_.tolist()
            return [("linear", {"coef": no_columns, "intercept": baseline})]
        return self._router.operations(self.baseline_.tolist())

    def _first_scores(self, block: Block) -> np.ndarray:
        """The scores before the first tree, (n, K)."""
        return np.tile(self.baseline_, (len(block), 1))

    def _scores(self, block: Block) -> np.ndarray:
        """The scores of every output, (n, K)."""
        scores = self._first_scores(block)
        if self.trees_:
            self._router.add_values(block.X, scores)
        return scores

    def _stages(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        X: Data,
    ) -> Iterator[np.ndarray]:
        """`function` of the scores after every round."""
        check_is_fitted(self)
        blocks = list(self.rows_to_predict(X).blocks())
        K = len(self.baseline_)
        scores = [self._first_scores(block) for block in blocks]
        for last in range(K, len(self.trees_) + 1, K):
            for block, score in zip(blocks, scores):
                self._router.add_values(block.X, score, last - K, last)
            yield function(np.concatenate(scores))

    # -- what was learned --------------------------------------------------------------

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the fall of the objective, over all trees, that is due to each column."""
        check_is_fitted(self)
        falls = np.zeros(len(self.schema_))
        if self.trees_:
            falls = impurity_importances(self.trees_, len(falls), normalize=False)
        if falls.sum() > 0:
            return falls / falls.sum()
        return falls

    @property
    def n_trees_per_iteration_(self) -> int:
        """The trees of a round: one per class of more than two, else one."""
        check_is_fitted(self)
        return len(self.baseline_)

    def summary(self) -> Summary:
        """The rounds, the losses, and what the columns brought."""
        check_is_fitted(self)
        leaves = [tree.n_leaves for tree in self.trees_]
        facts: dict[str, Any] = {
            "rounds": len(self),
            "trees": len(self.trees_),
            "leaves of a tree": float(np.mean(leaves)) if leaves else 0.0,
            "learning rate": self.learning_rate,
            "early stopping": self._stopping_rule(),
            "constant": self.baseline_,
            "loss of the constant": self.history_[0],
            "loss of the training rows": self.history_[-1],
        }
        if self.validation_history_:
            facts["least validation loss"] = min(self.validation_history_)
        shares = self.feature_importances_
        n_splits = np.zeros(len(self.schema_), dtype=int)
        for tree in self.trees_:
            columns = tree.feature[tree.feature >= 0]
            n_splits += np.bincount(columns, minlength=len(n_splits))
        rows = [
            [self.schema_.names[j], float(shares[j]), int(n_splits[j])]
            for j in np.argsort(-shares, kind="stable")
        ]
        table = Table("Columns", ["column", "share of gain", "splits"], rows)
        return Summary(self._title(), facts, [table])

    def _stopping_rule(self) -> str:
        """When the rounds end early, in words."""
        raise undefined(self, "_stopping_rule")

    def _record_round(self, number: int, K: int) -> None:
        if not self.record:
            return
        trees = self.trees_[-K:]
        validation_loss = None
        if self.validation_history_:
            validation_loss = self.validation_history_[-1]
        self.record_.append(
            {
                "step": number + 1,
                "objective": self.history_[-1],
                "validation_loss": validation_loss,
                "n_leaves": [tree.n_leaves for tree in trees],
                "depth": [tree.depth for tree in trees],
                "gain": [float((tree.gain * tree.weight).sum()) for tree in trees],
                "columns": [
                    np.unique(tree.feature[tree.feature >= 0]).tolist()
                    for tree in trees
                ],
            }
        )


class BoostedClasses(PosteriorClassifier):
    """Classes from scores: the log-odds of the second of two classes, or one score per class."""

    baseline_: np.ndarray

    # log-odds per score
    _odds_per_score: ClassVar[float] = 1.0

    def _log_joint(self, block: Block) -> np.ndarray:
        return self._joint(self._scores(block))

    def _operations(self) -> list[Operation]:
        operations = self._score_operations()
        if self._odds_per_score != 1.0:
            scale = {"coef": [[self._odds_per_score]], "intercept": [0.0]}
            operations.append(("linear", scale))
        if len(self.classes_) == 2:
            operations.append(("before", {"values": [0.0]}))
        return [*operations, ("softmax", {})]

    def _joint(self, scores: np.ndarray) -> np.ndarray:
        """Log posteriors up to a constant per row: beside the log-odds of two classes there are
        zeros."""
        K = len(self.classes_)
        if K > 2:
            return scores
        if K == 1:
            return np.zeros((len(scores), 1))
        odds = self._odds_per_score * scores
        return np.column_stack([np.zeros(len(scores)), odds])

    def decision_function(self, X: Data) -> Any:
        """The scores: that of the second of two classes, or one per class."""
        return self._apply(self._decision, X)

    def _decision(self, block: Block) -> np.ndarray:
        return self._flat(self._scores(block))

    def _flat(self, scores: np.ndarray) -> np.ndarray:
        """(n, K), or (n,) of two classes."""
        if len(self.classes_) > 2:
            return scores
        return scores[:, 0].copy()

    def _posterior(self, scores: np.ndarray) -> np.ndarray:
        joint = np.array(self._joint(scores), order="C")
        native.posterior(joint)
        return joint

    def _decide_codes(self, scores: np.ndarray) -> np.ndarray:
        return self._joint(scores).argmax(axis=1)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[self._decide_codes(scores)]

    def staged_predict(self, X: Data) -> Iterator[np.ndarray]:
        """The classes after every round."""
        return self._stages(self._decide, X)

    def staged_predict_proba(self, X: Data) -> Iterator[np.ndarray]:
        """The posteriors after every round."""
        return self._stages(self._posterior, X)

    def staged_decision_function(self, X: Data) -> Iterator[np.ndarray]:
        """The scores after every round."""
        return self._stages(self._flat, X)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score of the second of two classes, or to the winner's
        score."""
        explain = partial(explain_trees, self, X, base=self.baseline_)
        if len(self.classes_) > 2:
            return explain(unit="score of the class")
        # one score decides between two classes, so that the largest is not the class
        return explain(decide=self._decide_codes, unit=self._score_names()[0])

    def _score_names(self) -> list[str]:
        labels = self.classes_.tolist()
        if len(labels) > 2:
            return [f"score of {k}" for k in labels]
        if self._odds_per_score != 1.0:
            return [f"half the log-odds of {labels[-1]}"]
        return [f"log-odds of {labels[-1]}"]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        return {"baseline_": (K if K > 2 else 1,)}


class BoostedNumbers(Regressor):
    """Numbers from one score, which may be their logarithm."""

    loss: str
    baseline_: np.ndarray

    def predict(self, X: Data) -> Any:
        """The constant and the values of all trees."""
        return self._apply(self._predict, X)

    def _predict(self, block: Block) -> np.ndarray:
        return self._decide(self._scores(block))

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        if self.loss in LOG_LINKS:
            return np.exp(scores[:, 0])
        return scores[:, 0]

    def staged_predict(self, X: Data) -> Iterator[np.ndarray]:
        """The predictions after every round."""
        return self._stages(self._decide, X)

    def _operations(self) -> list[Operation]:
        if self.loss in LOG_LINKS:
            raise cannot_export(self, f"loss={self.loss!r} has a logarithmic link")
        return self._score_operations()

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the prediction (to its logarithm with loss "poisson" or
        "gamma"), along the paths through all trees."""
        unit = "log of the prediction" if self.loss in LOG_LINKS else "prediction"
        return explain_trees(self, X, base=self.baseline_, unit=unit)
