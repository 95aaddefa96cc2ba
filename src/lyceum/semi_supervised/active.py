"""Active learning: ask for the labels that teach most."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from lyceum._core.data import Rows, is_frame, scan
from lyceum._core.distances import Gower, pairwise_blocks
from lyceum._core.report import Shown
from lyceum._core.statistics import p_log2_p
from lyceum._core.text import plain, show_count
from lyceum._core.types import Data, Estimator, Seed
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.report import Table

STRATEGIES = ("uncertainty", "margin", "entropy", "committee", "density", "random")


@dataclass(frozen=True, slots=True, eq=False)
class ActiveLearning(Shown):
    """The queried rows, in order, and the learning curve.

    Attributes
    ----------
    strategy : str
        How rows were chosen.
    queried : array of int
        The queried rows, in order.
    labels : array
        Their labels.
    n_labeled : array of int
        The number of labeled rows at every round.
    scores : array of float
        The score of the estimator at every round; empty without test rows.
    estimator : learner
        Fitted on all labeled rows.
    labeled : array of int
        All labeled rows at the end.
    area : float
        The mean score over the rounds: the area under the learning curve.

    See Also
    --------
    active_learning : The loop.
    query_scores : The scores that rows are chosen by.

    References
    ----------
    B. Settles, "Active learning literature survey", University of Wisconsin-Madison, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.linear import LogisticRegression
    >>> from lyceum.semi_supervised import active_learning
    >>> X, y = np.array([[0.0], [2.0], [5.0], [7.0], [10.0]]), np.array(["a", "a", "b", "b", "b"])
    >>> model = LogisticRegression()
    >>> learning = active_learning(model, X, y, labeled=[0, 4], n_queries=1, test=(X, y))
    >>> learning.queried.tolist(), learning.labels.tolist()  # at the boundary between 0 and 10
    ([2], ['b'])
    >>> learning.n_labeled.tolist(), learning.labeled.tolist(), float(learning.scores[-1])
    ([2, 3], [0, 4, 2], 1.0)
    """

    strategy: str
    queried: np.ndarray
    labels: np.ndarray
    n_labeled: np.ndarray
    scores: np.ndarray
    estimator: Any
    labeled: np.ndarray

    @property
    def area(self) -> float:
        """The mean score over the rounds: the area under the learning curve."""
        if len(self.scores):
            return float(self.scores.mean())
        return float("nan")

    def __str__(self) -> str:
        rows = [[int(n), float(s)] for n, s in zip(self.n_labeled, self.scores)]
        return str(
            Table(
                f"Active learning by {self.strategy}", ("labeled rows", "score"), rows
            )
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything but the estimator, in JSON's own types."""
        names = ("strategy", "queried", "labels", "n_labeled", "scores", "labeled")
        return plain({name: getattr(self, name) for name in names})


def query_scores(
    strategy: str,
    proba: np.ndarray,
    X: Data = None,
    beta: float = 1.0,
    committee: Any = None,
) -> np.ndarray:
    """How useful the label of every row is; the row of the largest score is queried first.

    Parameters
    ----------
    strategy : {"uncertainty", "margin", "entropy", "committee", "density"}
        1 - max P; minus the lead of the best class over the second; -Σ P log P; the entropy of the
        mean posterior of the members minus their mean entropy; the entropy times the mean
        similarity to the other rows to the power `beta`.
    proba : array of shape (n, K)
        Posteriors.
    X : array or frame of shape (n, d)
        The rows, for "density".
    beta : float, default=1.0
        How much density counts.
    committee : array of shape (L, n, K)
        The posteriors of members, for "committee".

    References
    ----------
    Settles (2009), Active learning literature survey, University of Wisconsin-Madison.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4]])
    >>> [int(query_scores(one, P).argmax()) for one in ("uncertainty", "margin", "entropy")]
    [1, 1, 1]
    """
    proba = np.asarray(proba, dtype=np.float64)
    if strategy == "uncertainty":
        return 1.0 - proba.max(axis=1)
    if strategy == "margin":
        best = np.sort(proba, axis=1)[:, ::-1]
        if best.shape[1] > 1:
            return best[:, 1] - best[:, 0]
        return np.zeros(len(best))
    if strategy == "entropy":
        return _entropy(proba)
    if strategy == "committee":
        # the mutual information of label and member: H(mean) − mean H
        members = np.asarray(committee, dtype=np.float64)
        return _entropy(members.mean(axis=0)) - _entropy(members).mean(axis=0)
    if strategy == "density":
        return _entropy(proba) * _similarity(X) ** beta
    raise SettingError(
        f"strategy must be one of {', '.join(STRATEGIES)}, not {strategy!r}"
    )


def _entropy(proba: np.ndarray) -> np.ndarray:
    return -np.log(2.0) * p_log2_p(proba).sum(axis=-1)


def _similarity(X: Data) -> np.ndarray:
    """The mean of 1 / (1 + d / d̄) to all rows: columns in units of their deviations, or Gower's
    distance."""
    if is_frame(X):
        rows = scan(X)
        pairs = pairwise_blocks(rows, metric=Gower().learn(rows))
        blocks: Iterable[np.ndarray] = [np.minimum(block, 1.0) for _, block in pairs]
        typical = float(np.mean([block.mean() for block in blocks])) or 1.0
    else:
        X = np.asarray(X, dtype=np.float64)
        scale = X.std(axis=0)
        Z = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
        # two standardized rows are √(2d) apart in the square mean
        typical = np.sqrt(2.0 * max(Z.shape[1], 1))
        blocks = (block for _, block in pairwise_blocks(Z))
    similarities = [(1.0 / (1.0 + block / typical)).mean(axis=1) for block in blocks]
    return np.concatenate(similarities)


def active_learning(
    estimator: Estimator,
    X: Data,
    oracle: Any,
    *,
    strategy: str = "uncertainty",
    labeled: Any = None,
    labels: Any = None,
    n_start: int = 10,
    n_queries: int = 50,
    batch_size: int = 1,
    committee: Any = None,
    beta: float = 1.0,
    test: tuple[Any, Any] | None = None,
    random_state: Seed = None,
) -> ActiveLearning:
    """Fit, ask for the label of the row that teaches most, and fit again.

    Parameters
    ----------
    estimator : classifier
        With posteriors, of any library.
    X : array or frame of shape (n, d)
        All rows.
    oracle : array of shape (n,) or callable
        The true classes (a scripted oracle), or `oracle(row_number)`, which gives a class, or None
        to stop.
    strategy : str, default="uncertainty"
        What to ask: "uncertainty", "margin", "entropy", "committee", "density" or "random"; see
        `query_scores`.
    labeled : array of int, optional
        Rows that are labeled from the start; by default `n_start` rows drawn at random, which the
        oracle is queried (more are drawn until there are two classes).
    labels : array, optional
        Their classes, if the oracle is not to be queried about them.
    n_start : int, default=10
        How many rows to draw.
    n_queries : int, default=50
        How many rows to ask about after the start.
    batch_size : int, default=1
        How many rows are queried before the next fit.
    committee : list of classifiers, optional
        The members of strategy "committee"; by default five copies on bootstrap samples.
    beta : float, default=1.0
        How much density counts in strategy "density", which compares rows of frames by Gower's
        distance.
    test : (X, y), optional
        Rows on which the learning curve is measured.
    random_state : int, RandomState or None, default=None
        The seed of all draws.

    Returns
    -------
    ActiveLearning

    See Also
    --------
    lyceum.plot.label_curves : The curves of several strategies.

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); y = X[:, 0] + X[:, 1] > 0
    >>> model = LogisticRegression()
    >>> learning = active_learning(model, X, y, n_queries=20, test=(X, y), random_state=0)
    >>> len(learning.queried), bool(learning.scores[-1] > 0.95)
    (20, True)
    """
    loop = _Loop(
        estimator,
        X,
        oracle,
        strategy=strategy,
        committee=committee,
        beta=beta,
        rng=check_random_state(random_state),
    )
    loop.start(labeled, labels, n_start)
    return loop.run(n_queries, batch_size, test)


class _Loop:
    """The state of one run: which rows are labeled, and by what."""

    def __init__(
        self,
        estimator: Estimator,
        X: Any,
        oracle: Any,
        strategy: str,
        committee: Any,
        beta: float,
        rng: Any,
    ) -> None:
        if strategy not in STRATEGIES:
            raise SettingError(
                f"strategy must be one of {', '.join(STRATEGIES)}, not {strategy!r}"
            )
        if isinstance(X, Rows):
            raise DataError(
                "active learning takes arrays and frames: give those, not scanned rows"
            )
        self.estimator = estimator
        self.X = X
        self.strategy = strategy
        self.committee = committee
        self.beta = beta
        self.rng = rng
        self.n = X.shape[0] if hasattr(X, "shape") else len(X)
        if not callable(oracle):
            oracle = _Script(np.asarray(oracle), self.n)
        self.ask: Callable[[int], Any] = oracle
        self.rows: list[int] = []
        self.answers: list[Any] = []

    def start(
        self,
        labeled: Any,
        labels: Any,
        n_start: int,
    ) -> None:
        if labeled is not None:
            self.rows = np.asarray(labeled).astype(int).tolist()
            if labels is None:
                labels = [self.ask(i) for i in self.rows]
            self.answers = list(labels)
        else:
            for i in self.rng.permutation(self.n).tolist():
                if len(self.rows) >= n_start and len(set(self.answers)) > 1:
                    break
                answer = self.ask(i)
                if answer is None:
                    break
                self.rows.append(i)
                self.answers.append(answer)
        if len(set(self.answers)) < 2:
            raise DataError(
                "active learning needs labeled rows of two classes at least to start from"
            )

    def run(
        self,
        n_queries: int,
        batch_size: int,
        test: tuple[Any, Any] | None,
    ) -> ActiveLearning:
        began = len(self.rows)
        counts = []
        scores = []
        model = self._fit(self.estimator)
        while True:
            if test is not None:
                counts.append(len(self.rows))
                scores.append(float(model.score(*test)))
            done = len(self.rows) - began
            report("queries", done, n_queries)
            open_rows = self._open_rows()
            if done >= n_queries or not len(open_rows):
                break
            queries = self._choose(model, open_rows, min(batch_size, n_queries - done))
            goes_on = self._take(queries)
            model = self._fit(self.estimator)
            if not goes_on:
                break
        return ActiveLearning(
            self.strategy,
            queried=np.array(self.rows[began:], dtype=int),
            labels=np.array(self.answers[began:]),
            n_labeled=np.array(counts, dtype=int),
            scores=np.array(scores),
            estimator=model,
            labeled=np.array(self.rows, dtype=int),
        )

    def _open_rows(self) -> np.ndarray:
        is_open = np.ones(self.n, dtype=bool)
        is_open[self.rows] = False
        return np.flatnonzero(is_open)

    def _take(self, rows: np.ndarray) -> bool:
        """Ask for the labels of rows; False where the oracle stops."""
        for i in rows.tolist():
            answer = self.ask(i)
            if answer is None:
                return False
            self.rows.append(i)
            self.answers.append(answer)
        return True

    def _fit(self, estimator: Estimator, rows: Any = None) -> Any:
        if rows is None:
            rows = np.arange(len(self.rows))
        X = _safe_indexing(self.X, np.asarray(self.rows)[rows])
        y = np.asarray(self.answers)[rows]
        return clone(estimator).fit(X, y)

    def _choose(
        self,
        model: Estimator,
        open_rows: np.ndarray,
        count: int,
    ) -> np.ndarray:
        # the first of equal scores in a random order: ties are drawn
        order = self.rng.permutation(len(open_rows))
        if self.strategy == "random":
            return open_rows[order[:count]]
        if not hasattr(model, "predict_proba"):
            raise SettingError(
                f"{type(model).__name__} has no predict_proba, which strategies need"
            )
        # rows with a label are few: asking about them too is cheaper than a copy of all others
        proba = np.asarray(model.predict_proba(self.X))[open_rows]
        part = None
        members = None
        if self.strategy in ("committee", "density"):
            part = _safe_indexing(self.X, open_rows)
        if self.strategy == "committee":
            members = self._members(part, model.classes_)
        worth = query_scores(self.strategy, proba, part, self.beta, members)[order]
        if count == 1:
            return open_rows[order[[worth.argmax()]]]
        best = np.argsort(-worth, kind="stable")[:count]
        return open_rows[order[best]]

    def _members(self, part: Any, classes: np.ndarray) -> np.ndarray:
        if self.committee is not None:
            fitted = [self._fit(member) for member in self.committee]
        else:
            fitted = [self._fit(self.estimator, self._bootstrap()) for _ in range(5)]
        posteriors = []
        for member in fitted:
            seen = np.asarray(member.predict_proba(part))
            proba = np.zeros((len(seen), len(classes)))
            proba[:, np.searchsorted(classes, member.classes_)] = seen
            posteriors.append(proba)
        return np.stack(posteriors)

    def _bootstrap(self) -> np.ndarray:
        """A bootstrap sample with a row of every class."""
        y = np.asarray(self.answers)
        one_per_class = [
            int(self.rng.choice(np.flatnonzero(y == label))) for label in np.unique(y)
        ]
        n_others = max(len(y) - len(one_per_class), 0)
        others = self.rng.randint(0, len(y), n_others)
        return np.concatenate([one_per_class, others])


@dataclass(frozen=True, slots=True)
class _Script:
    """An oracle that knows every label."""

    labels: np.ndarray
    n: int

    def __post_init__(self) -> None:
        if len(self.labels) != self.n:
            raise DataError(
                f"the oracle knows {len(self.labels)} labels of {show_count(self.n, 'row')}: give"
                " one per row"
            )

    def __call__(self, row: int) -> Any:
        return self.labels[row]
