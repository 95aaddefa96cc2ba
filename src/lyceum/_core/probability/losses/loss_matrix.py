"""Loss matrices: the cost of every action in every true class."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.probability.labels import find_labels, label_key, unique_labels
from lyceum._core.probability.losses import files
from lyceum._core.report import Table
from lyceum._core.text import show_count
from lyceum.errors import DataError


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LossMatrix:
    """The cost of every action: rows = true class, columns = action.

    λ[k, a] is the loss of taking action a when the truth is class k. An action is usually to name a
    class; one that names no class is a way to reject. A negative loss is a gain.

    Parameters
    ----------
    values : array of shape (K, A)
        Rows = true class, columns = action.
    classes : K labels, optional
        The true classes, in the order of the rows.
    actions : A labels, optional
        The actions, in the order of the columns. By default the classes, for a square matrix.

    Attributes
    ----------
    is_zero_one : bool
        Whether naming the true class costs 0, naming another 1, and there are no other actions.
    names_class : array of shape (A,)
        For every action, the row of the class that it names, or -1 if it names none.

    See Also
    --------
    lyceum.decision.minimum_risk : Decisions under a loss matrix.
    lyceum.decision.MinimumRiskClassifier : The same inside a classifier.

    References
    ----------
    C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on
    Artificial Intelligence, 2001.

    Examples
    --------
    Five for a bad customer who is called good, one for a good one who is called bad:

    >>> loss = LossMatrix([[0, 5], [1, 0]], classes=["bad", "good"])
    >>> print(loss)
    Loss: rows = true class, columns = action
    true \\ action  bad  good
    ─────────────  ───  ────
    bad              0     5
    good             1     0
    >>> loss["bad", "good"]
    5.0
    """

    values: np.ndarray
    classes: tuple[Any, ...] | None
    actions: tuple[Any, ...] | None

    def __init__(
        self,
        values: Any,
        classes: Iterable[Any] | None = None,
        actions: Iterable[Any] | None = None,
    ):
        values = _numbers(values)
        if classes is not None:
            classes = unique_labels(classes, "classes")
        default_actions = actions is None
        if actions is None:
            actions = classes
        else:
            actions = unique_labels(actions, "actions")
        _check_count(values.shape[0], classes, "rows", "classes")
        if default_actions and classes is not None and values.shape[1] != len(classes):
            raise DataError(
                f"a loss matrix with {show_count(values.shape[1], 'column')} for {len(classes)}"
                " classes needs names for its actions (rows = true class, columns = action): give"
                " actions=[...]"
            )
        _check_count(values.shape[1], actions, "columns", "actions")
        # an action that names a class has its label, also where one was read as text
        if classes is not None and actions is not None:
            own = {label_key(label): label for label in classes}
            actions = tuple(own.get(label_key(label), label) for label in actions)
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "actions", actions)

    # -- other ways to make one --------------------------------------------------------

    @classmethod
    def zero_one(cls, classes: Iterable[Any] | int) -> LossMatrix:
        """1 for every mistake: the rule is then the most probable class. `classes` may be their
        number."""
        if isinstance(classes, int | np.integer):
            return cls(1.0 - np.eye(int(classes)))
        labels = unique_labels(classes, "classes")
        return cls(1.0 - np.eye(len(labels)), labels)

    @classmethod
    def from_costs(
        cls,
        costs: Mapping[tuple[Any, Any], float],
        classes: Iterable[Any] | None = None,
        actions: Iterable[Any] | None = None,
        *,
        default: float | None = None,
    ) -> LossMatrix:
        """A matrix from the cost of every pair (true class, action).

        Parameters
        ----------
        costs : dict of (true class, action) to cost
            Naming the true class costs 0 unless it is given.
        classes : labels, optional
            By default the true classes in `costs`, sorted, as a classifier sorts its `classes_`.
        actions : labels, optional
            By default the classes, then every other action in `costs`, sorted.
        default : float, optional
            The cost of pairs that are not given; without it all must be.

        Examples
        --------
        >>> LossMatrix.from_costs({("bad", "good"): 5, ("good", "bad"): 1}).values
        array([[0., 5.],
               [1., 0.]])
        """
        for pair in costs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DataError(
                    f"costs are given for pairs (true class, action), not for {pair!r}"
                )
        pairs = dict(costs)
        if classes is None:
            rows = _sort({true for true, _ in pairs})
        else:
            rows = list(unique_labels(classes, "classes"))
        if classes is None and len(rows) < 2:
            raise DataError(
                f"the costs name only {rows} as true classes: give all of them, classes=[...]"
            )
        known = set(map(label_key, rows))
        others = {action for _, action in pairs if label_key(action) not in known}
        if actions is None:
            columns = [*rows, *_sort(others)]
        else:
            columns = list(unique_labels(actions, "actions"))
        find_labels([true for true, _ in pairs], rows, "the true class")
        find_labels([action for _, action in pairs], columns, "the action")
        given = {
            (label_key(true), label_key(action)): cost
            for (true, action), cost in pairs.items()
        }
        return cls(
            [[_cost(given, k, a, default) for a in columns] for k in rows],
            tuple(rows),
            tuple(columns),
        )

    @classmethod
    def from_dict(cls, recipe: Mapping[str, Any]) -> LossMatrix:
        """A matrix from a TOML table: `loss` with `classes` and `actions`, or
        `costs.<true>.<action>`."""
        return cls._of(files.from_mapping(recipe))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LossMatrix:
        """Read a CSV file (actions in the first row, true classes in the first column) or a TOML
        file.

        A TOML file has `loss = [[...], ...]`, `classes = [...]` and, if they are not the classes,
        `actions = [...]`; or a table `[costs.<true class>]` of `<action> = cost`.
        """
        return cls._of(files.read(Path(path)))

    @classmethod
    def _of(cls, parts: files.MatrixContent | files.PairCosts) -> LossMatrix:
        if isinstance(parts, files.PairCosts):
            return cls.from_costs(
                parts.costs, parts.classes, parts.actions, default=parts.default
            )
        return cls(parts.values, parts.classes, parts.actions)

    @classmethod
    def of(cls, loss: Any, classes: Iterable[Any]) -> LossMatrix:
        """Any description of a loss, for these classes in this order.

        None is the 0/1 loss; a matrix has its rows in the order of `classes`; a `LossMatrix` is
        matched by its labels; a dict has the costs of pairs (true class, action).
        """
        if loss is None:
            return cls.zero_one(classes)
        if isinstance(loss, Mapping):
            loss = cls.from_costs(loss, classes)
        elif not isinstance(loss, LossMatrix):
            loss = cls(loss)
        return loss.for_classes(classes)

    # -- files -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """A dict that `from_dict` reads, ready for TOML."""
        recipe: dict[str, Any] = {"loss": self.values.tolist()}
        if self.classes is not None:
            recipe["classes"] = list(self.classes)
        if self.actions is not None and self.actions != self.classes:
            recipe["actions"] = list(self.actions)
        return recipe

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a CSV or TOML file that `read` reads; an existing file is replaced only with
        `force`."""
        return files.write(
            Path(path), self.to_dict(), self._row_labels, self._column_labels, force
        )

    # -- use ---------------------------------------------------------------------------

    def for_classes(self, classes: Iterable[Any]) -> LossMatrix:
        """The same losses with rows, and the actions that name them, in the order of `classes`.

        A matrix without labels is taken to be in that order already. Numbers match the text that
        shows them, so that labels read from a file fit classes that are numbers. Actions that are
        no class come last. A class of the matrix that is not among `classes` is left out, and the
        action that names it.
        """
        labels = unique_labels(classes, "classes")
        if self.classes is None:
            _check_count(self.values.shape[0], labels, "rows", "classes")
            return LossMatrix(self.values, labels, self.actions)
        # columns as rows, and then the actions that name no class, in their own order
        rows = find_labels(
            labels, self.classes, "the loss matrix has no row for a class:"
        )
        index = {label_key(label): i for i, label in enumerate(labels)}
        left_out = {label_key(label) for label in self.classes} - set(index)
        own = self._column_labels
        used = [a for a in range(len(own)) if label_key(own[a]) not in left_out]
        columns = sorted(used, key=lambda a: index.get(label_key(own[a]), len(index)))
        return LossMatrix(
            self.values[np.ix_(rows, columns)], labels, [own[a] for a in columns]
        )

    @property
    def is_zero_one(self) -> bool:
        """Whether naming the true class costs 0, naming another 1, and there are no other
        actions."""
        K, A = self.values.shape
        return (
            K == A
            and self.classes == self.actions
            and bool((self.values == 1.0 - np.eye(K)).all())
        )

    @property
    def names_class(self) -> np.ndarray:
        """For every action, the row of the class that it names, or -1 if it names none."""
        K, A = self.values.shape
        if self.classes is None or self.actions is None:
            return np.where(np.arange(A) < K, np.arange(A), -1)
        index = {label_key(label): i for i, label in enumerate(self.classes)}
        return np.array([index.get(label_key(label), -1) for label in self.actions])

    def without_reject(self) -> LossMatrix:
        """Only the actions that name a class."""
        indices = np.flatnonzero(self.names_class >= 0)
        if not len(indices):
            raise DataError(
                "no action of the loss matrix names a class, so that no decision is left"
            )
        if self.actions is None:
            actions = None
        else:
            actions = [self.actions[a] for a in indices]
        return LossMatrix(self.values[:, indices], self.classes, actions)

    def __getitem__(self, pair: tuple[Any, Any]) -> float:
        """The loss of (true class, action), by label."""
        (k,) = find_labels(pair[:1], self._row_labels, "the true class")
        (a,) = find_labels(pair[1:], self._column_labels, "the action")
        return float(self.values[k, a])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LossMatrix):
            return NotImplemented
        same_labels = (self.classes, self.actions) == (other.classes, other.actions)
        return same_labels and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(
            (self.values.shape, self.values.tobytes(), self.classes, self.actions)
        )

    # -- text --------------------------------------------------------------------------

    @property
    def _row_labels(self) -> Sequence[Any]:
        if self.classes is None:
            return range(self.values.shape[0])
        return self.classes

    @property
    def _column_labels(self) -> Sequence[Any]:
        if self.actions is None:
            return range(self.values.shape[1])
        return self.actions

    def table(self) -> Table:
        """The matrix as a table of `lyceum.report`."""
        rows = [
            (str(label), *map(float, row))
            for label, row in zip(self._row_labels, self.values)
        ]
        columns = ("true \\ action", *map(str, self._column_labels))
        return Table("Loss: rows = true class, columns = action", columns, rows)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        parts = [repr(self.values.tolist())]
        if self.classes is not None:
            parts.append(f"classes={list(self.classes)}")
        if self.actions is not None and self.actions != self.classes:
            parts.append(f"actions={list(self.actions)}")
        return f"LossMatrix({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _numbers(values: ArrayLike) -> np.ndarray:
    try:
        values = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a loss matrix must hold numbers in rows of equal length: {error}"
        ) from error
    if values.ndim != 2 or not values.size:
        raise DataError(
            "a loss matrix has two dimensions, rows = true class and columns = action; this one"
            f" has the shape {values.shape}"
        )
    if not np.isfinite(values).all():
        k, a = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"the loss of row {k}, column {a} is {values[k, a]}: losses must be finite; use a large"
            " number to forbid an action"
        )
    return values


def _check_count(n: int, labels: tuple[Any, ...] | None, lines: str, what: str) -> None:
    if labels is not None and len(labels) != n:
        raise DataError(
            f"the loss matrix has {n} {lines} for {len(labels)} {what}"
            f" ({', '.join(map(repr, labels))}): rows = true class, columns = action"
        )


def _cost(
    given: Mapping[tuple[str, str], float],
    true: Any,
    action: Any,
    default: float | None,
) -> float:
    pair = (label_key(true), label_key(action))
    if pair in given:
        return given[pair]
    if pair[0] == pair[1]:
        return 0.0
    if default is None:
        raise DataError(
            f"there is no cost for the action {action!r} when the truth is {true!r}: add it, or"
            " give a default"
        )
    return default


def _sort(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=str)
