"""The nodes of a Bayesian network: a table of probabilities, or a linear Gaussian."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from lyceum._core.report import Shown
from lyceum.errors import DataError, ModelFileError, number_setting

_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class TableNode(Shown):
    """A discrete variable: P(states | parents) as a table.

    Parameters
    ----------
    name : str
        The name of the variable.
    states : sequence of labels
        In the order of the last axis of the table.
    parents : names, default=()
        Discrete variables, in the order of the first axes.
    table : array of shape (states of the first parent, ..., states), or dict
        For every combination of the parents' states the probabilities of the states, which sum to
        1. A dict has a state of the parent, or a tuple of states, as key and probabilities as
        values. By default all states are equally probable.

    See Also
    --------
    GaussianNode : A number instead of a state.

    Examples
    --------
    >>> from lyceum.bayesnets import TableNode
    >>> TableNode("grass", ["dry", "wet"], ["rain"], {"no": [0.9, 0.1], "yes": [0.1, 0.9]})
    TableNode(name='grass', states=('dry', 'wet'), parents=('rain',))
    """

    name: str
    states: tuple[Any, ...]
    parents: tuple[str, ...] = ()
    table: Any = None

    def __post_init__(self) -> None:
        _set_names(self)
        if isinstance(self.states, str | bytes):
            raise DataError(
                f"the states of {self.name!r} are the text {self.states!r}: give a list"
            )
        if not isinstance(self.states, Iterable):
            raise DataError(
                f"the states of {self.name!r} are {self.states!r:.100}: give a list"
            )
        labels = [
            label.item() if isinstance(label, np.generic) else label
            for label in self.states
        ]
        object.__setattr__(self, "states", tuple(labels))
        if len(set(map(str, self.states))) < len(self.states) or not self.states:
            raise DataError(
                f"node {self.name!r} needs states, each named once, not {list(self.states)}"
            )

    def __repr__(self) -> str:
        return f"TableNode(name={self.name!r}, states={self.states!r}, parents={self.parents!r})"

    @property
    def n_parameters(self) -> int:
        """The free numbers: q (r - 1) for a table of q rows and r states."""
        r = len(self.states)
        return self.table.size // r * (r - 1)

    def with_table(self, table: Any) -> TableNode:
        """The same node with another table."""
        return TableNode(self.name, self.states, self.parents, table)

    def resolve(self, states: Mapping[str, Sequence[Any]]) -> TableNode:
        """The node with its table as a checked array, given the states of its parents."""
        where = f"the table of {self.name!r}"
        shape = (*(len(states[parent]) for parent in self.parents), len(self.states))
        if self.table is None:
            table = np.full(shape, 1.0 / len(self.states))
        elif isinstance(self.table, Mapping):
            table = self._from_mapping(
                [states[parent] for parent in self.parents], shape
            )
        else:
            table = np.array(number_setting(where, self.table))
        if table.shape != shape:
            axes = " × ".join([*self.parents, self.name])
            raise DataError(
                f"{where} has the shape {table.shape}, but {axes} have {shape} states"
            )
        if not (table >= 0).all() or not (table <= 1 + _TOLERANCE).all():
            raise DataError(
                f"{where} has a value that is not a probability from 0 to 1"
            )
        self._check_sums(table, states)
        table.setflags(write=False)
        return self.with_table(table)

    def _check_sums(
        self, table: np.ndarray, states: Mapping[str, Sequence[Any]]
    ) -> None:
        """Refuse a table in which some combination of states of the parents does not sum to 1."""
        wrong = np.argwhere(np.abs(table.sum(axis=-1) - 1.0) > _TOLERANCE)
        if not len(wrong):
            return
        cell = tuple(wrong[0].tolist())
        parts = [
            f"{name}={states[name][code]}" for name, code in zip(self.parents, cell)
        ]
        total = f"{float(table[cell].sum()):g}"
        if parts:
            total += f" for {', '.join(parts)}"
        raise DataError(f"the table of {self.name!r} sums to {total}, not to 1")

    def _from_mapping(
        self, states: list[Sequence[Any]], shape: tuple[int, ...]
    ) -> np.ndarray:
        where = f"the table of {self.name!r}"
        values = {
            key if isinstance(key, tuple) else (key,): row
            for key, row in self.table.items()
        }
        # the last parent varies fastest, as in the cells of an array
        wanted = list(product(*states))
        lacking = [key for key in wanted if key not in values]
        extra = [key for key in values if key not in set(wanted)]
        if lacking or extra:
            if lacking:
                what = f"lacks {lacking[0]}"
            else:
                what = f"has {extra[0]}, which is no combination of states"
            raise DataError(f"{where} given {', '.join(self.parents)} {what}")
        rows = [number_setting(where, values[key]) for key in wanted]
        if any(row.shape != (len(self.states),) for row in rows):
            raise DataError(
                f"{where} needs {len(self.states)} probabilities in every row"
            )
        return np.array(rows).reshape(shape)

    def check(self) -> None:
        """Raise ModelFileError unless the parts, which came from a model file, are those of a
        node."""
        if not isinstance(self.name, str) or not isinstance(self.states, tuple):
            raise ModelFileError("holds a node without a name or states")
        table = self.table
        if (
            not isinstance(table, np.ndarray)
            or table.dtype != np.float64
            or table.ndim != len(self.parents) + 1
        ):
            raise ModelFileError(
                f"holds a node {self.name!r} without a table of numbers"
            )
        if table.shape[-1] != len(self.states) or not np.isfinite(table).all():
            raise ModelFileError(
                f"holds a node {self.name!r} whose table does not fit its states"
            )


@dataclass(frozen=True, eq=False)
class GaussianNode(Shown):
    """A number: x = intercept + coefficientsᵀ (numeric parents) + noise, noise ~ N(0, variance).

    With discrete parents there is one such equation for every combination of their states.

    Parameters
    ----------
    name : str
        The name of the variable.
    parents : names, default=()
        Discrete and Gaussian variables; each kind in the order in which it is named.
    intercept : float or array of shape (states of the discrete parents, ...), default=0
        The constant of every equation.
    coefficients : array of shape (states of the discrete parents, ..., numeric parents), default=()
        The factors of the numeric parents in every equation.
    variance : float or array of shape (states of the discrete parents, ...), default=1
        The variance of the noise in every equation.
    n_undetermined : int, default=0
        How many coefficients of all equations the rows that they were learned from do not
        determine: those of least norm were taken.

    See Also
    --------
    TableNode : A state instead of a number.

    References
    ----------
    S. L. Lauritzen and N. Wermuth, "Graphical models for associations between variables, some of
    which are qualitative and some quantitative", Annals of Statistics 17, 1989.

    Examples
    --------
    >>> from lyceum.bayesnets import GaussianNode
    >>> GaussianNode("weight", ["height"], intercept=-100.0, coefficients=[1.0], variance=25.0)
    GaussianNode(name='weight', parents=('height',))
    """

    name: str
    parents: tuple[str, ...] = ()
    intercept: Any = 0.0
    coefficients: Any = ()
    variance: Any = 1.0
    n_undetermined: int = 0

    def __post_init__(self) -> None:
        _set_names(self)

    def __repr__(self) -> str:
        return f"GaussianNode(name={self.name!r}, parents={self.parents!r})"

    @property
    def n_parameters(self) -> int:
        """The numbers of all equations."""
        return self.intercept.size + self.coefficients.size + self.variance.size

    def resolve(self, states: Mapping[str, Sequence[Any]]) -> GaussianNode:
        """The node with its parameters as checked arrays, given the states of its discrete
        parents."""
        shape = tuple(
            len(states[parent]) for parent in self.parents if parent in states
        )
        numeric = sum(parent not in states for parent in self.parents)
        intercept = self._as_array("intercept", shape)
        coefficients = self._as_array("coefficients", (*shape, numeric))
        variance = self._as_array("variance", shape)
        if (variance < 0).any():
            raise DataError(f"the variance of {self.name!r} is negative")
        return replace(
            self, intercept=intercept, coefficients=coefficients, variance=variance
        )

    def _as_array(self, what: str, shape: tuple[int, ...]) -> np.ndarray:
        """A parameter as a checked array that cannot be changed."""
        value = getattr(self, what)
        array = np.array(number_setting(f"{what} of {self.name!r}", value))
        # one equation given for all combinations; what does not fit is refused by its shape below
        if array.shape != shape and array.size:
            try:
                array = np.broadcast_to(array, shape).copy()
            except ValueError:
                array = np.empty(0)
        if not array.size and what == "coefficients" and shape[-1] == 0:
            array = np.zeros(shape)
        if array.shape != shape:
            raise DataError(
                f"{what} of {self.name!r} has the shape {np.shape(value)}, but {shape} is needed"
            )
        if not np.isfinite(array).all():
            raise DataError(f"{what} of {self.name!r} must be finite, got {value!r}")
        array.setflags(write=False)
        return array

    def check(self) -> None:
        """Raise ModelFileError unless the parts, which came from a model file, are those of a
        node."""
        parts = (self.intercept, self.coefficients, self.variance)
        if not all(
            isinstance(part, np.ndarray) and part.dtype == np.float64 for part in parts
        ):
            raise ModelFileError(f"holds a node {self.name!r} without numbers")
        if not isinstance(self.n_undetermined, int):
            raise ModelFileError(
                f"holds a node {self.name!r} whose n_undetermined is no whole number"
            )


def _set_names(node: TableNode | GaussianNode) -> None:
    """Name and parents as text; the nodes are frozen, so past their `__setattr__`."""
    parents = (node.parents,) if isinstance(node.parents, str) else node.parents
    object.__setattr__(node, "name", str(node.name))
    if not isinstance(parents, Iterable):
        raise DataError(
            f"the parents of {node.name!r} are {parents!r:.100}: give a list of names"
        )
    object.__setattr__(node, "parents", tuple(map(str, parents)))
    if len(set(node.parents)) < len(node.parents) or node.name in node.parents:
        raise DataError(
            f"{node.name!r} has the parents {list(node.parents)}: name others, each once"
        )


Node = TableNode | GaussianNode
