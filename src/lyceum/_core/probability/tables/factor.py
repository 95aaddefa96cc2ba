"""Factors: tables over named discrete variables, with product, quotient, sums, maxima and
evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product as combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from lyceum._core.probability.labels import find_labels, unique_labels
from lyceum._core.report import Table
from lyceum.errors import DataError

States = dict[str, tuple[Any, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Factor:
    """A non-negative function φ(A, B, ...) of discrete variables: one number per combination of
    states.

    A probability table, a likelihood, a message of an inference algorithm: anything that is
    multiplied and summed over. The values need not sum to 1. Operations match variables by name, in
    whatever order each factor has them; a variable must have the same states in both factors.

    Parameters
    ----------
    variables : dict of name to states
        In the order of the axes of `values`. A factor without variables is a number.
    values : array with one axis per variable
        Numbers of at least 0, or their logarithms with `log=True`.
    log : bool, default=False
        Whether `values` are logarithms. Products then add and sums use log-sum-exp, so that
        products of many small numbers do not underflow.

    Attributes
    ----------
    total : float
        The sum of all values; its logarithm in log space.

    See Also
    --------
    ProbabilityTable : A factor that is a distribution, and knows what it is conditioned on.

    References
    ----------
    D. Koller and N. Friedman, "Probabilistic Graphical Models", MIT Press, 2009, chapters 4 and 9.

    Examples
    --------
    >>> rain = Factor({"rain": ["no", "yes"]}, [0.8, 0.2])
    >>> wet = Factor({"grass": ["dry", "wet"], "rain": ["no", "yes"]}, [[0.9, 0.1], [0.1, 0.9]])
    >>> joint = wet * rain
    >>> joint.sum_out("rain").values.round(2)
    array([0.74, 0.26])
    >>> joint.reduce(grass="wet").normalize().values.round(3)
    array([0.308, 0.692])
    >>> joint.argmax()
    {'grass': 'dry', 'rain': 'no'}
    """

    variables: Mapping[str, tuple[Any, ...]]
    values: np.ndarray
    log: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.variables, Mapping):
            raise DataError(
                f"variables must be a dict of name to states, not {self.variables!r}"
            )
        variables = {
            str(name): unique_labels(states, f"variable {name!r}")
            for name, states in self.variables.items()
        }
        empty = [name for name, states in variables.items() if not states]
        if empty:
            raise DataError(f"variable {empty[0]!r} has no states: give one at least")
        try:
            values = np.array(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"the values of a factor must be numbers, not {self.values!r}"
            ) from None
        shape = tuple(map(len, variables.values()))
        if values.shape != shape:
            raise DataError(
                f"the factor has values of shape {values.shape}, but its variables"
                f" ({', '.join(variables)}) have {shape} states"
            )
        if (
            np.isnan(values).any()
            or (values == np.inf).any()
            or (not self.log and (values < 0).any())
        ):
            raise DataError(
                "the values of a factor must be finite and at least 0, or logarithms of such"
            )
        values.setflags(write=False)
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "values", values)

    @classmethod
    def _make(cls, variables: States, values: ArrayLike, log: bool) -> Factor:
        """A factor from parts that are known to fit."""
        factor = object.__new__(cls)
        object.__setattr__(factor, "variables", variables)
        object.__setattr__(factor, "values", np.asarray(values))
        object.__setattr__(factor, "log", log)
        return factor

    # -- products ----------------------------------------------------------------------

    def product(self, other: Factor) -> Factor:
        """φ(A, B) ψ(B, C) for all combinations of A, B and C; in log space if one of the two is."""
        variables, one, two = self._align(other)
        log = self.log or other.log
        return self._make(variables, one + two if log else one * two, log)

    def divide(self, other: Factor) -> Factor:
        """φ(A, B) / ψ(B), with 0 / 0 = 0; the variables of the divisor must be among those of this
        factor."""
        extra = [name for name in other.variables if name not in self.variables]
        if extra:
            raise DataError(
                f"the divisor has the variable {extra[0]!r}, which this factor does not have"
            )
        variables, one, two = self._align(other)
        log = self.log or other.log
        zero = -np.inf if log else 0.0
        if ((two == zero) & (one != zero)).any():
            raise DataError(
                "a value above 0 is divided by 0: the divisor must be 0 only where the factor is"
            )
        operation = np.subtract if log else np.divide
        values = np.full(one.shape, zero)
        operation(one, two, out=values, where=two != zero)
        return self._make(variables, values, log)

    def __mul__(self, other: Factor) -> Factor:
        if isinstance(other, Factor):
            return self.product(other)
        return NotImplemented

    def __truediv__(self, other: Factor) -> Factor:
        if isinstance(other, Factor):
            return self.divide(other)
        return NotImplemented

    # -- sums and maxima ---------------------------------------------------------------

    def sum_out(self, *names: str) -> Factor:
        """Σ over all states of the variables `names`; the others stay."""
        axes = self._axes(dict.fromkeys(names))
        if not axes:
            return self
        if self.log:
            values = logsumexp(self.values, axis=axes)
        else:
            values = self.values.sum(axis=axes)
        return self._make(self._drop(names), values, self.log)

    def max_out(self, *names: str) -> Factor:
        """The maximum over all states of the variables `names`; the others stay."""
        axes = self._axes(dict.fromkeys(names))
        if axes:
            return self._make(self._drop(names), self.values.max(axis=axes), self.log)
        return self

    def marginal(self, *names: str) -> Factor:
        """Σ over all variables but `names`, which become the axes in this order."""
        self._axes(names)
        others = [name for name in self.variables if name not in names]
        return self.sum_out(*others).transpose(*names)

    def argmax(self) -> dict[str, Any]:
        """The combination of states with the largest value; the first one of several."""
        indices = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return {
            name: states[i]
            for (name, states), i in zip(self.variables.items(), indices)
        }

    @property
    def total(self) -> float:
        """The sum of all values; its logarithm in log space."""
        return float(logsumexp(self.values) if self.log else self.values.sum())

    # -- evidence ----------------------------------------------------------------------

    def reduce(
        self, evidence: Mapping[str, Any] | None = None, /, **states: Any
    ) -> Factor:
        """The factor with some variables fixed at a state; they are no longer among its variables.

        Parameters
        ----------
        evidence : dict of name to state, optional
            Names that this factor does not have are ignored, so that one dict serves many factors.
        **states
            The same as keywords; each must be a variable of this factor.
        """
        self._axes(tuple(states))
        fixed = {
            name: state
            for name, state in (evidence or {}).items()
            if name in self.variables
        }
        fixed |= states
        if not fixed:
            return self
        indices: list[Any] = [slice(None)] * self.values.ndim
        for name, state in fixed.items():
            (axis,) = self._axes([name])
            where = f"variable {name!r}: the state"
            (indices[axis],) = find_labels([state], self.variables[name], where)
        return self._make(self._drop(fixed), self.values[tuple(indices)], self.log)

    def normalize(self, given: Iterable[str] = ()) -> Factor:
        """Divided by the sum over the variables that are not `given`: a distribution, or a
        conditional one.

        A combination of given states whose sum is 0 keeps its zeros.
        """
        given = (given,) if isinstance(given, str) else tuple(given)
        self._axes(given)
        total = self.sum_out(*(name for name in self.variables if name not in given))
        if not given and total.values == (-np.inf if self.log else 0.0):
            raise DataError(
                "all values of the factor are 0, so that it cannot be normalized"
            )
        return self.divide(total)

    # -- forms -------------------------------------------------------------------------

    def transpose(self, *names: str) -> Factor:
        """The same factor with its axes in the order of `names`, which are all of its variables."""
        if set(names) != set(self.variables) or len(names) != len(self.variables):
            raise DataError(
                f"name every variable once ({', '.join(self.variables)}), not {list(names)}"
            )
        variables = {name: self.variables[name] for name in names}
        return self._make(variables, self.values.transpose(self._axes(names)), self.log)

    def to_log(self) -> Factor:
        """The same factor with the logarithms of its values."""
        if self.log:
            return self
        with np.errstate(divide="ignore"):
            return self._make(dict(self.variables), np.log(self.values), True)

    def to_linear(self) -> Factor:
        """The same factor with plain values instead of logarithms."""
        if self.log:
            return self._make(dict(self.variables), np.exp(self.values), False)
        return self

    def __getitem__(self, states: Mapping[str, Any]) -> float:
        """The value at a state of every variable: `factor[{"rain": "yes", "grass": "wet"}]`."""
        left = self.reduce(**{str(name): state for name, state in states.items()})
        if left.variables:
            raise DataError(
                f"name a state of every variable: {', '.join(map(repr, left.variables))} has none"
            )
        return float(left.values)

    def table(self) -> Table:
        """As a table of `lyceum.report`: one row per combination of states."""
        head = "log φ" if self.log else "φ"
        states = combinations(*self.variables.values())
        rows = [
            (*map(str, labels), float(value))
            for labels, value in zip(states, self.values.flat)
        ]
        title = f"{head}({', '.join(self.variables)})"
        return Table(title, (*self.variables, head), rows)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        sizes = " × ".join(str(n) for n in self.values.shape) or "1"
        return (
            f"<Factor of {', '.join(self.variables) or 'no variable'}, {sizes} values>"
        )

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    # -- parts -------------------------------------------------------------------------

    def _axes(self, names: Iterable[str]) -> tuple[int, ...]:
        order = list(self.variables)
        return tuple(find_labels(list(names), order, "the variable"))

    def _drop(self, names: Iterable[str]) -> States:
        gone = set(names)
        return {
            name: states for name, states in self.variables.items() if name not in gone
        }

    def _align(self, other: Factor) -> tuple[States, np.ndarray, np.ndarray]:
        """All variables, and the values of both factors in a form that broadcasts over them."""
        one = self
        two = other
        if self.log != other.log:
            one = self.to_log()
            two = other.to_log()
        check_states(self.variables, other.variables)
        variables = {**self.variables, **other.variables}
        order = list(variables)
        return variables, spread_axes(one, order), spread_axes(two, order)


def check_states(
    one: Mapping[str, tuple[Any, ...]], two: Mapping[str, tuple[Any, ...]]
) -> None:
    """Raise where a variable of both has not the same states in the same order."""
    for name, states in one.items():
        if name in two and two[name] is not states and two[name] != states:
            raise DataError(
                f"{name!r} has the states {states} in one factor and {two[name]} in the other: give"
                " the same values in the same order"
            )


def spread_axes(factor: Any, order: list[str]) -> np.ndarray:
    """The values of a factor or table with one axis for every name of `order`, of length 1 if it
    has none."""
    own = list(factor.variables)
    axes = [own.index(name) for name in order if name in factor.variables]
    lacking = [i for i, name in enumerate(order) if name not in factor.variables]
    return np.expand_dims(factor.values.transpose(axes), lacking)
